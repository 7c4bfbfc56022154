//! `cooperage cluster resize`, `remove-service`, `replace`, `heal`, `set`, `upgrade`, `rollback`, `converge`, `errand` and
//! `cancel`

use cooperage_domain::invalid::Invalid;
use serde_json::{Map, Value, json};

use super::config_values::{merge, parse_override, remove};
use super::find;
use super::outcome::begun;
use super::planned::{self, Verb};
use crate::cli::args::living::{
    CancelArgs, ConvergeArgs, ErrandArgs, MachinesArgs, Operation, RemoveServiceArgs, ResizeArgs,
    RollBackArgs, SetArgs, UpgradeArgs,
};
use crate::cli::client::{Client, segment};
use crate::cli::failure::Failure;
use crate::cli::screen::Screen;

/// Where an operation is asked for, and what.
struct Asked {
    /// The last part of the path.
    what: String,
    body: Value,
}

/// Asks for an operation, and waits until its job ends.
async fn operate(on: &Operation, asked: Asked, client: &Client, screen: &Screen) -> Result<(), Failure> {
    on.wait.limit()?;
    let mut body = on.fields.body()?;
    if let (Some(body), Some(more)) = (body.as_object_mut(), asked.body.as_object()) {
        body.extend(more.clone());
    }
    let id = find::id_of(client, &on.which.cluster).await?;
    let path = format!("/v2/clusters/{id}/{}", asked.what);
    if !planned::change(Verb::Post, &path, &body, &on.preview, client, screen).await? {
        return Ok(());
    }
    begun(client, &id, screen, &on.wait).await
}

/// Makes machines, or gives some back.
///
/// # Errors
/// When there is no such layout, or a task fails.
pub async fn resize(args: &ResizeArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let mut body = json!({});
    if let Some(machines) = args.machines {
        body["machines"] = machines.into();
    }
    if !args.service.is_empty() {
        body["services"] = Value::Object(by_service(&args.service)?);
    }
    if !args.remove.is_empty() {
        body["remove"] = json!(args.remove);
    }
    for (field, value) in [("hardwaretype", &args.hardware), ("imagetype", &args.image)] {
        if let Some(value) = value {
            body[field] = json!(value);
        }
    }
    operate(&args.on, Asked { what: "resize".into(), body }, client, screen).await
}

/// `nginx=+2`, `redis=-1`
fn by_service(texts: &[String]) -> Result<Map<String, Value>, Failure> {
    let one = |text: &String| {
        let (service, number) = text.split_once('=')?;
        let number: i64 = number.trim_start_matches('+').parse().ok()?;
        (number != 0 && !service.is_empty()).then(|| (service.to_owned(), number.into()))
    };
    let parsed = |text: &String| {
        let remedy = "write --service nginx=+2 for two more nodes with nginx, nginx=-1 for one fewer";
        one(text)
            .ok_or_else(|| Failure::from(Invalid::new("--service", text, "is no change of a number", remedy)))
    };
    texts.iter().map(parsed).collect()
}

/// Takes services off a cluster.
///
/// # Errors
/// When something that stays needs one, or a task fails.
pub async fn remove_service(
    args: &RemoveServiceArgs,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let body = json!({ "services": args.services });
    operate(&args.on, Asked { what: "services/remove".into(), body }, client, screen).await
}

/// Makes machines anew: `what` is `replace` or `heal`.
///
/// # Errors
/// When there is no such node, or a task fails.
pub async fn make_anew(
    what: &str,
    args: &MachinesArgs,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    let mut body = json!({ "nodes": args.nodes });
    args.rollout.put_into(&mut body)?;
    operate(&args.on, Asked { what: what.to_owned(), body }, client, screen).await
}

/// Changes values of the configuration.
///
/// # Errors
/// When a value cannot be read, or a task fails.
pub async fn set(args: &SetArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let (_, details) = find::details(client, &args.on.which.cluster).await?;
    if !args.nodes.is_empty() {
        let mut body = json!({ "nodes": of_nodes(args)? });
        args.rollout.put_into(&mut body)?;
        return operate(&args.on, Asked { what: "reconfigure".into(), body }, client, screen).await;
    }
    let path = format!("/v2/clusters/{}/config", details.id);
    let mut config: Map<String, Value> = client.get(&path).await?;
    for text in &args.values {
        merge(&mut config, parse_override("PATH=VALUE", text)?);
    }
    if let Some(unknown) = args.unset.iter().find(|path| !remove(&mut config, path)) {
        let remedy = "use a path that `cooperage cluster config` shows, such as nginx.port";
        return Err(Failure::unknown(format!("--unset: the configuration has no {unknown:?}"), remedy));
    }
    let mut body = json!({ "config": config });
    args.rollout.put_into(&mut body)?;
    operate(&args.on, Asked { what: "reconfigure".into(), body }, client, screen).await
}

/// The same change for each of the nodes that are named: `null` takes a value away.
fn of_nodes(args: &SetArgs) -> Result<Map<String, Value>, Failure> {
    let mut change = Map::new();
    for text in &args.values {
        merge(&mut change, parse_override("PATH=VALUE", text)?);
    }
    for path in &args.unset {
        let gone = path.rsplit('.').fold(Value::Null, |value, key| json!({ key: value }));
        merge(&mut change, gone.as_object().cloned().unwrap_or_default());
    }
    Ok(args.nodes.iter().map(|node| (node.clone(), Value::Object(change.clone()))).collect())
}

/// Brings template and services to newer versions.
///
/// # Errors
/// When the nodes do not keep the newer template's rules, or a task fails.
pub async fn upgrade(args: &UpgradeArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let mut services = Map::new();
    for text in &args.services {
        let (name, version) = match text.split_once('=') {
            None => (text.as_str(), Value::Null),
            Some((name, version)) => {
                let number = version.parse::<u64>().map_err(|_| {
                    let remedy = "write --service nginx=3, or --service nginx for the newest";
                    Invalid::new("--service", text, "names no version", remedy)
                })?;
                (name, number.into())
            }
        };
        services.insert(name.to_owned(), version);
    }
    let mut body = json!({ "template": !args.no_template, "services": services });
    args.rollout.put_into(&mut body)?;
    operate(&args.on, Asked { what: "upgrade".into(), body }, client, screen).await
}

/// Goes back to what was wanted once.
///
/// # Errors
/// When there is no such revision, or a task fails.
pub async fn roll_back(args: &RollBackArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let mut body = json!({});
    if let Some(revision) = args.revision {
        body["to"] = revision.into();
    }
    args.rollout.put_into(&mut body)?;
    operate(&args.on, Asked { what: "rollback".into(), body }, client, screen).await
}

/// Looks at every service, and mends what is not as wanted.
///
/// # Errors
/// When the cluster is not at rest, or a task fails.
pub async fn converge(args: &ConvergeArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let body = json!({ "mend": !args.only_look });
    operate(&args.on, Asked { what: "converge".into(), body }, client, screen).await
}

/// Runs an errand.
///
/// # Errors
/// When the service has no such errand, or it fails.
pub async fn errand(args: &ErrandArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let what = format!("services/{}/errands/{}", segment(&args.service), segment(&args.errand));
    operate(&args.on, Asked { what, body: json!({ "nodes": args.nodes }) }, client, screen).await
}

/// Stops whatever is under way.
///
/// # Errors
/// When what is under way cannot be undone although that was asked for.
pub async fn cancel(args: &CancelArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let body = json!({ "undo": args.undo });
    operate(&args.on, Asked { what: "cancel".into(), body }, client, screen).await
}
