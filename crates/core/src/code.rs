//! The stable codes of everything that can be wrong with data or with a request.
//!
//! *Invariant:* a code never changes its meaning and is never used again for another one.
//! Each has a page in `docs/codes/` and a test that makes it appear.

use std::fmt;

macro_rules! codes {
    ($($code:ident $title:literal,)+) => {
        /// A stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the title says what each code means")]
        pub enum Code { $($code,)+ }

        /// The page of a code, as Markdown.
        pub fn page(code: Code) -> &'static str {
            match code {
                $(Code::$code => include_str!(concat!("../../../docs/codes/", stringify!($code), ".md")),)+
            }
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Code] = &[$(Code::$code,)+];

            /// What is wrong, in a few words.
            pub fn title(self) -> &'static str {
                match self { $(Code::$code => $title,)+ }
            }

            /// The code as people cite it.
            pub fn name(self) -> &'static str {
                match self { $(Code::$code => stringify!($code),)+ }
            }
        }
    };
}

codes! {
    // text and containers
    E001 "invalid UTF-8",
    E002 "invalid JSON",
    E003 "duplicate key",
    E004 "integer beyond 64 bits",
    E005 "number out of range",
    E006 "lone surrogate",
    E007 "nested too deep",
    E008 "too large",
    E009 "expands too much",
    E010 "damaged compressed file",
    // records
    E011 "missing id",
    E012 "duplicate id",
    E013 "invalid id",
    E014 "missing input",
    E015 "wrong type",
    E016 "unknown role",
    E017 "answers do not match the turns",
    E018 "two values for one field",
    E019 "missing file",
    E020 "path leaves its folder",
    E021 "wrong-shaped file",
    E022 "incomplete memory seed",
    E023 "empty dataset",
    E024 "not a dataset",
    // containers again
    E025 "invalid YAML",
    E026 "alias expansion",
    E027 "custom YAML tag",
    E028 "invalid CSV",
    E029 "more cells than columns",
    E030 "invalid JSON in a cell",
    E031 "invalid header",
    E032 "not a mapping",
    E033 "invalid field name",
    E034 "unreadable columns",
    E035 "does not fit the schema",
    E036 "cannot be carried",
    E037 "invalid schema",
    E038 "repeated version",
    E039 "refused by the released loader",
    // versions
    E040 "unlabelled answer",
    E041 "answer without a prompt",
    E042 "checksum mismatch",
    E043 "invalid policy",
    E044 "incomplete provenance",
    E045 "erased record",
    // the registry
    E046 "invalid metadata",
    E047 "forbidden move",
    E048 "requirements not met",
    E049 "wrong region",
    // plans
    E050 "unknown key in a plan",
    E051 "invalid plan",
    E052 "invalid filter",
    E053 "nothing selected",
    E054 "unknown agent",
    E055 "unknown name in a template",
    E056 "ambiguous accuracy",
    E057 "secret in the clear",
    E058 "invalid target",
    E059 "invalid grader",
    E060 "invalid gate",
    // schemas and queries
    E061 "breaking change",
    E062 "unknown field",
    E063 "value of another type",
    E064 "invalid query",
    E065 "invalid cursor",
    E066 "refused SQL",
    // sources and preparations
    E067 "invalid source",
    E068 "invalid mapping",
    E069 "invalid preparation",
    E070 "source failed",
    E071 "unexpected answer",
    E072 "pages do not fit together",
    E073 "address not allowed",
    E074 "credential out of scope",
    E075 "not in this status",
    E076 "not replayable",
    E077 "registration rule not met",
    E078 "stale",
    // requests
    E101 "cannot be opened",
    E102 "unknown name",
    E103 "invalid combination",
    E104 "cannot be written",
    E105 "invalid usage",
    E110 "no store",
    E111 "newer format",
    E112 "store in use",
    E113 "store cannot be written",
    E114 "missing key",
    E115 "somebody else was faster",
    E116 "already there",
    // runs
    E117 "run not finished",
    E119 "run in progress",
    // visibility
    E120 "not for this audience",
    E121 "not to this place",
    E122 "lets more out",
    E123 "no isolation",
    // integrity
    E130 "damaged",
    E131 "pinned file changed",
    // legal and unwise
    H001 "whole-sentence reference",
    H002 "outcome quotes exact words",
    H003 "near-duplicate inputs",
    H004 "missing references",
    H005 "column name with spaces around it",
    H006 "path matches nothing",
    H007 "declared and computed differ",
    H008 "near-duplicates across splits",
}

impl Code {
    /// The code of that name, in any case.
    pub fn parse(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name().eq_ignore_ascii_case(name))
    }

    /// Whether this is advice about legal data.
    pub fn is_hint(self) -> bool {
        self.name().starts_with('H')
    }
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}
