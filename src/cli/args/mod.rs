//! What can be typed: commands, options, and their help.

mod cluster;

pub use cluster::{ClusterCommand, CreateArgs, LogsArgs, PlanArgs, SshArgs};

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Cooperage makes clusters: whole ones, with one request.
#[derive(Debug, Parser)]
#[command(
    name = "cooperage",
    version,
    after_help = "Examples:
  cooperage demo                                   a real cluster of 5 machines on this host
  cooperage serve --set data_dir=data              a server with its data in ./data
  cooperage apply -f etc/catalog                   services, templates and scripts of a folder
  cooperage cluster create shop --template web --size 5
  cooperage cluster watch shop

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted by Ctrl-C."
)]
pub struct Cli {
    /// Options of all commands.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of all commands.
#[derive(Debug, Clone, Args)]
pub struct Globals {
    /// Address of the server
    #[arg(
        long,
        global = true,
        env = "COOPERAGE_SERVER",
        hide_env_values = true,
        value_name = "URL",
        default_value = "http://127.0.0.1:55054",
        help_heading = "Server"
    )]
    pub server: String,
    /// File with the token; without it COOPERAGE_TOKEN, then the file that COOPERAGE_TOKEN_FILE names, then the one a
    /// server on this host keeps
    #[arg(long, global = true, value_name = "FILE", help_heading = "Server")]
    pub token_file: Option<PathBuf>,
    /// CAs that the server's certificate must come from (PEM); without it those of this host
    #[arg(
        long,
        global = true,
        env = "COOPERAGE_CA_FILE",
        hide_env_values = true,
        value_name = "FILE",
        help_heading = "Server"
    )]
    pub ca_file: Option<PathBuf>,
    /// Your certificate, for servers that want one (PEM)
    #[arg(
        long,
        global = true,
        env = "COOPERAGE_CLIENT_CERTIFICATE",
        hide_env_values = true,
        value_name = "FILE",
        help_heading = "Server"
    )]
    pub client_certificate: Option<PathBuf>,
    /// Its private key (PEM)
    #[arg(
        long,
        global = true,
        env = "COOPERAGE_CLIENT_KEY",
        hide_env_values = true,
        value_name = "FILE",
        help_heading = "Server"
    )]
    pub client_key: Option<PathBuf>,
    /// Who you are, for servers that believe headers
    #[arg(
        long,
        global = true,
        env = "COOPERAGE_USER",
        hide_env_values = true,
        default_value = "admin",
        help_heading = "Server"
    )]
    pub user: String,
    /// Your tenant, for servers that believe headers
    #[arg(
        long,
        global = true,
        env = "COOPERAGE_TENANT",
        hide_env_values = true,
        default_value = "superadmin",
        help_heading = "Server"
    )]
    pub tenant: String,
    /// How results are shown
    #[arg(short, long, global = true, value_enum, default_value_t, help_heading = "Output")]
    pub output: Format,
    /// No colours (also: NO_COLOR in the environment)
    #[arg(long, global = true, help_heading = "Output")]
    pub no_color: bool,
    /// Only results and faults
    #[arg(short, long, global = true, help_heading = "Output")]
    pub quiet: bool,
}

/// How results are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Table,
    /// For programs.
    Json,
    /// For both.
    Yaml,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a server in the foreground
    #[command(after_help = "Example: cooperage serve --config cooperage.toml --set workers.local=32")]
    Serve(SettingsArgs),
    /// Show the settings a server would run with
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Store entities and resources from files and folders, showing what changes
    #[command(after_help = "Examples:
  cooperage apply -f etc/catalog               everything in a folder
  cooperage apply -f mine.yaml --dry-run       only show what would change

Files are YAML, JSON or TOML documents with `kind:`. Files at resources/PLUGIN/KIND/NAME, such as
resources/shell/scripts/nginx.sh, are uploaded. Either everything is stored or nothing.")]
    Apply(ApplyArgs),
    /// Create, watch and delete clusters
    #[command(subcommand, visible_alias = "clusters")]
    Cluster(ClusterCommand),
    /// Nodes of all clusters
    #[command(subcommand)]
    Node(NodeCommand),
    /// Templates clusters are made from
    #[command(subcommand, visible_alias = "templates")]
    Template(EntityCommand),
    /// Services that clusters are made of
    #[command(subcommand, visible_alias = "services")]
    Service(EntityCommand),
    /// Providers of machines
    #[command(subcommand, visible_alias = "providers")]
    Provider(EntityCommand),
    /// Hardware types: sizes of machines
    #[command(subcommand)]
    Hardware(EntityCommand),
    /// Image types, and base images of machines on this host
    #[command(subcommand, visible_alias = "images")]
    Image(ImageCommand),
    /// Whether the server answers
    #[command(after_help = "Example: cooperage status --server http://10.0.0.5:55054")]
    Status,
    /// Print a script that completes commands in a shell
    #[command(after_help = "Example: cooperage completion bash > /etc/bash_completion.d/cooperage")]
    Completion {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Bring up a real cluster of web servers on this host, and prove that it works
    #[command(after_help = "Examples:
  cooperage demo                    start a server, create the cluster `demo`, leave both running
  cooperage demo --clean            remove every trace of it

Needs root: machines are made with systemd-nspawn.")]
    Demo(DemoArgs),
}

/// Which settings.
#[derive(Debug, Clone, Args)]
pub struct SettingsArgs {
    /// File with settings; without it /etc/cooperage/cooperage.toml, if there is one
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One setting, stronger than the file
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    pub set: Vec<String>,
}

/// Settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show the settings in force, wherever they come from
    #[command(after_help = "Example: cooperage config show --set workers.local=32")]
    Show(SettingsArgs),
}

/// What to apply.
#[derive(Debug, Clone, Args)]
pub struct ApplyArgs {
    /// File or folder to read
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true)]
    pub files: Vec<PathBuf>,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Do not ask before changing what is stored
    #[arg(short, long)]
    pub yes: bool,
}

/// Nodes.
#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// List the nodes of all clusters
    #[command(visible_alias = "ls", after_help = "Example: cooperage node list -o json")]
    List,
}

/// Entities of one kind.
#[derive(Debug, Subcommand)]
pub enum EntityCommand {
    /// List all
    #[command(visible_alias = "ls", after_help = "Example: cooperage template list")]
    List,
    /// Show one, as it is stored
    #[command(after_help = "Example: cooperage template show web")]
    Show {
        /// Its name
        name: String,
    },
}

/// Image types and base images.
#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// List the image types of the server, or the base images on this host
    #[command(
        visible_alias = "ls",
        after_help = "Examples:
  cooperage image list             image types clusters can ask for
  cooperage image list --local     base images on this host"
    )]
    List {
        /// Base images on this host instead
        #[arg(long)]
        local: bool,
        /// Where base images are
        #[command(flatten)]
        at: ImagesAt,
    },
    /// Show one image type, as it is stored
    #[command(after_help = "Example: cooperage image show debian-12")]
    Show {
        /// Its name
        name: String,
    },
    /// Make a base image for machines on this host (needs root)
    #[command(after_help = "Example: cooperage image build debian-12")]
    Build {
        /// Its name
        name: String,
        /// What goes into it; without it, the recipe with the image's name
        #[arg(long)]
        recipe: Option<String>,
        /// Where base images are
        #[command(flatten)]
        at: ImagesAt,
    },
}

/// Where base images are.
#[derive(Debug, Clone, Args)]
pub struct ImagesAt {
    /// Folder of base images; without it, the one of the settings
    #[arg(long, value_name = "DIR")]
    pub images_dir: Option<PathBuf>,
    /// Settings that name the folder.
    #[command(flatten)]
    pub settings: SettingsArgs,
}

/// The demonstration.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Where the demo keeps everything
    #[arg(long, value_name = "DIR", default_value = crate::cli::demo::DATA_DIR)]
    pub data_dir: PathBuf,
    /// Remove every trace of the demo
    #[arg(long)]
    pub clean: bool,
    /// Number of machines
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(3..=50))]
    pub nodes: u32,
    /// Added to the server's ports 55054 and 55055
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    pub port_offset: u16,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::golden::assert_golden;

    /// The help of a command and of all below it.
    fn help(command: &mut clap::Command, text: &mut String) {
        let shown = command.render_help();
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        text.push_str(&format!("$ {} --help\n{shown}\n", name.replace('-', " ")));
        for inner in command.get_subcommands_mut().filter(|inner| inner.get_name() != "help") {
            help(inner, text);
        }
    }

    #[test]
    fn every_command_has_help() {
        let mut command = Cli::command().term_width(100);
        command.build();
        let mut text = String::new();
        help(&mut command, &mut text);
        assert_golden("src/cli/args/golden/help.txt", &text);
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let mut inner = command.get_subcommands().filter(|inner| inner.get_name() != "help").peekable();
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                inner.peek().is_some() || after.contains("Example"),
                "{} has no example",
                command.get_name()
            );
            inner.for_each(check);
        }
        check(&Cli::command());
    }
}
