//! `cooperage token …`: tokens for programs, and for people without a browser.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueHint};
use serde_json::{Map, Value, json};

use super::args::WatchArgs;
use super::client::{Client, segment};
use super::duration::{local_time, parse};
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::user::PlaceArgs;
use super::watching::{View, show};

/// What to do with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// List your own; all of the tenant as its admin
    #[command(visible_alias = "ls", after_help = "Example: cooperage token list")]
    List {
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
        /// Whether to show it again.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Make a new one; it is shown this once
    #[command(after_help = "Examples:
  cooperage token create --label CI --scope clusters --scope catalog:read --expires 30d
  cooperage token create --for ben --in dept --save ben.token
  cooperage token create --for rack-7 --role provisioner --save rack-7.token

Scopes: read, clusters, catalog, plugins, access, operation, own; with ':read' for looking only. Without any: all.")]
    Create(CreateArgs),
    /// Let nobody in with it any more
    #[command(visible_alias = "rm", after_help = "Example: cooperage token revoke 0199…")]
    Revoke {
        /// Its id
        id: String,
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
    },
}

/// What the token is to be.
#[derive(Debug, Clone, Args)]
pub struct CreateArgs {
    /// What it is for
    #[arg(long)]
    pub label: Option<String>,
    /// Who holds it; you, unless said otherwise
    #[arg(long = "for", value_name = "USER")]
    pub holder: Option<String>,
    /// The most its holder may be with it; what the user is, unless said otherwise
    #[arg(long)]
    pub role: Option<String>,
    /// What it is limited to
    #[arg(long = "scope", value_name = "SCOPE")]
    pub scopes: Vec<String>,
    /// How long it counts, such as 12h or 30d; for ever, unless said otherwise
    #[arg(long, value_name = "TIME")]
    pub expires: Option<String>,
    /// Keep it in this file, which only you can read, instead of showing it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub save: Option<PathBuf>,
    /// Where.
    #[command(flatten)]
    pub place: PlaceArgs,
}

impl CreateArgs {
    fn body(&self) -> Result<Value, Failure> {
        let mut body = Map::new();
        for (field, value) in [("label", &self.label), ("user", &self.holder), ("role", &self.role)] {
            body.extend(value.clone().map(|value| (field.to_owned(), value.into())));
        }
        body.insert("scopes".to_owned(), self.scopes.clone().into());
        if let Some(expires) = &self.expires {
            body.insert("expiresInSeconds".to_owned(), parse("--expires", expires)?.as_secs().into());
        }
        Ok(body.into())
    }
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such token, or the server refuses.
pub async fn run(command: TokenCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    match command {
        TokenCommand::List { place, watch } => {
            show(screen, &watch, async || {
                let all: Vec<Value> = client.get(&place.path("/v2/tokens")).await?;
                Ok(View { text: table(&all), value: all.into() })
            })
            .await
        }
        TokenCommand::Create(args) => create(&args, client, screen).await,
        TokenCommand::Revoke { id, place } => {
            client.delete(&place.path(&format!("/v2/tokens/{}", segment(&id)))).await?;
            screen.done(&json!({ "id": id }), &format!("revoked token {id}"));
            Ok(())
        }
    }
}

async fn create(args: &CreateArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let body = args.body()?;
    // Before there is a token that could get lost.
    let file = args.save.as_deref().map(open).transpose()?;
    let made = client.post(&args.place.path("/v2/tokens"), &body).await;
    if let (Err(_), Some(path)) = (&made, &args.save) {
        // It was only just made, and is empty.
        let _ = std::fs::remove_file(path);
    }
    let mut made: Value = made?;
    if let (Some(mut file), Some(path)) = (file, &args.save) {
        let secret = made["token"].as_str().unwrap_or_default();
        writeln!(file, "{secret}").map_err(|fault| Failure::file("write the token to", path, fault))?;
        made["token"] = format!("in {}", path.display()).into();
    }
    screen.result(&made, || super::yaml::render(&made));
    Ok(())
}

fn open(path: &Path) -> Result<std::fs::File, Failure> {
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    opened.map_err(|fault| Failure::file("make", path, fault))
}

fn table(all: &[Value]) -> String {
    let mut table = Table::new(["ID", "LABEL", "USER", "ROLE", "SCOPES", "EXPIRES", "COUNTS"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let scopes: Vec<&str> =
            one["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let scopes = if scopes.is_empty() { "all".to_owned() } else { scopes.join(" ") };
        let expires = one["expires"].as_i64().map_or_else(|| "never".to_owned(), local_time);
        let counts = if one["counts"] == true { "yes" } else { "no" }.to_owned();
        table.row([text("id"), text("label"), text("user"), text("role"), scopes, expires, counts]);
    }
    table.render("no tokens")
}

/// Shows who the caller is.
///
/// # Errors
/// When the server refuses.
pub async fn whoami(_: WhoamiArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let me: Value = client.get("/v2/me").await?;
    screen.result(&me, || super::yaml::render(&me));
    Ok(())
}

/// Nothing more to say.
#[derive(Debug, Clone, Copy, Args)]
pub struct WhoamiArgs {}
