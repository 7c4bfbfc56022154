//! What can be wrong with a macro: it, or the cluster it looks at.

use super::path::within;

/// A macro that cannot be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MacroError {
    /// The macro is written wrongly; no cluster can make it right.
    #[error(
        "{}macro %{text}% is wrong at character {position}: expected {expected}; correct it, or write %% for a \
         percent sign that opens no macro",
        place(path)
    )]
    Syntax {
        /// Where in a configuration the text stands: `shop.hosts[2]`. Empty for a text alone.
        path: String,
        /// The macro, without its percent signs.
        text: String,
        /// Which character of the macro, from 1.
        position: usize,
        /// What should stand there.
        expected: String,
    },
    /// The macro is right, but the cluster lacks the data.
    #[error("{}macro %{text}% cannot be replaced: {missing}; {remedy}", place(path))]
    Incomplete {
        /// As in [`MacroError::Syntax`].
        path: String,
        /// The macro, without its percent signs.
        text: String,
        /// What is not there, and of which node.
        missing: String,
        /// What to do about it.
        remedy: String,
    },
}

impl MacroError {
    /// The same error, one step further out: inside the value of `key`.
    #[must_use]
    pub fn within_key(self, key: &str) -> Self {
        self.within(key)
    }

    /// The same error, one step further out: inside element `index` of a list.
    #[must_use]
    pub fn within_index(self, index: usize) -> Self {
        self.within(&format!("[{index}]"))
    }

    fn within(mut self, step: &str) -> Self {
        let (Self::Syntax { path, .. } | Self::Incomplete { path, .. }) = &mut self;
        *path = within(step, path);
        self
    }
}

fn place(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_place_name_and_remedy() {
        let syntax = MacroError::Syntax {
            path: String::new(),
            text: "abc".into(),
            position: 1,
            expected: "a name".into(),
        };
        assert_eq!(
            syntax.within_key("hosts").within_index(2).within_key("shop").to_string(),
            "shop[2].hosts: macro %abc% is wrong at character 1: expected a name; correct it, or write %% for a \
             percent sign that opens no macro"
        );
        let incomplete = MacroError::Incomplete {
            path: String::new(),
            text: "ip.self".into(),
            missing: "it has no address".into(),
            remedy: "wait".into(),
        };
        assert_eq!(incomplete.to_string(), "macro %ip.self% cannot be replaced: it has no address; wait");
    }
}
