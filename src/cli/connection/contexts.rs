//! The file of contexts: servers by name, each with who we are to it.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::sources::{Credential, Given};
use crate::cli::failure::Failure;

/// Names another file than the usual one.
const VARIABLE: &str = "COOPERAGE_CONTEXTS";

/// All contexts.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contexts {
    /// The one that is used unless another is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// By name.
    #[serde(default)]
    pub contexts: BTreeMap<String, Context>,
}

/// A server, and who we are to it.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// Its address.
    pub server: String,
    /// The user, for servers that believe headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The tenant, for servers that believe headers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The token itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// A file with the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// File with the certificates of those who vouch for the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<PathBuf>,
}

impl Context {
    /// As a source of settings.
    #[must_use]
    pub fn given(&self) -> Given {
        Given {
            server: Some(self.server.clone()),
            credential: Credential::of(self.token.clone(), self.token_file.as_deref()),
            user: self.user.clone(),
            tenant: self.tenant.clone(),
            ca_file: self.ca_file.clone(),
        }
    }
}

impl Contexts {
    /// Reads the file; there is nothing in one that is not there.
    ///
    /// # Errors
    /// When it cannot be read, is malformed, or holds a token that others may read.
    pub fn load(file: &Path) -> Result<Self, Failure> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(fault) => return Err(Failure::file("read the contexts in", file, fault)),
        };
        let found: Self = toml::from_str(&text).map_err(|fault| {
            // Its own words quote the line at fault, which may hold a token.
            let line =
                fault.span().map(|span| text.get(..span.start).unwrap_or_default().matches('\n').count() + 1);
            let line = line.map(|line| format!(", line {line}")).unwrap_or_default();
            let detail = format!("cannot read the contexts in {}{line}: {}", file.display(), fault.message());
            Failure::refused(detail, "correct it, or delete it and set your contexts again")
        })?;
        let holds_token = found.contexts.values().any(|context| context.token.is_some());
        let mode = std::fs::metadata(file).map_or(0, |found| found.permissions().mode());
        if holds_token && mode & 0o077 != 0 {
            let path = file.display();
            let detail = format!("{path} holds a token, and others may read it (mode {:o})", mode & 0o777);
            return Err(Failure::refused(detail, format!("chmod 600 {path}")));
        }
        Ok(found)
    }

    /// Writes the file, which nobody else may read, in one go.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(&self, file: &Path) -> Result<(), Failure> {
        let failed = |fault: std::io::Error| Failure::file("write the contexts to", file, fault);
        let folder = file.parent().unwrap_or(Path::new("."));
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed)?;
        let text = toml::to_string_pretty(self)
            .map_err(|fault| Failure::Server(format!("cannot write the contexts down: {fault}")))?;
        // Made with mode 0600, beside the file, so that it can take the file's place at once.
        let mut written = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        written.write_all(text.as_bytes()).and_then(|()| written.as_file().sync_all()).map_err(failed)?;
        written.persist(file).map_err(|fault| failed(fault.error))?;
        Ok(())
    }

    /// The context of that name.
    ///
    /// # Errors
    /// When there is none, with those there are.
    pub fn get(&self, name: &str) -> Result<&Context, Failure> {
        self.contexts.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.contexts.keys().map(String::as_str).collect();
            let remedy = match known.as_slice() {
                [] => "set one: cooperage context set NAME --server URL".to_owned(),
                known => format!("use one of: {}", known.join(", ")),
            };
            Failure::unknown(format!("there is no context {name:?}"), remedy)
        })
    }
}

/// Where the file is; nowhere for a user without a home.
#[must_use]
pub fn path() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = || set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    set(VARIABLE).or_else(|| Some(folder()?.join("cooperage/contexts.toml")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prod() -> Contexts {
        let context = Context {
            server: "https://prod.example.com".into(),
            token: Some("s3cret".into()),
            ca_file: Some("/etc/ca.pem".into()),
            ..Context::default()
        };
        Contexts { current: Some("prod".into()), contexts: BTreeMap::from([("prod".into(), context)]) }
    }

    #[test]
    fn what_is_saved_is_read_again_and_nobody_else_reads_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/contexts.toml");
        assert!(Contexts::load(&file).unwrap() == Contexts::default());
        prod().save(&file).unwrap();
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(Contexts::load(&file).unwrap() == prod());
    }

    #[test]
    fn a_token_that_others_may_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("contexts.toml");
        prod().save(&file).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        let Err(failure) = Contexts::load(&file) else { panic!("it was read") };
        assert!(failure.to_string().contains("640"), "{failure}");
        assert!(failure.remedy().unwrap().starts_with("chmod 600"));
    }

    #[test]
    fn a_malformed_file_is_told_without_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("contexts.toml");
        std::fs::write(&file, "[contexts.prod]\nserver = \"http://x\"\ntoken = \"s3cret\" oops\n").unwrap();
        let Err(failure) = Contexts::load(&file) else { panic!("it was read") };
        assert!(
            failure.to_string().contains("line 3") && !failure.to_string().contains("s3cret"),
            "{failure}"
        );
    }
}
