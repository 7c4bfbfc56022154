//! Values as YAML.

use serde::Serialize;

/// A value as YAML, in block style, keys in the order of the value.
#[must_use]
pub fn render(value: &impl Serialize) -> String {
    // A long line stays one, so that differences are told line by line.
    let options = serde_saphyr::ser_options! { compact_list_indent: false, prefer_block_scalars: false };
    // Plain data with text keys always becomes YAML.
    serde_saphyr::to_string_with_options(value, options).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_rendered_is_read_again_as_the_same() {
        let value = json!({
            "name": "web", "yes": "yes", "number": "12", "empty": {}, "none": null, "on": true,
            "list": [{"a": 1}, [], "x: y", "%host.self%", "line\nline\n", " space", "#no"],
            "long": "word ".repeat(60),
        });
        let text = render(&value);
        let again: serde_json::Value = serde_saphyr::from_str(&text).unwrap();
        assert_eq!(again, value, "{text}");
        assert!(text.starts_with("name: web\n"), "{text}");
    }
}
