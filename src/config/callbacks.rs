//! Settings of callbacks, and of leases, which they tell of; also under the names they have in Coopr.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use cooperage_actors::callbacks::Rules;
use cooperage_domain::backoff::Backoff;
use cooperage_domain::callback::{Hook, HookEvent, LONGEST_TIMEOUT, Networks, OnError, triggers};
use cooperage_domain::invalid::Invalid;
use cooperage_domain::lease::LeaseWarning;
use serde::{Deserialize, Deserializer, Serialize};
use zeroize::Zeroizing;

/// A day, in milliseconds.
const DAY: i64 = 86_400_000;

/// When leases are warned of.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Leases {
    /// So many percent of a lease before its end.
    pub warning_percent: u8,
    /// But no earlier than this before its end, in seconds.
    pub warning_max_seconds: u64,
}

impl Leases {
    /// For clusters that say nothing themselves.
    #[must_use]
    pub fn warning(&self) -> LeaseWarning {
        let longest = i64::try_from(self.warning_max_seconds.saturating_mul(1000)).unwrap_or(i64::MAX);
        LeaseWarning { said: None, percent: self.warning_percent.min(100), longest }
    }
}

/// Who is called when jobs begin and end, and how.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Callbacks {
    /// Networks that targets may be in, whatever is denied.
    #[serde(deserialize_with = "list")]
    pub allow_networks: Vec<String>,
    /// Networks that targets may not be in.
    #[serde(deserialize_with = "list")]
    pub deny_networks: Vec<String>,
    /// Tries of a call in all.
    pub max_attempts: u32,
    /// Pause before the second try, in milliseconds; doubles from then on.
    pub retry_delay_ms: u64,
    /// Longest pause between tries, in milliseconds.
    pub max_retry_delay_ms: u64,
    /// Calls of one hook at a time.
    pub at_once: usize,
    /// How long the record of calls is kept, in days; 0: for ever.
    pub retention_days: u32,
    /// How long after the end of its lease a cluster is kept when a start hook refuses its deletion, in seconds.
    pub expiry_veto_seconds: u64,
    /// The hooks that Coopr has.
    pub http: HttpCallbacks,
}

/// The hooks that Coopr has: called for all tenants.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HttpCallbacks {
    /// How long an answer may take, in milliseconds.
    pub socket_timeout_ms: u32,
    /// Calls of each at a time.
    pub max_connections: usize,
    /// What becomes of a job when it cannot be asked for.
    pub on_error: OnError,
    /// File with the secret that signs; empty: nothing is signed.
    pub secret_file: PathBuf,
    /// Before a job begins.
    pub start: HttpCallback,
    /// When a job is complete.
    pub success: HttpCallback,
    /// When a job has failed.
    pub failure: HttpCallback,
}

/// One of them.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct HttpCallback {
    /// Where it is called; empty: it is not.
    pub url: String,
    /// Kinds of jobs, with commas between; empty: all.
    pub triggers: String,
}

/// A list, or a text with commas in it: the environment and `--set` know no lists.
fn list<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        List(Vec<String>),
        Text(String),
    }
    Ok(match Given::deserialize(deserializer)? {
        Given::List(list) => list,
        Given::Text(text) => {
            text.split(',').map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
        }
    })
}

impl Callbacks {
    /// Where targets may be.
    ///
    /// # Errors
    /// Names the setting and the network that is none.
    pub fn networks(&self) -> Result<Networks, Invalid> {
        Networks::new(&self.allow_networks, &self.deny_networks)
    }

    /// How often and how fast calls are made, and how long their record is kept.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules {
            max_attempts: self.max_attempts.max(1),
            pauses: Backoff {
                first: Duration::from_millis(self.retry_delay_ms),
                longest: Duration::from_millis(self.max_retry_delay_ms),
            },
            at_once: self.at_once.max(1),
            at_once_of_settings: self.http.max_connections.max(1),
            kept_ms: i64::from(self.retention_days) * DAY,
        }
    }

    /// How long a refusal keeps a cluster whose lease has ended, in ms.
    #[must_use]
    pub fn expiry_veto_ms(&self) -> i64 {
        i64::try_from(self.expiry_veto_seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
    }
}

impl HttpCallbacks {
    /// Those that are called at all.
    #[must_use]
    pub fn hooks(&self) -> Vec<Hook> {
        let all = [
            (HookEvent::Start, &self.start),
            (HookEvent::Success, &self.success),
            (HookEvent::Failure, &self.failure),
        ];
        let called = all.into_iter().filter(|(_, one)| !one.url.is_empty());
        called.map(|(event, one)| self.hook(event, one)).collect()
    }

    /// The secret that signs their calls.
    ///
    /// # Errors
    /// When its file cannot be read, or is empty.
    pub fn secret(&self) -> Result<Option<Zeroizing<String>>, Invalid> {
        if self.secret_file.as_os_str().is_empty() {
            return Ok(None);
        }
        let fault = |text: String| {
            let remedy = "name a file with the secret that the server may read";
            Invalid::new("callbacks.http.secret_file", self.secret_file.display(), text, remedy)
        };
        let text = std::fs::read_to_string(&self.secret_file);
        let text = Zeroizing::new(text.map_err(|cause| fault(format!("cannot be read: {cause}")))?);
        match text.trim() {
            "" => Err(fault("is empty".to_owned())),
            secret => Ok(Some(Zeroizing::new(secret.to_owned()))),
        }
    }

    fn hook(&self, event: HookEvent, one: &HttpCallback) -> Hook {
        let name = format!("{SETTINGS_PREFIX}{event}");
        Hook {
            id: name.clone(),
            tenant: None,
            name,
            url: one.url.clone(),
            events: BTreeSet::from([event]),
            actions: triggers(&one.triggers),
            timeout: self.socket_timeout_ms.clamp(1, LONGEST_TIMEOUT),
            on_error: self.on_error,
        }
    }
}

/// What the names of hooks of the settings begin with; no other may.
pub const SETTINGS_PREFIX: &str = "settings-";

/// Settings under the names they have in Coopr: `server.callback.…`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CooprServer {
    callback: CooprCallback,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CooprCallback {
    /// Which class is called; there is one.
    class: Option<String>,
    http: CooprHttp,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CooprHttp {
    start: CooprHook,
    success: CooprHook,
    failure: CooprHook,
    socket: CooprSocket,
    max: CooprMax,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CooprHook {
    url: Option<String>,
    triggers: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CooprSocket {
    timeout: Option<u32>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct CooprMax {
    connections: Option<usize>,
}

impl CooprServer {
    /// Puts what is said under Coopr's names in the place of what is said under ours.
    ///
    /// # Errors
    /// When another class is named than the one there is.
    pub fn overlay(self, http: &mut HttpCallbacks) -> Result<(), Invalid> {
        let CooprCallback { class, http: old } = self.callback;
        if let Some(class) =
            class.filter(|class| !class.is_empty() && !class.ends_with("HttpPostClusterCallback"))
        {
            let remedy = "leave it out: calls are made over HTTP, to what server.callback.http.* names";
            return Err(Invalid::new("server.callback.class", class, "cannot be loaded here", remedy));
        }
        for (old, new) in
            [(old.start, &mut http.start), (old.success, &mut http.success), (old.failure, &mut http.failure)]
        {
            new.url = old.url.unwrap_or_else(|| new.url.clone());
            new.triggers = old.triggers.unwrap_or_else(|| new.triggers.clone());
        }
        http.socket_timeout_ms = old.socket.timeout.unwrap_or(http.socket_timeout_ms);
        http.max_connections = old.max.connections.unwrap_or(http.max_connections);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::Settings;

    #[test]
    fn callbacks_are_read_under_coopr_s_names_too() {
        let set = |pairs: &[&str]| {
            let set: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
            Settings::load(Some(Path::new("etc/cooperage.toml")), &set)
        };
        assert!(set(&[]).unwrap().callbacks.http.hooks().is_empty());
        let old = set(&[
            "server.callback.class=co.cask.coopr.scheduler.callback.HttpPostClusterCallback",
            "server.callback.http.start.url=http://ci/start",
            "server.callback.http.start.triggers=CLUSTER_CREATE,cluster_delete",
            "server.callback.http.socket.timeout=500",
            "server.callback.http.max.connections=7",
        ]);
        let new = set(&[
            "callbacks.http.start.url=http://ci/start",
            "callbacks.http.start.triggers=cluster_create,cluster_delete",
            "callbacks.http.socket_timeout_ms=500",
            "callbacks.http.max_connections=7",
        ]);
        let (old, new) = (old.unwrap().callbacks, new.unwrap().callbacks);
        assert_eq!((old.http.hooks(), old.rules()), (new.http.hooks(), new.rules()));
        assert_eq!((old.http.hooks()[0].timeout, old.http.hooks()[0].actions.len()), (500, 2));
        assert!(set(&["server.callback.class=com.example.Mine"]).is_err());
        assert!(set(&["server.callback.http.start.uri=http://ci"]).is_err());
        let networks =
            set(&["callbacks.deny_networks=10.0.0.0/8, ::1"]).unwrap().callbacks.networks().unwrap();
        assert_eq!(networks.denied.len(), 2);
        let nowhere = set(&["callbacks.deny_networks=10.0.0.0/99"]);
        assert!(nowhere.unwrap_err().to_string().contains("deny_networks"));
    }
}
