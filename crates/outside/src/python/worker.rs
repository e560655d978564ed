//! The Python package that comes with us, laid out for an interpreter to find.
//!
//! *Invariant:* what is laid out is what this binary was built with.

use std::io;
use std::path::{Path, PathBuf};

/// The files of the package.
const FILES: [(&str, &str); 6] = [
    ("__init__.py", include_str!("../../../../python/heldset/__init__.py")),
    ("client.py", include_str!("../../../../python/heldset/client.py")),
    ("letta.py", include_str!("../../../../python/heldset/letta.py")),
    ("record.py", include_str!("../../../../python/heldset/record.py")),
    ("trajectory.py", include_str!("../../../../python/heldset/trajectory.py")),
    ("worker.py", include_str!("../../../../python/heldset/worker.py")),
];

/// Lays the package out in a folder, which is then where to import from.
pub(crate) fn lay_out(folder: &Path) -> io::Result<PathBuf> {
    let package = folder.join("heldset");
    std::fs::create_dir_all(&package)?;
    for (name, text) in FILES {
        std::fs::write(package.join(name), text)?;
    }
    Ok(folder.to_owned())
}

/// The variables of an interpreter that finds the package, and modules in a folder.
pub(crate) fn variables(library: &Path, folder: &Path) -> Vec<(String, String)> {
    let path = format!("{}:{}", library.display(), folder.display());
    [("PYTHONPATH", path.as_str()), ("PYTHONDONTWRITEBYTECODE", "1"), ("PYTHONIOENCODING", "utf-8")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
}
