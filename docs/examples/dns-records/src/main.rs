//! An automator in Rust: START gives dnsmasq the address of a service under a name, STOP and REMOVE take it away.
//!
//! The order comes as JSON on standard input; what is said goes out as JSON, an object with one key a line. dnsmasq reads a file
//! in its `--hostsdir` as soon as it is there; each node has one of its own, so nodes never wait for each other.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::json;

/// What this plugin takes of an order; everything else in it is left alone.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Order {
    task_name: String,
    node_id: String,
    config: Config,
}

#[derive(Deserialize)]
struct Config {
    hostname: String,
    /// By kind of address.
    #[serde(default)]
    ipaddresses: BTreeMap<String, String>,
    /// What is brought up; BOOTSTRAP has none.
    service: Option<Service>,
}

#[derive(Deserialize)]
struct Service {
    name: String,
    action: Action,
}

#[derive(Deserialize)]
struct Action {
    fields: Fields,
}

#[derive(Deserialize)]
struct Fields {
    folder: PathBuf,
    name: String,
}

fn main() -> ExitCode {
    let told = read().and_then(|order| carry_out(&order));
    let (result, code) = match told {
        Ok(progress) => {
            println!("{}", json!({"progress": progress}));
            (json!({}), ExitCode::SUCCESS)
        }
        Err(message) => (json!({"status": 1, "message": message}), ExitCode::FAILURE),
    };
    println!("{}", json!({"result": result}));
    code
}

fn read() -> Result<Order, String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|fault| format!("the order cannot be read: {fault}"))?;
    serde_json::from_str(&text).map_err(|fault| format!("the order is not understood: {fault}"))
}

/// Does what is asked for. Any task may come again, and finds what the first call did.
fn carry_out(order: &Order) -> Result<String, String> {
    let Some(service) = &order.config.service else { return Ok("nothing to prepare".to_owned()) };
    let fields = &service.action.fields;
    let file = fields.folder.join(format!("{}-{}", order.node_id, service.name));
    match order.task_name.as_str() {
        "START" => {
            let address =
                order.config.ipaddresses.get("access_v4").ok_or("the node has no address access_v4")?;
            let line = format!("{address} {} {}\n", fields.name, order.config.hostname);
            put(&file, &line)?;
            Ok(format!("{} leads to {address}", fields.name))
        }
        "STOP" | "REMOVE" => match fs::remove_file(&file) {
            Err(fault) if fault.kind() != ErrorKind::NotFound => Err(explained(&file, &fault)),
            _ => Ok(format!("{} does not lead to this node any more", fields.name)),
        },
        task => Ok(format!("{task} needs nothing")),
    }
}

/// Writes a file in one step. The first name is hidden, which dnsmasq does not read.
fn put(file: &Path, text: &str) -> Result<(), String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let beside = file.with_file_name(format!(".{name}"));
    fs::write(&beside, text).and_then(|()| fs::rename(&beside, file)).map_err(|fault| explained(file, &fault))
}

fn explained(file: &Path, fault: &io::Error) -> String {
    format!(
        "{} cannot be changed: {fault}; name a folder that the plugins' user may write to in the field folder",
        file.display()
    )
}
