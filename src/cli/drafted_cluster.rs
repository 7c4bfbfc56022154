//! `cooperage draft …`: clusters that are thought up before they are created.

use std::fmt::Write;

use clap::{Args, Subcommand};
use cooperage_domain::cluster::PlanPreview;
use serde_json::{Map, Value, json};

use super::args::{FieldArgs, WaitArgs, WatchArgs, YesArgs};
use super::client::{Client, segment, understood};
use super::cluster::{begun, edited, planned_text};
use super::duration::local_time;
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show};
use crate::documents;

/// What to do with drafts of clusters. One is made by `cooperage cluster create … --draft`.
#[derive(Debug, Subcommand)]
pub enum DraftedClusterCommand {
    /// List those of your tenant, newest first
    #[command(visible_alias = "ls", after_help = "Example: cooperage draft list")]
    List(WatchArgs),
    /// Show one, and what would be created now
    #[command(visible_alias = "get", after_help = "Example: cooperage draft show 00000042")]
    Show(Which),
    /// Put another cluster in its place
    #[command(after_help = "Examples:
  cooperage draft edit 00000042                      in VISUAL, EDITOR or vi
  cooperage draft edit 00000042 -f cluster.yaml")]
    Edit {
        /// Which one.
        #[command(flatten)]
        which: Which,
        /// File (YAML, JSON or TOML) with what is to be created instead
        #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
        file: Option<std::path::PathBuf>,
    },
    /// Create the cluster
    #[command(after_help = "Example: cooperage draft commit 00000042 --yes")]
    Commit {
        /// Which one.
        #[command(flatten)]
        which: Which,
        /// What the provider asks for and drafts do not keep.
        #[command(flatten)]
        fields: FieldArgs,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
        /// For how long to wait.
        #[command(flatten)]
        wait: WaitArgs,
    },
    /// Forget one
    #[command(visible_alias = "rm", after_help = "Example: cooperage draft delete 00000042")]
    Delete(Which),
}

/// Which draft.
#[derive(Debug, Clone, Args)]
pub struct Which {
    /// The id that its cluster will have
    #[arg(value_name = "ID")]
    pub id: String,
}

impl Which {
    fn path(&self) -> String {
        format!("/v2/drafts/{}", segment(&self.id))
    }

    async fn get(&self, client: &Client) -> Result<Value, Failure> {
        Ok(client.get(&self.path()).await?)
    }
}

/// Carries out one of the commands.
///
/// # Errors
/// What the command cannot do.
pub async fn run(command: DraftedClusterCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        DraftedClusterCommand::List(watch) => {
            show(screen, &watch, async || {
                let drafts: Vec<Value> = client.get("/v2/drafts").await?;
                Ok(View { text: table(&drafts), value: drafts.into() })
            })
            .await
        }
        DraftedClusterCommand::Show(which) => shown(&which.get(client).await?, screen),
        DraftedClusterCommand::Edit { which, file } => {
            let draft = which.get(client).await?;
            let after = match file {
                Some(file) => documents::read_values(&file)?,
                None => edited(&request(&draft), &format!("cooperage draft edit {} -f", which.id))?,
            };
            let after = titled(after, &draft);
            let edition = draft["edition"].to_string();
            shown(&client.put_on(&which.path(), &edition, &Value::Object(after)).await?, screen)
        }
        DraftedClusterCommand::Commit { which, fields, yes, wait } => {
            wait.limit()?;
            let draft = which.get(client).await?;
            if !yes.yes {
                screen.note(&text(&draft)?);
            }
            screen.confirm(&format!("create cluster {}?", which.id), yes.yes)?;
            let given = json!({ "providerFields": fields.read()? });
            let made: Value = client.post(&format!("{}/commit", which.path()), &given).await?;
            begun(client, &id(&made), screen, &wait).await
        }
        DraftedClusterCommand::Delete(which) => {
            client.delete(&which.path()).await?;
            screen.done(&json!({ "id": which.id }), &format!("the draft of {} is forgotten", which.id));
            Ok(())
        }
    }
}

/// Keeps a cluster as a draft instead of creating it, and shows it.
///
/// # Errors
/// When the server refuses.
pub async fn draft(
    request: Value,
    title: Option<&String>,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut wanted = request.as_object().cloned().unwrap_or_default();
    wanted.extend(title.map(|title| ("title".to_owned(), json!(title))));
    let draft: Value = client.post("/v2/drafts", &Value::Object(wanted)).await?;
    shown(&draft, screen)?;
    screen.note(&format!("create it with: cooperage draft commit {}", id(&draft)));
    Ok(())
}

fn id(draft: &Value) -> String {
    draft["id"].as_str().unwrap_or_default().to_owned()
}

fn request(draft: &Value) -> Map<String, Value> {
    draft["request"].as_object().cloned().unwrap_or_default()
}

/// With the title it had, unless it is given another one.
fn titled(mut after: Map<String, Value>, draft: &Value) -> Map<String, Value> {
    after.entry("title").or_insert_with(|| draft["title"].clone());
    after
}

fn shown(draft: &Value, screen: &Screen) -> Result<(), Failure> {
    let text = text(draft)?;
    screen.result_named(draft, || vec![id(draft)], || text);
    Ok(())
}

fn text(draft: &Value) -> Result<String, Failure> {
    let word = |field: &str| draft[field].as_str().unwrap_or_default();
    let time = |field: &str| local_time(draft[field].as_i64().unwrap_or_default());
    let mut text = format!("draft of cluster {}", word("id"));
    // Writing to a String cannot fail.
    if !word("title").is_empty() {
        let _ = write!(text, ": {}", word("title"));
    }
    let _ = writeln!(text, "\n  drafted by {} at {}", word("createdBy"), time("createTime"));
    if draft["edition"].as_u64().is_some_and(|edition| edition > 1) {
        let _ = writeln!(text, "  changed by {} at {}", word("changedBy"), time("changeTime"));
    }
    if !word("doneBy").is_empty() {
        let _ = writeln!(text, "  created by {} at {}", word("doneBy"), time("doneTime"));
    }
    let _ = writeln!(text, "\n{}", super::yaml::render(&request(draft)));
    if !draft["preview"].is_null() {
        let preview: PlanPreview = understood("the preview", &draft["preview"])?;
        text.push_str(&planned_text(&preview));
    }
    if let Some(refusal) = draft["refusal"].as_str() {
        let _ = writeln!(text, "It cannot be created now: {refusal}");
    }
    Ok(text)
}

fn table(drafts: &[Value]) -> String {
    let mut table = Table::new(["ID", "NAME", "TEMPLATE", "SIZE", "TITLE", "BY", "DRAFTED", "CREATED"]);
    for draft in drafts {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let request = &draft["request"];
        let done = draft["doneBy"]
            .as_str()
            .map(|by| format!("{} by {by}", local_time(draft["doneTime"].as_i64().unwrap_or_default())));
        table.row([
            word(&draft["id"]),
            word(&request["name"]),
            word(&request["clusterTemplate"]),
            request["numMachines"].to_string(),
            word(&draft["title"]),
            word(&draft["createdBy"]),
            local_time(draft["createTime"].as_i64().unwrap_or_default()),
            done.unwrap_or_default(),
        ]);
    }
    table.render("no drafts")
}
