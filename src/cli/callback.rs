//! `cooperage callback …`: who is called when jobs begin and end. Only a tenant's admins may ask.

use std::io::Read;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::args::{WatchArgs, YesArgs};
use super::client::{Client, segment};
use super::duration::{self, local_time};
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::user::PlaceArgs;
use super::watching::{View, show};

/// What to do with callbacks.
#[derive(Debug, Subcommand)]
pub enum CallbackCommand {
    /// List all of a tenant
    #[command(visible_alias = "ls", after_help = "Example: cooperage callback list")]
    List {
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
        /// Whether to show it again.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Show one
    #[command(visible_alias = "get", after_help = "Example: cooperage callback show ci")]
    Show(One),
    /// Make a new one
    #[command(after_help = "Examples:
  cooperage callback create ci --url https://ci.example.com/hook --event success,failure
  cooperage callback create gate --url https://gate.example.com --event start --action cluster_delete --on-error refuse

Calls are signed with a secret. It is made, and shown this once, unless one is given on standard input.")]
    Create {
        /// Which.
        #[command(flatten)]
        one: One,
        /// What is said of it.
        #[command(flatten)]
        about: AboutArgs,
    },
    /// Change what is said of one; the rest stays
    #[command(visible_alias = "update", after_help = "Example: cooperage callback set ci --event failure")]
    Set {
        /// Which.
        #[command(flatten)]
        one: One,
        /// What is said of it.
        #[command(flatten)]
        about: AboutArgs,
    },
    /// Remove one, with the record of its calls
    #[command(visible_alias = "rm", after_help = "Example: cooperage callback delete ci --yes")]
    Delete {
        /// Which.
        #[command(flatten)]
        one: One,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
    },
    /// List the calls of one, newest first; or show one of them with what was answered
    #[command(after_help = "Examples:
  cooperage callback deliveries ci --status failed
  cooperage callback deliveries ci 5a0c7c1e-8f0e-5d53-8a43-0d6c8b8a3f10")]
    Deliveries {
        /// Which.
        #[command(flatten)]
        one: One,
        /// Show this call, with what was sent and answered
        #[arg(value_name = "DELIVERY")]
        id: Option<String>,
        /// Only those that are waiting, delivered, failed, allowed or vetoed
        #[arg(long, conflicts_with = "id")]
        status: Option<String>,
        /// Whether to show it again.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Make a call again
    #[command(after_help = "Example: cooperage callback redeliver ci 5a0c7c1e-8f0e-5d53-8a43-0d6c8b8a3f10")]
    Redeliver {
        /// Which.
        #[command(flatten)]
        one: One,
        /// The call
        #[arg(value_name = "DELIVERY")]
        id: String,
    },
    /// Call one now with the event `test`, and show what it answers
    #[command(after_help = "Example: cooperage callback test ci")]
    Test(One),
}

/// Which callback.
#[derive(Debug, Clone, Args)]
pub struct One {
    /// Its name
    pub name: String,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
}

impl One {
    fn path(&self, rest: &str) -> String {
        self.place.path(&format!("/v2/callbacks/{}{rest}", segment(&self.name)))
    }
}

/// What is said of a callback.
#[derive(Debug, Clone, Default, Args)]
pub struct AboutArgs {
    /// Where it is called
    #[arg(long)]
    pub url: Option<String>,
    /// What it is called for: start, success, failure, lease-warning
    #[arg(long = "event", value_name = "EVENT", value_delimiter = ',')]
    pub events: Vec<String>,
    /// For which kinds of jobs, such as `cluster_create`; all when none is named
    #[arg(long = "action", value_name = "ACTION", value_delimiter = ',')]
    pub actions: Vec<String>,
    /// How long it may take to answer: 5s
    #[arg(long, value_name = "TIME")]
    pub time_limit: Option<String>,
    /// What becomes of a job when it cannot be asked: allow or refuse
    #[arg(long, value_name = "allow|refuse")]
    pub on_error: Option<String>,
    /// Read the secret that signs calls from standard input
    #[arg(long)]
    pub secret_stdin: bool,
}

impl AboutArgs {
    fn body(&self) -> Result<Map<String, Value>, Failure> {
        let mut body = Map::new();
        let mut say = |field: &str, value: Option<Value>| {
            body.extend(value.map(|value| (field.to_owned(), value)));
        };
        let words = |words: &[String]| (!words.is_empty()).then(|| words.into());
        let limit =
            self.time_limit.as_deref().map(|text| duration::parse("--time-limit", text)).transpose()?;
        say("url", self.url.clone().map(Value::from));
        say("events", words(&self.events));
        say("actions", words(&self.actions));
        say("onError", self.on_error.clone().map(Value::from));
        say("timeoutMs", limit.and_then(|limit| u64::try_from(limit.as_millis()).ok()).map(Value::from));
        if self.secret_stdin {
            let mut secret = String::new();
            std::io::stdin()
                .read_to_string(&mut secret)
                .map_err(|fault| Failure::Server(format!("standard input cannot be read: {fault}")))?;
            say("secret", Some(secret.trim_end_matches(['\r', '\n']).into()));
        }
        Ok(body)
    }
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such callback, or the server refuses.
pub async fn run(command: CallbackCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let tell = |hook: &Value| screen.result(hook, || table(std::slice::from_ref(hook)));
    match command {
        CallbackCommand::List { place, watch } => {
            return show(screen, &watch, async || {
                let all: Vec<Value> = client.get(&place.path("/v2/callbacks")).await?;
                Ok(View { text: table(&all), value: all.into() })
            })
            .await;
        }
        CallbackCommand::Show(one) => tell(&client.get(&one.path("")).await?),
        CallbackCommand::Create { one, about } => {
            let mut body = about.body()?;
            body.insert("name".to_owned(), one.name.as_str().into());
            let made: Value = client.post(&one.place.path("/v2/callbacks"), &body.into()).await?;
            screen.result(&made, || created(&made));
        }
        CallbackCommand::Set { one, about } => {
            tell(&client.put(&one.path(""), &about.body()?.into()).await?);
        }
        CallbackCommand::Delete { one, yes } => {
            let _: Value = client.get(&one.path("")).await?;
            screen
                .confirm(&format!("Delete callback {} with the record of its calls?", one.name), yes.yes)?;
            client.delete(&one.path("")).await?;
            screen.done(&json!({ "name": one.name }), &format!("deleted callback {}", one.name));
        }
        CallbackCommand::Deliveries { one, id: Some(id), .. } => {
            let call: Value = client.get(&one.path(&format!("/deliveries/{}", segment(&id)))).await?;
            screen.result(&call, || super::yaml::render(&call));
        }
        CallbackCommand::Deliveries { one, id: None, status, watch } => {
            return show(screen, &watch, async || {
                let path = one.path("/deliveries");
                let sign = if path.contains('?') { '&' } else { '?' };
                let path = match &status {
                    Some(status) => format!("{path}{sign}status={}", segment(status)),
                    None => path,
                };
                let all: Vec<Value> = client.get(&path).await?;
                Ok(View { text: calls(&all), value: all.into() })
            })
            .await;
        }
        CallbackCommand::Redeliver { one, id } => {
            let path = one.path(&format!("/deliveries/{}/redeliver", segment(&id)));
            let call: Value = client.post(&path, &Value::Null).await?;
            screen.result(&call, || calls(std::slice::from_ref(&call)));
        }
        CallbackCommand::Test(one) => {
            let call: Value = client.post(&one.path("/test"), &Value::Null).await?;
            screen.result(&call, || tried(&call));
        }
    }
    Ok(())
}

fn words(value: &Value) -> String {
    let words = value.as_array().into_iter().flatten().filter_map(Value::as_str);
    words.collect::<Vec<_>>().join(" ")
}

fn table(all: &[Value]) -> String {
    let mut table = Table::new(["NAME", "EVENTS", "ACTIONS", "ON ERROR", "FROM", "URL"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let actions = Some(words(&one["actions"])).filter(|words| !words.is_empty());
        let actions = actions.unwrap_or_else(|| "all".to_owned());
        table.row([
            text("name"),
            words(&one["events"]),
            actions,
            text("onError"),
            text("source"),
            text("url"),
        ]);
    }
    table.render("no callbacks; make one with `cooperage callback create NAME --url URL --event EVENT`")
}

fn created(made: &Value) -> String {
    let table = table(std::slice::from_ref(made));
    match made["secret"].as_str() {
        Some(secret) => format!("{table}\nThe secret that signs its calls, shown this once: {secret}\n"),
        None => table,
    }
}

fn calls(all: &[Value]) -> String {
    let mut table = Table::new(["ID", "EVENT", "JOB", "ACTION", "STATUS", "TRIES", "DECIDED", "NEXT TRY"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let time = |field: &str| one[field].as_i64().map(local_time).unwrap_or_default();
        let tries = one["attempts"].as_u64().unwrap_or_default().to_string();
        let (decided, next) = (time("created"), time("next"));
        let about = [text("id"), text("event"), text("job"), text("action"), text("status")];
        let [id, event, job, action, status] = about;
        table.row([id, event, job, action, status, tries, decided, next]);
    }
    table.render("no calls")
}

fn tried(call: &Value) -> String {
    let last = &call["tries"][0];
    let took = last["durationMs"].as_i64().unwrap_or_default();
    match (last["code"].as_u64(), last["fault"].as_str()) {
        (_, Some(fault)) => format!("no answer after {took} ms: {fault}\n"),
        (code, None) => {
            let (code, answer) = (code.unwrap_or_default(), last["answer"].as_str().unwrap_or_default());
            format!("it answered {code} after {took} ms\n{answer}\n")
        }
    }
}
