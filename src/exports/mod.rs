//! A cluster's nodes as other programs want them: pure functions on plain data.

mod ansible;
mod hosts;
mod inventory;
mod prometheus;
mod ssh_config;

pub use inventory::Inventory;

use clap::ValueEnum;

/// The port of Prometheus' node exporter.
pub const NODE_EXPORTER_PORT: u16 = 9100;

/// For which program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Inventory of Ansible: YAML, a group for each service
    Ansible,
    /// Configuration of ssh, each node under its host name and its short name
    SshConfig,
    /// Lines for /etc/hosts
    Hosts,
    /// Targets of Prometheus: JSON for file_sd_configs, by service
    Prometheus,
}

impl Format {
    /// The nodes, written for that program. `port` is that of Prometheus' targets.
    #[must_use]
    pub fn write(self, inventory: &Inventory, port: u16) -> String {
        match self {
            Self::Ansible => ansible::write(inventory),
            Self::SshConfig => ssh_config::write(inventory),
            Self::Hosts => hosts::write(inventory),
            Self::Prometheus => prometheus::write(inventory, port),
        }
    }

    /// What such a text is, for HTTP.
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Ansible => "application/yaml",
            Self::SshConfig | Self::Hosts => "text/plain; charset=utf-8",
            Self::Prometheus => "application/json",
        }
    }
}
