//! Which server is spoken to, and as whom.

use std::path::{Path, PathBuf};

use cooperage_domain::invalid::Invalid;
use reqwest::Url;

use super::args::Globals;
use super::failure::Failure;
use crate::client_tls::ClientFiles;

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
    /// For servers that believe headers: the user.
    pub user: String,
    /// For servers that believe headers: the tenant.
    pub tenant: String,
    /// For servers with TLS.
    pub tls: TlsFiles,
}

/// PEM files for servers with TLS.
#[derive(Debug, Clone, Default)]
pub struct TlsFiles {
    /// CAs that the server's certificate must come from.
    pub ca: Option<PathBuf>,
    /// Our certificate.
    pub certificate: Option<PathBuf>,
    /// Its private key.
    pub key: Option<PathBuf>,
}

impl Connection {
    /// From options and environment.
    ///
    /// # Errors
    /// When the address is none, or the named token file cannot be read.
    pub fn from_globals(globals: &Globals) -> Result<Self, Failure> {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let token = match (&globals.token_file, set("COOPERAGE_TOKEN"), set("COOPERAGE_TOKEN_FILE")) {
            (Some(file), ..) => Some(read_token(file)?),
            (None, Some(token), _) => Some(token),
            (None, None, Some(file)) => Some(read_token(Path::new(&file))?),
            (None, None, None) => first_readable(&TOKEN_FILES.map(PathBuf::from)),
        };
        Ok(Self {
            server: parse_server(&globals.server)?,
            token: token.map(|token| token.trim().to_owned()),
            user: globals.user.clone(),
            tenant: globals.tenant.clone(),
            tls: TlsFiles {
                ca: globals.ca_file.clone(),
                certificate: globals.client_certificate.clone(),
                key: globals.client_key.clone(),
            },
        })
    }

    /// The files, with the options that name them.
    #[must_use]
    pub fn client_files(&self) -> ClientFiles<'_> {
        ClientFiles {
            is_https: self.server.scheme() == "https",
            ca: self.tls.ca.as_deref().map(|path| ("--ca-file", path)),
            certificate: self.tls.certificate.as_deref().map(|path| ("--client-certificate", path)),
            key: self.tls.key.as_deref().map(|path| ("--client-key", path)),
        }
    }

    /// Whether the server is on this host, so that no proxy leads to it.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let host = self.server.host_str().unwrap_or_default().trim_matches(['[', ']']);
        host == "localhost" || host.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
    }
}

fn parse_server(text: &str) -> Result<Url, Invalid> {
    let wrong = |fault: &str, remedy: &str| Invalid::new("--server", text, fault, remedy);
    let remedy = "give an address such as http://127.0.0.1:55054 or https://cooperage.example:55054";
    let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    let url: Url = whole.parse().map_err(|_| wrong("is not an address", remedy))?;
    match url.scheme() {
        "http" | "https" if url.host_str().is_some() => Ok(url),
        _ => Err(wrong("is not an address of HTTP", remedy)),
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
            ("https://lab:55054", "https://lab:55054/"),
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
        let at = |server: &str| Connection {
            server: server.parse().unwrap(),
            token: None,
            user: String::new(),
            tenant: String::new(),
            tls: TlsFiles::default(),
        };
        for (server, local) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://localhost", true),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(at(server).is_local(), local, "{server}");
        }
    }
}
