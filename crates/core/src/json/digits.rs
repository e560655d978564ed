//! Numbers: short ones are read on the way, all others by the exact rules of [`crate::number`].

use super::read::{JsonError, JsonProblem, Reader};
use crate::number::Number;
use crate::value::Value;

impl<'a> Reader<'a> {
    pub(super) fn number(&mut self) -> Result<Value<'a>, Box<JsonError>> {
        let start = self.at;
        let negative = self.peek() == Some(b'-');
        if negative {
            self.at += 1;
        }
        let first = self.at;
        let mut small = self.plain_digits(0);
        let whole = self.at - first;
        if whole == 0 {
            return Err(self.syntax("a digit"));
        }
        if whole > 1 && self.bytes[first] == b'0' {
            self.at = first;
            return Err(self.syntax("a number without leading zeros"));
        }
        let mut places = 0;
        if self.peek() == Some(b'.') && matches!(self.bytes.get(self.at + 1), Some(b'0'..=b'9')) {
            self.at += 1;
            let point = self.at;
            small = self.plain_digits(small);
            places = self.at - point;
        }
        let signed = if negative { small.wrapping_neg() } else { small };
        if whole + places <= 15 && !matches!(self.peek(), Some(b'.' | b'e' | b'E')) {
            if places == 0 {
                return Ok(Value::Number(Number::from_i64(signed)));
            }
            if let Some(number) = Number::from_short_decimal(signed, places) {
                return Ok(Value::Number(number));
            }
        }
        self.fraction_and_exponent()?;
        Number::from_literal(&self.text[start..self.at])
            .map(Value::Number)
            .map_err(|error| self.error_at(start, JsonProblem::Number(error)))
    }

    /// Passes over digits and adds them to a number, which means something only while there are few.
    #[inline]
    fn plain_digits(&mut self, mut number: i64) -> i64 {
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            number = number.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    fn fraction_and_exponent(&mut self) -> Result<(), Box<JsonError>> {
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Box<JsonError>> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.syntax("a digit"));
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }
}
