//! `cooperage template|partial|service|provider|hardware|image list|show|delete`

use clap::{Args, Subcommand};
use cooperage_domain::entity::Kind;
use serde_json::{Value, json};

use super::args::{WatchArgs, YesArgs};
use super::client::{Client, segment};
use super::complete;
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show as show_view};

/// Entities of one kind.
#[derive(Debug, Subcommand)]
pub enum EntityCommand {
    /// List all
    #[command(
        visible_alias = "ls",
        after_help = "Examples:
  cooperage service list
  cooperage service list -o name"
    )]
    List(WatchArgs),
    /// Show one, as it is stored
    #[command(
        visible_alias = "get",
        after_help = "Examples:
  cooperage service show nginx
  cooperage service show nginx --version 2
  cooperage provider show cloud --secrets -o json"
    )]
    Show(ShowArgs),
    /// Delete one with all its versions, or one version
    #[command(
        visible_alias = "rm",
        after_help = "Examples:
  cooperage service delete nginx
  cooperage service delete nginx --version 2 --yes

Clusters keep their own copy of what they were made from."
    )]
    Delete(DeleteArgs),
}

/// Which one, and how much of it.
#[derive(Debug, Clone, Args)]
pub struct ShowArgs {
    /// Its name
    #[arg(add = complete::entities())]
    pub name: String,
    /// Another version than the newest
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// With a provider's secrets, which only admins may see
    #[arg(long)]
    pub secrets: bool,
}

/// Which one, and whether to ask.
#[derive(Debug, Clone, Args)]
pub struct DeleteArgs {
    /// Its name
    #[arg(add = complete::entities())]
    pub name: String,
    /// Only this version
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// Whether to ask.
    #[command(flatten)]
    pub yes: YesArgs,
}

/// Carries out one of the commands for a kind.
///
/// # Errors
/// When there is no such entity.
pub async fn run(
    kind: Kind,
    command: EntityCommand,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    match command {
        EntityCommand::List(watch) => list(kind, &watch, client, screen).await,
        EntityCommand::Show(args) => show(kind, &args, client, screen).await,
        EntityCommand::Delete(args) => delete(kind, &args, client, screen).await,
    }
}

/// Lists all entities of a kind.
///
/// # Errors
/// When the server cannot be asked.
pub async fn list(kind: Kind, watch: &WatchArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    show_view(screen, watch, async || {
        let all: Vec<Value> = client.get(&format!("/v2/{}", kind.plural())).await?;
        Ok(View { text: table(kind, &all, screen.is_wide()), value: all.into() })
    })
    .await
}

/// Shows one entity, as it is stored.
///
/// # Errors
/// When it does not exist.
pub async fn show(kind: Kind, args: &ShowArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let secrets = if args.secrets { "?secrets=true" } else { "" };
    let one = find(kind, &args.name, args.version, secrets, client).await?;
    screen.result(&one, || super::yaml::render(&one));
    Ok(())
}

/// Deletes one entity or one of its versions.
///
/// # Errors
/// When it does not exist, nobody agrees, or the server refuses.
pub async fn delete(kind: Kind, args: &DeleteArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    find(kind, &args.name, args.version, "", client).await?;
    let noun = kind.noun();
    let what = match args.version {
        Some(version) => format!("version {version} of {noun} {}", args.name),
        None => format!("{noun} {} with all its versions", args.name),
    };
    screen.confirm(&format!("Delete {what}?"), args.yes.yes)?;
    client.delete(&path(kind, &args.name, args.version)).await?;
    screen.done(&json!({ "name": args.name, "version": args.version }), &format!("deleted {what}"));
    Ok(())
}

/// The newest version of one entity.
///
/// # Errors
/// When it does not exist, with those that do.
pub async fn get(kind: Kind, name: &str, client: &Client) -> Result<Value, Failure> {
    find(kind, name, None, "", client).await
}

fn path(kind: Kind, name: &str, version: Option<u64>) -> String {
    let version = version.map(|version| format!("/{version}")).unwrap_or_default();
    format!("/v2/{}/{}{version}", kind.plural(), segment(name))
}

async fn find(
    kind: Kind,
    name: &str,
    version: Option<u64>,
    query: &str,
    client: &Client,
) -> Result<Value, Failure> {
    match client.get(&format!("{}{query}", path(kind, name, version))).await {
        Err(fault) if fault.status() == Some(404) => Err(missing(kind, name, version, client).await?),
        other => Ok(other?),
    }
}

/// What to say of an entity that does not exist.
async fn missing(kind: Kind, name: &str, version: Option<u64>, client: &Client) -> Result<Failure, Failure> {
    let all: Vec<Value> = client.get(&format!("/v2/{}", kind.plural())).await?;
    let named = all.iter().find(|one| one["name"] == name);
    if let (Some(found), Some(version)) = (named, version) {
        return Ok(Failure::unknown(
            format!("{} {name:?} has no version {version}", kind.noun()),
            format!("its newest is {}", found["version"]),
        ));
    }
    let known: Vec<&str> = all.iter().filter_map(|one| one["name"].as_str()).collect();
    let remedy = match known.as_slice() {
        [] => "store one with `cooperage apply -f FILE`".to_owned(),
        known => format!("use one of: {}", known.join(", ")),
    };
    Ok(Failure::unknown(format!("there is no {} {name:?}", kind.noun()), remedy))
}

fn table(kind: Kind, all: &[Value], is_wide: bool) -> String {
    let headings = ["NAME", "VERSION", about_heading(kind), "DESCRIPTION"];
    let mut table = Table::wide(is_wide, headings, ["LABEL", more_heading(kind)]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let cells = [text("name"), one["version"].to_string(), about(kind, one), text("description")];
        table.wide_row(cells, [text("label"), more(kind, one)]);
    }
    table.render(&format!("no {}s; `cooperage apply -f FILE` stores some", kind.noun()))
}

const fn about_heading(kind: Kind) -> &'static str {
    match kind {
        Kind::ClusterTemplate => "SERVICES",
        Kind::Service => "NEEDS",
        Kind::Provider => "TYPE",
        Kind::HardwareType | Kind::ImageType => "PROVIDERS",
        Kind::ProviderType | Kind::AutomatorType | Kind::PartialTemplate => "LABEL",
    }
}

/// What tells one entity of a kind from another.
fn about(kind: Kind, one: &Value) -> String {
    let names = |pointers: &[&str]| {
        let found = pointers.iter().filter_map(|pointer| one.pointer(pointer)).filter_map(Value::as_array);
        // A requirement that has more than a name is an object.
        let named = |one: &Value| one.as_str().or_else(|| one["name"].as_str()).map(str::to_owned);
        found.flatten().filter_map(named).collect::<Vec<_>>().join(", ")
    };
    let keys = |field: &str| {
        let found = one[field].as_object().into_iter().flat_map(|fields| fields.keys().map(String::as_str));
        found.collect::<Vec<_>>().join(", ")
    };
    match kind {
        Kind::ClusterTemplate => names(&["/defaults/services"]),
        Kind::Service => names(&[
            "/dependencies/install/requires",
            "/dependencies/install/uses",
            "/dependencies/runtime/requires",
            "/dependencies/runtime/uses",
        ]),
        Kind::Provider => one["providertype"].as_str().unwrap_or_default().to_owned(),
        Kind::HardwareType | Kind::ImageType => keys("providermap"),
        Kind::ProviderType | Kind::AutomatorType | Kind::PartialTemplate => {
            one["label"].as_str().unwrap_or_default().to_owned()
        }
    }
}

const fn more_heading(kind: Kind) -> &'static str {
    match kind {
        Kind::ClusterTemplate => "DEFAULTS",
        Kind::Service => "ACTIONS",
        Kind::PartialTemplate => "IMMUTABLE",
        _ => "ICON",
    }
}

/// What else there is to know, for those with wide screens.
fn more(kind: Kind, one: &Value) -> String {
    match kind {
        Kind::ClusterTemplate => {
            let fields = ["provider", "hardwaretype", "imagetype"];
            let words = fields.iter().filter_map(|field| one["defaults"][field].as_str());
            words.collect::<Vec<_>>().join(", ")
        }
        Kind::Service => {
            let actions = one["provisioner"]["actions"].as_object();
            actions.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect::<Vec<_>>().join(", ")
        }
        Kind::PartialTemplate => one["immutable"].as_bool().map(|yes| yes.to_string()).unwrap_or_default(),
        _ => one["icon"].as_str().filter(|icon| icon.len() < 40).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_shows_what_tells_one_from_another() {
        let shown = |kind, one: Value| {
            let text = table(kind, &[one], false);
            console::strip_ansi_codes(text.lines().nth(1).unwrap()).into_owned()
        };
        let service =
            json!({"name": "nginx", "version": 3, "dependencies": {"runtime": {"uses": ["counter"]}}});
        assert_eq!(shown(Kind::Service, service), "nginx  3        counter  -");
        let hardware =
            json!({"name": "small", "version": 1, "providermap": {"local": {}}, "description": "Small"});
        assert_eq!(shown(Kind::HardwareType, hardware), "small  1        local      Small");
        assert!(table(Kind::Provider, &[], false).starts_with("no providers; "));
    }
}
