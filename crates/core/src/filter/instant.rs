//! Instants: RFC 3339 timestamps as points in time, whatever offset they are written with.
//!
//! *Invariant:* pure reading, no clock; a text without an offset is no instant, because it could be any of many.

/// A point in time. The order of members is the order of time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Instant<'t> {
    /// Seconds since 1970 in UTC.
    pub(crate) seconds: i64,
    /// The digits of the fraction without trailing zeros, so that they compare as text.
    pub(crate) fraction: &'t str,
}

/// Whether a text is an instant.
pub fn is_instant(text: &str) -> bool {
    read(text).is_some()
}

/// The instant that a text is.
pub(crate) fn read(text: &str) -> Option<Instant<'_>> {
    // Most texts are no timestamps: the shape is looked at first.
    let bytes = text.as_bytes();
    let marks = [(4, b"-"), (7, b"-"), (13, b":"), (16, b":")];
    if bytes.len() < 20 || !text.is_ascii() || marks.iter().any(|(at, mark)| bytes[*at] != mark[0]) {
        return None;
    }
    if !matches!(bytes[10], b'T' | b't' | b' ') {
        return None;
    }
    let days = days(number(&text[..4])?, number(&text[5..7])?, number(&text[8..10])?)?;
    let (hour, minute, second) = (number(&text[11..13])?, number(&text[14..16])?, number(&text[17..19])?);
    // A leap second is the first of the next minute, as clocks that do not know them have it.
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, zone) = fraction(&text[19..])?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset(zone)?;
    Some(Instant { seconds, fraction })
}

/// Whether a text is a day, or a point in time.
pub(crate) fn is_day(text: &str) -> bool {
    let day = |text: &str| days(number(text.get(..4)?)?, number(text.get(5..7)?)?, number(text.get(8..)?)?);
    let marks = [4, 7].into_iter().all(|at| text.as_bytes().get(at) == Some(&b'-'));
    read(text).is_some() || text.len() == 10 && marks && day(text).is_some()
}

/// The digits after the point, if there is one, and what follows.
fn fraction(rest: &str) -> Option<(&str, &str)> {
    let Some(digits) = rest.strip_prefix('.') else { return Some(("", rest)) };
    let end = digits.bytes().take_while(u8::is_ascii_digit).count();
    (end > 0).then(|| (digits[..end].trim_end_matches('0'), &digits[end..]))
}

/// Seconds that local time is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "Z" | "z") {
        return Some(0);
    }
    let bytes = zone.as_bytes();
    let sign = match bytes.first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    if bytes.len() != 6 || bytes[3] != b':' {
        return None;
    }
    let (hours, minutes) = (number(&zone[1..3])?, number(&zone[4..])?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3_600 + minutes * 60))
}

/// Days since 1970 of a date in the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let long = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=long).contains(&day) {
        return None;
    }
    let before: i64 = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][usize::try_from(month - 1).ok()?];
    let leap_day = i64::from(leap && month > 2);
    // Leap days of all years before this one.
    let past = year - 1;
    let leaps = past.div_euclid(4) - past.div_euclid(100) + past.div_euclid(400);
    Some(past * 365 + leaps + before + leap_day + day - 1 - 719_162)
}

fn number(digits: &str) -> Option<i64> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_points_in_time() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", Some((0, ""))),
            ("1969-12-31T23:59:59Z", Some((-1, ""))),
            ("2000-02-29 12:00:00z", Some((951_825_600, ""))),
            ("2024-03-01T00:00:00.2500+01:00", Some((1_709_247_600, "25"))),
            ("2024-03-01T00:00:00.000Z", Some((1_709_251_200, ""))),
            ("0001-01-01T00:00:00Z", Some((-62_135_596_800, ""))),
            ("2016-12-31T23:59:60Z", Some((1_483_228_800, ""))),
            ("2024-02-30T00:00:00Z", None),
            ("2023-02-29T00:00:00Z", None),
            ("2024-13-01T00:00:00Z", None),
            ("2024-01-01T24:00:00Z", None),
            ("2024-01-01T00:00:00", None),
            ("2024-01-01", None),
            ("2024-01-01T00:00:00.Z", None),
            ("2024-01-01T00:00:00+1:00", None),
            ("2024-01-01T00:00:00+01:0é", None),
            ("not a timestamp at all", None),
        ] {
            let found = read(text).map(|instant| (instant.seconds, instant.fraction));
            assert_eq!(found, expected, "{text}");
        }
    }
}
