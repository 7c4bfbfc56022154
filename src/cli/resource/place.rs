//! Where a plugin resource is: its plugin, the plugin's word for such files, and its name.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;

use crate::cli::client::segment;

/// Which half of the plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Side {
    /// What brings services up
    Automator,
    /// What makes machines
    Provider,
}

impl Side {
    /// Both, the one with more resources first.
    pub const BOTH: [Self; 2] = [Self::Automator, Self::Provider];

    /// The word for it.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Automator => "automator",
            Self::Provider => "provider",
        }
    }

    /// Its segment of a path.
    #[must_use]
    pub const fn types(self) -> &'static str {
        match self {
            Self::Automator => "automatortypes",
            Self::Provider => "providertypes",
        }
    }
}

/// `PLUGIN/KIND/NAME`, such as `shell/scripts/nginx.sh`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct At {
    /// The plugin type.
    pub plugin: String,
    /// Its word for such files.
    pub kind: String,
    /// The name.
    pub name: String,
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = text.splitn(3, '/').map(str::to_owned);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(plugin), Some(kind), Some(name))
                if ![&plugin, &kind, &name].iter().any(|it| it.is_empty()) =>
            {
                Ok(Self { plugin, kind, name })
            }
            _ => Err("write PLUGIN/KIND/NAME, such as shell/scripts/nginx.sh".to_owned()),
        }
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.plugin, self.kind, self.name)
    }
}

impl At {
    /// The path of all files of its kind.
    #[must_use]
    pub fn kind_path(&self, side: Side) -> String {
        kind_path(side, &self.plugin, &self.kind)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self, side: Side) -> String {
        format!("{}/{}", self.kind_path(side), segment(&self.name))
    }

    /// The path of one of its versions.
    #[must_use]
    pub fn version_path(&self, side: Side, version: u64) -> String {
        format!("{}/versions/{version}", self.path(side))
    }
}

/// The path of all files of a kind.
#[must_use]
pub fn kind_path(side: Side, plugin: &str, kind: &str) -> String {
    format!("/v2/plugins/{}/{}/{}", side.types(), segment(plugin), segment(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_has_three_parts() {
        let at: At = "shell/scripts/a b.sh".parse().unwrap();
        assert_eq!(at.to_string(), "shell/scripts/a b.sh");
        assert_eq!(
            at.version_path(Side::Automator, 3),
            "/v2/plugins/automatortypes/shell/scripts/a%20b.sh/versions/3"
        );
        for text in ["shell", "shell/scripts", "shell//x", "/scripts/x", "shell/scripts/"] {
            assert!(text.parse::<At>().is_err(), "{text}");
        }
    }
}
