//! Texts that are kept in files, so that a change to what people see is looked at.

use std::path::Path;

/// The text, without colours, is what the file holds. `UPDATE_GOLDEN=1 cargo test` writes the file.
pub fn assert_golden(file: &str, text: &str) {
    let text = console::strip_ansi_codes(text);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text.as_bytes()).unwrap();
        return;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let diff = similar::TextDiff::from_lines(kept.as_str(), &text);
    assert!(kept == text, "{file} differs; UPDATE_GOLDEN=1 rewrites it:\n{}", diff.unified_diff());
}
