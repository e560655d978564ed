//! Deletion: whether something of a dataset is to be deleted, or was.
//!
//! *Invariant:* what was deleted never counts as kept again; that everything is gone is said only of a dataset without
//! versions.

/// How far deletion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deletion {
    /// Nothing was deleted.
    None,
    /// Somebody asked for it.
    Requested,
    /// Records or versions were.
    Partial,
    /// No version is left.
    Erased,
}

impl Deletion {
    /// The names, in order.
    pub const NAMES: &'static [&'static str] = &["none", "requested", "partial", "erased"];

    /// The state of that name.
    pub fn parse(name: &str) -> Option<Deletion> {
        let all = [Deletion::None, Deletion::Requested, Deletion::Partial, Deletion::Erased];
        all.into_iter().find(|one| one.name() == name)
    }

    /// The name.
    pub fn name(self) -> &'static str {
        Deletion::NAMES[self as usize]
    }

    /// What somebody may say of it next; `erase` and `gc` say the rest themselves.
    pub fn moves(self) -> &'static [Deletion] {
        match self {
            Deletion::None => &[Deletion::Requested],
            // A request can be taken back.
            Deletion::Requested => &[Deletion::None, Deletion::Partial, Deletion::Erased],
            Deletion::Partial => &[Deletion::Erased],
            Deletion::Erased => &[],
        }
    }

    /// Whether it may become `to`; staying what it is is no move.
    pub fn may_become(self, to: Deletion) -> bool {
        self == to || self.moves().contains(&to)
    }
}
