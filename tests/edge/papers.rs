//! Certificates of a CA of the test's own.

use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};

/// A CA.
pub struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as files.
pub struct Paper {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    /// Its own certificate, as a file.
    pub fn file(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, &self.pem).unwrap();
        path
    }

    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for this host that is valid now.
    pub fn issue(&self, folder: &Path, name: &str) -> Paper {
        self.write(folder, name, &host())
    }

    /// One that was valid once.
    pub fn issue_expired(&self, folder: &Path, name: &str) -> Paper {
        let mut params = host();
        params.not_before = date_time_ymd(2019, 1, 1);
        params.not_after = date_time_ymd(2020, 1, 1);
        self.write(folder, name, &params)
    }

    fn write(&self, folder: &Path, name: &str, params: &CertificateParams) -> Paper {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let paper = Paper {
            certificate: folder.join(format!("{name}.crt")),
            key: folder.join(format!("{name}.key")),
        };
        std::fs::write(&paper.key, key.serialize_pem()).unwrap();
        std::fs::write(&paper.certificate, certificate.pem()).unwrap();
        paper
    }
}

fn host() -> CertificateParams {
    CertificateParams::new(vec!["127.0.0.1".to_owned(), "localhost".to_owned()]).unwrap()
}
