//! TLS on a port: certificates checked when they are read, and read again while connections go on.
//!
//! A handshake asks for the certificate, and for the CAs of clients, that are in force at that moment. New files take their
//! place only when they are right as a whole; until then what was in force stays so.

use std::fmt;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use cooperage_domain::invalid::Invalid;
use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use rustls::{DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig, SignatureScheme};
use slog::{Logger, warn};

use crate::config::TlsFiles;

/// Rights of others in a file's mode.
const OTHERS: u32 = 0o077;

/// TLS of one port.
#[derive(Clone)]
pub struct PortTls {
    /// Name of its section in the settings.
    section: &'static str,
    files: TlsFiles,
    live: Arc<Live>,
}

/// What is in force.
struct Live {
    current: RwLock<Arc<Loaded>>,
    provider: Arc<CryptoProvider>,
}

/// What was read from the files.
struct Loaded {
    /// The files as they were, by which changes are seen.
    bytes: Vec<Vec<u8>>,
    key: Arc<CertifiedKey>,
    clients: Option<Arc<dyn ClientCertVerifier>>,
}

impl PortTls {
    /// Reads the files of a section such as `tls.user`; `None` when no certificate is named there.
    ///
    /// # Errors
    /// The setting and the file at fault.
    pub fn load(section: &'static str, files: &TlsFiles, logger: &Logger) -> Result<Option<Self>, Invalid> {
        if files.certificate.as_os_str().is_empty() {
            return lonely(section, files).map_or(Ok(None), Err);
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let loaded = Loaded::read(section, files, &provider)?;
        warn_of_open_key(section, &files.key, logger);
        let live = Arc::new(Live { current: RwLock::new(Arc::new(loaded)), provider });
        Ok(Some(Self { section, files: files.clone(), live }))
    }

    /// What the port is opened with: TLS 1.2 and 1.3.
    ///
    /// # Errors
    /// When the library has none of these versions.
    pub fn config(&self) -> Result<ServerConfig, Error> {
        let builder = ServerConfig::builder_with_provider(Arc::clone(&self.live.provider))
            .with_safe_default_protocol_versions()?;
        let builder = match self.wants_clients() {
            true => builder.with_client_cert_verifier(Arc::clone(&self.live) as Arc<dyn ClientCertVerifier>),
            false => builder.with_no_client_auth(),
        };
        let mut config = builder.with_cert_resolver(Arc::clone(&self.live) as Arc<dyn ResolvesServerCert>);
        if self.wants_clients() {
            // A resumed session is not checked against the CAs again, which may have changed since.
            config.session_storage = Arc::new(NoServerSessionStorage {});
            config.send_tls13_tickets = 0;
        }
        Ok(config)
    }

    /// Reads the files again; whether they are others than before.
    ///
    /// # Errors
    /// The setting and the file at fault; what was in force stays.
    pub fn reload(&self) -> Result<bool, Invalid> {
        if read_all(self.section, &self.files)? == self.live.current().bytes {
            return Ok(false);
        }
        let loaded = Loaded::read(self.section, &self.files, &self.live.provider)?;
        *self.live.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(loaded);
        Ok(true)
    }

    /// Whether clients need certificates.
    #[must_use]
    pub fn wants_clients(&self) -> bool {
        !self.files.client_ca.as_os_str().is_empty()
    }

    /// Name of its section in the settings.
    #[must_use]
    pub const fn section(&self) -> &'static str {
        self.section
    }
}

/// A key or CAs without a certificate.
fn lonely(section: &str, files: &TlsFiles) -> Option<Invalid> {
    let given = [("key", &files.key), ("client_ca", &files.client_ca)];
    let (name, path) = given.into_iter().find(|(_, path)| !path.as_os_str().is_empty())?;
    let fault = format!("is of no use without {section}.certificate");
    let remedy = format!("set {section}.certificate and {section}.key, or leave all three empty");
    Some(Invalid::new(format!("{section}.{name}"), path.display(), fault, remedy))
}

fn fault_of(section: &str, name: &str, path: &Path, fault: impl fmt::Display, remedy: &str) -> Invalid {
    Invalid::new(format!("{section}.{name}"), path.display(), fault.to_string(), remedy)
}

fn read_all(section: &str, files: &TlsFiles) -> Result<Vec<Vec<u8>>, Invalid> {
    let named = [("certificate", &files.certificate), ("key", &files.key), ("client_ca", &files.client_ca)];
    let read = |(name, path): (&str, &std::path::PathBuf)| {
        if path.as_os_str().is_empty() {
            return Ok(Vec::new());
        }
        std::fs::read(path).map_err(|fault| unreadable(section, name, path, &fault))
    };
    named.into_iter().map(read).collect()
}

fn unreadable(section: &str, name: &str, path: &Path, fault: &io::Error) -> Invalid {
    let remedy = "name a PEM file that the user who runs the server may read";
    fault_of(section, name, path, format!("cannot be read: {fault}"), remedy)
}

impl Loaded {
    fn read(section: &str, files: &TlsFiles, provider: &Arc<CryptoProvider>) -> Result<Self, Invalid> {
        if files.key.as_os_str().is_empty() {
            let remedy = "name the PEM file with the private key of the certificate";
            return Err(fault_of(section, "key", &files.key, "is missing", remedy));
        }
        let bytes = read_all(section, files)?;
        let [certificate, key, client_ca] = bytes.as_slice() else {
            return Err(fault_of(section, "certificate", &files.certificate, "was not read", "try again"));
        };
        let chain = certificates(section, "certificate", &files.certificate, certificate)?;
        let private = PrivateKeyDer::from_pem_slice(key).map_err(|fault| {
            let remedy = "it must hold a '-----BEGIN PRIVATE KEY-----' part, without a passphrase";
            fault_of(section, "key", &files.key, format!("holds no private key: {fault}"), remedy)
        })?;
        let key = CertifiedKey::from_der(chain, private, provider).map_err(|fault| match fault {
            Error::InvalidCertificate(_) => {
                let remedy = "make it anew: it must be an X.509 certificate";
                let text = format!("cannot be used: {fault}");
                fault_of(section, "certificate", &files.certificate, text, remedy)
            }
            Error::InconsistentKeys(_) => {
                let text = format!("is not the key of the certificate in {}", files.certificate.display());
                fault_of(section, "key", &files.key, text, "name the two files that belong together")
            }
            other => {
                let text = format!("cannot be used: {other}");
                fault_of(section, "key", &files.key, text, "use an RSA, ECDSA or Ed25519 key in PKCS#8")
            }
        })?;
        let clients = match files.client_ca.as_os_str().is_empty() {
            true => None,
            false => Some(verifier(section, &files.client_ca, client_ca, provider)?),
        };
        Ok(Self { bytes: bytes.clone(), key: Arc::new(key), clients })
    }
}

fn certificates(
    section: &str,
    name: &str,
    path: &Path,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, Invalid> {
    let remedy = "it must hold one or more '-----BEGIN CERTIFICATE-----' parts";
    let fault = |text: String| fault_of(section, name, path, text, remedy);
    let found: Vec<_> = CertificateDer::pem_slice_iter(pem)
        .collect::<Result<_, _>>()
        .map_err(|cause| fault(format!("is no PEM: {cause}")))?;
    if found.is_empty() { Err(fault("holds no certificate".to_owned())) } else { Ok(found) }
}

fn verifier(
    section: &str,
    path: &Path,
    pem: &[u8],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ClientCertVerifier>, Invalid> {
    let remedy = "it must hold the certificates of the CAs, as '-----BEGIN CERTIFICATE-----' parts";
    let fault = |cause: &dyn fmt::Display| {
        fault_of(section, "client_ca", path, format!("cannot be trusted: {cause}"), remedy)
    };
    let mut roots = RootCertStore::empty();
    for certificate in certificates(section, "client_ca", path, pem)? {
        roots.add(certificate).map_err(|cause| fault(&cause))?;
    }
    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|cause| fault(&cause))
}

/// A private key is for the server's user only.
fn warn_of_open_key(section: &str, path: &Path, logger: &Logger) {
    let mode = std::fs::metadata(path).map_or(0, |found| found.permissions().mode());
    if mode & OTHERS != 0 {
        warn!(logger, "others may read a private key"; "setting" => format!("{section}.key"),
            "file" => path.display().to_string(), "remedy" => format!("chmod 600 {}", path.display()));
    }
}

impl Live {
    fn current(&self) -> Arc<Loaded> {
        // Only whole values are put in.
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Live {
    /// Without the key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}

impl ResolvesServerCert for Live {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.current().key))
    }
}

impl ClientCertVerifier for Live {
    /// None: clients have one certificate for us, and the list would be that of the start.
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        match &self.current().clients {
            Some(clients) => clients.verify_client_cert(end_entity, intermediates, now),
            None => Err(Error::General("no CA of clients is known".to_owned())),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
