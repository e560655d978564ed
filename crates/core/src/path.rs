//! Where inside a value something is: `turns[1].role`.

use std::fmt;

/// A way from a value down to one of its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path(Vec<Step>);

/// One step down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Into a mapping.
    Key(String),
    /// Into a list, from 0.
    Index(usize),
}

impl Path {
    /// The value itself.
    pub fn root() -> Self {
        Path::default()
    }

    /// A field of the value.
    pub fn key(name: &str) -> Self {
        Path::root().then_key(name)
    }

    /// One step further, into a mapping.
    pub fn then_key(&self, name: &str) -> Self {
        self.then(Step::Key(name.to_owned()))
    }

    /// One step further, into a list.
    pub fn then_index(&self, index: usize) -> Self {
        self.then(Step::Index(index))
    }

    /// This path, seen from where `outer` starts.
    pub fn under(&self, outer: &Path) -> Self {
        Path(outer.0.iter().chain(&self.0).cloned().collect())
    }

    /// The steps from the outside in.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Whether this is the value itself.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    fn then(&self, step: Step) -> Self {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }
}

impl From<Vec<Step>> for Path {
    fn from(steps: Vec<Step>) -> Self {
        Path(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, step) in self.0.iter().enumerate() {
            match step {
                Step::Key(name) if depth == 0 => out.write_str(name)?,
                Step::Key(name) => write!(out, ".{name}")?,
                Step::Index(index) => write!(out, "[{index}]")?,
            }
        }
        Ok(())
    }
}
