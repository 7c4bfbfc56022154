//! The nouns: what a server can be asked for. Each is a row here and a file beside this folder; the rest is made from the row.
//! The file holds the verbs, as an enum that clap reads, and the function that carries them out.

use clap::Subcommand;

use crate::cli::client::Client;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::{
    actor_console, apply, audit, callback, cluster, drafted_cluster, entity, image, import_export, metrics,
    node, plugin, profile, replay, resource, secrets, status, template, tenant, token, user, web,
};
use cooperage_domain::entity::Kind;

/// Makes the enum of nouns and what carries them out from rows `Noun(Verbs) => function(first arguments)`. The function gets
/// those, then the verb, the client and the screen.
macro_rules! nouns {
    ($($(#[$attribute:meta])* $name:ident($verbs:ty) => $($run:ident)::+($($first:expr),*);)*) => {
        /// What a server can be asked for.
        #[derive(Debug, Subcommand)]
        pub enum Noun {
            $($(#[$attribute])* $name($verbs),)*
        }

        impl Noun {
            /// Carries out what was typed.
            ///
            /// # Errors
            /// What the command cannot do.
            pub async fn run(self, client: &Client, screen: &Screen) -> Result<(), Failure> {
                match self {
                    $(Self::$name(verb) => $($run)::+($($first,)* verb, client, screen).await,)*
                }
            }
        }
    };
}

nouns! {
    /// Store entities and resources from files and folders, showing what changes
    #[command(after_help = "Examples:
  cooperage apply -f etc/catalog               everything in a folder
  cooperage apply -f mine.yaml --dry-run       only show what would change

Files are YAML, JSON or TOML documents with `kind:`. Files at resources/PLUGIN/KIND/NAME, such as
resources/shell/scripts/nginx.sh, are uploaded. Either everything is stored or nothing.")]
    Apply(apply::ApplyArgs) => apply::run();
    /// Show what applying files and folders would change
    #[command(after_help = "Examples:
  cooperage diff -f etc/catalog
  cooperage diff -f etc/catalog --exit-code    ends with 8 when there are differences")]
    Diff(apply::DiffArgs) => apply::diff();
    /// Create, change, watch and delete clusters
    #[command(subcommand, visible_alias = "clusters")]
    Cluster(super::ClusterCommand) => cluster::run();
    /// Clusters that are thought up before they are created
    #[command(subcommand, visible_alias = "drafts")]
    Draft(drafted_cluster::DraftedClusterCommand) => drafted_cluster::run();
    /// Nodes of all clusters, and those made known by hand
    #[command(subcommand, visible_alias = "nodes")]
    Node(node::NodeCommand) => node::run();
    /// Templates clusters are made from
    #[command(subcommand, visible_alias = "templates")]
    Template(template::TemplateCommand) => template::run();
    /// Partial templates, which others include
    #[command(subcommand, visible_alias = "partials")]
    Partial(entity::EntityCommand) => entity::run(Kind::PartialTemplate);
    /// Services that clusters are made of
    #[command(subcommand, visible_alias = "services")]
    Service(entity::EntityCommand) => entity::run(Kind::Service);
    /// Providers of machines
    #[command(subcommand, visible_alias = "providers")]
    Provider(entity::EntityCommand) => entity::run(Kind::Provider);
    /// Hardware types: sizes of machines
    #[command(subcommand, visible_alias = "hardwaretypes")]
    Hardware(entity::EntityCommand) => entity::run(Kind::HardwareType);
    /// Image types, and base images of machines on this host
    #[command(subcommand, visible_alias = "images")]
    Image(image::ImageCommand) => image::run();
    /// Plugin types: what providers and automators there are, and what they ask for
    #[command(subcommand, visible_alias = "plugins")]
    Plugin(plugin::PluginCommand) => plugin::run();
    /// Files that plugins use on machines, in versions: scripts, cookbooks, keys
    #[command(subcommand, visible_alias = "resources")]
    Resource(resource::ResourceCommand) => resource::run();
    /// Tenants: who shares the installation, and how much of it
    #[command(subcommand, visible_alias = "tenants")]
    Tenant(tenant::TenantCommand) => tenant::run();
    /// Tasks that wait for workers, by tenant
    #[command(subcommand, visible_alias = "queues")]
    Queue(metrics::QueueCommand) => metrics::queues();
    /// Machine time used
    #[command(after_help = "Examples:
  cooperage usage --by day --unit hours --from 30d
  cooperage usage --cluster 00000042 --unit minutes")]
    Usage(metrics::UsageArgs) => metrics::usage();
    /// What the server keeps for you: one JSON object of your own
    #[command(subcommand)]
    Profile(profile::ProfileCommand) => profile::run();
    /// Write everything your tenant describes to standard output or a file
    #[command(after_help = "Examples:
  cooperage export --to catalog.yaml
  cooperage export --secrets -o json --to backup.json")]
    Export(import_export::ExportArgs) => import_export::export();
    /// Put an export in place of everything your tenant describes, all or nothing
    #[command(after_help = "Examples:
  cooperage import -f backup.json --dry-run        what would be added, changed and removed
  cooperage import -f backup.json --yes

What is not in the file is removed. To add to what is there, use `cooperage apply`.")]
    Import(import_export::ImportArgs) => import_export::import();
    /// Who is called when jobs begin and end, and may refuse them (admins)
    #[command(subcommand, visible_alias = "callbacks")]
    Callback(callback::CallbackCommand) => callback::run();
    /// Users of a tenant, and what they may do (admins)
    #[command(subcommand, visible_alias = "users")]
    User(user::UserCommand) => user::run();
    /// Tokens, by which programs are known
    #[command(subcommand, visible_alias = "tokens")]
    Token(token::TokenCommand) => token::run();
    /// Who you are to the server
    #[command(after_help = "Example: cooperage whoami -o json")]
    Whoami(token::WhoamiArgs) => token::whoami();
    /// An address that opens the web interface, logged in as you, once
    #[command(after_help = "Example: xdg-open $(cooperage web --quiet)")]
    Web(web::WebArgs) => web::run();
    /// Who did what, newest first (admins)
    #[command(after_help = "Examples:
  cooperage audit --since 1h                     what was done in the last hour
  cooperage audit --by ann --action DELETE       what ann deleted
  cooperage audit --outcome refused -o json      what was not allowed")]
    Audit(super::AuditArgs) => audit::run();
    /// The actors of the server: what each does, its messages, and a hand on it (superadmin)
    #[command(after_help = "Examples:
  cooperage console                                    in a terminal; q ends it
  cooperage console --once --under /clusters/00000042  the actors of one cluster
  cooperage console --once -o json | jq '.actors[] | select(.waiting > 0)'

Keys: arrows select; / filters; t follows the messages of what is selected, i those of a request;
p pauses for a minute, u resumes, r restarts, f has something go wrong (with console.faults).")]
    Console(actor_console::ConsoleArgs) => actor_console::run();
    /// How secrets are kept, and new keys for them
    #[command(subcommand)]
    Secrets(super::SecretsCommand) => secrets::run();
    /// Read journals from their begin, decide again what they hold, and tell the first difference
    #[command(after_help = "Examples:
  cooperage replay shop
  cooperage replay --all -o json")]
    Replay(replay::ReplayArgs) => replay::run();
    /// Whether the server answers
    #[command(after_help = "Example: cooperage status --server http://10.0.0.5:55054")]
    Status(status::StatusArgs) => status::run();
}
