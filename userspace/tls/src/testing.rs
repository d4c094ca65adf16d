//! An authority for tests, with the files of servers and clients that it signs.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer,
    KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};

use super::{AccessFiles, ClientFiles};

/// An authority and the folder of its files.
pub struct Authority {
    folder: PathBuf,
    params: CertificateParams,
    key: KeyPair,
}

/// Dates of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dates {
    /// Good now.
    Good,
    /// Over since 2001.
    Expired,
}

impl Authority {
    /// A new authority, whose certificate is `ca.pem` in `folder`.
    pub fn new(folder: &Path) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params
            .distinguished_name
            .push(DnType::CommonName, "authority of a test");
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        fs::write(folder.join("ca.pem"), certificate.pem()).unwrap();
        Self {
            folder: folder.to_owned(),
            params,
            key,
        }
    }

    /// The authority's own certificate.
    pub fn ca(&self) -> PathBuf {
        self.folder.join("ca.pem")
    }

    /// Writes `NAME.pem` and `NAME.key` for the subject `CN=NAME`, with the names of this host and the serial number
    /// `serial`.
    pub fn issue(&self, name: &str, serial: u64, dates: Dates) -> (PathBuf, PathBuf) {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(SerialNumber::from(serial));
        if dates == Dates::Expired {
            params.not_before = date_time_ymd(2000, 1, 1);
            params.not_after = date_time_ymd(2001, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let issuer = Issuer::from_params(&self.params, &self.key);
        let certificate = params.signed_by(&key, &issuer).unwrap();
        let files = (
            self.folder.join(format!("{name}.pem")),
            self.folder.join(format!("{name}.key")),
        );
        fs::write(&files.0, certificate.pem()).unwrap();
        fs::write(&files.1, key.serialize_pem()).unwrap();
        fs::set_permissions(&files.1, fs::Permissions::from_mode(0o600)).unwrap();
        files
    }

    /// Writes `crl.pem`, by which the certificates with these serial numbers are revoked.
    pub fn revoke(&self, serials: &[u64]) -> PathBuf {
        let revoked = serials.iter().map(|serial| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        });
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2100, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: revoked.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        let issuer = Issuer::from_params(&self.params, &self.key);
        let path = self.folder.join("crl.pem");
        fs::write(&path, params.signed_by(&issuer).unwrap().pem().unwrap()).unwrap();
        path
    }

    /// The files of a server `server` of this authority, which takes its clients' certificates, with an empty list of
    /// revocations and the credentials `credentials`.
    pub fn server(&self, credentials: &str) -> AccessFiles {
        let (certificate, key) = self.issue("server", 1, Dates::Good);
        let path = self.folder.join("credentials.toml");
        fs::write(&path, credentials).unwrap();
        AccessFiles {
            certificate,
            key,
            client_ca: Some(self.ca()),
            client_crl: Some(self.revoke(&[])),
            credentials: path,
            credentials_optional: false,
        }
    }

    /// The files of a client that trusts this authority and shows `identity`.
    pub fn client(&self, identity: Option<(PathBuf, PathBuf)>) -> ClientFiles {
        ClientFiles {
            ca: self.ca(),
            identity,
        }
    }
}
