//! Certification levels and what each asks for.
//!
//! *Invariant:* a level asks for everything that the levels below it ask for; what is missing is told whole, each with
//! what to do.

/// How far a dataset is certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Not at all.
    None,
    /// It has a schema, labels and a license.
    Bronze,
    /// It also has provenance, and its digests were computed again.
    Silver,
    /// Two principals also reviewed it, and nothing of it is known to have leaked.
    Gold,
}

/// What is known of a dataset and the version that is to be certified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// It has a registered schema, or stored records that one is inferred from.
    pub schema: bool,
    /// It has a source.
    pub source: bool,
    /// It has a version, and with it a label for every split and field.
    pub version: bool,
    /// It has a license.
    pub license: bool,
    /// It says where it comes from.
    pub provenance: bool,
    /// Its digests were computed again and are the same; nothing if nobody looked.
    pub verified: Option<bool>,
    /// How many principals reviewed this version.
    pub reviews: usize,
    /// How many findings of leaks are open.
    pub findings: u64,
}

/// Something that is asked for and not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// What is missing.
    pub what: &'static str,
    /// What to do.
    pub help: String,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: [Level; 4] = [Level::None, Level::Bronze, Level::Silver, Level::Gold];

    /// The names, for rules and help.
    pub const NAMES: &'static [&'static str] = &["none", "bronze", "silver", "gold"];

    /// The name.
    pub fn name(self) -> &'static str {
        Level::NAMES[self as usize]
    }

    /// The level of that name.
    pub fn parse(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }

    /// What a dataset lacks for this level.
    pub fn unmet(self, facts: &Facts, slug: &str) -> Vec<Unmet> {
        let mut unmet = Vec::new();
        if self >= Level::Bronze {
            unmet.extend([facts.need_schema(slug), facts.need_labels(slug), facts.need_license(slug)]);
        }
        if self >= Level::Silver {
            unmet.extend([facts.need_provenance(slug), facts.need_verify(slug)]);
        }
        if self >= Level::Gold {
            unmet.extend([facts.need_reviews(slug), facts.need_no_findings()]);
        }
        unmet.into_iter().flatten().collect()
    }
}

impl Facts {
    /// What a draft lacks to become active: a schema, and a source or a version.
    pub fn unmet_for_active(&self, slug: &str) -> Vec<Unmet> {
        let filled = self.source || self.version;
        let help =
            format!("import files with `heldset import {slug} FILE`, or add one with `heldset source add {slug}`");
        let source = need(filled, "a source or a version", help);
        [self.need_schema(slug), source].into_iter().flatten().collect()
    }

    /// What is missing to be published at a level: whatever the level, license, provenance, labels and a passing verify.
    pub fn unmet_for_published(&self, level: Level, slug: &str) -> Vec<Unmet> {
        // Together that is what silver asks for, so a published bronze lacks nothing of it either.
        level.max(Level::Silver).unmet(self, slug)
    }

    fn need_schema(&self, slug: &str) -> Option<Unmet> {
        let help = format!("import records, or register one with `heldset schema register {slug} FILE`");
        need(self.schema, "a schema", help)
    }

    fn need_labels(&self, slug: &str) -> Option<Unmet> {
        let help = format!("labels come with a version: `heldset import {slug} FILE`");
        need(self.version, "labels", help)
    }

    fn need_license(&self, slug: &str) -> Option<Unmet> {
        need(self.license, "a license", format!("`heldset dataset update {slug} --set license=CC-BY-4.0`"))
    }

    fn need_provenance(&self, slug: &str) -> Option<Unmet> {
        let help = format!("`heldset import {slug} --provenance imported_from=…`, or `provenance` in its declaration");
        need(self.provenance, "provenance", help)
    }

    fn need_verify(&self, slug: &str) -> Option<Unmet> {
        let help = format!("see what `heldset verify {slug}` says, and bring back what is damaged");
        need(self.verified == Some(true), "a passing verify", help)
    }

    fn need_reviews(&self, slug: &str) -> Option<Unmet> {
        let more = 2_usize.saturating_sub(self.reviews);
        let help = format!("{more} more of its users run `heldset dataset review {slug}`");
        need(more == 0, "a review by two principals", help)
    }

    fn need_no_findings(&self) -> Option<Unmet> {
        let help = format!("take away the {} that `heldset scan` found, and scan the same place again", self.findings);
        need(self.findings == 0, "a clean scan", help)
    }
}

fn need(met: bool, what: &'static str, help: String) -> Option<Unmet> {
    (!met).then_some(Unmet { what, help })
}
