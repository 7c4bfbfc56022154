//! `cooperage resource …`: files that plugins use on machines, in versions.

mod args;
mod place;

pub use args::ResourceCommand;
pub use place::{At, Side};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::Client;
use super::failure::Failure;
use super::plugin;
use super::screen::Screen;
use super::table::{Table, status};
use super::watching::{View, show};
use args::{ListArgs, UploadArgs, VersionArgs};

/// One version of a resource.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Version {
    /// From 1.
    pub version: u64,
    /// `active`, `inactive`, `staged` or `recalled`.
    #[serde(default)]
    pub status: String,
    /// In bytes.
    #[serde(default)]
    pub size: u64,
    /// Of its content, in hexadecimal.
    #[serde(default)]
    pub sha256: String,
}

/// A resource with its versions.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// Whose.
    pub side: Side,
    /// Which.
    pub at: At,
    /// Its versions, as the server lists them.
    pub versions: Vec<Version>,
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such resource, or the server refuses.
pub async fn run(command: ResourceCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        ResourceCommand::List(args) => list(&args, client, screen).await,
        ResourceCommand::Show { at, side } => {
            let found = find(&at, side, client).await?;
            screen.result(&found.versions, || table(std::slice::from_ref(&found), true));
            Ok(())
        }
        ResourceCommand::Upload(args) => upload(&args, client, screen).await,
        ResourceCommand::Download { which, to } => {
            let (side, version) = version_of(&which, client, |_| true).await?;
            let bytes = client.get_bytes(&which.at.version_path(side, version)).await?;
            match &to {
                Some(file) => {
                    std::fs::write(file, bytes).map_err(|fault| Failure::file("write", file, fault))
                }
                None => {
                    screen.bytes(&bytes);
                    Ok(())
                }
            }
        }
        ResourceCommand::Stage { which, sync } => turn("stage", &which, sync, client, screen).await,
        ResourceCommand::Recall { which, sync } => turn("recall", &which, sync, client, screen).await,
        ResourceCommand::Sync => synchronise(client, screen).await,
        ResourceCommand::Delete { which, yes } => {
            let found = find(&which.at, which.side, client).await?;
            let (what, path) = match which.version {
                Some(version) => {
                    (format!("version {version} of {}", which.at), which.at.version_path(found.side, version))
                }
                None => (format!("{} with all its versions", which.at), which.at.path(found.side)),
            };
            screen.confirm(&format!("Delete {what}?"), yes.yes)?;
            client.delete(&path).await?;
            let deleted = json!({ "name": which.at.to_string(), "version": which.version });
            screen.done(&deleted, &format!("deleted {what}"));
            Ok(())
        }
    }
}

/// All resources of all plugins.
///
/// # Errors
/// When the server refuses: only admins may ask.
pub async fn all(client: &Client) -> Result<Vec<Resource>, Failure> {
    below(client, None, None, None).await
}

/// Resources of some plugins and kinds; all, where none is named.
async fn below(
    client: &Client,
    side: Option<Side>,
    plugin: Option<&str>,
    kind: Option<&str>,
) -> Result<Vec<Resource>, Failure> {
    let mut found = Vec::new();
    for (side, described) in plugin::all(client, side).await? {
        let name = described["name"].as_str().unwrap_or_default();
        if plugin.is_some_and(|plugin| plugin != name) {
            continue;
        }
        let kinds = described["resourceTypes"].as_object().into_iter().flat_map(|kinds| kinds.keys());
        for this in kinds.filter(|this| kind.is_none_or(|kind| kind == this.as_str())) {
            let path = place::kind_path(side, name, this);
            let by_name: BTreeMap<String, Vec<Version>> = client.get(&path).await?;
            found.extend(by_name.into_iter().map(|(file, versions)| Resource {
                side,
                at: At { plugin: name.to_owned(), kind: this.clone(), name: file },
                versions,
            }));
        }
    }
    Ok(found)
}

/// One resource.
async fn find(at: &At, side: Option<Side>, client: &Client) -> Result<Resource, Failure> {
    let mut of_kind = below(client, side, Some(&at.plugin), Some(&at.kind)).await?;
    let mut found = of_kind.extract_if(.., |it| it.at.name == at.name);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(Failure::refused(
            format!("a provider and an automator have a resource {at}"),
            "say whose with --side provider or --side automator",
        )),
        (None, _) => {
            drop(found);
            let known: Vec<String> = of_kind.iter().map(|it| it.at.to_string()).collect();
            let remedy = match known.as_slice() {
                [] => "see all: cooperage resource list".to_owned(),
                known => format!("use one of: {}", known.join(", ")),
            };
            Err(Failure::unknown(format!("there is no resource {at}"), remedy))
        }
    }
}

/// The side and the version that are meant: the one that was named, or the newest that will do.
async fn version_of(
    which: &VersionArgs,
    client: &Client,
    will_do: impl Fn(&Version) -> bool,
) -> Result<(Side, u64), Failure> {
    let found = find(&which.at, which.side, client).await?;
    let numbers: Vec<u64> = found.versions.iter().map(|it| it.version).collect();
    let version = match which.version {
        Some(named) => numbers.contains(&named).then_some(named),
        None => found.versions.iter().filter(|it| will_do(it)).map(|it| it.version).max(),
    };
    version.map(|version| (found.side, version)).ok_or_else(|| {
        let known = numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        Failure::unknown(
            format!("{} has no such version", which.at),
            format!("see them with `cooperage resource show {}`; there are: {known}", which.at),
        )
    })
}

async fn list(args: &ListArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (plugin, kind) = match args.below.as_deref().map(|text| text.split_once('/')) {
        None => (None, None),
        Some(None) => (args.below.as_deref(), None),
        Some(Some((plugin, kind))) => (Some(plugin), Some(kind)),
    };
    show(screen, &args.watch, async || {
        let mut found = below(client, args.side, plugin, kind).await?;
        for resource in &mut found {
            resource.versions.retain(|it| args.status.as_ref().is_none_or(|word| it.status == *word));
        }
        found.retain(|resource| !resource.versions.is_empty());
        let value = found
            .iter()
            .map(|it| json!({ "name": it.at.to_string(), "side": it.side.noun(), "versions": it.versions }));
        Ok(View { text: table(&found, screen.is_wide()), value: value.collect() })
    })
    .await
}

async fn upload(args: &UploadArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let content = std::fs::read(&args.file).map_err(|fault| Failure::file("read", &args.file, fault))?;
    let side = side_with(&args.at, args.side, client).await?;
    let stored: Version = client.upload(&args.at.path(side), content).await?;
    if args.stage || args.sync {
        let path = args.at.version_path(side, stored.version);
        let _: Value = client.post(&format!("{path}/stage"), &Value::Null).await?;
    }
    if args.sync {
        synchronise(client, screen).await?;
    }
    let uploaded = json!({ "name": args.at.to_string(), "version": stored.version, "sha256": stored.sha256 });
    screen.done(&uploaded, &format!("{} has version {}", args.at, stored.version));
    Ok(())
}

/// The side that has such a plugin with such a kind of resource.
async fn side_with(at: &At, side: Option<Side>, client: &Client) -> Result<Side, Failure> {
    let all = plugin::all(client, side).await?;
    let fits = |described: &Value| {
        described["name"] == at.plugin.as_str() && described["resourceTypes"].get(&at.kind).is_some()
    };
    let sides: Vec<Side> = all.iter().filter(|(_, it)| fits(it)).map(|(side, _)| *side).collect();
    match sides.as_slice() {
        [one] => Ok(*one),
        [] => Err(Failure::unknown(
            format!("no plugin {:?} takes resources of the kind {:?}", at.plugin, at.kind),
            "see what each takes: cooperage plugin list",
        )),
        _ => Err(Failure::refused(
            format!("a provider and an automator {:?} take {:?}", at.plugin, at.kind),
            "say which with --side provider or --side automator",
        )),
    }
}

/// Stages or recalls a version; with `sync` it comes into or goes out of use at once.
async fn turn(
    verb: &str,
    which: &VersionArgs,
    sync: bool,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let is_used = |it: &Version| matches!(it.status.as_str(), "active" | "staged");
    let (side, version) = version_of(which, client, |it| verb == "stage" || is_used(it)).await?;
    let path = format!("{}/{verb}", which.at.version_path(side, version));
    let _: Value = client.post(&path, &Value::Null).await?;
    let done = if verb == "stage" { "staged" } else { "recalled" };
    let turned = json!({ "name": which.at.to_string(), "version": version, "status": done });
    screen.done(&turned, &format!("{} version {version} is {done}", which.at));
    if sync {
        return synchronise(client, screen).await;
    }
    screen.note("it takes effect with: cooperage resource sync");
    Ok(())
}

async fn synchronise(client: &Client, screen: &Screen) -> Result<(), Failure> {
    let _: Value = client.post("/v2/plugins/sync", &Value::Null).await?;
    screen.note("what was staged is in use, what was recalled is not");
    Ok(())
}

fn table(all: &[Resource], is_wide: bool) -> String {
    let mut table = Table::wide(is_wide, ["RESOURCE", "SIDE", "VERSION", "STATUS"], ["BYTES", "SHA-256"]);
    for resource in all {
        for it in &resource.versions {
            let cells = [
                resource.at.to_string(),
                resource.side.noun().to_owned(),
                it.version.to_string(),
                status(&it.status),
            ];
            table.wide_row(cells, [it.size.to_string(), it.sha256.clone()]);
        }
    }
    table.render("no resources")
}
