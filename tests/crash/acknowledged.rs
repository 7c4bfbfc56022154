//! What is acknowledged is there after a kill, whatever it was: entities, tenants, users, tokens, profiles, plugin resources,
//! provisioners.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::lab::{Client, Server};
use crate::postgres;
use crate::random::Random;

/// Kills of one run.
const KILLS: u64 = 6;
/// Longest time between a start and the next kill, in milliseconds.
const LONGEST_MS: u64 = 400;
/// Things of each sort.
const THINGS: u64 = 5;
/// Clients that change things at the same time; each has its own things.
const CLIENTS: u64 = 3;

#[test]
fn on_sqlite_everything_acknowledged_survives_kills() {
    survive(Vec::new());
}

#[test]
fn on_postgresql_everything_acknowledged_survives_kills() {
    survive(vec![format!("database.url={}", postgres::SHARED.new_database())]);
}

/// What one thing is known to be: what was acknowledged last, or what was asked for and never answered.
#[derive(Debug, Clone, Default)]
struct Known {
    acknowledged: Option<u64>,
    /// Asked for since, without an answer: may or may not be.
    unanswered: Vec<Option<u64>>,
}

/// The things by sort and name.
type Things = Arc<Mutex<BTreeMap<(Sort, String), Known>>>;

/// A sort of thing that has a number for its state; none: it is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Hardware,
    Tenant,
    User,
    Profile,
    Script,
    Provisioner,
}

const SORTS: [Sort; 6] =
    [Sort::Hardware, Sort::Tenant, Sort::User, Sort::Profile, Sort::Script, Sort::Provisioner];

/// The two ports, as the superadmin.
#[derive(Clone)]
struct Ports {
    user: Client,
    tasks: Client,
}

impl Sort {
    /// Asks for another state; the status, if there is an answer.
    fn change(self, ports: &Ports, name: &str, state: Option<u64>) -> Option<u16> {
        let body = |value: Value| value.to_string().into_bytes();
        let n = state.unwrap_or_default();
        let (client, path, sent) = match self {
            Self::Hardware => (
                &ports.user,
                format!("/v2/hardwaretypes/{name}"),
                body(json!({"name": name, "providermap": {"lab": {"flavor": n.to_string()}}})),
            ),
            Self::Tenant => (
                &ports.user,
                format!("/v2/tenants/{name}"),
                body(json!({"tenant": {"name": name, "workers": 0, "maxNodes": n}})),
            ),
            Self::User => return self.change_user(ports, name, state),
            Self::Profile => (&ports.user, "/v2/profile".to_owned(), body(json!({ "n": n }))),
            Self::Script => return self.change_script(ports, name, n),
            Self::Provisioner => (
                &ports.tasks,
                format!("/v2/provisioners/{name}"),
                body(json!({"id": name, "host": "127.0.0.1", "port": 1, "capacityTotal": n + 1})),
            ),
        };
        let method = if state.is_some() { "PUT" } else { "DELETE" };
        client.try_ask(method, &path, sent).map(|answer| answer.status)
    }

    fn change_user(self, ports: &Ports, name: &str, state: Option<u64>) -> Option<u16> {
        let path = format!("/v2/users/{name}");
        let Some(n) = state else {
            return ports.user.try_ask("DELETE", &path, Vec::new()).map(|answer| answer.status);
        };
        let role = ["reader", "user", "admin"][usize::try_from(n % 3).unwrap()];
        let body = json!({"name": name, "role": role}).to_string().into_bytes();
        match ports.user.try_ask("POST", "/v2/users", body.clone())?.status {
            409 => ports.user.try_ask("PUT", &path, body).map(|answer| answer.status),
            status => Some(status),
        }
    }

    /// A new version that is put to use. Only this sort has steps in between: its state is the newest version's text.
    fn change_script(self, ports: &Ports, name: &str, n: u64) -> Option<u16> {
        let base = format!("/v2/plugins/automatortypes/shell/scripts/{name}");
        let stored = ports.user.try_ask("POST", &base, n.to_string().into_bytes())?;
        let version = &stored.body["version"];
        ports.user.try_ask("POST", &format!("{base}/versions/{version}/stage"), Vec::new())?;
        ports.user.try_ask("POST", "/v2/plugins/sync", Vec::new()).map(|answer| answer.status)
    }

    /// The state there is.
    fn look(self, ports: &Ports, name: &str) -> Option<u64> {
        let found = |path: String| {
            let answer = ports.user.get(&path);
            assert!(matches!(answer.status, 200 | 404), "{path}: {answer:?}");
            (answer.status == 200).then_some(answer.body)
        };
        let number = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok()).unwrap();
        match self {
            Self::Hardware => {
                let body = found(format!("/v2/hardwaretypes/{name}"))?;
                Some(number(&body["providermap"]["lab"]["flavor"]))
            }
            Self::Tenant => Some(number(&found(format!("/v2/tenants/{name}"))?["maxNodes"])),
            Self::User => {
                let body = found(format!("/v2/users/{name}"))?;
                let roles = ["reader", "user", "admin"];
                roles.iter().position(|role| body["role"] == *role).map(|place| place as u64)
            }
            Self::Profile => Some(number(&found("/v2/profile".to_owned())?["n"])),
            Self::Script => {
                let base = format!("/v2/plugins/automatortypes/shell/scripts/{name}");
                let versions = found(base)?;
                // The one in use; `recalled` is in use until the next sync.
                let in_use =
                    |version: &&Value| matches!(version["status"].as_str(), Some("active" | "recalled"));
                let active = versions.as_array()?.iter().find(in_use)?;
                let inner = "/v2/tenants/superadmin/automatortypes/shell/scripts";
                let path = format!("{inner}/{name}/versions/{}", active["version"]);
                Some(number(&ports.tasks.get(&path).ok()))
            }
            Self::Provisioner => {
                Some(number(&found(format!("/v2/provisioners/{name}"))?["capacityTotal"]) - 1)
            }
        }
    }

    /// States that differ in what is seen of them.
    fn seen(self, state: Option<u64>) -> Option<u64> {
        if self == Self::User { state.map(|n| n % 3) } else { state }
    }

    /// The name of a thing of a client's.
    fn name(self, client: u64, thing: u64) -> String {
        // A caller has one profile, so one client keeps it.
        if self == Self::Profile {
            "own".to_owned()
        } else {
            format!("{self:?}-{client}-{thing}").to_lowercase()
        }
    }
}

fn survive(mut settings: Vec<String>) {
    settings.extend(["workers.local=0", "provisioners.silence_seconds=3600"].map(str::to_owned));
    let mut server = Server::start(&settings);
    let things = Things::default();
    let mut random = Random::new();
    for round in 0..KILLS {
        let token = std::fs::read_to_string(server.data_dir().join("admin.token")).unwrap();
        let ports = Ports {
            user: Client::with_token(&server.base(), token.trim()),
            tasks: Client::with_headers(&server.tasks_base(), &[]),
        };
        check(&ports, &things);
        let is_over = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (ports, things, is_over) = (ports.clone(), Arc::clone(&things), Arc::clone(&is_over));
                let random = Random::from_seed(random.next());
                std::thread::spawn(move || change(client, &ports, &things, random, &is_over))
            })
            .collect();
        std::thread::sleep(Duration::from_millis(100 + random.below(LONGEST_MS)));
        if round % 3 == 2 {
            server.stop();
        } else {
            server.kill();
        }
        is_over.store(true, Ordering::Relaxed);
        for client in clients {
            client.join().unwrap();
        }
        server.run();
        check(&ports, &things);
    }
    let known = things.lock().unwrap();
    let acknowledged = known.values().filter(|known| known.acknowledged.is_some()).count();
    assert!(acknowledged > 10, "so little was acknowledged that nothing is shown: {known:?}");
}

/// Changes things until the server is gone.
fn change(client: u64, ports: &Ports, things: &Things, mut random: Random, is_over: &AtomicBool) {
    while !is_over.load(Ordering::Relaxed) {
        let sort = SORTS[usize::try_from(random.below(SORTS.len() as u64)).unwrap()];
        if sort == Sort::Profile && client != 0 {
            continue;
        }
        let name = sort.name(client, random.below(THINGS));
        let state = (sort == Sort::Script || random.below(5) > 0).then(|| random.below(1000));
        let key = (sort, name.clone());
        things.lock().unwrap().entry(key.clone()).or_default().unanswered.push(state);
        let status = sort.change(ports, &name, state);
        let mut things = things.lock().unwrap();
        let known = things.entry(key).or_default();
        match status {
            Some(200) => *known = Known { acknowledged: state, unanswered: Vec::new() },
            // The server goes down, or is down: what was asked for may have been done.
            None | Some(503) => {}
            Some(status) => panic!("{sort:?} {name}: {status}"),
        }
    }
}

/// Everything is as it was acknowledged, or as it was asked for without an answer. From then on it is what it is; only a script
/// that was staged may be put to use by anybody's sync later.
fn check(ports: &Ports, things: &Things) {
    for ((sort, name), known) in things.lock().unwrap().iter_mut() {
        let is = sort.look(ports, name);
        let is_possible = known.unanswered.iter().chain([&known.acknowledged]).any(|s| sort.seen(*s) == is);
        assert!(is_possible, "{sort:?} {name} is {is:?}: {known:?}");
        known.acknowledged = is;
        if *sort != Sort::Script {
            known.unanswered.clear();
        }
    }
}
