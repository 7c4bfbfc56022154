//! What can be typed: commands, options, and their help.
//!
//! A noun is a file in `src/cli` with its verbs, and a row in [`nouns`].

mod ancestry;
mod audit;
mod care;
pub mod cluster;
pub mod create;
pub mod draft;
mod export;
pub mod living;
mod logs;
mod nouns;
pub mod past;
mod placement;
mod provisioner;
mod waiting;

pub use ancestry::FoundationArgs;
#[cfg(test)]
pub use audit::OutcomeArg;
pub use audit::{AuditArgs, AuditCommand, AuditFilterArgs, SecretsAt, SecretsCommand};
pub use care::{HealthArgs, MaintenanceArgs};
pub use cluster::{
    ClusterCommand, ConfigArgs, DeleteArgs, LeaseArgs, ListArgs, Seen, SshArgs, Told, WaitForArgs, WhyArgs,
};
pub use create::CreateArgs;
pub use draft::{ApplyPlanArgs, DraftCommand, DraftedArgs};
pub use export::ExportArgs;
pub use living::{AddServiceArgs, ServicesArgs, ValuesArgs};
pub use logs::LogsArgs;
pub use nouns::Noun;
pub use past::{ClusterDiffArgs, HistoryArgs, PlanArgs, ShowArgs};
pub use placement::PlacementArgs;
pub use provisioner::{ProvisionerArgs, ProvisionerNoun};
pub use waiting::{FieldArgs, PreviewArgs, WaitArgs, WatchArgs, YesArgs};

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};

use super::bench::BenchArgs;
use super::complete;
use super::context::ContextCommand;
use super::exit_code;
use super::man::ManArgs;
#[cfg(feature = "simulation")]
use super::simulate::SimulateArgs;
use super::validate::ValidateArgs;

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
  cooperage cluster watch shop"
)]
pub struct Cli {
    /// Options of all commands.
    #[command(flatten)]
    pub globals: Globals,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Everything that can be typed, with all help.
#[must_use]
pub fn command() -> clap::Command {
    let command = Cli::command();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    command.after_help(format!("{examples}\n\nExit codes:\n{}", exit_code::table()))
}

/// Options of all commands.
#[derive(Debug, Clone, Default, Args)]
pub struct Globals {
    /// Address of the server; without it COOPERAGE_SERVER, then the context's, then http://127.0.0.1:55054
    #[arg(long, global = true, value_name = "URL", value_hint = ValueHint::Url, help_heading = "Server")]
    pub server: Option<String>,
    /// A server by name, with who you are to it; without it COOPERAGE_CONTEXT, then the current one
    #[arg(long, global = true, value_name = "NAME", add = complete::contexts(), help_heading = "Server")]
    pub context: Option<String>,
    /// File with the token; without it COOPERAGE_TOKEN, then the file that COOPERAGE_TOKEN_FILE names, then the context's,
    /// then the one a server on this host keeps
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Server")]
    pub token_file: Option<PathBuf>,
    /// File (PEM) with the authority that vouches for an https server; without it COOPERAGE_CA_FILE, then the context's,
    /// then those this host trusts
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Server")]
    pub ca_file: Option<PathBuf>,
    /// Your certificate (PEM), for servers that want one; without it COOPERAGE_CLIENT_CERTIFICATE
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Server")]
    pub client_certificate: Option<PathBuf>,
    /// Its private key (PEM); without it COOPERAGE_CLIENT_KEY
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Server")]
    pub client_key: Option<PathBuf>,
    /// Who you are, for servers that believe headers; without it COOPERAGE_USER, then the context's, then admin
    #[arg(long, global = true, help_heading = "Server")]
    pub user: Option<String>,
    /// Your tenant, for servers that believe headers, or one that you look after as a superadmin; without it COOPERAGE_TENANT, then the
    /// context's, then superadmin
    #[arg(long, global = true, help_heading = "Server")]
    pub tenant: Option<String>,
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
    /// For people with wide screens: all columns.
    Wide,
    /// For programs.
    Json,
    /// For both.
    Yaml,
    /// For other commands: ids and names only, one in a line.
    Name,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a server in the foreground
    #[command(after_help = "Example: cooperage serve --config cooperage.toml --set workers.local=32")]
    Serve(SettingsArgs),
    /// Run workers for a server on another machine, in the foreground
    #[command(visible_alias = "provisioners", after_help = provisioner::HELP)]
    Provisioner(ProvisionerNoun),
    /// Show the settings a server would run with
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Servers by name, with who you are to each
    #[command(subcommand, visible_alias = "contexts")]
    Context(ContextCommand),
    /// Check documents without a server
    #[command(after_help = "Example: cooperage validate -f mine.yaml

All faults of all files are told at once. `cooperage diff` also asks the server whether they fit what it has.")]
    Validate(ValidateArgs),
    /// What a server is asked for.
    #[command(flatten)]
    Noun(Noun),
    /// Print a script that completes commands, and the names of what the server has, in a shell
    #[command(after_help = "Examples:
  source <(cooperage completion bash)              in ~/.bashrc
  source <(cooperage completion zsh)               in ~/.zshrc
  cooperage completion fish | source               in ~/.config/fish/config.fish")]
    Completion {
        /// Which shell
        shell: super::completion::Shell,
    },
    /// Print the manual page of a command, or write those of all
    #[command(after_help = "Examples:
  cooperage man cluster create | man -l -
  cooperage man --dir /usr/local/share/man/man1")]
    Man(ManArgs),
    /// Bring up a real cluster of web servers on this host, and prove that it works
    #[command(after_help = "Examples:
  cooperage demo                    start a server, create the cluster `demo`, leave both running
  cooperage demo --clean            remove every trace of it

Needs root: machines are made with systemd-nspawn.")]
    Demo(DemoArgs),
    /// Measure how fast the parts are on this machine, beside what they should be
    #[command(after_help = "Examples:
  cooperage bench                          everything, in some minutes
  cooperage bench schedule --quick         whether it works, in seconds
  cooperage bench solver -o json > bench.json")]
    Bench(BenchArgs),
    /// Run whole clusters in simulated time, while everything goes wrong that can
    #[cfg(feature = "simulation")]
    #[command(
        hide = true,
        after_help = "Examples:
  cooperage simulate --seed 1 --seeds 1000 --level kernel
  cooperage simulate --minutes 60
  cooperage simulate --seed 7 --faults crash-after-commit@12:500 --operations create@0/1,delete@90000/1"
    )]
    Simulate(SimulateArgs),
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
    use clap::FromArgMatches;

    use super::Cli;
    use crate::cli::golden::assert_golden;

    /// The help of a command and of all below it.
    fn help(command: &mut clap::Command, text: &mut String) {
        let shown = command.render_help().to_string();
        // The options of all commands are shown once.
        let is_first = text.is_empty();
        let own = shown
            .split("\n\n")
            .filter(|part| is_first || !["Server:\n", "Output:\n"].iter().any(|head| part.starts_with(head)));
        let shown = own.collect::<Vec<_>>().join("\n\n");
        let name = command.get_display_name().unwrap_or_else(|| command.get_name());
        text.push_str(&format!("$ {} --help\n{shown}\n", name.replace('-', " ")));
        // What only builds for tests have is nobody's command.
        let shown = |inner: &&mut clap::Command| inner.get_name() != "help" && !inner.is_hide_set();
        for inner in command.get_subcommands_mut().filter(shown) {
            help(inner, text);
        }
    }

    #[test]
    fn every_command_has_help() {
        let mut command = super::command().term_width(100);
        command.build();
        let mut text = String::new();
        help(&mut command, &mut text);
        assert_golden("src/cli/args/golden/help.txt", &text);
    }

    /// What a line says, or the kind of fault.
    fn parsed(line: &str) -> Result<Cli, clap::error::ErrorKind> {
        let matches = super::command().try_get_matches_from(line.split(' ')).map_err(|fault| fault.kind())?;
        Cli::from_arg_matches(&matches).map_err(|fault| fault.kind())
    }

    #[test]
    fn nouns_have_plurals_and_verbs_short_forms() {
        for line in [
            "cooperage clusters ls",
            "cooperage nodes ls --cluster 7 -o wide",
            "cooperage templates get web",
            "cooperage partials rm base --yes",
            "cooperage services ls -o name",
            "cooperage providers show lab --secrets",
            "cooperage hardwaretypes ls",
            "cooperage images rm old",
            "cooperage plugins types",
            "cooperage resources ls shell/scripts",
            "cooperage tenants update dept --workers 3",
            "cooperage provisioners ls",
            "cooperage queues ls --watch=5s",
            "cooperage contexts ls",
            "cooperage cluster prolong shop --by 2h",
            "cooperage cluster restart shop nginx --wait --timeout 5m",
            "cooperage cluster create shop -t web -n 3 --plan --context prod",
            "cooperage cluster add-services shop a b",
            "cooperage cluster ssh shop 1000 -- uptime -p",
        ] {
            assert!(parsed(line).is_ok(), "{line}: {:?}", parsed(line).err());
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        use clap::error::ErrorKind;
        for (line, kind) in [
            ("cooperage cluster lease shop --by 2h --in 3h", ErrorKind::ArgumentConflict),
            ("cooperage cluster config shop --merge a --replace b", ErrorKind::ArgumentConflict),
            ("cooperage cluster export shop", ErrorKind::MissingRequiredArgument),
            ("cooperage cluster export shop --format csv", ErrorKind::InvalidValue),
            ("cooperage cluster add-service shop", ErrorKind::MissingRequiredArgument),
            ("cooperage resource show nginx.sh", ErrorKind::ValueValidation),
            ("cooperage template resolve", ErrorKind::MissingRequiredArgument),
            ("cooperage -o xml status", ErrorKind::InvalidValue),
            ("cooperage clusterz", ErrorKind::InvalidSubcommand),
        ] {
            assert_eq!(parsed(line).err(), Some(kind), "{line}");
        }
    }

    #[test]
    fn every_noun_s_list_can_be_watched() {
        let command = super::command();
        // Contexts are in a file of one's own, which nobody else changes.
        for noun in command.get_subcommands().filter(|noun| noun.get_name() != "context") {
            let Some(list) = noun.find_subcommand("list") else { continue };
            let is_watched = list.get_arguments().any(|it| it.get_id() == "watch");
            assert!(is_watched, "{} list", noun.get_name());
        }
    }

    #[test]
    fn every_noun_and_verb_is_in_the_book() {
        let book = include_str!("../../../docs/src/command-line.md");
        let shown = |noun: &&clap::Command| noun.get_name() != "help" && !noun.is_hide_set();
        for noun in super::command().get_subcommands().filter(shown) {
            let name = noun.get_name();
            let is_told = |word: &str| {
                book.contains(&format!("`{word}`")) || book.contains(&format!("`{name} {word}`"))
            };
            assert!(is_told(name) || noun.get_subcommands().any(|verb| is_told(verb.get_name())), "{name}");
            for verb in noun.get_subcommands().filter(|verb| !verb.is_hide_set()) {
                assert!(is_told(verb.get_name()), "{name} {}", verb.get_name());
            }
        }
    }

    #[test]
    fn every_command_has_an_example() {
        fn check(command: &clap::Command) {
            let shown = |inner: &&clap::Command| inner.get_name() != "help" && !inner.is_hide_set();
            let mut inner = command.get_subcommands().filter(shown).peekable();
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(
                inner.peek().is_some() || after.contains("Example"),
                "{} has no example",
                command.get_name()
            );
            inner.for_each(check);
        }
        check(&super::command());
    }
}
