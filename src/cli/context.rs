//! `cooperage context …`: servers by name, with who we are to each.

use std::io::Read;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use cooperage_domain::invalid::Invalid;
use serde_json::{Value, json};

use super::args::Globals;
use super::complete;
use super::connection::contexts::{self, Context, Contexts};
use super::connection::{choice, is_local, parse_server};
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;

/// What to do with contexts.
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List all contexts
    #[command(visible_alias = "ls", after_help = "Example: cooperage context list")]
    List,
    /// Show one, without its token
    #[command(visible_alias = "get", after_help = "Example: cooperage context show prod")]
    Show {
        /// Its name; without it, the current one
        #[arg(add = complete::contexts())]
        name: Option<String>,
    },
    /// Use one from now on, where no other server is named
    #[command(after_help = "Example: cooperage context use prod")]
    Use {
        /// Its name
        #[arg(add = complete::contexts())]
        name: String,
    },
    /// Make one, or change what is said of it
    #[command(after_help = "Examples:
  cooperage context set lab --server http://10.0.0.5:55054 --token-file ~/lab.token
  cooperage context set prod --server https://prod.example.com --ca-file ca.pem --token-stdin < token
  cooperage context set old --server http://coopr:55054 --user ann --tenant dept

The first one is the current one. A token is read from standard input or a file, never from the command.")]
    Set(SetArgs),
    /// Forget one
    #[command(visible_alias = "rm", after_help = "Example: cooperage context delete lab")]
    Delete {
        /// Its name
        #[arg(add = complete::contexts())]
        name: String,
    },
    /// Show which server is asked, as whom, and what says so
    #[command(after_help = "Example: cooperage context current")]
    Current,
}

/// What to set; the rest are the options of all commands.
#[derive(Debug, Clone, Args)]
pub struct SetArgs {
    /// Its name
    #[arg(add = complete::contexts())]
    pub name: String,
    /// Read the token from standard input and keep it here
    #[arg(long)]
    pub token_stdin: bool,
    /// Use it from now on
    #[arg(long = "use")]
    pub and_use: bool,
}

/// Carries out one of the commands.
///
/// # Errors
/// When there is no such context, or the file cannot be read or written.
pub fn run(command: ContextCommand, globals: &Globals, screen: &Screen) -> Result<(), Failure> {
    let file = contexts::path().ok_or_else(|| {
        Failure::refused(
            "there is no place for contexts: HOME is not set",
            "name a file in COOPERAGE_CONTEXTS",
        )
    })?;
    if let ContextCommand::Current = command {
        return current(globals, screen);
    }
    let mut all = Contexts::load(&file)?;
    match command {
        ContextCommand::List => {
            let shown: Vec<Value> = all.contexts.keys().map(|name| as_json(&all, name)).collect();
            screen.result(&shown, || table(&all));
        }
        ContextCommand::Show { name } => {
            let name = name.or_else(|| all.current.clone()).ok_or_else(|| {
                Failure::unknown("there is no current context", "name one, or: cooperage context use NAME")
            })?;
            all.get(&name)?;
            let shown = as_json(&all, &name);
            screen.result(&shown, || super::yaml::render(&shown));
        }
        ContextCommand::Use { name } => {
            all.get(&name)?;
            all.current = Some(name.clone());
            all.save(&file)?;
            screen.done(&json!({ "name": name }), &format!("context {name} is used from now on"));
        }
        ContextCommand::Set(args) => set(&args, globals, &mut all, &file, screen)?,
        ContextCommand::Delete { name } => {
            all.get(&name)?;
            all.contexts.remove(&name);
            all.current = all.current.filter(|current| *current != name);
            all.save(&file)?;
            screen.done(&json!({ "name": name }), &format!("context {name} is forgotten"));
        }
        ContextCommand::Current => {}
    }
    Ok(())
}

fn set(
    args: &SetArgs,
    globals: &Globals,
    all: &mut Contexts,
    file: &std::path::Path,
    screen: &Screen,
) -> Result<(), Failure> {
    check_name(&args.name)?;
    let mut context = all.contexts.get(&args.name).cloned().unwrap_or_default();
    let server = globals.server.clone().or_else(|| Some(context.server).filter(|it| !it.is_empty()));
    let server =
        server.ok_or_else(|| Invalid::new("--server", "", "is missing", "name the server's address"))?;
    context.server = parse_server(&server)?.to_string();
    let token = args.token_stdin.then(read_token).transpose()?;
    if token.is_some() || globals.token_file.is_some() {
        context.token_file = globals.token_file.clone().map(absolute).filter(|_| token.is_none());
        context.token = token;
    }
    context.ca_file = globals.ca_file.clone().map(absolute).or(context.ca_file);
    context.user = globals.user.clone().or(context.user);
    context.tenant = globals.tenant.clone().or(context.tenant);
    let is_first = all.contexts.is_empty();
    all.contexts.insert(args.name.clone(), context);
    if args.and_use || is_first {
        all.current = Some(args.name.clone());
    }
    all.save(file)?;
    if let Some(warning) = all.contexts.get(&args.name).and_then(warning) {
        screen.note(&warning);
    }
    let shown = as_json(all, &args.name);
    screen.note(&format!("context {} is in {}", args.name, file.display()));
    screen.result(&shown, || super::yaml::render(&shown));
    Ok(())
}

/// What everybody on the way to the server will see.
fn warning(context: &Context) -> Option<String> {
    let server = parse_server(&context.server).ok()?;
    let is_seen = server.scheme() == "http" && !is_local(&server);
    let has_token = context.token.is_some() || context.token_file.is_some();
    (is_seen && has_token).then(|| {
        format!("warning: the token goes to {server} unencrypted; use https, or a tunnel to this host")
    })
}

/// A name that is a bare key in the file and a word in a shell.
fn check_name(name: &str) -> Result<(), Invalid> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        return Ok(());
    }
    Err(Invalid::new("NAME", name, "is no name of a context", "use letters, digits, -, _ and ."))
}

fn read_token() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|fault| {
        Failure::file("read the token from", std::path::Path::new("standard input"), fault)
    })?;
    let token = text.trim().to_owned();
    if token.is_empty() || token.contains(char::is_whitespace) {
        let remedy = "write just the token: cooperage context set NAME --token-stdin < FILE";
        return Err(Failure::refused("standard input holds no token", remedy));
    }
    Ok(token)
}

/// The file wherever the command is run later.
fn absolute(file: PathBuf) -> PathBuf {
    std::path::absolute(&file).unwrap_or(file)
}

/// What may be shown of a context.
fn as_json(all: &Contexts, name: &str) -> Value {
    let context = all.contexts.get(name).cloned().unwrap_or_default();
    let mut shown = json!({
        "name": name,
        "current": all.current.as_deref() == Some(name),
        "server": context.server,
        "credential": credential(&context),
    });
    let more = [
        ("user", context.user),
        ("tenant", context.tenant),
        ("tokenFile", context.token_file.map(|file| file.display().to_string())),
        ("caFile", context.ca_file.map(|file| file.display().to_string())),
    ];
    if let Value::Object(fields) = &mut shown {
        fields.extend(more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?.into()))));
    }
    shown
}

/// How we prove who we are, without the token.
fn credential(context: &Context) -> &'static str {
    match (&context.token, &context.token_file, &context.user) {
        (Some(_), ..) => "token",
        (None, Some(_), _) => "token file",
        (None, None, Some(_)) => "headers",
        (None, None, None) => "none",
    }
}

fn table(all: &Contexts) -> String {
    let mut table = Table::new(["CURRENT", "NAME", "SERVER", "CREDENTIAL", "USER", "TENANT"]);
    for (name, context) in &all.contexts {
        let mark = if all.current.as_ref() == Some(name) { "*" } else { " " };
        table.row([
            mark.to_owned(),
            name.clone(),
            context.server.clone(),
            credential(context).to_owned(),
            context.user.clone().unwrap_or_default(),
            context.tenant.clone().unwrap_or_default(),
        ]);
    }
    table.render("no contexts; make one with `cooperage context set NAME --server URL`")
}

fn current(globals: &Globals, screen: &Screen) -> Result<(), Failure> {
    let found = choice(globals)?;
    let credential = found.credential.as_ref().map(|it| (it.value.about(), it.origin.clone()));
    let (about, origin) = credential
        .unwrap_or_else(|| ("what this host's server keeps, if it is here".into(), "default".into()));
    let ca = found.ca_file.map(|it| (it.value.display().to_string(), it.origin));
    let mut rows = vec![
        ("server", found.server.value, found.server.origin),
        ("credential", about, origin),
        ("user", found.user.value, found.user.origin),
        ("tenant", found.tenant.value, found.tenant.origin),
    ];
    rows.extend(ca.map(|(file, origin)| ("authority", file, origin)));
    let value: serde_json::Map<String, Value> = rows
        .iter()
        .map(|(what, value, origin)| ((*what).to_owned(), json!({ "value": value, "from": origin })))
        .collect();
    screen.result_named(
        &value,
        || vec![rows.first().map(|row| row.1.clone()).unwrap_or_default()],
        || {
            let mut table = Table::new(["WHAT", "VALUE", "FROM"]);
            for (what, value, origin) in &rows {
                table.row([(*what).to_owned(), value.clone(), origin.clone()]);
            }
            table.render("")
        },
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_that_everybody_can_read_on_its_way_is_warned_of() {
        let context = |server: &str, token: Option<&str>| Context {
            server: server.to_owned(),
            token: token.map(str::to_owned),
            ..Context::default()
        };
        for (server, token, warned) in [
            ("http://10.0.0.5:55054", Some("t"), true),
            ("http://10.0.0.5:55054", None, false),
            ("https://10.0.0.5:55054", Some("t"), false),
            ("http://127.0.0.1:55054", Some("t"), false),
        ] {
            assert_eq!(warning(&context(server, token)).is_some(), warned, "{server} {token:?}");
        }
    }
}
