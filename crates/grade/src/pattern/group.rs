//! Groups of Python's `re`: captures, names, look-around, conditions, flags for a part.
//!
//! *Invariant:* groups keep the numbers that Python gives them.

use super::python::{Flags, Last, Translation, is_flag};
use super::width::Width;

impl Translation<'_> {
    /// The group whose parenthesis was just read.
    pub(super) fn group(&mut self, flags: Flags, depth: usize) -> Result<Last, String> {
        if !self.eat('?') {
            return self.capturing("(", flags, depth);
        }
        let kind = self.next().ok_or("unexpected end of pattern")?;
        match kind {
            ':' | '>' => {
                self.out.push_str(if kind == ':' { "(?:" } else { "(?>" });
                self.close(flags, depth).map(Last::Item)
            }
            '=' | '!' => self.look(&kind.to_string(), flags, depth),
            '<' if matches!(self.peek(), Some('=' | '!')) => {
                let sign = self.next().unwrap_or_default();
                self.look(&format!("<{sign}"), flags, depth)
            }
            '<' if !self.strict => self.named(flags, depth),
            'P' => self.python_group(flags, depth),
            '(' => self.conditional(flags, depth),
            letter if is_flag(letter) || letter == '-' => self.flagged(letter, flags, depth),
            other => Err(format!("unknown extension ?{other}")),
        }
    }

    /// A look-around. Python looks back a fixed distance only.
    fn look(&mut self, sign: &str, flags: Flags, depth: usize) -> Result<Last, String> {
        self.out.push_str(&format!("(?{sign}"));
        let width = self.close(flags, depth)?;
        if self.strict && sign.starts_with('<') && !width.is_fixed() {
            return Err("look-behind requires fixed-width pattern".to_owned());
        }
        Ok(Last::Item(Width::NONE))
    }

    fn close(&mut self, flags: Flags, depth: usize) -> Result<Width, String> {
        self.close_counted(flags, depth).map(|(width, _)| width)
    }

    fn close_counted(&mut self, flags: Flags, depth: usize) -> Result<(Width, usize), String> {
        let inside = self.alternatives(flags, depth + 1)?;
        if !self.eat(')') {
            return Err("missing ), unterminated subpattern".to_owned());
        }
        self.out.push(')');
        Ok(inside)
    }

    fn capturing(&mut self, opening: &str, flags: Flags, depth: usize) -> Result<Last, String> {
        let place = self.groups.len();
        self.groups.push(None);
        self.out.push_str(opening);
        let width = self.close(flags, depth)?;
        self.groups[place] = Some(width);
        Ok(Last::Item(width))
    }

    fn named(&mut self, flags: Flags, depth: usize) -> Result<Last, String> {
        let name = self.until('>').filter(|name| is_name(name)).ok_or("bad character in group name")?;
        if self.names.contains(&name) {
            return Err(format!("redefinition of group name `{name}`"));
        }
        let opening = format!("(?P<{name}>");
        self.names.push(name);
        self.named_places.push(self.groups.len());
        self.capturing(&opening, flags, depth)
    }

    fn python_group(&mut self, flags: Flags, depth: usize) -> Result<Last, String> {
        match self.next() {
            Some('<') => self.named(flags, depth),
            Some('=') => {
                let name = self.until(')').ok_or("missing ), unterminated name")?;
                let place = self.names.iter().position(|known| *known == name);
                let place = place.ok_or_else(|| format!("unknown group name `{name}`"))?;
                let width = self.groups[self.named_places[place]].ok_or("cannot refer to an open group")?;
                self.out.push_str(&format!("(?P={name})"));
                Ok(Last::Item(width))
            }
            _ => Err("unknown extension ?P".to_owned()),
        }
    }

    fn conditional(&mut self, flags: Flags, depth: usize) -> Result<Last, String> {
        let condition = self.until(')').ok_or("missing ), unterminated name")?;
        let number = condition.parse::<usize>().ok();
        let known = number.map_or_else(|| self.names.contains(&condition), |number| number > 0);
        if !known {
            return Err(format!("unknown group name `{condition}`"));
        }
        match number {
            Some(number) => self.out.push_str(&format!("(?({number})")),
            None => self.out.push_str(&format!("(?(<{condition}>)")),
        }
        match self.close_counted(flags, depth)? {
            (width, 1) => Ok(Last::Item(Width::NONE.or(Some(width)))),
            (width, 2) => Ok(Last::Item(width)),
            _ => Err("conditional backref with more than two branches".to_owned()),
        }
    }

    /// `(?i-s:…)`: flags for a part.
    fn flagged(&mut self, first: char, mut flags: Flags, depth: usize) -> Result<Last, String> {
        let (mut on, mut ignore_case, mut letter) = (true, None, first);
        loop {
            match letter {
                '-' if on => on = false,
                ':' => break,
                ')' => return Err("global flags not at the start of the expression".to_owned()),
                letter if is_flag(letter) => {
                    flags.turn(letter, on)?;
                    if letter == 'i' {
                        ignore_case = Some(on);
                    }
                }
                _ => return Err("unknown flag".to_owned()),
            }
            letter = self.next().ok_or("missing flag, - or :")?;
        }
        self.out.push_str(match ignore_case {
            Some(true) => "(?i:",
            Some(false) => "(?-i:",
            None => "(?:",
        });
        self.close(flags, depth).map(Last::Item)
    }
}

fn is_name(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}
