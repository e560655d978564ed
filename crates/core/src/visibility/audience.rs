//! Audiences: for whom a token, a worker, a page, a judge or a log sink acts.
//!
//! *Invariant:* a set of audiences is two bytes, and is written with its names in alphabetical order.

use std::fmt;

use super::named::named;

named! {
    /// One who may look at data.
    Audience: "Every audience, in alphabetical order."
    Agent "agent" "The system under test.",
    Annotator "annotator" "People who label records.",
    Dashboard "dashboard" "Pages that show results.",
    Evaluator "evaluator" "Those who score.",
    Export "export" "Unattended sinks.",
    Grader "grader" "The code or judge that compares with answers.",
    Infrastructure "infrastructure" "Schedulers, caches, sync.",
    Log "log" "Log sinks.",
    Operator "operator" "Those who run the store.",
    Tool "tool" "Tools that an agent calls.",
    Trainer "trainer" "Training jobs.",
}

/// A set of audiences.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Audiences(u16);

impl Audience {
    const fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl Audiences {
    /// Nobody.
    pub const NONE: Audiences = Audiences(0);

    /// These audiences.
    pub const fn of(audiences: &[Audience]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < audiences.len() {
            bits |= audiences[index].bit();
            index += 1;
        }
        Audiences(bits)
    }

    /// Everybody.
    pub const fn all() -> Self {
        Audiences::of(Audience::ALL)
    }

    /// The same set without one audience.
    #[must_use]
    pub const fn without(self, audience: Audience) -> Self {
        Audiences(self.0 & !audience.bit())
    }

    /// Whether an audience is in the set.
    pub const fn contains(self, audience: Audience) -> bool {
        self.0 & audience.bit() != 0
    }

    /// Whether all of this set are in `other`.
    pub const fn is_subset(self, other: Audiences) -> bool {
        self.0 & !other.0 == 0
    }

    /// Those who are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Audiences) -> Self {
        Audiences(self.0 & other.0)
    }

    /// Whether nobody is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The audiences, in alphabetical order.
    pub fn iter(self) -> impl Iterator<Item = Audience> {
        Audience::ALL.iter().copied().filter(move |audience| self.contains(*audience))
    }
}

impl fmt::Debug for Audiences {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_set().entries(self.iter().map(Audience::name)).finish()
    }
}

impl FromIterator<Audience> for Audiences {
    fn from_iter<I: IntoIterator<Item = Audience>>(audiences: I) -> Self {
        Audiences(audiences.into_iter().fold(0, |bits, audience| bits | audience.bit()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_audience_has_its_own_name_in_alphabetical_order() {
        assert_eq!(Audience::ALL.len(), 11);
        assert!(Audience::ALL.is_sorted_by(|a, b| a.name() < b.name()));
        for audience in Audience::ALL {
            assert_eq!(Audience::parse(audience.name()), Some(*audience));
        }
        assert_eq!(Audience::parse("Agent"), None);
    }

    #[test]
    fn sets_compare_by_their_members() {
        let both = Audiences::of(&[Audience::Grader, Audience::Evaluator]);
        let one = both.without(Audience::Grader);
        assert!(one.is_subset(both) && !both.is_subset(one) && both.is_subset(Audiences::all()));
        assert_eq!(both.iter().map(Audience::name).collect::<Vec<_>>(), ["evaluator", "grader"]);
        assert!(one.intersection(Audiences::of(&[Audience::Agent])).is_empty());
        assert_eq!(Audiences::all().iter().collect::<Audiences>(), Audiences::all());
    }
}
