//! `cooperage user …`: who may do what in a tenant. Only its admins may ask.

use std::io::Read;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};

use super::args::{WatchArgs, YesArgs};
use super::client::{Client, segment};
use super::duration::local_time;
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use super::watching::{View, show};

/// What to do with users.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List all of a tenant
    #[command(visible_alias = "ls", after_help = "Example: cooperage user list --in dept")]
    List {
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
        /// Whether to show it again.
        #[command(flatten)]
        watch: WatchArgs,
    },
    /// Show one
    #[command(visible_alias = "get", after_help = "Example: cooperage user show ann")]
    Show {
        /// The user
        name: String,
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Make a new one
    #[command(after_help = "Examples:
  cooperage user create ann
  cooperage user create ben --role admin --in dept --password-stdin < password

Without a password nobody can log in as the user; tokens work. A password is read from standard input, never from the command.")]
    Create {
        /// The user
        name: String,
        /// What is said of the user.
        #[command(flatten)]
        about: AboutArgs,
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Change a role or a password, or let somebody in no more
    #[command(
        visible_alias = "update",
        after_help = "Examples:
  cooperage user set ann --role reader
  cooperage user set ann --disabled true"
    )]
    Set {
        /// The user
        name: String,
        /// What is said of the user.
        #[command(flatten)]
        about: AboutArgs,
        /// Whether nothing of the user's is let in any more
        #[arg(long, value_name = "BOOL")]
        disabled: Option<bool>,
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Remove one, with sessions and tokens
    #[command(visible_alias = "rm", after_help = "Example: cooperage user delete ann --yes")]
    Delete {
        /// The user
        name: String,
        /// Where.
        #[command(flatten)]
        place: PlaceArgs,
        /// Whether to ask.
        #[command(flatten)]
        yes: YesArgs,
    },
}

/// In which tenant.
#[derive(Debug, Clone, Default, Args)]
pub struct PlaceArgs {
    /// In another tenant than your own (superadmins)
    #[arg(long = "in", value_name = "TENANT", add = super::complete::tenants())]
    pub of_tenant: Option<String>,
}

impl PlaceArgs {
    /// A path there.
    #[must_use]
    pub fn path(&self, path: &str) -> String {
        match &self.of_tenant {
            Some(tenant) => format!("{path}?tenant={}", segment(tenant)),
            None => path.to_owned(),
        }
    }
}

/// What is said of a user; the rest stays as it is.
#[derive(Debug, Clone, Default, Args)]
pub struct AboutArgs {
    /// reader, user, admin or superadmin; a new one is a user
    #[arg(long)]
    pub role: Option<String>,
    /// Read the password from standard input
    #[arg(long)]
    pub password_stdin: bool,
}

impl AboutArgs {
    fn body(&self) -> Result<Map<String, Value>, Failure> {
        let mut body = Map::new();
        body.extend(self.role.clone().map(|role| ("role".to_owned(), role.into())));
        if self.password_stdin {
            let mut password = String::new();
            std::io::stdin()
                .read_to_string(&mut password)
                .map_err(|fault| Failure::Server(format!("standard input cannot be read: {fault}")))?;
            body.insert("password".to_owned(), password.trim_end_matches(['\r', '\n']).into());
        }
        Ok(body)
    }
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such user, or the server refuses.
pub async fn run(command: UserCommand, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let one = |name: &str, place: &PlaceArgs| place.path(&format!("/v2/users/{}", segment(name)));
    let tell = |user: &Value| screen.result(user, || table(std::slice::from_ref(user)));
    match command {
        UserCommand::List { place, watch } => {
            return show(screen, &watch, async || {
                let all: Vec<Value> = client.get(&place.path("/v2/users")).await?;
                Ok(View { text: table(&all), value: all.into() })
            })
            .await;
        }
        UserCommand::Show { name, place } => tell(&client.get(&one(&name, &place)).await?),
        UserCommand::Create { name, about, place } => {
            let mut body = about.body()?;
            body.insert("name".to_owned(), name.into());
            tell(&client.post(&place.path("/v2/users"), &body.into()).await?);
        }
        UserCommand::Set { name, about, disabled, place } => {
            let mut body = about.body()?;
            body.extend(disabled.map(|disabled| ("disabled".to_owned(), disabled.into())));
            tell(&client.put(&one(&name, &place), &body.into()).await?);
        }
        UserCommand::Delete { name, place, yes } => {
            let _: Value = client.get(&one(&name, &place)).await?;
            screen.confirm(&format!("Delete user {name} with all sessions and tokens?"), yes.yes)?;
            client.delete(&one(&name, &place)).await?;
            screen.done(&json!({ "name": name }), &format!("deleted user {name}"));
        }
    }
    Ok(())
}

fn table(all: &[Value]) -> String {
    let mut table = Table::new(["NAME", "ROLE", "LOGS IN", "LET IN", "SINCE"]);
    for one in all {
        let text = |field: &str| one[field].as_str().unwrap_or_default().to_owned();
        let said = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let is = |field: &str| one[field] == true;
        let since = one["created"].as_i64().filter(|ms| *ms > 0).map(local_time).unwrap_or_default();
        table.row([text("name"), text("role"), said(is("hasPassword")), said(!is("disabled")), since]);
    }
    table.render("no users")
}
