//! `cooperage plugin …`: the types of providers and automators there are.

use clap::Subcommand;
use serde_json::{Value, json};

use super::args::{WatchArgs, YesArgs};
use super::client::{Client, segment};
use super::complete;
use super::failure::Failure;
use super::resource::Side;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show};

/// What to do with plugin types.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// List all
    #[command(
        visible_aliases = ["ls", "types"],
        after_help = "Examples:
  cooperage plugin list
  cooperage plugin list --side provider -o name"
    )]
    List {
        /// Only those of one side
        #[arg(long, value_enum)]
        side: Option<Side>,
        /// Whether once or again and again.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Show one: the fields it asks for, and the resources it takes
    #[command(visible_alias = "get", after_help = "Example: cooperage plugin show shell")]
    Show {
        /// Its name
        #[arg(add = complete::plugins())]
        name: String,
        /// Which one, when a provider and an automator have the name
        #[arg(long, value_enum)]
        side: Option<Side>,
    },
    /// Delete one that no provisioner brings any more, or one version (superadmin)
    #[command(
        visible_alias = "rm",
        after_help = "Example: cooperage plugin delete old-cloud --side provider"
    )]
    Delete {
        /// Its name
        #[arg(add = complete::plugins())]
        name: String,
        /// Only this version
        #[arg(long, value_name = "N")]
        version: Option<u64>,
        /// Which one, when a provider and an automator have the name
        #[arg(long, value_enum)]
        side: Option<Side>,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
    },
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such plugin type, or the server refuses.
pub async fn run(command: PluginCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        PluginCommand::List { side, watch } => {
            show(screen, &watch, async || {
                let all = all(client, side).await?;
                let value: Vec<Value> = all.iter().map(with_side).collect();
                Ok(View { text: table(&all, screen.is_wide()), value: value.into() })
            })
            .await
        }
        PluginCommand::Show { name, side } => {
            let (_, one) = find(client, &name, side).await?;
            screen.result(&one, || super::yaml::render(&one));
            Ok(())
        }
        PluginCommand::Delete { name, version, side, yes } => {
            let (side, _) = find(client, &name, side).await?;
            let of = version.map(|version| format!("version {version} of ")).unwrap_or_default();
            let what = format!("{of}{} type {name}", side.noun());
            screen.confirm(&format!("Delete {what}?"), yes.yes)?;
            let version_path = version.map(|version| format!("/{version}")).unwrap_or_default();
            client.delete(&format!("/v2/plugins/{}/{}{version_path}", side.types(), segment(&name))).await?;
            let deleted = json!({ "side": side.noun(), "name": name, "version": version });
            screen.done(&deleted, &format!("deleted {what}"));
            Ok(())
        }
    }
}

/// All plugin types, or those of one side.
///
/// # Errors
/// When the server cannot be asked.
pub async fn all(client: &Client, side: Option<Side>) -> Result<Vec<(Side, Value)>, Failure> {
    let mut found = Vec::new();
    for this in Side::BOTH.into_iter().filter(|this| side.is_none_or(|side| side == *this)) {
        let types: Vec<Value> = client.get(&format!("/v2/plugins/{}", this.types())).await?;
        found.extend(types.into_iter().map(|one| (this, one)));
    }
    Ok(found)
}

async fn find(client: &Client, name: &str, side: Option<Side>) -> Result<(Side, Value), Failure> {
    let all = all(client, side).await?;
    let known: Vec<String> =
        all.iter().filter_map(|(_, one)| one["name"].as_str().map(str::to_owned)).collect();
    let mut found: Vec<(Side, Value)> = all.into_iter().filter(|(_, one)| one["name"] == name).collect();
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(Failure::unknown(
            format!("there is no plugin type {name:?}"),
            format!("use one of: {}", known.join(", ")),
        )),
        (Some(_), false) => Err(Failure::refused(
            format!("a provider and an automator are called {name:?}"),
            "say which with --side provider or --side automator",
        )),
    }
}

fn with_side((side, one): &(Side, Value)) -> Value {
    let mut shown = json!({ "side": side.noun() });
    if let (Value::Object(shown), Value::Object(fields)) = (&mut shown, one) {
        shown.extend(fields.clone());
    }
    shown
}

fn table(all: &[(Side, Value)], is_wide: bool) -> String {
    let mut table =
        Table::wide(is_wide, ["NAME", "SIDE", "RESOURCES", "DESCRIPTION"], ["ADMIN FIELDS", "USER FIELDS"]);
    for (side, one) in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let keys = |pointer: &str| {
            let found = one.pointer(pointer).and_then(Value::as_object);
            found.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect::<Vec<_>>().join(", ")
        };
        let cells = [text("name"), side.noun().to_owned(), keys("/resourceTypes"), text("description")];
        table.wide_row(cells, [keys("/parameters/admin/fields"), keys("/parameters/user/fields")]);
    }
    table.render("no plugin types")
}
