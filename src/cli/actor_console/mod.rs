//! `cooperage console`: the actors of a server in a terminal. `page.rs` is what is shown and what keys do, `picture.rs` draws it,
//! `feed.rs` is the way to the server.

mod feed;
mod page;
mod picture;

use std::io::IsTerminal;
use std::time::Duration;

use clap::Args;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use serde::Deserialize as _;
use serde_json::Value;
use tokio::sync::mpsc::{Receiver, channel};

use super::client::{Client, segment};
use super::failure::Failure;
use super::screen::Screen;
use super::table::Table;
use feed::Feed;
use page::{Act, Actor, Page};

/// How long the keyboard is waited for before it is looked whether anybody still wants to know.
const LISTEN: Duration = Duration::from_millis(200);
/// Pause before a server that is away is asked again.
const AWAY: Duration = Duration::from_secs(1);

/// Which actors.
#[derive(Debug, Clone, Args)]
pub struct ConsoleArgs {
    /// Tell once what there is, and end
    #[arg(long)]
    pub once: bool,
    /// Only actors at and below this path, such as /clusters/00000042
    #[arg(long, value_name = "PATH", default_value = "/")]
    pub under: String,
    /// Only actors whose path or kind has this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,
}

/// Shows actors, and lets a hand be laid on them.
///
/// # Errors
/// When the server refuses: only the superadmin may look.
pub async fn run(args: ConsoleArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    if args.once {
        return once(&args, client, screen).await;
    }
    if !std::io::stdout().is_terminal() || !std::io::stdin().is_terminal() {
        let detail = "there is no terminal to draw on";
        return Err(Failure::refused(detail, "use --once, with -o json for programs"));
    }
    // Whoever may not is told so before anything is drawn.
    let first = Feed::open(client).await?;
    let mut terminal = ratatui::init();
    let done = show(&args, client, first, &mut terminal).await;
    ratatui::restore();
    done
}

async fn once(args: &ConsoleArgs, client: &Client, screen: &Screen) -> Result<(), Failure> {
    let path = format!("/console/actors?under={}&filter={}", segment(&args.under), segment(&args.filter));
    let tree: Value = client.get(&path).await?;
    let named = || tree["actors"].as_array().into_iter().flatten().filter_map(|it| it["path"].as_str());
    screen.result_named(&tree, || named().map(str::to_owned).collect(), || table(&tree, screen.is_wide()));
    Ok(())
}

/// For people.
fn table(tree: &Value, wide: bool) -> String {
    let actors = tree["actors"].as_array().into_iter().flatten();
    let actors = actors.filter_map(|actor| Actor::deserialize(actor).ok());
    let row = |actor: &Actor| {
        [
            actor.path.clone(),
            actor.name.clone().unwrap_or_default(),
            actor.kind.clone(),
            actor.state.clone(),
            actor.waiting.to_string(),
            format!("{:.1}", actor.per_second),
            page::percent(actor.busy),
            actor.restarts.to_string(),
        ]
    };
    let head = ["PATH", "NAME", "KIND", "STATE", "WAITING", "MSG/S", "BUSY", "RESTARTS"];
    if !wide {
        let mut table = Table::new(head);
        actors.for_each(|actor| table.row(row(&actor)));
        return table.render("no actors");
    }
    let [path, name, kind, state, waiting, rate, busy, restarts] = head;
    let mut table =
        Table::new([path, name, kind, state, waiting, rate, busy, restarts, "HANDLED", "LAST ERROR"]);
    for actor in actors {
        let [path, name, kind, state, waiting, rate, busy, restarts] = row(&actor);
        let handled = actor.handled.to_string();
        let error = actor.last_error.unwrap_or_default();
        table.row([path, name, kind, state, waiting, rate, busy, restarts, handled, error]);
    }
    table.render("no actors")
}

/// The keyboard, read on a thread that may wait. It ends when nobody listens any more.
fn keyboard() -> Receiver<Event> {
    let (sender, receiver) = channel(64);
    std::thread::spawn(move || {
        while !sender.is_closed() {
            match event::poll(LISTEN) {
                Ok(false) => {}
                Ok(true) => {
                    let Ok(event) = event::read() else { return };
                    if sender.blocking_send(event).is_err() {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    });
    receiver
}

async fn show(
    args: &ConsoleArgs,
    client: &Client,
    first: Feed,
    terminal: &mut ratatui::DefaultTerminal,
) -> Result<(), Failure> {
    let mut page = Page::new(&client.server(), &args.under, &args.filter);
    let mut keys = keyboard();
    let mut feed = Some(first);
    tell_all(&page, &mut feed).await;
    loop {
        let is_gone = feed.is_none();
        page.connected = !is_gone;
        let drawn = terminal.draw(|frame| picture::draw(&mut page, frame));
        drawn.map_err(|fault| Failure::refused(fault.to_string(), "use a terminal, or --once"))?;
        let act = tokio::select! {
            event = keys.recv() => match event {
                Some(Event::Key(key)) if key.kind != KeyEventKind::Release => page.key(key.code, key.modifiers),
                Some(_) => Act::Nothing,
                None => Act::Quit,
            },
            said = heard(&mut feed) => match said {
                Some(said) => {
                    page.hear(&said);
                    Act::Nothing
                }
                None => {
                    feed = None;
                    Act::Nothing
                }
            },
            again = come_back(client, is_gone) => {
                feed = again;
                tell_all(&page, &mut feed).await;
                Act::Nothing
            }
        };
        match act {
            Act::Nothing => {}
            Act::Quit => return Ok(()),
            Act::Ask(asks) => say(&mut feed, &asks).await,
            Act::Order(order) => page.note = Some(ordered(client, &order).await),
        }
    }
}

/// What came of an order, for people.
async fn ordered(client: &Client, order: &Value) -> String {
    match client.post::<Value>("/console/actions", order).await {
        Ok(done) => format!(
            "{} {}: done",
            done["action"].as_str().unwrap_or_default(),
            done["path"].as_str().unwrap_or_default()
        ),
        Err(fault) => fault.to_string(),
    }
}

async fn tell_all(page: &Page, feed: &mut Option<Feed>) {
    say(feed, &page.asks()).await;
}

async fn say(feed: &mut Option<Feed>, asks: &[Value]) {
    for ask in asks {
        let is_lost = match feed {
            Some(open) => open.say(ask).await.is_err(),
            None => false,
        };
        if is_lost {
            *feed = None;
        }
    }
}

async fn heard(feed: &mut Option<Feed>) -> Option<Value> {
    match feed {
        Some(feed) => feed.next().await,
        None => std::future::pending().await,
    }
}

/// Another connection in place of one that ended.
async fn come_back(client: &Client, is_gone: bool) -> Option<Feed> {
    if !is_gone {
        return std::future::pending().await;
    }
    tokio::time::sleep(AWAY).await;
    Feed::open(client).await.ok()
}
