//! A walk over the footer of a Parquet file before it is decoded.
//!
//! The decoder makes room by the counts it finds and follows the schema by recursion. A few bytes could so ask for
//! more memory or more stack than there is, which ends the process and cannot be caught.
//!
//! *Invariant:* a footer that passes declares no list longer than its own bytes, and no schema deeper than 256 levels.

use super::broken::Broken;

/// How deep structures may lie in one another: of the encoding, and of the schema.
const ENCODED_LEVELS: usize = 64;
const SCHEMA_LEVELS: usize = 256;

/// The number of the schema among the fields of a footer, and of the children's count among those of its elements.
const SCHEMA: i64 = 2;
const CHILDREN: i64 = 5;

/// Refuses a footer that declares more than it has.
pub(super) fn check(footer: &[u8]) -> Result<(), Broken> {
    let mut walk = Walk { bytes: footer };
    let mut elements = Vec::new();
    walk.structure(0, &mut |walk, number, kind| {
        if (number, kind) != (SCHEMA, LIST) {
            return walk.value(kind, 1);
        }
        let (count, kind) = walk.list()?;
        for _ in 0..count {
            let mut children = 0;
            if kind != STRUCT {
                return Err(damaged());
            }
            walk.structure(1, &mut |walk, number, kind| {
                if (number, kind) != (CHILDREN, I32) {
                    return walk.value(kind, 2);
                }
                children = walk.signed()?;
                Ok(())
            })?;
            elements.push(children);
        }
        Ok(())
    })?;
    check_levels(&elements)
}

/// Follows the elements of a schema, each given by the count of its children.
fn check_levels(elements: &[i64]) -> Result<(), Broken> {
    let mut open: Vec<usize> = Vec::new();
    for children in elements {
        while open.pop_if(|left| *left == 0).is_some() {}
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        let children = usize::try_from(*children).ok().filter(|children| *children < elements.len());
        match children.ok_or_else(damaged)? {
            0 => {}
            children => open.push(children),
        }
        if open.len() > SCHEMA_LEVELS {
            return Err(Broken::new("its schema is nested too deep"));
        }
    }
    Ok(())
}

const I32: u8 = 5;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// The bytes that are left, in Thrift's compact encoding.
struct Walk<'f> {
    bytes: &'f [u8],
}

type Field<'v> = &'v mut dyn FnMut(&mut Walk<'_>, i64, u8) -> Result<(), Broken>;

impl Walk<'_> {
    fn structure(&mut self, level: usize, field: Field<'_>) -> Result<(), Broken> {
        if level > ENCODED_LEVELS {
            return Err(damaged());
        }
        let mut number = 0;
        loop {
            let head = self.byte()?;
            match (head & 0x0f, head >> 4) {
                (0, _) => return Ok(()),
                (_, 0) => number = self.signed()?,
                (_, more) => number = number.saturating_add(i64::from(more)),
            }
            field(self, number, head & 0x0f)?;
        }
    }

    /// Passes over the value of a field.
    fn value(&mut self, kind: u8, level: usize) -> Result<(), Broken> {
        match kind {
            1 | 2 => Ok(()),
            3 => self.skip(1),
            4..=6 => self.unsigned().map(drop),
            7 => self.skip(8),
            8 => {
                let length = self.unsigned()?;
                self.skip(length)
            }
            LIST | 10 => {
                let (count, kind) = self.list()?;
                (0..count).try_for_each(|_| self.item(kind, level + 1))
            }
            11 => {
                let count = self.counted()?;
                let kinds = if count > 0 { self.byte()? } else { 0 };
                (0..count).try_for_each(|_| {
                    self.item(kinds >> 4, level + 1)?;
                    self.item(kinds & 0x0f, level + 1)
                })
            }
            STRUCT => self.structure(level, &mut |walk, _, kind| walk.value(kind, level + 1)),
            13 => self.skip(16),
            _ => Err(damaged()),
        }
    }

    /// A value in a list: unlike in a field, a truth value is a byte of its own.
    fn item(&mut self, kind: u8, level: usize) -> Result<(), Broken> {
        match kind {
            _ if level > ENCODED_LEVELS => Err(damaged()),
            1 | 2 => self.skip(1),
            kind => self.value(kind, level),
        }
    }

    /// How many elements a list has, and of which kind.
    fn list(&mut self) -> Result<(u64, u8), Broken> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.counted()?,
            few => u64::from(few),
        };
        Ok((count, head & 0x0f))
    }

    /// A count of elements, each of which takes a byte at least.
    fn counted(&mut self) -> Result<u64, Broken> {
        let count = self.unsigned()?;
        if count > self.bytes.len() as u64 { Err(damaged()) } else { Ok(count) }
    }

    fn signed(&mut self) -> Result<i64, Broken> {
        let folded = self.unsigned()?;
        Ok((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed())
    }

    fn unsigned(&mut self) -> Result<u64, Broken> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn byte(&mut self) -> Result<u8, Broken> {
        let (first, rest) = self.bytes.split_first().ok_or_else(damaged)?;
        self.bytes = rest;
        Ok(*first)
    }

    fn skip(&mut self, length: u64) -> Result<(), Broken> {
        let rest = usize::try_from(length).ok().and_then(|length| self.bytes.get(length..));
        self.bytes = rest.ok_or_else(damaged)?;
        Ok(())
    }
}

fn damaged() -> Broken {
    Broken::new("its footer is damaged")
}
