//! Residency: whether data that must lie in a region may lie in a store.
//!
//! *Invariant:* a part of a region is in the region; the region is not in its part.

/// Whether a store in `region` is where data that must stay in `residency` may lie. A store that says nothing of its
/// region is not judged: whoever runs it vouches for it.
pub fn resides(residency: &str, region: Option<&str>) -> bool {
    let Some(region) = region else { return true };
    let (residency, region) = (residency.to_lowercase(), region.to_lowercase());
    region == residency || region.strip_prefix(&residency).is_some_and(|rest| rest.starts_with('-'))
}
