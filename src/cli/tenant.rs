//! `cooperage tenant …`: who shares the installation. Only the superadmin may ask.

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::args::{WatchArgs, YesArgs};
use super::client::{Client, segment};
use super::complete;
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show};

/// The number that stands for "no limit".
const UNLIMITED: u64 = i32::MAX as u64;

/// What to do with tenants.
#[derive(Debug, Subcommand)]
pub enum TenantCommand {
    /// List all
    #[command(visible_alias = "ls", after_help = "Example: cooperage tenant list")]
    List(WatchArgs),
    /// Show one
    #[command(visible_alias = "get", after_help = "Example: cooperage tenant show dept")]
    Show {
        /// Its name
        #[arg(add = complete::tenants())]
        name: String,
    },
    /// Make a new one
    #[command(after_help = "Examples:
  cooperage tenant create dept --workers 10 --max-clusters 20 --max-nodes 100
  cooperage tenant create dept --workers 4 --bootstrap")]
    Create {
        /// Its name
        name: String,
        /// Begin with what the superadmin's tenant describes
        #[arg(long)]
        bootstrap: bool,
        /// How much it may have.
        #[command(flatten)]
        limits: Limits,
    },
    /// Change some of what it may have
    #[command(visible_alias = "update", after_help = "Example: cooperage tenant set dept --workers 20")]
    Set {
        /// Its name
        #[arg(add = complete::tenants())]
        name: String,
        /// How much it may have.
        #[command(flatten)]
        limits: Limits,
    },
    /// Remove one that has neither workers nor clusters, with everything it describes
    #[command(visible_alias = "rm", after_help = "Example: cooperage tenant delete dept")]
    Delete {
        /// Its name
        #[arg(add = complete::tenants())]
        name: String,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
    },
}

/// How much a tenant may have; what is not said stays as it is, and is unlimited for a new one.
#[derive(Debug, Clone, Default, Args)]
pub struct Limits {
    /// How many workers run for it
    #[arg(long, value_name = "N")]
    pub workers: Option<u32>,
    /// Most clusters at a time
    #[arg(long, value_name = "N")]
    pub max_clusters: Option<u32>,
    /// Most nodes at a time
    #[arg(long, value_name = "N")]
    pub max_nodes: Option<u32>,
    /// Free text
    #[arg(long)]
    pub description: Option<String>,
}

impl Limits {
    fn set_in(&self, tenant: &mut Map<String, Value>) {
        let numbers =
            [("workers", self.workers), ("maxClusters", self.max_clusters), ("maxNodes", self.max_nodes)];
        for (field, number) in numbers {
            tenant.extend(number.map(|number| (field.to_owned(), number.into())));
        }
        tenant.extend(self.description.clone().map(|text| ("description".to_owned(), text.into())));
    }
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such tenant, or the server refuses.
pub async fn run(command: TenantCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        TenantCommand::List(watch) => {
            show(screen, &watch, async || {
                let all: Vec<Value> = client.get("/v2/tenants").await?;
                Ok(View { text: table(&all), value: all.into() })
            })
            .await
        }
        TenantCommand::Show { name } => {
            let one: Value = client.get(&path(&name)).await?;
            screen.result(&one, || table(std::slice::from_ref(&one)));
            Ok(())
        }
        TenantCommand::Create { name, bootstrap, limits } => {
            let mut tenant = Map::from_iter([("name".to_owned(), Value::from(name.clone()))]);
            limits.set_in(&mut tenant);
            let body = json!({ "tenant": tenant, "bootstrap": bootstrap });
            let _: Value = client.post("/v2/tenants", &body).await?;
            tell(&name, client, screen).await
        }
        TenantCommand::Set { name, limits } => {
            let mut tenant: Map<String, Value> = client.get(&path(&name)).await?;
            limits.set_in(&mut tenant);
            let _: Value = client.put(&path(&name), &json!({ "tenant": tenant })).await?;
            tell(&name, client, screen).await
        }
        TenantCommand::Delete { name, yes } => {
            let _: Value = client.get(&path(&name)).await?;
            let question = format!("Delete tenant {name} with everything it describes?");
            screen.confirm(&question, yes.yes)?;
            client.delete(&path(&name)).await?;
            screen.done(&json!({ "name": name }), &format!("deleted tenant {name}"));
            Ok(())
        }
    }
}

async fn tell(name: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let now: Value = client.get(&path(name)).await?;
    screen.result(&now, || table(std::slice::from_ref(&now)));
    Ok(())
}

fn path(name: &str) -> String {
    format!("/v2/tenants/{}", segment(name))
}

fn table(all: &[Value]) -> String {
    let mut table = Table::new(["NAME", "WORKERS", "MAX CLUSTERS", "MAX NODES", "DESCRIPTION"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let limit = |field: &str| match one[field].as_u64() {
            Some(UNLIMITED) | None => "unlimited".to_owned(),
            Some(number) => number.to_string(),
        };
        let workers = one["workers"].as_u64().unwrap_or_default().to_string();
        table.row([text("name"), workers, limit("maxClusters"), limit("maxNodes"), text("description")]);
    }
    table.render("no tenants")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_limit_is_told_in_words() {
        let shown =
            table(&[json!({"name": "dept", "workers": 3, "maxClusters": 7, "maxNodes": 2_147_483_647})]);
        let shown = console::strip_ansi_codes(&shown).into_owned();
        assert_eq!(shown.lines().nth(1).unwrap(), "dept  3        7             unlimited  -");
    }

    #[test]
    fn only_what_is_said_is_changed() {
        let mut tenant =
            Map::from_iter([("maxNodes".to_owned(), json!(5)), ("workers".to_owned(), json!(1))]);
        Limits { workers: Some(2), ..Limits::default() }.set_in(&mut tenant);
        assert_eq!(Value::Object(tenant), json!({"maxNodes": 5, "workers": 2}));
    }
}
