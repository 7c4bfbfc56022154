//! A figure beside what it should be.

use serde::Serialize;

/// A figure beside what it should be.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figure {
    /// Of what.
    pub what: String,
    measured: f64,
    unit: &'static str,
    #[serde(flatten)]
    target: Target,
    reached: bool,
}

/// What a figure should be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// No more than this.
    AtMost(f64),
    /// No less than this.
    AtLeast(f64),
}

impl Figure {
    /// What was measured, in which unit (none for ratios), and what it should be.
    pub fn new(what: impl Into<String>, measured: f64, unit: &'static str, target: Target) -> Self {
        let reached = match target {
            Target::AtMost(most) => measured <= most,
            Target::AtLeast(least) => measured >= least,
        };
        Self { what: what.into(), measured, unit, target, reached }
    }

    /// Whether it is what it should be.
    #[must_use]
    pub const fn is_reached(&self) -> bool {
        self.reached
    }

    /// What was measured, for people.
    #[must_use]
    pub fn value(&self) -> String {
        format!("{:.3} {}", self.measured, self.unit).trim_end().to_owned()
    }

    /// What it should be, for people.
    #[must_use]
    pub fn target(&self) -> String {
        let (word, value) = match self.target {
            Target::AtMost(most) => ("at most", most),
            Target::AtLeast(least) => ("at least", least),
        };
        format!("{word} {value} {}", self.unit).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_the_line_is_reached() {
        for (measured, target, reached) in [
            (1.0, Target::AtMost(1.0), true),
            (1.1, Target::AtMost(1.0), false),
            (2.0, Target::AtLeast(2.0), true),
            (1.9, Target::AtLeast(2.0), false),
        ] {
            assert_eq!(
                Figure::new("x", measured, "ms", target).is_reached(),
                reached,
                "{measured} {target:?}"
            );
        }
        let figure = Figure::new("x", 1.5, "", Target::AtMost(2.0));
        assert_eq!((figure.value(), figure.target()), ("1.500".to_owned(), "at most 2".to_owned()));
    }
}
