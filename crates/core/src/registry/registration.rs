//! What a store asks of a registration: checksum, manifest, license, provenance, visibility.
//!
//! *Invariant:* nothing that is asked for is taken as given because it is usual; each is met by something that is
//! written down.

use super::Unmet;

/// Something that a store can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Requirement {
    /// The digest of every file is written down: the declaration pins it, or it is computed as the file is read.
    Checksum,
    /// The declaration itself lists every file with its digest, so that nobody can bring others.
    Manifest,
    /// A license.
    License,
    /// Where it comes from.
    Provenance,
    /// Who may see each split is stated, or follows from labels and rules that are.
    Visibility,
}

/// What a declaration and its files come with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// Files whose digest is written down nowhere.
    pub without_digest: Vec<String>,
    /// Files that the declaration does not pin.
    pub without_pin: Vec<String>,
    /// Whether there is a license.
    pub license: bool,
    /// Whether it says where it comes from.
    pub provenance: bool,
    /// Splits of which nothing says who may see them.
    pub without_label: Vec<String>,
}

impl Requirement {
    /// What a store asks for that says nothing else.
    pub const DEFAULT: [Requirement; 2] = [Requirement::Visibility, Requirement::Checksum];

    /// The names.
    pub const NAMES: &'static [&'static str] = &["checksum", "manifest", "license", "provenance", "visibility"];

    /// The name.
    pub fn name(self) -> &'static str {
        Requirement::NAMES[self as usize]
    }

    /// The requirement of that name.
    pub fn parse(name: &str) -> Option<Requirement> {
        use Requirement::{Checksum, License, Manifest, Provenance, Visibility};
        [Checksum, Manifest, License, Provenance, Visibility].into_iter().find(|one| one.name() == name)
    }

    /// What a declaration lacks for it.
    pub fn unmet(self, declared: &Declared) -> Option<Unmet> {
        let listed = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let (met, help) = match self {
            Requirement::Checksum => {
                let of = &declared.without_digest;
                (of.is_empty(), format!("bring {} here, or pin it under `checksum`", listed(of)))
            }
            Requirement::Manifest => {
                let of = &declared.without_pin;
                (of.is_empty(), format!("pin {} under `checksum`, as `NAME: \"sha256:…\"`", listed(of)))
            }
            Requirement::License => (declared.license, "state it: `metadata: {license: …}`".to_owned()),
            Requirement::Provenance => {
                (declared.provenance, "state it: `spec: {provenance: {imported_from: …}}`".to_owned())
            }
            Requirement::Visibility => {
                let of = &declared.without_label;
                let help = format!("say who may see {}: `visibility: agent_visible` or a sealed label", listed(of));
                (of.is_empty(), help)
            }
        };
        (!met).then_some(Unmet { what: self.name(), help })
    }
}
