//! Where to log in, as whom, and whom to expect there.

use std::path::PathBuf;

use cooperage_domain::task::TaskOrder;
use serde_json::Value;

use super::host_key::HostKey;
use crate::context::TaskFault;

/// Port of SSH when nothing else is said.
pub const DEFAULT_PORT: u16 = 22;

/// A machine to log in to. Equal targets share connections. Holds no secret: the identity is a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Address or name.
    pub host: String,
    /// Port of its SSH server.
    pub port: u16,
    /// Login name.
    pub user: String,
    /// File of the private key, without passphrase.
    pub identity_file: PathBuf,
    /// The only key it may prove itself with.
    pub host_key: HostKey,
}

impl Target {
    /// `host:port`, as errors name the machine.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The machine of a task: its address `access_v4`, and the login and host key that its provider reported as
    /// `ssh-auth` and `ssh_host_keys`. The image's `sshuser` stands in for a login name that was not reported.
    ///
    /// # Errors
    /// Names the value that is missing or wrong, and who should have given it.
    pub fn from_order(order: &TaskOrder) -> Result<Self, TaskFault> {
        let node = &order.config.node;
        let auth = order.config.results.get("ssh-auth");
        let text = |object: Option<&Value>, key: &str| {
            object
                .and_then(|o| o.get(key))
                .and_then(Value::as_str)
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
        };
        let missing = |what: &str, remedy: &str| {
            TaskFault::new(format!(
                "node {} cannot be logged in to: {what} is missing; {remedy}",
                order.node_id
            ))
        };
        let host = node.ipaddresses.get("access_v4").filter(|a| !a.is_empty()).cloned();
        let user = text(auth, "user").or_else(|| Some(node.sshuser.clone()).filter(|u| !u.is_empty()));
        let key = text(order.config.results.get("ssh_host_keys"), "ed25519").ok_or_else(|| {
            missing("ssh_host_keys.ed25519", "the provider's confirm must report the host key")
        })?;
        Ok(Self {
            host: host
                .ok_or_else(|| missing("ipaddresses.access_v4", "the provider's confirm must report it"))?,
            port: port(auth.and_then(|a| a.get("port")))?,
            user: user.ok_or_else(|| {
                missing("ssh-auth.user", "set it in the provider or the image type's sshuser")
            })?,
            identity_file: text(auth, "identityfile")
                .ok_or_else(|| missing("ssh-auth.identityfile", "the provider's create must report it"))?
                .into(),
            host_key: key
                .parse()
                .map_err(|fault| TaskFault::new(format!("node {}: {fault}", order.node_id)))?,
        })
    }
}

/// A port given as number or as text; the default when not given.
fn port(value: Option<&Value>) -> Result<u16, TaskFault> {
    let parsed = match value {
        None | Some(Value::Null) => Some(DEFAULT_PORT),
        Some(Value::Number(number)) => number.as_u64().and_then(|n| u16::try_from(n).ok()),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    parsed.filter(|port| *port != 0).ok_or_else(|| {
        let shown = value.map(Value::to_string).unwrap_or_default();
        TaskFault::new(format!("ssh-auth.port: {shown} is not a port; give a number from 1 to 65535"))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEY: &str = "AAAAC3NzaC1lZDI1NTE5AAAAILM+rvN+ot98qgEN796jTiQfZfG1KaT0PtFDJ/XFSqti";

    fn order(auth: &Value, keys: &Value) -> TaskOrder {
        serde_json::from_value(json!({
            "taskId": "00000001-001-001", "jobId": "00000001-001", "clusterId": "00000001", "taskName": "INSTALL",
            "nodeId": "node", "config": {
                "ipaddresses": {"access_v4": "10.0.0.7", "bind_v4": "192.168.0.7"}, "sshuser": "image-user",
                "ssh-auth": auth, "ssh_host_keys": keys,
            },
        }))
        .unwrap()
    }

    #[test]
    fn a_target_is_what_the_provider_reported() {
        let auth = json!({"user": "root", "identityfile": "/keys/a", "port": "2222"});
        let target = Target::from_order(&order(&auth, &json!({"ed25519": KEY}))).unwrap();
        assert_eq!(target.address(), "10.0.0.7:2222");
        assert_eq!((target.user.as_str(), target.identity_file.to_str()), ("root", Some("/keys/a")));
        assert_eq!(target.host_key.body(), KEY);
        let target =
            Target::from_order(&order(&json!({"identityfile": "/keys/a"}), &json!({"ed25519": KEY})));
        assert_eq!(target.map(|t| (t.user, t.port)), Ok(("image-user".into(), DEFAULT_PORT)));
    }

    #[test]
    fn what_is_missing_is_named() {
        let auth = json!({"user": "root", "identityfile": "/keys/a"});
        for (auth, keys, named) in [
            (json!(null), json!({"ed25519": KEY}), "ssh-auth.identityfile"),
            (auth.clone(), json!({}), "ssh_host_keys.ed25519"),
            (auth.clone(), json!({"ed25519": "AAAA"}), "ssh_host_keys.ed25519"),
            (json!({"identityfile": "/k", "port": 70000}), json!({"ed25519": KEY}), "ssh-auth.port: 70000"),
        ] {
            let fault = Target::from_order(&order(&auth, &keys)).unwrap_err().message;
            assert!(fault.contains(named), "{fault}");
        }
    }
}
