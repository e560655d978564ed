//! Arrows between crates point down, never up or sideways.

use cargo_metadata::{DependencyKind, MetadataCommand};

/// The floor of each crate; crates on one floor do not know each other.
const FLOORS: &[(&str, u8)] = &[
    ("heldset-core", 1),
    ("heldset-dialect", 2),
    ("heldset-store", 2),
    ("heldset-grade", 2),
    ("heldset-query", 2),
    ("heldset-engine", 3),
    ("heldset-outside", 4),
    ("heldset-cli", 5),
    // Not shipped: may look at everything below the commands.
    ("heldset-testkit", 4),
    ("xtask", 5),
];

fn floor(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(known, _)| *known == name).map(|(_, floor)| *floor)
}

#[test]
fn dependencies_point_to_lower_floors_only() {
    let metadata = MetadataCommand::new().no_deps().other_options(vec!["--offline".to_owned()]).exec().unwrap();
    assert!(metadata.packages.len() >= FLOORS.len(), "the workspace was not read");
    for package in &metadata.packages {
        let own = floor(&package.name).unwrap_or_else(|| panic!("crate `{}` has no floor: give it one", package.name));
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal) {
            if let Some(other) = floor(&dependency.name) {
                assert!(
                    other < own,
                    "`{}` (floor {own}) must not know `{}` (floor {other})",
                    package.name,
                    dependency.name
                );
            }
        }
    }
}

#[test]
fn no_crate_has_features() {
    let metadata = MetadataCommand::new().no_deps().other_options(vec!["--offline".to_owned()]).exec().unwrap();
    for package in &metadata.packages {
        assert!(package.features.is_empty(), "`{}` has features: back ends are chosen at run time", package.name);
    }
}
