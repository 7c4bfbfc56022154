//! `cooperage secrets status` and `cooperage secrets rotate`

use serde_json::{Value, json};

use super::args::{SecretsAt, SecretsCommand};
use super::client::Client;
use super::failure::Failure;
use super::screen::Screen;
use crate::api::secrets::shown;
use crate::config::Settings;
use crate::server::{open_store, take_data_dir};

/// Carries out one of the commands by asking the server.
///
/// # Errors
/// When the server refuses.
pub async fn run(command: SecretsCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let answer = match command {
        SecretsCommand::Status(_) => client.get("/v2/secrets").await?,
        SecretsCommand::Rotate(_) => client.post("/v2/secrets/rotate", &json!({})).await?,
    };
    screen.result(&answer, || told(&answer));
    Ok(())
}

/// Whether a command is to work on the data of a server that does not run.
#[must_use]
pub const fn is_offline(command: &SecretsCommand) -> bool {
    let (SecretsCommand::Status(at) | SecretsCommand::Rotate(at)) = command;
    at.offline
}

/// Carries out one of the commands on the data directory, which no server may use meanwhile.
///
/// # Errors
/// When a server uses it, or the key file or the database cannot be used.
pub fn run_offline(command: &SecretsCommand, screen: &Screen) -> Result<(), Failure> {
    let (SecretsCommand::Status(at) | SecretsCommand::Rotate(at)) = command;
    let SecretsAt { settings, .. } = at;
    let settings = Settings::load(settings.config.as_deref(), &settings.set)?;
    if !settings.data_dir.join("lock").exists() {
        let detail = format!("no server has run in {}", settings.data_dir.display());
        return Err(Failure::refused(detail, "name its data directory with --set data_dir=DIR"));
    }
    let told_to = |fault: &dyn std::fmt::Display| Failure::Server(fault.to_string());
    let _lock = take_data_dir(&settings.data_dir).map_err(|fault| told_to(&fault))?;
    let store = open_store(&settings).map_err(|fault| told_to(&fault))?;
    let answer = || {
        let rewrapped = match command {
            SecretsCommand::Status(_) => None,
            SecretsCommand::Rotate(_) => Some(store.rotate_secrets()?),
        };
        let mut answer = shown(&store.secrets_status()?);
        if let Some(rewrapped) = rewrapped {
            answer["rewrapped"] = json!(rewrapped);
        }
        Ok(answer)
    };
    let answer = answer().map_err(|fault: cooperage_schema::StoreError| told_to(&fault));
    store.close();
    let answer = answer?;
    screen.result(&answer, || told(&answer));
    Ok(())
}

fn told(answer: &Value) -> String {
    let text = |field: &str| answer[field].as_str().unwrap_or_default();
    let mut lines = vec![
        format!("key file: {}", text("keyFile")),
        format!("master key: {}", text("currentKey")),
        format!(
            "data keys: {}, {} of them under an older master key",
            answer["dataKeys"], answer["dataKeysBehind"]
        ),
        format!(
            "sealed: {} versions of providers, {} clusters",
            answer["entityVersions"], answer["clusters"]
        ),
    ];
    if let Some(older) = answer["olderKeys"].as_array().filter(|older| !older.is_empty()) {
        lines.push(format!(
            "a rotation was interrupted: {} older keys are still in the file; run it again",
            older.len()
        ));
    }
    if let Some(rewrapped) = answer["rewrapped"].as_u64() {
        lines.push(format!("{rewrapped} data keys are under the new master key now; back the key file up"));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_the_keys_is_told() {
        let text = |older: &[&str], rewrapped: Option<u64>| {
            told(
                &json!({"keyFile": "/d/secrets.key", "currentKey": "ab12", "olderKeys": older, "dataKeys": 3,
                "dataKeysBehind": 1, "entityVersions": 4, "clusters": 5, "rewrapped": rewrapped}),
            )
        };
        let plain = text(&[], None);
        assert!(
            plain.contains("/d/secrets.key") && plain.contains("4 versions of providers, 5 clusters"),
            "{plain}"
        );
        assert!(text(&["cd"], None).ends_with("run it again"));
        assert!(text(&[], Some(3)).contains("3 data keys are under the new master key"));
    }
}
