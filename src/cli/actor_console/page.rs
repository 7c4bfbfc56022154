//! What is shown, and what keys do about it. No terminal and no network is needed for it.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyModifiers};
use ratatui::widgets::TableState;
use serde::Deserialize;
use serde_json::{Value, json};

/// Messages that are kept.
const KEPT: usize = 500;
/// How long a pause lasts unless somebody ends it, in seconds.
const PAUSE: u64 = 60;
/// What is said when nothing is selected.
const SELECT: &str = "select an actor first";
/// How much the next message is delayed, in ms.
const DELAY: u64 = 1000;

/// One actor, as the server tells it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Actor {
    pub path: String,
    pub parent: Option<String>,
    pub name: Option<String>,
    pub kind: String,
    pub state: String,
    pub waiting: u64,
    pub per_second: f64,
    pub busy: f64,
    pub handled: u64,
    pub restarts: u32,
    pub last_error: Option<String>,
    pub fault: Option<String>,
    pub restartable: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Tree {
    actors: Vec<Actor>,
    total: u64,
    live: u64,
    per_second: f64,
    faults: bool,
}

/// How often something took less than so many µs.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Step {
    pub below_us: u64,
    pub count: u64,
}

/// How long something took.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Times {
    pub count: u64,
    pub median_us: u64,
    pub p95_us: u64,
    pub longest_us: u64,
    pub steps: Vec<Step>,
}

/// What led to what, and how long that took.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Pair {
    pub from: Option<String>,
    pub to: String,
    pub waited: Times,
    pub taken: Times,
}

/// One actor from close by.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Detail {
    pub actor: Actor,
    pub latencies: Vec<Pair>,
}

/// A message that was followed.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Followed {
    pub at: i64,
    pub to: String,
    pub from: Option<String>,
    pub kind: String,
    pub about: Option<String>,
    pub correlation: Option<String>,
    pub waited_us: Option<u64>,
    pub taken_us: u64,
    pub outcome: String,
}

/// What is to be done about a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// Nothing but drawing.
    Nothing,
    /// It is over.
    Quit,
    /// The server is asked to tell something.
    Ask(Vec<Value>),
    /// The server is told to do something.
    Order(Value),
}

/// What the keyboard is for at the moment.
#[derive(Debug, Clone, PartialEq)]
pub enum Mode {
    /// Each key does something.
    Keys,
    /// A filter is written.
    Filter(String),
    /// The id of a request is written.
    Correlation(String),
    /// It is asked what is to go wrong.
    Fault,
    /// It is asked whether this is meant.
    Confirm(String, Value),
}

/// What is shown.
#[derive(Debug)]
pub struct Page {
    pub server: String,
    pub connected: bool,
    pub actors: Vec<Actor>,
    pub total: u64,
    pub live: u64,
    pub per_second: f64,
    pub faults: bool,
    pub table: TableState,
    pub detail: Option<Detail>,
    pub messages: VecDeque<Followed>,
    pub missed: u64,
    /// What is followed, in words.
    pub following: Option<String>,
    pub mode: Mode,
    pub note: Option<String>,
    pub filter: String,
    under: String,
    selected: Option<String>,
    follow: Option<Value>,
}

/// A part of one, in percent.
pub fn percent(part: f64) -> String {
    format!("{:.1}%", part * 100.0)
}

impl Page {
    /// Nothing is known yet.
    pub fn new(server: &str, under: &str, filter: &str) -> Self {
        Self {
            server: server.to_owned(),
            connected: false,
            actors: Vec::new(),
            total: 0,
            live: 0,
            per_second: 0.0,
            faults: false,
            table: TableState::default(),
            detail: None,
            messages: VecDeque::new(),
            missed: 0,
            following: None,
            mode: Mode::Keys,
            note: None,
            filter: filter.to_owned(),
            under: under.to_owned(),
            selected: None,
            follow: None,
        }
    }

    fn watch(&self) -> Value {
        json!({"do": "watch", "under": self.under, "filter": self.filter, "limit": 1000})
    }

    /// Everything that a server must be asked that knows nothing of us.
    pub fn asks(&self) -> Vec<Value> {
        let examine = self.selected.as_ref().map(|path| json!({"do": "examine", "path": path}));
        std::iter::once(self.watch()).chain(examine).chain(self.follow.clone()).collect()
    }

    /// The server says something.
    pub fn hear(&mut self, said: &Value) {
        if let Some(tree) = said.get("tree") {
            let tree = Tree::deserialize(tree).unwrap_or_default();
            (self.total, self.live, self.per_second, self.faults) =
                (tree.total, tree.live, tree.per_second, tree.faults);
            self.actors = tree.actors;
            let place = self.actors.iter().position(|actor| Some(&actor.path) == self.selected.as_ref());
            self.table.select(place);
        }
        if let Some(detail) = said.get("detail") {
            self.detail = Detail::deserialize(detail).ok();
        }
        if said.get("gone").is_some() {
            self.detail = None;
        }
        if let Some(messages) = said.get("messages") {
            self.missed += said["missed"].as_u64().unwrap_or(0);
            self.messages.extend(Vec::<Followed>::deserialize(messages).unwrap_or_default());
            let over = self.messages.len().saturating_sub(KEPT);
            self.messages.drain(..over);
        }
        if let Some(problem) = said["problem"].as_str() {
            self.note = Some(problem.to_owned());
        }
    }

    /// A key was pressed.
    pub fn key(&mut self, key: KeyCode, with: KeyModifiers) -> Act {
        if key == KeyCode::Char('c') && with.contains(KeyModifiers::CONTROL) {
            return Act::Quit;
        }
        match std::mem::replace(&mut self.mode, Mode::Keys) {
            Mode::Keys => self.command(key),
            Mode::Filter(text) => self.write(key, text, true),
            Mode::Correlation(text) => self.write(key, text, false),
            Mode::Fault => self.choose_fault(key),
            Mode::Confirm(_, order) if key == KeyCode::Char('y') => Act::Order(order),
            Mode::Confirm(..) => {
                self.note = Some("nothing was done".to_owned());
                Act::Nothing
            }
        }
    }

    fn command(&mut self, key: KeyCode) -> Act {
        self.note = None;
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return Act::Quit,
            KeyCode::Down | KeyCode::Char('j') => return self.go(1),
            KeyCode::Up | KeyCode::Char('k') => return self.go(-1),
            KeyCode::PageDown => return self.go(20),
            KeyCode::PageUp => return self.go(-20),
            KeyCode::Home => return self.go(isize::MIN),
            KeyCode::End => return self.go(isize::MAX),
            KeyCode::Char('/') => self.mode = Mode::Filter(self.filter.clone()),
            KeyCode::Char('i') => self.mode = Mode::Correlation(String::new()),
            KeyCode::Char('t') => return self.trace(),
            KeyCode::Char('p') => self.ask("pause", &json!({"seconds": PAUSE})),
            KeyCode::Char('u') => return self.order("resume", &json!({})).map_or(Act::Nothing, Act::Order),
            KeyCode::Char('r') => self.ask("restart", &json!({})),
            KeyCode::Char('f') if !self.faults => {
                self.note = Some("this server injects no faults: console.faults".to_owned());
            }
            KeyCode::Char('f') if self.selected.is_some() => self.mode = Mode::Fault,
            KeyCode::Char('f') => self.note = Some(SELECT.to_owned()),
            _ => {}
        }
        Act::Nothing
    }

    /// Selects another actor, so many rows on.
    fn go(&mut self, rows: isize) -> Act {
        let last = self.actors.len().saturating_sub(1);
        let next = match (self.table.selected(), rows) {
            (None, _) => 0,
            (Some(at), rows) => at.saturating_add_signed(rows).min(last),
        };
        let Some(actor) = self.actors.get(next) else { return Act::Nothing };
        self.table.select(Some(next));
        self.selected = Some(actor.path.clone());
        self.detail = None;
        Act::Ask(vec![json!({"do": "examine", "path": actor.path})])
    }

    fn order(&self, action: &str, more: &Value) -> Option<Value> {
        let mut order = json!({"path": self.selected.as_ref()?, "action": action});
        for (key, value) in more.as_object().into_iter().flatten() {
            order[key] = value.clone();
        }
        Some(order)
    }

    /// Asks whether it is meant.
    fn ask(&mut self, action: &str, more: &Value) {
        match self.order(action, more) {
            Some(order) => {
                let path = self.selected.as_deref().unwrap_or_default();
                self.mode = Mode::Confirm(format!("{action} {path}? y/n"), order);
            }
            None => self.note = Some(SELECT.to_owned()),
        }
    }

    fn choose_fault(&mut self, key: KeyCode) -> Act {
        let more = match key {
            KeyCode::Char('d') => json!({"fault": "drop"}),
            KeyCode::Char('l') => json!({"fault": "delay", "delayMs": DELAY}),
            KeyCode::Char('c') => json!({"fault": "crash"}),
            _ => return Act::Nothing,
        };
        self.ask("fault", &more);
        Act::Nothing
    }

    /// Follows the messages of the selected actor, or stops that.
    fn trace(&mut self) -> Act {
        if self.follow.take().is_some() {
            self.following = None;
            return Act::Ask(vec![json!({"do": "unfollow"})]);
        }
        let path = self.selected.clone().unwrap_or_else(|| self.under.clone());
        self.follow_by(json!({"do": "follow", "under": path}), path)
    }

    fn follow_by(&mut self, ask: Value, words: String) -> Act {
        self.messages.clear();
        self.missed = 0;
        self.following = Some(words);
        self.follow = Some(ask.clone());
        Act::Ask(vec![ask])
    }

    /// A line is written: a filter, or the id of a request.
    fn write(&mut self, key: KeyCode, mut text: String, filter: bool) -> Act {
        match key {
            KeyCode::Enter if filter => {
                self.filter = text;
                return Act::Ask(vec![self.watch()]);
            }
            KeyCode::Enter if text.is_empty() => return Act::Nothing,
            KeyCode::Enter => {
                return self
                    .follow_by(json!({"do": "follow", "correlation": text}), format!("request {text}"));
            }
            KeyCode::Esc => return Act::Nothing,
            KeyCode::Backspace => _ = text.pop(),
            KeyCode::Char(letter) => text.push(letter),
            _ => {}
        }
        self.mode = if filter { Mode::Filter(text) } else { Mode::Correlation(text) };
        Act::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> Value {
        let actor = |path: &str| json!({"path": path, "kind": "Cluster", "state": "running"});
        json!({"tree": {"actors": [actor("/clusters/1"), actor("/clusters/2")], "total": 2, "live": 2,
            "perSecond": 3.5, "faults": true}})
    }

    fn press(page: &mut Page, keys: &str) -> Act {
        let mut last = Act::Nothing;
        for key in keys.chars() {
            let code = match key {
                '\n' => KeyCode::Enter,
                '<' => KeyCode::Backspace,
                letter => KeyCode::Char(letter),
            };
            last = page.key(code, KeyModifiers::NONE);
        }
        last
    }

    fn page() -> Page {
        let mut page = Page::new("http://x", "/", "");
        page.hear(&tree());
        page
    }

    #[test]
    fn what_is_selected_stays_so_when_others_come_and_go() {
        let mut page = page();
        assert_eq!(press(&mut page, "jj"), Act::Ask(vec![json!({"do": "examine", "path": "/clusters/2"})]));
        page.hear(&json!({"tree": {"actors": [{"path": "/clusters/2"}]}}));
        assert_eq!(page.table.selected(), Some(0));
        page.hear(&json!({"tree": {"actors": []}}));
        assert_eq!(page.table.selected(), None);
        assert_eq!(page.asks().len(), 2, "a server that comes back is asked for it again");
    }

    #[test]
    fn nothing_is_done_without_a_yes_and_a_selection() {
        let mut page = page();
        assert_eq!((press(&mut page, "r"), page.mode.clone()), (Act::Nothing, Mode::Keys));
        assert_eq!(press(&mut page, "jrn"), Act::Nothing);
        let restart = json!({"path": "/clusters/1", "action": "restart"});
        assert_eq!(press(&mut page, "ry"), Act::Order(restart));
        let pause = json!({"path": "/clusters/1", "action": "pause", "seconds": 60});
        assert_eq!(press(&mut page, "py"), Act::Order(pause));
        assert_eq!(press(&mut page, "u"), Act::Order(json!({"path": "/clusters/1", "action": "resume"})));
        let fault = json!({"path": "/clusters/1", "action": "fault", "fault": "crash"});
        assert_eq!(press(&mut page, "fcy"), Act::Order(fault));
        page.faults = false;
        press(&mut page, "f");
        assert!(page.note.as_ref().is_some_and(|note| note.contains("console.faults")));
    }

    #[test]
    fn a_filter_and_an_id_are_written_and_messages_are_kept_up_to_a_number() {
        let mut page = page();
        let Act::Ask(asks) = press(&mut page, "/nodx<e\n") else { panic!("it asks") };
        assert_eq!(asks[0]["filter"], "node");
        let followed = press(&mut page, "ir-1\n");
        assert_eq!(followed, Act::Ask(vec![json!({"do": "follow", "correlation": "r-1"})]));
        let many: Vec<Value> = (0..600).map(|at| json!({"at": at, "kind": "Offer"})).collect();
        page.hear(&json!({"messages": many, "missed": 7}));
        assert_eq!((page.messages.len(), page.messages[0].at, page.missed), (500, 100, 7));
        assert_eq!(press(&mut page, "t"), Act::Ask(vec![json!({"do": "unfollow"})]));
        assert_eq!(press(&mut page, "q"), Act::Quit);
    }
}
