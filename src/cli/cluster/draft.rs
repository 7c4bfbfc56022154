//! `cooperage cluster draft …`

use std::fmt::Write;

use cooperage_domain::cluster::PlanPreview;
use serde_json::{Map, Value, json};

use super::config::edited;
use super::config_values::{merge, parse_override};
use super::find;
use super::outcome::begun;
use super::planned;
use crate::cli::args::draft::Drafted;
use crate::cli::args::{DraftCommand, DraftedArgs};
use crate::cli::client::{Client, understood};
use crate::cli::duration::local_time;
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;
use crate::cli::table::Table;
use crate::documents;

/// Carries out one of the commands.
///
/// # Errors
/// What the command cannot do.
pub async fn run(command: DraftCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        DraftCommand::Create { which, operation, drafted } => {
            let id = find::id_of(client, &which.cluster).await?;
            let operation = wanted(operation.as_deref(), &drafted, &id, client).await?;
            let path = format!("/v2/clusters/{id}/drafts");
            let draft: Value = client.post(&path, &Value::Object(operation)).await?;
            shown(&draft, screen)?;
            screen.note(&format!("commit it with: cooperage cluster draft commit {id} {}", draft["id"]));
            Ok(())
        }
        DraftCommand::List(which) => {
            let id = find::id_of(client, &which.cluster).await?;
            let drafts: Vec<Value> = client.get(&format!("/v2/clusters/{id}/drafts")).await?;
            let numbers = || drafts.iter().map(|draft| draft["id"].to_string()).collect();
            screen.result_named(&drafts, numbers, || table(&drafts));
            Ok(())
        }
        DraftCommand::Show(which) => {
            let (_, draft) = get(&which, client).await?;
            shown(&draft, screen)
        }
        DraftCommand::Edit { which, drafted } => edit(&which, &drafted, client, screen).await,
        DraftCommand::Commit { which, yes, wait } => {
            wait.limit()?;
            let (path, draft) = get(&which, client).await?;
            if !yes.yes {
                screen.note(&text(&draft)?);
            }
            screen.confirm(&format!("make the change of draft {}?", which.draft), yes.yes)?;
            let made: Value = client.post(&format!("{path}/commit"), &Value::Null).await?;
            if made["rebased"] == true {
                screen.note(&overtaken(&made));
            }
            let id = made["clusterId"].as_str().unwrap_or_default();
            begun(client, id, screen, &wait).await
        }
        DraftCommand::Delete(which) => {
            let (path, _) = get(&which, client).await?;
            client.delete(&path).await?;
            screen.done(&json!({ "id": which.draft }), &format!("draft {} is forgotten", which.draft));
            Ok(())
        }
    }
}

/// A draft and where it is.
async fn get(which: &Drafted, client: &Client) -> Result<(String, Value), Failure> {
    let id = find::id_of(client, &which.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/drafts/{}", which.draft);
    let draft = client.get(&path).await?;
    Ok((path, draft))
}

async fn edit(
    which: &Drafted,
    drafted: &DraftedArgs,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let (path, draft) = get(which, client).await?;
    let before = draft["operation"].as_object().cloned().unwrap_or_default();
    let again = || format!("cooperage cluster draft edit {} {} -f", which.which.cluster, which.draft);
    let after = if drafted.is_empty() { edited(&before, &again())? } else { laid_over(before, drafted)? };
    let edition = draft["edition"].to_string();
    let draft: Value = client.put_on(&path, &edition, &Value::Object(after)).await?;
    shown(&draft, screen)
}

/// What a new draft is to do.
async fn wanted(
    operation: Option<&str>,
    drafted: &DraftedArgs,
    id: &str,
    client: &Client,
) -> Result<Map<String, Value>, Failure> {
    let mut wanted = Map::new();
    if let Some(operation) = operation {
        wanted.insert("operation".to_owned(), operation.into());
    }
    if operation == Some("configure") && drafted.file.is_none() {
        // A configuration is given as a whole: what is to change is laid over what is there.
        let config: Map<String, Value> = client.get(&format!("/v2/clusters/{id}/config")).await?;
        wanted.insert("config".to_owned(), Value::Object(config));
    }
    laid_over(wanted, drafted)
}

/// An operation with what was said laid over it.
fn laid_over(
    mut operation: Map<String, Value>,
    drafted: &DraftedArgs,
) -> Result<Map<String, Value>, Failure> {
    if let Some(file) = &drafted.file {
        merge(&mut operation, documents::read_values(file)?);
    }
    let name = operation.get("operation").and_then(Value::as_str).unwrap_or_default().to_owned();
    // Where values of the configuration go; others are fields of the operation itself.
    let place = match name.as_str() {
        "configure" => Some("config"),
        "reconfigure" => Some("patch"),
        _ => None,
    };
    for text in &drafted.set {
        let over = parse_override("--set", text)?;
        let values = place.map(|place| operation.entry(place).or_insert_with(|| json!({})));
        match values.and_then(Value::as_object_mut) {
            Some(values) => merge(values, over),
            None => merge(&mut operation, over),
        }
    }
    let adds = matches!(name.as_str(), "add_services" | "remove_services");
    match drafted.services.as_slice() {
        [] => {}
        services if adds => drop(operation.insert("services".to_owned(), json!(services))),
        [service] => drop(operation.insert("service".to_owned(), json!(service))),
        _ => {
            return Err(Failure::refused(
                "--service: only add_services and remove_services take several",
                "draft a change for each, or leave it out for all services",
            ));
        }
    }
    if let Some(title) = &drafted.title {
        operation.insert("title".to_owned(), json!(title));
    }
    Ok(operation)
}

fn overtaken(made: &Value) -> String {
    let meanwhile: Vec<&str> =
        made["meanwhile"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let what = match meanwhile.as_slice() {
        [] => "nothing that anybody asked for was changed".to_owned(),
        names => format!("others changed {}, which this does not touch", names.join(", ")),
    };
    format!("the cluster had moved on since it was drafted: {what}")
}

fn shown(draft: &Value, screen: &Screen) -> Result<(), Failure> {
    let text = text(draft)?;
    let number = || vec![draft["id"].to_string()];
    screen.result_named(draft, number, || text);
    Ok(())
}

fn text(draft: &Value) -> Result<String, Failure> {
    let word = |field: &str| draft[field].as_str().unwrap_or_default().to_owned();
    let mut text = format!("draft {}", draft["id"]);
    if !word("title").is_empty() {
        let _ = write!(text, ": {}", word("title")); // writing to a String cannot fail
    }
    let time = |field: &str| local_time(draft[field].as_i64().unwrap_or_default());
    let _ = writeln!(text, "\n  drafted by {} at {}", word("createdBy"), time("createTime"));
    if draft["edition"].as_u64().is_some_and(|edition| edition > 1) {
        let _ = writeln!(text, "  changed by {} at {}", word("changedBy"), time("changeTime"));
    }
    if !word("doneBy").is_empty() {
        let _ = writeln!(text, "  committed by {} at {}", word("doneBy"), time("doneTime"));
    }
    let _ = writeln!(text, "\n{}", crate::cli::yaml::render(&draft["operation"]));
    if !draft["preview"].is_null() {
        let preview: PlanPreview = understood("the preview", &draft["preview"])?;
        text.push_str(&planned::text(&preview));
    }
    if let Some(refusal) = draft["refusal"].as_str() {
        let _ = writeln!(text, "It cannot be done now: {refusal}");
    }
    Ok(text)
}

fn table(drafts: &[Value]) -> String {
    let mut table = Table::new(["DRAFT", "WHAT", "TITLE", "BY", "DRAFTED", "COMMITTED"]);
    for draft in drafts {
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let done = draft["doneBy"]
            .as_str()
            .map(|by| format!("{} by {by}", local_time(draft["doneTime"].as_i64().unwrap_or_default())));
        table.row([
            draft["id"].to_string(),
            word(&draft["operation"]["operation"]),
            word(&draft["title"]),
            word(&draft["createdBy"]),
            local_time(draft["createTime"].as_i64().unwrap_or_default()),
            done.unwrap_or_default(),
        ]);
    }
    table.render("no drafts")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(set: &[&str], services: &[&str]) -> DraftedArgs {
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect();
        DraftedArgs { set: texts(set), services: texts(services), ..DraftedArgs::default() }
    }

    fn over(operation: &Value, drafted: &DraftedArgs) -> Result<Value, Failure> {
        laid_over(operation.as_object().cloned().unwrap(), drafted).map(Value::Object)
    }

    #[test]
    fn what_is_said_is_laid_over_the_operation() {
        let configure = json!({"operation": "configure", "config": {"a": 1, "b": 2}});
        assert_eq!(
            over(&configure, &said(&["a=3", "c.d=x"], &[])).unwrap()["config"],
            json!({"a": 3, "b": 2, "c": {"d": "x"}})
        );
        let patch = over(&json!({"operation": "reconfigure"}), &said(&["c.d=x"], &[])).unwrap();
        assert_eq!(patch["patch"], json!({"c": {"d": "x"}}));
        let prolong = over(&json!({"operation": "prolong"}), &said(&["expireTime=7"], &[])).unwrap();
        assert_eq!(prolong["expireTime"], 7);
        let add = over(&json!({"operation": "add_services"}), &said(&[], &["a", "b"])).unwrap();
        assert_eq!(add["services"], json!(["a", "b"]));
        let stop = json!({"operation": "stop_services"});
        assert_eq!(over(&stop, &said(&[], &["a"])).unwrap()["service"], "a");
        assert!(over(&stop, &said(&[], &["a", "b"])).is_err());
    }
}
