//! Texts as words of a shell script.

/// `text` as one word that the shell leaves alone. It must hold no NUL, which no shell can keep.
#[must_use]
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_survives_quoting() {
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
    }
}
