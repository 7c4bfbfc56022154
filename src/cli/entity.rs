//! `cooperage template|service|provider|hardware|image list|show`

use cooperage_domain::entity::Kind;
use serde_json::Value;

use super::args::EntityCommand;
use super::client::{Client, segment};
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;

/// Carries out one of the commands for a kind.
///
/// # Errors
/// When there is no such entity.
pub async fn run(
    kind: Kind,
    command: &EntityCommand,
    client: &Client,
    screen: &Screen,
) -> Result<(), Failure> {
    match command {
        EntityCommand::List => list(kind, client, screen).await,
        EntityCommand::Show { name } => show(kind, name, client, screen).await,
    }
}

/// Lists all entities of a kind.
///
/// # Errors
/// When the server cannot be asked.
pub async fn list(kind: Kind, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let all: Vec<Value> = client.get(&format!("/v2/{}", kind.plural())).await?;
    screen.result(&all, || table(kind, &all));
    Ok(())
}

/// Shows one entity, as it is stored.
///
/// # Errors
/// When it does not exist.
pub async fn show(kind: Kind, name: &str, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let one = get(kind, name, client).await?;
    screen.result(&one, || super::yaml::render(&one));
    Ok(())
}

/// One entity.
///
/// # Errors
/// When it does not exist, with those that do.
pub async fn get(kind: Kind, name: &str, client: &Client) -> Result<Value, Failure> {
    let all = format!("/v2/{}", kind.plural());
    match client.get(&format!("{all}/{}", segment(name))).await {
        Err(fault) if fault.status() == Some(404) => {
            let known: Vec<Value> = client.get(&all).await?;
            let known: Vec<&str> = known.iter().filter_map(|one| one["name"].as_str()).collect();
            let remedy = match known.as_slice() {
                [] => "store one with `cooperage apply -f FILE`".to_owned(),
                known => format!("use one of: {}", known.join(", ")),
            };
            Err(Failure::refused(format!("there is no {} {name:?}", kind.noun()), remedy))
        }
        other => Ok(other?),
    }
}

fn table(kind: Kind, all: &[Value]) -> String {
    let mut table = Table::new(["NAME", "VERSION", about_heading(kind), "DESCRIPTION"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        table.row([text("name"), one["version"].to_string(), about(kind, one), text("description")]);
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
        found.flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_kind_shows_what_tells_one_from_another() {
        let shown = |kind, one: Value| {
            let text = table(kind, &[one]);
            console::strip_ansi_codes(text.lines().nth(1).unwrap()).into_owned()
        };
        let service =
            json!({"name": "nginx", "version": 3, "dependencies": {"runtime": {"uses": ["counter"]}}});
        assert_eq!(shown(Kind::Service, service), "nginx  3        counter  -");
        let hardware =
            json!({"name": "small", "version": 1, "providermap": {"local": {}}, "description": "Small"});
        assert_eq!(shown(Kind::HardwareType, hardware), "small  1        local      Small");
        assert!(table(Kind::Provider, &[]).starts_with("no providers; "));
    }
}
