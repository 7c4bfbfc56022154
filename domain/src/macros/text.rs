//! Where macros stand in a text.

use super::syntax::is_quote;

/// How a text that is meant as a macro begins.
const BEGINNINGS: [&str; 7] = ["cluster.", "host.", "instance.", "ip.", "join(", "map(", "num."];

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Stays as it is.
    Text(&'a str),
    /// What stands between two percent signs.
    Macro(&'a str),
}

/// Cuts a text into its pieces; put together again they are the text, with `%%` turned into `%`.
///
/// From the left: `%%` is a percent sign. A `%` opens a macro if there is a closing `%` and what lies between begins
/// with a letter and either holds no white space or begins like a macro. Any other `%` is plain text. Inside the quotes
/// of a macro, `%%` does not close it.
pub(super) fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, sign) = rest.split_at(at);
        let after = &sign[1..];
        pieces.push(Piece::Text(before));
        if let Some(beyond) = after.strip_prefix('%') {
            pieces.push(Piece::Text("%"));
            rest = beyond;
        } else if let Some(inner) = macro_at_start(after) {
            pieces.push(Piece::Macro(inner));
            rest = &after[inner.len() + 1..];
        } else {
            pieces.push(Piece::Text("%"));
            rest = after;
        }
    }
    pieces.push(Piece::Text(rest));
    pieces
}

/// The macro that `text`, which follows a percent sign, begins with.
fn macro_at_start(text: &str) -> Option<&str> {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let inner = &text[..closing_sign(text)?];
    let meant = BEGINNINGS.iter().any(|word| inner.starts_with(word));
    (meant || !inner.contains(char::is_whitespace)).then_some(inner)
}

/// Byte position of the percent sign that closes the macro `text` begins with.
fn closing_sign(text: &str) -> Option<usize> {
    let mut open_quote = None;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        if c == '%' {
            let doubled = characters.next_if(|(_, next)| *next == '%').is_some();
            if !(doubled && open_quote.is_some()) {
                return Some(at);
            }
        } else if open_quote == Some(c) {
            open_quote = None;
        } else if open_quote.is_none() && is_quote(c) {
            open_quote = Some(c);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn macros(text: &str) -> Vec<&str> {
        let only = |piece| if let Piece::Macro(inner) = piece { Some(inner) } else { None };
        pieces(text).into_iter().filter_map(only).collect()
    }

    fn plain(text: &str) -> String {
        let only = |piece| if let Piece::Text(text) = piece { text } else { "" };
        pieces(text).into_iter().map(only).collect()
    }

    #[test]
    fn only_text_that_looks_like_a_macro_is_one() {
        for (text, expected) in [
            ("%abc%", vec!["abc"]),
            ("a%host.self%b%ip.self%", vec!["host.self", "ip.self"]),
            ("%host.self %", vec!["host.self "]),
            ("%join(host.service.a, '-')%", vec!["join(host.service.a, '-')"]),
            ("50%x%", vec!["x"]),
            ("100% of 50% x", vec![]),
            ("%Y-%m %d", vec!["Y-"]),
            ("%d items at %s", vec![]),
            ("a%20b%20c", vec![]),
            ("100% of %host.self%", vec!["host.self"]),
            ("%host.self", vec![]),
            ("%", vec![]),
        ] {
            assert_eq!(macros(text), expected, "{text}");
        }
    }

    #[test]
    fn doubled_signs_are_one_sign_and_part_no_macros() {
        assert_eq!(plain("50%% of %host.self%"), "50% of ");
        assert_eq!(plain("%%host.self%%"), "%host.self%");
        assert_eq!(macros("%host.self%%ip.self%"), ["host.self", "ip.self"]);
        assert_eq!(macros("%%%host.self%%%"), ["host.self"]);
        assert_eq!(plain("%%%host.self%%%"), "%%");
    }

    #[test]
    fn doubled_signs_in_quotes_do_not_close_a_macro() {
        assert_eq!(macros("%map(host.self,'$ 5%%')%%%"), ["map(host.self,'$ 5%%')"]);
        assert_eq!(macros("%map(host.self,'$% b"), ["map(host.self,'$"]);
    }
}
