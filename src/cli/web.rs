//! `cooperage web`: the way into the web interface.

use clap::Args;
use serde_json::{Value, json};

use super::client::Client;
use super::failure::Failure;
use super::screen::Screen;

/// Nothing more to say.
#[derive(Debug, Clone, Copy, Args)]
pub struct WebArgs {}

/// Prints an address that logs a browser in as the caller, once.
///
/// # Errors
/// When the server refuses.
pub async fn run(_: WebArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let address = address(client).await?;
    screen.result(&json!({ "url": address }), || address.clone());
    screen.note("It logs one browser in, once, within ten minutes: keep it to yourself.");
    Ok(())
}

/// The address of the first page, with a code that logs in. What stands behind the `#` is sent to nobody: the page reads it.
///
/// # Errors
/// When the server refuses.
pub async fn address(client: &Client) -> Result<String, Failure> {
    let offered: Value = client.post("/v2/login-codes", &Value::Null).await?;
    let code = offered["code"].as_str().unwrap_or_default();
    Ok(format!("{}/#code={code}", client.server()))
}
