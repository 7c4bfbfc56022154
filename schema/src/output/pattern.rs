//! What is looked for in lines.

use memchr::memmem::Finder;
use regex::bytes::{Regex, RegexBuilder};

use super::block::Block;
use crate::error::StoreError;

/// Longest text or expression that is looked for, in bytes.
const MAX_PATTERN: usize = 512;
/// Most memory that an expression may take, in bytes, and its automaton again.
const MAX_COMPILED: usize = 1 << 20;
/// How deep groups of an expression may be nested.
const MAX_NESTED: u32 = 32;

/// What is looked for in lines. The time it takes grows with the text and never faster, whatever the expression.
#[derive(Debug, Clone)]
pub struct Pattern(Kind);

#[derive(Debug, Clone)]
enum Kind {
    /// A text as it is.
    Text(Box<Finder<'static>>),
    /// A text in any case: never goes beyond a line, so that it is looked for in many at once.
    AnyCase(Regex),
    /// An expression: looked for line by line, so that `^` and `$` are where lines begin and end.
    Expression(Regex),
}

/// Why something is not looked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternFault {
    /// There is nothing to look for.
    #[error("is empty")]
    Empty,
    /// It is too long.
    #[error("has {0} bytes, and at most {MAX_PATTERN} are looked for")]
    TooLong(usize),
    /// It goes beyond a line.
    #[error("has a line feed, and lines are looked through one by one")]
    ManyLines,
    /// It is no expression, or one that takes too much memory.
    #[error("is no regular expression that can be used: {0}")]
    Expression(String),
}

impl Pattern {
    /// A text, or a regular expression, in any case or as it is.
    ///
    /// # Errors
    /// When it cannot be looked for.
    pub fn new(text: &str, any_case: bool, is_expression: bool) -> Result<Self, PatternFault> {
        if text.is_empty() {
            return Err(PatternFault::Empty);
        }
        if text.len() > MAX_PATTERN {
            return Err(PatternFault::TooLong(text.len()));
        }
        if is_expression {
            return compiled(text, any_case).map(|regex| Self(Kind::Expression(regex)));
        }
        if text.contains('\n') {
            return Err(PatternFault::ManyLines);
        }
        if any_case {
            return compiled(&regex::escape(text), true).map(|regex| Self(Kind::AnyCase(regex)));
        }
        Ok(Self(Kind::Text(Box::new(Finder::new(text).into_owned()))))
    }

    /// Places of the lines that have it, in order.
    ///
    /// # Errors
    /// When the block is damaged.
    pub(super) fn places(&self, block: &Block) -> Result<Vec<usize>, StoreError> {
        let text = block.text();
        match &self.0 {
            Kind::Text(finder) => lines_at(block, |from| finder.find(text.get(from..)?).map(|at| from + at)),
            Kind::AnyCase(regex) => {
                lines_at(block, |from| regex.find_at(text, from).map(|found| found.start()))
            }
            Kind::Expression(regex) => {
                let spans = block.spans()?.into_iter().enumerate();
                let has =
                    |span| text.get::<std::ops::Range<usize>>(span).is_some_and(|line| regex.is_match(line));
                Ok(spans.filter(|(_, span)| has(span.clone())).map(|(place, _)| place).collect())
            }
        }
    }
}

/// The lines where `find` finds something at or behind a place, each once. What is found never goes beyond a line. Where
/// nothing is found, nothing is read but the text.
fn lines_at(block: &Block, find: impl Fn(usize) -> Option<usize>) -> Result<Vec<usize>, StoreError> {
    let (mut places, Some(mut found)) = (Vec::new(), find(0)) else { return Ok(Vec::new()) };
    let spans = block.spans()?;
    loop {
        let place = spans.partition_point(|span| span.end < found);
        let Some(span) = spans.get(place) else { return Ok(places) };
        places.push(place);
        match find(span.end) {
            Some(next) => found = next,
            None => return Ok(places),
        }
    }
}

fn compiled(text: &str, any_case: bool) -> Result<Regex, PatternFault> {
    RegexBuilder::new(text)
        .case_insensitive(any_case)
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .nest_limit(MAX_NESTED)
        .build()
        .map_err(|fault| PatternFault::Expression(fault.to_string()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Stream;
    use super::super::block::{LineRef, write};
    use super::*;

    fn block(lines: &[String]) -> Block {
        let line = |text| LineRef { at_ms: 0, stream: Stream::Stdout, text };
        Block::read(write(lines.iter().map(|text| line(text.as_str())), 0), 0).unwrap()
    }

    fn found(text: &str, any_case: bool, is_expression: bool, lines: &[&str]) -> Vec<usize> {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        Pattern::new(text, any_case, is_expression).unwrap().places(&block(&lines)).unwrap()
    }

    #[test]
    fn texts_cases_and_expressions_are_found() {
        let lines = ["Error 1", "no error", "", "error error", "a\nerror"];
        assert_eq!(found("error", false, false, &lines), [1, 3, 4]);
        assert_eq!(found("ERROR", true, false, &lines), [0, 1, 3, 4]);
        assert_eq!(found("^error", false, true, &lines), [3]);
        assert_eq!(found("or$", false, true, &lines), [1, 3, 4]);
        assert_eq!(found("^$", false, true, &lines), [2]);
        assert_eq!(found("a.b", false, false, &["axb", "a.b"]), [1]);
    }

    #[test]
    fn what_cannot_be_looked_for_is_said() {
        let fault = |text: &str, is_expression| Pattern::new(text, false, is_expression).unwrap_err();
        assert_eq!(fault("", false), PatternFault::Empty);
        assert_eq!(fault(&"x".repeat(513), false), PatternFault::TooLong(513));
        assert_eq!(fault("a\nb", false), PatternFault::ManyLines);
        for expression in ["(", "a{1000}{1000}", &"(".repeat(100)] {
            assert!(matches!(fault(expression, true), PatternFault::Expression(_)), "{expression}");
        }
    }

    proptest! {
        #[test]
        fn it_is_found_where_it_is(lines in proptest::collection::vec("[ab\n]{0,6}", 0..20), text in "[ab]{1,3}") {
            let pattern = Pattern::new(&text, false, false).unwrap();
            let expected: Vec<usize> =
                lines.iter().enumerate().filter(|(_, line)| line.contains(&text)).map(|(place, _)| place).collect();
            prop_assert_eq!(pattern.places(&block(&lines)).unwrap(), expected.clone());
            let pattern = Pattern::new(&text.to_uppercase(), true, false).unwrap();
            prop_assert_eq!(pattern.places(&block(&lines)).unwrap(), expected);
        }
    }
}
