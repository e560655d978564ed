//! Dates and times as text: RFC 3339, with as many digits of a second as the unit has.

use arrow::datatypes::TimeUnit;
use arrow::temporal_conversions::date32_to_datetime;

const DAY: i64 = 86_400;

/// `YYYY-MM-DD` of a count of days since 1970; `None` outside the years 0000 to 9999.
pub(super) fn date(days: i64) -> Option<String> {
    let date = date32_to_datetime(i32::try_from(days).ok()?)?.date().to_string();
    (!date.starts_with(['+', '-'])).then_some(date)
}

/// A date in milliseconds; one that is not a whole day keeps its time.
pub(super) fn date_of_milliseconds(value: i64) -> Option<String> {
    match value.rem_euclid(DAY * 1000) {
        0 => date(value.div_euclid(DAY * 1000)),
        _ => timestamp(value, TimeUnit::Millisecond, false),
    }
}

/// A point in time, with `Z` when the column has a zone.
pub(super) fn timestamp(value: i64, unit: TimeUnit, has_zone: bool) -> Option<String> {
    let per_day = DAY * per_second(unit);
    let date = date(value.div_euclid(per_day))?;
    let time = time(value.rem_euclid(per_day), unit)?;
    Some(format!("{date}T{time}{}", if has_zone { "Z" } else { "" }))
}

/// A time of day; `None` when it is not within one.
pub(super) fn time(value: i64, unit: TimeUnit) -> Option<String> {
    let per_second = per_second(unit);
    let seconds = value / per_second;
    if value < 0 || seconds >= DAY {
        return None;
    }
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let fraction = match (value % per_second, unit) {
        (0, _) | (_, TimeUnit::Second) => String::new(),
        (part, TimeUnit::Millisecond) => format!(".{part:03}"),
        (part, TimeUnit::Microsecond) => format!(".{part:06}"),
        (part, TimeUnit::Nanosecond) => format!(".{part:09}"),
    };
    Some(format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}
