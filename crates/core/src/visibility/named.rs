//! Small closed vocabularies: an enumeration whose variants have names.
//!
//! *Invariant:* a name that is written is read back as its variant.

/// Declares an enumeration with `ALL`, `name`, `parse` and `Display`.
macro_rules! named {
    ($(#[$about:meta])* $type:ident: $all:literal $($variant:ident $name:literal $what:literal,)+) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type { $(#[doc = $what] $variant,)+ }

        impl $type {
            #[doc = $all]
            pub const ALL: &'static [$type] = &[$($type::$variant,)+];

            /// The name as policies write it.
            pub fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)+ }
            }

            /// The one of that name.
            pub fn parse(name: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|one| one.name() == name)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.name())
            }
        }
    };
}

pub(super) use named;
