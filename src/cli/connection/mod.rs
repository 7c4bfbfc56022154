//! Which server is spoken to, and as whom.

pub mod contexts;
pub mod sources;

use std::path::{Path, PathBuf};

use cooperage_domain::invalid::Invalid;
use reqwest::Url;

use super::args::Globals;
use super::failure::Failure;
use contexts::Contexts;
use sources::{Choice, Chosen, Credential, DEFAULT, Given, Source, choose};

/// Where servers on this host keep the token of their first administrator, in the order in which they are looked at.
const TOKEN_FILES: [&str; 3] =
    ["/var/lib/cooperage/admin.token", "data/admin.token", "/var/lib/cooperage-demo/admin.token"];

/// A server, and who we are to it.
#[derive(Clone)]
pub struct Connection {
    /// Its address.
    pub server: Url,
    /// For servers that want a token.
    pub token: Option<String>,
    /// For servers that believe headers: the user. Nobody is named beside a token that says who we are.
    pub user: Option<String>,
    /// For servers that believe headers: the tenant.
    pub tenant: Option<String>,
    /// Certificates (PEM) of those who vouch for the server; without them, those this host trusts.
    pub ca: Option<Vec<u8>>,
    /// Our certificate and its private key (PEM), for servers that want one.
    pub identity: Option<Vec<u8>>,
}

impl Connection {
    /// From options, environment and contexts.
    ///
    /// # Errors
    /// When the address is none, a named file cannot be read, or there is no such context.
    pub fn from_globals(globals: &Globals) -> Result<Self, Failure> {
        Ok(Self { identity: identity(globals)?, ..Self::from_choice(choice(globals)?)? })
    }

    /// From what was decided.
    ///
    /// # Errors
    /// When the address is none, or a named file cannot be read.
    pub fn from_choice(choice: Choice) -> Result<Self, Failure> {
        let server = parse_server(&choice.server.value)?;
        let token = match choice.credential.map(|chosen| chosen.value) {
            Some(Credential::Token(token)) => Some(token),
            Some(Credential::File(file)) => Some(read_token(&file)?),
            // The token of this host's server is no other server's business.
            None if is_local(&server) => first_readable(&TOKEN_FILES.map(PathBuf::from)),
            None => None,
        };
        let ca = choice.ca_file.map(|chosen| read_ca(&chosen.value)).transpose()?;
        let token = token.map(|token| token.trim().to_owned());
        let named = |it: Chosen<String>| (token.is_none() || it.origin != DEFAULT).then_some(it.value);
        let (user, tenant) = (named(choice.user), named(choice.tenant));
        Ok(Self { server, token, user, tenant, ca, identity: None })
    }

    /// Whether the server is on this host, so that no proxy leads to it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        is_local(&self.server)
    }

    /// Whether the server is asked by TLS.
    #[must_use]
    pub fn is_secure(&self) -> bool {
        self.server.scheme() == "https"
    }
}

/// The certificates in a file, of which there must be one.
fn read_ca(file: &Path) -> Result<Vec<u8>, Failure> {
    let pem = std::fs::read(file).map_err(|fault| Failure::file("read the certificates in", file, fault))?;
    if reqwest::Certificate::from_pem_bundle(&pem).is_ok_and(|found| !found.is_empty()) {
        return Ok(pem);
    }
    let remedy = "it must hold one or more '-----BEGIN CERTIFICATE-----' parts";
    Err(Invalid::new("--ca-file", file.display(), "holds no certificate", remedy).into())
}

/// Our certificate with its key, as options or the environment name them.
fn identity(globals: &Globals) -> Result<Option<Vec<u8>>, Failure> {
    let named = |option: &Option<PathBuf>, name: &str| {
        option.clone().or_else(|| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
    };
    let certificate = named(&globals.client_certificate, "COOPERAGE_CLIENT_CERTIFICATE");
    let key = named(&globals.client_key, "COOPERAGE_CLIENT_KEY");
    let read = |file: PathBuf| {
        std::fs::read(&file).map_err(|fault| Failure::file("read the certificate in", &file, fault))
    };
    match (certificate, key) {
        (None, None) => Ok(None),
        (Some(certificate), Some(key)) => Ok(Some([read(certificate)?, b"\n".to_vec(), read(key)?].concat())),
        (Some(file), None) | (None, Some(file)) => {
            let remedy = "name both, the certificate and its private key";
            Err(Invalid::new(
                "--client-certificate, --client-key",
                file.display(),
                "is of no use alone",
                remedy,
            )
            .into())
        }
    }
}

/// Decides which server is meant, and as whom: options, then the context they name, then the environment, then the context
/// it names or the current one.
///
/// # Errors
/// When contexts cannot be read, or there is none of a name.
pub fn choice(globals: &Globals) -> Result<Choice, Failure> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let file = |name: &str| set(name).map(PathBuf::from);
    let options = Given {
        server: globals.server.clone(),
        credential: Credential::of(None, globals.token_file.as_deref()),
        user: globals.user.clone(),
        tenant: globals.tenant.clone(),
        ca_file: globals.ca_file.clone(),
    };
    let environment = Given {
        server: set("COOPERAGE_SERVER"),
        credential: Credential::of(set("COOPERAGE_TOKEN"), file("COOPERAGE_TOKEN_FILE").as_deref()),
        user: set("COOPERAGE_USER"),
        tenant: set("COOPERAGE_TENANT"),
        ca_file: file("COOPERAGE_CA_FILE"),
    };
    let contexts = match contexts::path() {
        Some(path) => Contexts::load(&path)?,
        None => Contexts::default(),
    };
    let source = |origin: &str, given| Source { origin: origin.to_owned(), is_bound: false, given };
    let context = |name: &str, how: &str| -> Result<Source, Failure> {
        let given = contexts.get(name)?.given();
        Ok(Source { origin: format!("context {name} ({how})"), is_bound: true, given })
    };
    let mut sources = vec![source("option", options)];
    match (&globals.context, set("COOPERAGE_CONTEXT"), &contexts.current) {
        (Some(name), ..) => sources.extend([context(name, "--context")?, source("environment", environment)]),
        (None, Some(name), _) => {
            sources.extend([source("environment", environment), context(&name, "COOPERAGE_CONTEXT")?]);
        }
        (None, None, Some(name)) => {
            sources.extend([source("environment", environment), context(name, "current")?]);
        }
        (None, None, None) => sources.push(source("environment", environment)),
    }
    Ok(choose(&sources))
}

/// Whether a server is on this host.
pub fn is_local(server: &Url) -> bool {
    let host = server.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Reads an address, which may leave out `http://`.
///
/// # Errors
/// When it is none of HTTP.
pub fn parse_server(text: &str) -> Result<Url, Invalid> {
    let wrong =
        |fault: &str| Invalid::new("--server", text, fault, "give an address such as http://127.0.0.1:55054");
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url: Url = whole.parse().map_err(|_| wrong("is not an address"))?;
    match url.scheme() {
        "http" | "https" if url.host_str().is_some() => Ok(url),
        _ => Err(wrong("is not an address of HTTP")),
    }
}

fn read_token(file: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(file).map_err(|source| Failure::file("read the token in", file, source))
}

fn first_readable(files: &[PathBuf]) -> Option<String> {
    files.iter().find_map(|file| std::fs::read_to_string(file).ok()).filter(|token| !token.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_leave_out_its_scheme_but_must_be_one() {
        for (text, expected) in [
            ("http://127.0.0.1:55054", "http://127.0.0.1:55054/"),
            ("lab:55054", "http://lab:55054/"),
            ("http://[::1]:80/sub", "http://[::1]/sub"),
            ("https://lab", "https://lab/"),
        ] {
            assert_eq!(parse_server(text).unwrap().as_str(), expected);
        }
        for text in ["", "ftp://lab", "http://", "http://a b"] {
            assert_eq!(parse_server(text).unwrap_err().field, "--server", "{text}");
        }
    }

    #[test]
    fn the_first_token_file_that_can_be_read_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "secret\n").unwrap();
        assert_eq!(first_readable(&[folder.path().join("none"), file]).as_deref(), Some("secret\n"));
        assert_eq!(first_readable(&[folder.path().join("none")]), None);
    }

    #[test]
    fn servers_on_this_host_are_known() {
        for (server, local) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://localhost", true),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_local(&server.parse().unwrap()), local, "{server}");
        }
    }
}
