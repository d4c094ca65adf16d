//! Who has which role: bearer tokens and client certificates, from one TOML file.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::{fmt, str};

use jiff::Timestamp;
use rustls::pki_types::CertificateDer;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::size::parse_size;
use super::subject::{self, fingerprint};

/// Most tokens, and most certificates, of a file: each request is compared with all.
pub(super) const ENTRIES_MAX: usize = 1024;
/// Longest name, bytes.
pub(super) const NAME_MAX: usize = 64;

/// What somebody may do; a later role includes the earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Read.
    Read,
    /// Change something too, and read what was recorded of processes.
    Operate,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Operate => "operate",
        })
    }
}

impl str::FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Self::Read),
            "operate" => Ok(Self::Operate),
            _ => Err(format!("`{text}` is no role; roles are read and operate")),
        }
    }
}

/// Most hosts, patterns and labels of a credential.
const HOSTS_MAX: usize = 64;
/// Longest of them, in bytes.
const HOST_MAX: usize = 256;

/// By what somebody was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A bearer token (RFC 6750).
    Token,
    /// A certificate of a TLS client.
    Certificate,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token => "token",
            Self::Certificate => "certificate",
        })
    }
}

/// Somebody who was recognised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Credential {
    /// By what.
    pub kind: Kind,
    /// The name in the file of credentials.
    pub name: Arc<str>,
    /// What it may do.
    pub role: Role,
    /// How often it may ask; `None`: the listener's own limit holds.
    pub requests_per_minute: Option<NonZeroU32>,
    /// What `gtrace serve` gives it.
    pub gpu: GpuShare,
    /// Of a fleet, the hosts that it may see, by name (`gpu-*`) or label (`team=ml`); all where there is none.
    pub hosts: Vec<String>,
    /// SHA-256 of the token or of the certificate.
    proof: [u8; 32],
}

/// What `gtrace serve` gives to somebody, where that is less than what it gives to everybody.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuShare {
    /// Programs at a time.
    pub max_clients: Option<NonZeroU32>,
    /// Device memory of each program, as [`parse_size`](crate::parse_size) reads it.
    pub max_memory: Option<String>,
    /// Devices among those that the server gives: numbers or UUIDs, with commas between them.
    pub gpus: Option<String>,
}

impl GpuShare {
    /// Device memory of each program, bytes.
    pub fn memory(&self) -> Option<u64> {
        let text = self.max_memory.as_deref()?;
        // It was read when the file was.
        parse_size(text).ok()
    }

    fn check(&self) -> Result<(), String> {
        match &self.max_memory {
            Some(text) => parse_size(text).map(|_| ()),
            None => Ok(()),
        }
    }
}

impl Credential {
    /// Itself, unless it is for hosts of a fleet alone.
    fn of_one_host(self) -> Result<Self, Denied> {
        match self.hosts.is_empty() {
            true => Ok(self),
            false => Err(Denied::OfFleet {
                kind: self.kind,
                name: self.name,
            }),
        }
    }
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.name)
    }
}

/// Why somebody was not recognised. For the log: a client learns only that it was not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// It showed nothing.
    #[error("no token and no certificate")]
    Nothing,
    /// No token in the file is this one.
    #[error("an unknown token")]
    UnknownToken,
    /// No entry is for the certificate.
    #[error("a certificate that is not listed: subject {subject}, fingerprint {fingerprint}")]
    UnknownCertificate {
        /// Its subject.
        subject: String,
        /// SHA-256, hexadecimal.
        fingerprint: String,
    },
    /// Its time is over.
    #[error("the {kind} {name}, which expired at {at}")]
    Expired {
        /// What it is.
        kind: Kind,
        /// Its name.
        name: Arc<str>,
        /// When.
        at: Timestamp,
    },
    /// It is for some hosts of a fleet, at its head, and nowhere else.
    #[error("the {kind} {name}, which is for hosts of a fleet, at its head")]
    OfFleet {
        /// What it is.
        kind: Kind,
        /// Its name.
        name: Arc<str>,
    },
    /// Somebody took it back.
    #[error("the {kind} {name}, which was revoked at {at}")]
    Revoked {
        /// What it is.
        kind: Kind,
        /// Its name.
        name: Arc<str>,
        /// When.
        at: Timestamp,
    },
}

impl Denied {
    /// The reason as a label of metrics.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Nothing => "none",
            Self::UnknownToken => "unknown_token",
            Self::UnknownCertificate { .. } => "unknown_certificate",
            Self::Expired { .. } => "expired",
            Self::OfFleet { .. } => "of_fleet",
            Self::Revoked { .. } => "revoked",
        }
    }
}

/// A file of credentials.
#[derive(Debug, Default)]
pub struct Credentials {
    tokens: Vec<Entry<[u8; 32]>>,
    certificates: Vec<Entry<Match>>,
}

#[derive(Debug)]
struct Entry<T> {
    proof: T,
    name: Arc<str>,
    role: Role,
    expires: Option<Timestamp>,
    revoked: Option<Timestamp>,
    requests_per_minute: Option<NonZeroU32>,
    gpu: GpuShare,
    hosts: Vec<String>,
}

/// Which certificates an entry is for.
#[derive(Debug)]
enum Match {
    Fingerprint([u8; 32]),
    /// Attributes and values, sorted.
    Subject(Vec<(String, String)>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    token: Vec<TokenEntry>,
    #[serde(default)]
    certificate: Vec<CertificateTable>,
}

/// A token of a file, `[[token]]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// Its name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    #[serde(skip_serializing)]
    sha256: String,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Until when it is good.
    pub expires: Option<Timestamp>,
    /// Since when it is not.
    pub revoked: Option<Timestamp>,
    /// How often its holder may ask.
    pub requests_per_minute: Option<NonZeroU32>,
    /// What `gtrace serve` gives to its holder.
    #[serde(skip_serializing_if = "is_all", default)]
    pub gpu: GpuShare,
    /// Hosts of a fleet that its holder may see; `None` for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
}

fn is_all(share: &GpuShare) -> bool {
    *share == GpuShare::default()
}

/// `[[certificate]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CertificateTable {
    name: String,
    role: Role,
    fingerprint: Option<String>,
    subject: Option<String>,
    expires: Option<Timestamp>,
    revoked: Option<Timestamp>,
    requests_per_minute: Option<NonZeroU32>,
    #[serde(default)]
    gpu: GpuShare,
    hosts: Option<Vec<String>>,
}

/// The tokens of a file, as written.
pub(super) fn tokens(text: &str) -> Result<Vec<TokenEntry>, String> {
    Credentials::parse(text)?;
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    Ok(file.token)
}

/// Whether `name` can be one of a credential: it stands in logs, metrics and files.
///
/// # Errors
///
/// What a name may be.
pub fn check_name(name: &str) -> Result<(), String> {
    let good = |b: u8| b.is_ascii_alphanumeric() || b"._-@".contains(&b);
    match (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(good) {
        true => Ok(()),
        false => Err(format!(
            "{name:?} is no name of a credential; use 1 to {NAME_MAX} letters, digits and ._-@"
        )),
    }
}

/// Whether these can be hosts of a fleet; `None` for all.
pub(super) fn check_hosts(hosts: Option<&[String]>) -> Result<(), String> {
    let good = |one: &String| {
        let length = (1..=HOST_MAX).contains(&one.len());
        length && !one.contains(char::is_control) && !one.starts_with('=')
    };
    let are = |hosts: &[String]| {
        // An empty list could mean none, or all.
        (1..=HOSTS_MAX).contains(&hosts.len()) && hosts.iter().all(good)
    };
    match hosts.is_none_or(are) {
        true => Ok(()),
        false => Err(format!(
            "hosts are 1 to {HOSTS_MAX} names, patterns (gpu-*) or labels (team=ml) of at most {HOST_MAX} bytes; without the key, all"
        )),
    }
}

impl Credentials {
    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// What is wrong with which entry.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        for (what, count) in [
            ("tokens", file.token.len()),
            ("certificates", file.certificate.len()),
        ] {
            if count > ENTRIES_MAX {
                return Err(format!(
                    "there are {count} {what}; at most {ENTRIES_MAX} are taken"
                ));
            }
        }
        let mut all = Self::default();
        for table in file.token {
            check_name(&table.name)?;
            (table.gpu.check()).map_err(|why| format!("token {}: {why}", table.name))?;
            check_hosts(table.hosts.as_deref())
                .map_err(|why| format!("token {}: {why}", table.name))?;
            if all.tokens.iter().any(|other| *other.name == *table.name) {
                return Err(format!("two tokens are called {}", table.name));
            }
            let Some(proof) = subject::parse_hash(&table.sha256) else {
                return Err(format!(
                    "sha256 of the token {} is no SHA-256: 64 hexadecimal digits",
                    table.name
                ));
            };
            if let Some(other) = all.tokens.iter().find(|other| other.proof == proof) {
                return Err(format!(
                    "the tokens {} and {} have the same secret",
                    other.name, table.name
                ));
            }
            all.tokens.push(Entry {
                proof,
                name: table.name.into(),
                role: table.role,
                expires: table.expires,
                revoked: table.revoked,
                requests_per_minute: table.requests_per_minute,
                gpu: table.gpu,
                hosts: table.hosts.unwrap_or_default(),
            });
        }
        for table in file.certificate {
            check_name(&table.name)?;
            if all.certificates.iter().any(|c| *c.name == *table.name) {
                return Err(format!("two certificates are called {}", table.name));
            }
            let of = |reason: String| format!("certificate {}: {reason}", table.name);
            table.gpu.check().map_err(of)?;
            check_hosts(table.hosts.as_deref()).map_err(of)?;
            let proof = match (&table.fingerprint, &table.subject) {
                (Some(text), None) => {
                    let hash = subject::parse_hash(text).ok_or_else(|| {
                        of("its fingerprint is no SHA-256: 64 hexadecimal digits, as `openssl x509 -fingerprint \
                            -sha256` prints it"
                            .into())
                    });
                    Match::Fingerprint(hash?)
                }
                (None, Some(text)) => Match::Subject(subject::parse(text).map_err(of)?),
                _ => return Err(of("it needs either a fingerprint or a subject".into())),
            };
            all.certificates.push(Entry {
                proof,
                name: table.name.into(),
                role: table.role,
                expires: table.expires,
                revoked: table.revoked,
                requests_per_minute: table.requests_per_minute,
                gpu: table.gpu,
                hosts: table.hosts.unwrap_or_default(),
            });
        }
        Ok(all)
    }

    /// Whether nobody can be recognised.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty() && self.certificates.is_empty()
    }

    /// Who showed `token`, at `now`. The time that this takes does not depend on how much of a token is right.
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub fn by_token(&self, token: &str, now: Timestamp) -> Result<Credential, Denied> {
        self.token_of(&hash(token), now)?.of_one_host()
    }

    /// Who has proved at `now` that he knows a token without showing it: `proves` says of the SHA-256 of each whether it is
    /// that one, and what follows. All are tried, so that the time does not say which one it was.
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub fn by_proof<T>(
        &self,
        now: Timestamp,
        mut proves: impl FnMut(&[u8; 32]) -> Option<T>,
    ) -> Result<(Credential, T), Denied> {
        let mut found = None;
        for entry in &self.tokens {
            if let Some(proved) = proves(&entry.proof) {
                found = Some((entry, proved));
            }
        }
        let (entry, proved) = found.ok_or(Denied::UnknownToken)?;
        let credential = entry.credential(Kind::Token, entry.proof, now)?;
        Ok((credential.of_one_host()?, proved))
    }

    /// Who showed `certificate`, which TLS has verified, at `now`. An entry for the fingerprint goes before one for
    /// the subject.
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub fn by_certificate(
        &self,
        certificate: &CertificateDer<'_>,
        now: Timestamp,
    ) -> Result<Credential, Denied> {
        self.certificate_of(certificate, now)?.of_one_host()
    }

    fn certificate_of(
        &self,
        certificate: &CertificateDer<'_>,
        now: Timestamp,
    ) -> Result<Credential, Denied> {
        let proof = fingerprint(certificate);
        let by_fingerprint = self
            .certificates
            .iter()
            .find(|entry| matches!(&entry.proof, Match::Fingerprint(wanted) if *wanted == proof));
        let by_subject = || {
            let mut shown = subject::attributes(certificate)?;
            shown.sort();
            self.certificates
                .iter()
                .find(|entry| matches!(&entry.proof, Match::Subject(wanted) if *wanted == shown))
        };
        match by_fingerprint.or_else(by_subject) {
            Some(entry) => {
                let known = entry.credential(Kind::Certificate, proof, now)?;
                match subject::expiry(certificate).filter(|at| *at <= now) {
                    None => Ok(known),
                    Some(at) => Err(Denied::Expired {
                        kind: Kind::Certificate,
                        name: known.name,
                        at,
                    }),
                }
            }
            None => Err(Denied::UnknownCertificate {
                subject: subject::subject(certificate)
                    .unwrap_or_default()
                    .chars()
                    .flat_map(char::escape_default)
                    .take(200)
                    .collect(),
                fingerprint: hex(&proof),
            }),
        }
    }

    /// Who asks: by `token` if one was shown, else by `certificate`.
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub fn authenticate(
        &self,
        token: Option<&str>,
        certificate: Option<&CertificateDer<'_>>,
        now: Timestamp,
    ) -> Result<Credential, Denied> {
        self.authenticate_at_head(token, certificate, now)?
            .of_one_host()
    }

    /// The same at the head of a fleet, which knows credentials for some of its hosts: [`Credential::hosts`].
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub fn authenticate_at_head(
        &self,
        token: Option<&str>,
        certificate: Option<&CertificateDer<'_>>,
        now: Timestamp,
    ) -> Result<Credential, Denied> {
        match (token, certificate) {
            (Some(token), _) => self.token_of(&hash(token), now),
            (None, Some(certificate)) => self.certificate_of(certificate, now),
            (None, None) => Err(Denied::Nothing),
        }
    }

    /// Whether somebody who was recognised before, by this file or an older one, still is, with at least that role.
    /// For connections that last. `certificate` is the one that it showed.
    pub fn still_holds(
        &self,
        credential: &Credential,
        certificate: Option<&CertificateDer<'_>>,
        now: Timestamp,
    ) -> bool {
        let again = match (credential.kind, certificate) {
            (Kind::Token, _) => self.token_of(&credential.proof, now),
            (Kind::Certificate, Some(certificate)) => self.certificate_of(certificate, now),
            (Kind::Certificate, None) => Err(Denied::Nothing),
        };
        again.is_ok_and(|again| again.role >= credential.role && again.hosts == credential.hosts)
    }

    fn token_of(&self, proof: &[u8; 32], now: Timestamp) -> Result<Credential, Denied> {
        let mut found = None;
        for entry in &self.tokens {
            // All are compared, so that the time does not say which one is near.
            if bool::from(entry.proof.ct_eq(proof)) {
                found = Some(entry);
            }
        }
        let entry = found.ok_or(Denied::UnknownToken)?;
        entry.credential(Kind::Token, *proof, now)
    }
}

impl<T> Entry<T> {
    fn credential(
        &self,
        kind: Kind,
        proof: [u8; 32],
        now: Timestamp,
    ) -> Result<Credential, Denied> {
        let name = Arc::clone(&self.name);
        if let Some(at) = self.revoked {
            return Err(Denied::Revoked { kind, name, at });
        }
        if let Some(at) = self.expires.filter(|at| *at <= now) {
            return Err(Denied::Expired { kind, name, at });
        }
        Ok(Credential {
            kind,
            name,
            role: self.role,
            requests_per_minute: self.requests_per_minute,
            gpu: self.gpu.clone(),
            hosts: self.hosts.clone(),
            proof,
        })
    }
}

/// What a file holds of a token. Tokens have 256 random bits, so that a plain hash cannot be turned back.
pub(super) fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, KeyPair};

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_token_is_recognised_until_it_expires_or_is_revoked() {
        let file = |end: &str| {
            let sha256 = hex(&hash("secret"));
            let text = format!(
                "[[token]]\nname = \"prometheus\"\nrole = \"read\"\nsha256 = \"{sha256}\"\n\
                 requests_per_minute = 60\n{end}"
            );
            Credentials::parse(&text).unwrap()
        };
        let now = at("2026-03-03T00:00:00Z");
        let known = file("").by_token("secret", now).unwrap();
        assert_eq!((&*known.name, known.role), ("prometheus", Role::Read));
        assert_eq!(known.requests_per_minute.unwrap().get(), 60);
        assert_eq!(file("").by_token("secre", now), Err(Denied::UnknownToken));
        let ends = file("expires = \"2026-03-03T00:00:01Z\"");
        assert!(ends.still_holds(&known, None, now));
        let later = at("2026-03-03T00:00:01Z");
        assert!(!ends.still_holds(&known, None, later));
        let denied = ends.by_token("secret", later).unwrap_err();
        assert_eq!(denied.label(), "expired");
        let revoked = file("revoked = \"2026-03-01T00:00:00Z\"");
        let denied = revoked.by_token("secret", now).unwrap_err();
        assert_eq!(
            denied.to_string(),
            "the token prometheus, which was revoked at 2026-03-01T00:00:00Z"
        );
        // A token that is there with a lower role is not what was recognised before.
        let operator = Credential {
            role: Role::Operate,
            ..known
        };
        assert!(!file("").still_holds(&operator, None, now));
    }

    #[test]
    fn a_certificate_is_recognised_by_fingerprint_or_whole_subject() {
        let certificate = |names: &[(DnType, &str)]| {
            let mut params = CertificateParams::default();
            params.distinguished_name = rcgen::DistinguishedName::new();
            for (kind, value) in names {
                params.distinguished_name.push(kind.clone(), *value);
            }
            let key = KeyPair::generate().unwrap();
            params.self_signed(&key).unwrap().der().clone()
        };
        let ops = certificate(&[
            (DnType::CommonName, "ops"),
            (DnType::OrganizationName, "Example, Inc."),
        ]);
        assert_eq!(subject::subject(&ops).unwrap(), r"CN=ops, O=Example\, Inc.");
        let by_subject = Credentials::parse(
            "[[certificate]]\nname = \"ops\"\nrole = \"operate\"\nsubject = 'O=Example\\, Inc., CN=ops'",
        );
        let by_subject = by_subject.unwrap();
        let now = Timestamp::now();
        let known = by_subject.authenticate(None, Some(&ops), now).unwrap();
        assert_eq!(known.role, Role::Operate);
        assert!(by_subject.still_holds(&known, Some(&ops), now));
        // Neither a part of the subject nor a value that looks like it.
        let part = certificate(&[(DnType::CommonName, "ops")]);
        let sly = certificate(&[(DnType::CommonName, r"ops, O=Example\, Inc.")]);
        for other in [&part, &sly] {
            let denied = by_subject.by_certificate(other, now).unwrap_err();
            assert_eq!(denied.label(), "unknown_certificate");
        }
        let by_fingerprint = Credentials::parse(&format!(
            "[[certificate]]\nname = \"ops\"\nrole = \"read\"\nfingerprint = \"{}\"",
            hex(&fingerprint(&ops))
        ));
        let by_fingerprint = by_fingerprint.unwrap();
        assert!(by_fingerprint.by_certificate(&ops, now).is_ok());
        assert!(by_fingerprint.by_certificate(&part, now).is_err());
    }

    #[test]
    fn a_file_that_is_wrong_says_where() {
        let sha256 = hex(&hash("secret"));
        let token = |name: &str| {
            format!("[[token]]\nname = \"{name}\"\nrole = \"read\"\nsha256 = \"{sha256}\"\n")
        };
        for (text, wanted) in [
            (token("a b"), "is no name of a credential"),
            (token("a") + &token("a"), "two tokens are called a"),
            (token("a") + &token("b"), "the same secret"),
            (token("a").replace("read", "root"), "unknown variant `root`"),
            (token("a").replace(&sha256, "00"), "is no SHA-256"),
            (token("a") + "admin = true", "unknown field `admin`"),
            (
                "[[certificate]]\nname = \"a\"\nrole = \"read\"".into(),
                "either a fingerprint or a subject",
            ),
        ] {
            let error = Credentials::parse(&text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
    }
}
