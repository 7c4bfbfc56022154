//! TLS of calls to others: whom they must be, and who we are to them.

use std::path::Path;

use cooperage_domain::invalid::Invalid;
use reqwest::{Certificate, ClientBuilder, Identity};

use crate::config::ClientTls;

/// Files for TLS, all PEM, each with the name under which it was given.
#[derive(Debug, Clone, Copy)]
pub struct ClientFiles<'a> {
    /// Whether TLS is spoken at all.
    pub is_https: bool,
    /// CAs that the other's certificate must come from; `None`: those of the system.
    pub ca: Option<(&'a str, &'a Path)>,
    /// Our certificate.
    pub certificate: Option<(&'a str, &'a Path)>,
    /// Its private key.
    pub key: Option<(&'a str, &'a Path)>,
}

impl<'a> ClientFiles<'a> {
    /// Those of the settings with these names: CAs, certificate, key.
    #[must_use]
    pub fn of(tls: &'a ClientTls, names: [&'a str; 3], is_https: bool) -> Self {
        let named = |name, path: &'a Path| (!path.as_os_str().is_empty()).then_some((name, path));
        let [ca, certificate, key] = names;
        Self {
            is_https,
            ca: named(ca, &tls.ca),
            certificate: named(certificate, &tls.certificate),
            key: named(key, &tls.key),
        }
    }
}

/// A client that uses them.
///
/// # Errors
/// The name and the file at fault.
pub fn with_tls(builder: ClientBuilder, files: ClientFiles<'_>) -> Result<ClientBuilder, Invalid> {
    let mut builder = builder.tls_version_min(reqwest::tls::Version::TLS_1_2);
    if let Some((name, path)) = files.ca {
        let pem = read(name, path)?;
        let remedy = "it must hold one or more '-----BEGIN CERTIFICATE-----' parts";
        let fault = |text: String| Invalid::new(name, path.display(), text, remedy);
        let found = Certificate::from_pem_bundle(&pem)
            .map_err(|cause| fault(format!("holds no certificate: {cause}")))?;
        if found.is_empty() {
            return Err(fault("holds no certificate".to_owned()));
        }
        builder = builder.tls_certs_only(found);
    } else if !files.is_https {
        builder = without_tls(builder);
    }
    match (files.certificate, files.key) {
        (None, None) => Ok(builder),
        (Some((certificate, path)), Some((key, key_path))) => {
            let mut pem = read(certificate, path)?;
            pem.push(b'\n');
            pem.extend(read(key, key_path)?);
            let identity = Identity::from_pem(&pem).map_err(|cause| {
                let text = format!("and {} cannot be used: {cause}", key_path.display());
                let remedy = "name a PEM file with a certificate, and one with its private key";
                Invalid::new(certificate, path.display(), text, remedy)
            })?;
            Ok(builder.identity(identity))
        }
        (Some((name, path)), None) | (None, Some((name, path))) => {
            let text = "is of no use alone";
            Err(Invalid::new(name, path.display(), text, "name both, the certificate and its private key"))
        }
    }
}

/// A client that speaks no TLS. It asks for no CAs, which a host need not have.
pub fn without_tls(builder: ClientBuilder) -> ClientBuilder {
    builder.tls_certs_only([])
}

fn read(name: &str, path: &Path) -> Result<Vec<u8>, Invalid> {
    std::fs::read(path).map_err(|cause| {
        let text = format!("cannot be read: {cause}");
        Invalid::new(name, path.display(), text, "name a PEM file that you may read")
    })
}
