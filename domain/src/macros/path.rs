//! Places in a configuration, as people write them: `shop.hosts[2]`.

/// `path`, seen from one step further out: `step` is a key, or an index as `[2]`.
pub(super) fn within(step: &str, path: &str) -> String {
    let dot = if path.is_empty() || path.starts_with('[') { "" } else { "." };
    format!("{step}{dot}{path}")
}
