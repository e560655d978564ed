//! Finding the end of a plain run inside a JSON string, eight bytes and more at a time.

const QUOTES: u64 = 0x2222_2222_2222_2222;
const SLASHES: u64 = 0x5c5c_5c5c_5c5c_5c5c;
const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The index of the first `"`, `\` or control character at or after `from`, or the length.
///
/// Most texts are short, so two words come first; long ones are then passed over in wide steps.
#[inline]
pub fn plain_run(bytes: &[u8], from: usize) -> usize {
    if let Some(marks) = word_at(bytes, from) {
        if marks != 0 {
            return from + first(marks);
        }
        if let Some(marks) = word_at(bytes, from + 8)
            && marks != 0
        {
            return from + 8 + first(marks);
        }
    }
    long_run(bytes, from)
}

fn long_run(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(Ok(block)) = bytes.get(at..at + 32).map(<&[u8; 32]>::try_from) {
        if any_special(block) {
            break;
        }
        at += 32;
    }
    loop {
        match word_at(bytes, at) {
            None => return tail(bytes, at),
            Some(0) => at += 8,
            Some(marks) => return at + first(marks),
        }
    }
}

/// The marks of the eight bytes from `at` on, if there are so many.
#[inline]
fn word_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at + 8)?.try_into().ok()?;
    Some(special_marks(u64::from_le_bytes(word)))
}

fn first(marks: u64) -> usize {
    (marks.trailing_zeros() / 8) as usize
}

fn tail(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| is_special(byte)).map_or(bytes.len(), |more| at + more)
}

/// Written so that the compiler makes wide instructions of it.
#[inline]
fn any_special(block: &[u8; 32]) -> bool {
    let mut found = [0_u8; 32];
    for (mark, &byte) in found.iter_mut().zip(block) {
        *mark = u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(byte < 0x20);
    }
    found != [0; 32]
}

fn is_special(byte: u8) -> bool {
    (byte == b'"') | (byte == b'\\') | (byte < 0x20)
}

/// A high bit at the lowest special byte; higher marks may be wrong, the lowest never is.
fn special_marks(word: u64) -> u64 {
    let quote = word ^ QUOTES;
    let slash = word ^ SLASHES;
    let zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let control = word.wrapping_sub(0x20 * ONES) & !word & HIGHS;
    zero(quote) | zero(slash) | control
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_first_special_byte_at_every_offset() {
        for length in 0..80 {
            for special in [b'"', b'\\', 0x00, 0x1f] {
                for at in 0..length {
                    let mut bytes = vec![0xc3_u8; length];
                    bytes[at] = special;
                    assert_eq!(plain_run(&bytes, 0), at);
                }
            }
            assert_eq!(plain_run(&vec![b' '; length], 0), length);
            assert_eq!(plain_run(&vec![0x7f; length], 0), length);
        }
    }
}
