//! How long versions are kept: until a day, or for so many days.
//!
//! *Invariant:* a term that cannot be read keeps everything.

use heldset_core::value::Value;
use heldset_store::documents::{DatasetDoc, VersionDoc};

use crate::resolve::mapping;

/// Why a version is past its time; nothing if it is not. `now` is as the clock writes it.
pub(crate) fn expired(dataset: &DatasetDoc, version: &VersionDoc, now: &str) -> Option<String> {
    let terms = mapping(dataset.retention.as_deref()?);
    let today = day_of(now)?;
    if let Some(until) = terms.get("until").and_then(Value::as_str)
        && day_of(until)? < today
    {
        return Some(format!("it was to be kept until {until}"));
    }
    let Some(Value::Number(days)) = terms.get("retain_days") else { return None };
    let days = days.as_i64()?;
    let made = day_of(&version.created_at)?;
    (made.checked_add(days)? < today).then(|| format!("it was to be kept for {days} days"))
}

/// The number of a day, counted from 1970-01-01.
fn day_of(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let dashes = text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
    if !dashes || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March here, so that the leap day is their last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (century, of_century) = (year.div_euclid(100), year.rem_euclid(100));
    Some(century * 146_097 / 4 + of_century * 1461 / 4 + (month * 153 + 2) / 5 + day - 719_469)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_over_months_leap_days_and_centuries() {
        for (text, day) in [
            ("1970-01-01", 0),
            ("1970-01-02T10:00:00Z", 1),
            ("1969-12-31", -1),
            ("1972-02-29", 789),
            ("1972-03-01", 790),
            ("2000-02-29", 11_016),
            ("2000-03-01", 11_017),
            ("2026-05-01", 20_574),
            ("2100-03-01", 47_541),
        ] {
            assert_eq!(day_of(text), Some(day), "{text}");
        }
        for text in ["", "2026", "2026/05/01", "2026-13-01", "2026-00-01", "soon"] {
            assert_eq!(day_of(text), None, "{text}");
        }
    }
}
