//! How many errors a run may have.
//!
//! *Invariant:* what is written reads back to the same limit.

use std::fmt;
use std::str::FromStr;

use super::Limit;

impl Limit {
    /// Whether so many of so many planned are too many.
    pub fn is_exceeded(self, count: u64, planned: u64) -> bool {
        match self {
            Limit::Count(most) => count > most,
            Limit::Share(share) => count as f64 > share * planned as f64 + 1e-9,
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Limit::Count(most) => write!(out, "{most}"),
            Limit::Share(share) => write!(out, "{}%", share * 100.0),
        }
    }
}

impl FromStr for Limit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let Some(percent) = text.strip_suffix('%') else { return text.parse().map(Limit::Count).map_err(drop) };
        let percent: f64 = percent.trim().parse().map_err(drop)?;
        if (0.0..=100.0).contains(&percent) { Ok(Limit::Share(percent / 100.0)) } else { Err(()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_limit_counts_or_is_a_share() {
        let check = |text: &str, count, planned, exceeded| {
            let limit: Limit = text.parse().unwrap();
            assert_eq!(limit.to_string(), text);
            assert_eq!(limit.is_exceeded(count, planned), exceeded, "{text}: {count} of {planned}");
        };
        check("10%", 1, 10, false);
        check("10%", 2, 10, true);
        check("0", 1, 10, true);
        check("3", 3, 3, false);
        check("100%", 3, 3, false);
        assert_eq!("120%".parse::<Limit>(), Err(()));
    }
}
