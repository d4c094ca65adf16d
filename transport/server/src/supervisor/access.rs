//! Who may use the server: one token for all, or named tokens and certificates of a file that is read again when it
//! changes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_link::{Beginning, ConnectionKey, Token};
use gtrace_tls::{Credential, Denied, Guard, Reload, Role, ServeAccess, ServeFiles};
use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use tracing::{info, warn};

use crate::options::Options;

/// Between looks at the files.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Somebody who was recognised.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) credential: Credential,
    /// The certificate that it has shown.
    certificate: Option<CertificateDer<'static>>,
}

/// Why somebody is not let in: for the log, and the word by which it is counted.
pub(super) struct Rejection {
    pub(super) why: String,
    pub(super) label: &'static str,
}

impl From<Denied> for Rejection {
    fn from(denied: Denied) -> Self {
        let label = match &denied {
            Denied::Expired { .. } => "expired",
            Denied::Revoked { .. } => "revoked",
            Denied::OfFleet { .. } => "of_fleet",
            Denied::UnknownCertificate { .. } => "certificate",
            Denied::Nothing | Denied::UnknownToken => "token",
        };
        Self {
            why: denied.to_string(),
            label,
        }
    }
}

#[derive(Debug)]
pub(super) struct Access {
    /// What all clients have to know.
    token: Option<Token>,
    files: Option<Guard<ServeAccess>>,
    takes_certificates: bool,
    checked: Instant,
}

impl Access {
    /// As the options say, whose files are read.
    pub(super) fn open(options: &Options) -> Result<Self, String> {
        let token = options
            .token
            .as_ref()
            .map(|token| Token::new(token.as_bytes()));
        let files = ServeFiles {
            tls: options.tls.clone(),
            client_ca: options.tls_client_ca.clone(),
            client_crl: options.tls_client_crl.clone(),
            credentials: options.credentials.clone(),
        };
        let takes_certificates = files.client_ca.is_some();
        let files = (files != ServeFiles::default())
            .then(|| {
                let provider = gtrace_link::server_provider();
                Guard::serving(files, gtrace_link::ALPN, provider)
            })
            .transpose()
            .map_err(|error| error.to_string())?;
        Ok(Self {
            token: token.transpose().map_err(|error| error.to_string())?,
            files,
            takes_certificates,
            checked: Instant::now(),
        })
    }

    fn now(&self) -> Option<Arc<ServeAccess>> {
        self.files.as_ref().map(Guard::access)
    }

    /// How TLS is spoken.
    pub(super) fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.now()?.tls.clone()
    }

    /// Whether clients have to say who they are.
    pub(super) fn asks(&self) -> bool {
        self.token.is_some()
            || self
                .now()
                .is_some_and(|access| access.credentials.is_some())
    }

    /// Whether a certificate of a client is taken in place of a token.
    pub(super) const fn takes_certificates(&self) -> bool {
        self.takes_certificates
    }

    /// Why the files as they are now do not hold.
    pub(super) fn error(&self) -> Option<String> {
        self.files.as_ref().and_then(Guard::error)
    }

    /// Until the files are to be looked at again.
    pub(super) fn next_check(&self) -> Option<Duration> {
        let files = self.files.as_ref();
        files.map(|_| CHECK_EVERY.saturating_sub(self.checked.elapsed()))
    }

    /// Looks at the files if it is time for it, or `now`. Whether it did.
    pub(super) fn check(&mut self, now: bool) -> bool {
        let Some(files) = &self.files else {
            return false;
        };
        if !now && self.checked.elapsed() < CHECK_EVERY {
            return false;
        }
        self.checked = Instant::now();
        match files.check() {
            Reload::Unchanged if now => info!("credentials and certificates are unchanged"),
            Reload::Unchanged => {}
            Reload::Reloaded => info!("credentials and certificates were read again"),
            Reload::Failed(error) => {
                warn!("{error}; credentials and certificates stay as they were");
            }
        }
        true
    }

    /// Who has begun a connection, by the token that it was made with, and the connection's key.
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub(super) fn by_token(
        &self,
        beginning: &Beginning,
    ) -> Result<(Option<ConnectionKey>, Option<Known>), Rejection> {
        if let Some(token) = &self.token
            && let Some(key) = beginning.key_of(token.secret())
        {
            return Ok((Some(key), None));
        }
        match self
            .now()
            .as_ref()
            .and_then(|access| access.credentials.as_ref())
        {
            Some(credentials) => {
                let (credential, key) =
                    credentials.by_proof(Timestamp::now(), |secret| beginning.key_of(secret))?;
                let certificate = None;
                let known = Known {
                    credential,
                    certificate,
                };
                Ok((Some(key), Some(known.may_run()?)))
            }
            None if self.token.is_some() => Err(Denied::UnknownToken.into()),
            None => Ok((None, None)),
        }
    }

    /// Who has shown this certificate, which TLS has verified.
    ///
    /// # Errors
    ///
    /// Why it is nobody.
    pub(super) fn by_certificate(
        &self,
        certificate: Option<&CertificateDer<'static>>,
    ) -> Result<Known, Rejection> {
        let access = self.now();
        let credentials = access
            .as_ref()
            .and_then(|access| access.credentials.as_ref());
        match (credentials, certificate) {
            (Some(credentials), Some(certificate)) => {
                let credential = credentials.by_certificate(certificate, Timestamp::now())?;
                let certificate = Some(certificate.clone());
                Known {
                    credential,
                    certificate,
                }
                .may_run()
            }
            _ => Err(Denied::Nothing.into()),
        }
    }

    /// Whether somebody who was recognised before still is.
    pub(super) fn still_knows(&self, known: &Known) -> bool {
        let access = self.now();
        let credentials = access
            .as_ref()
            .and_then(|access| access.credentials.as_ref());
        credentials.is_some_and(|credentials| {
            let certificate = known.certificate.as_ref();
            credentials.still_holds(&known.credential, certificate, Timestamp::now())
        })
    }
}

impl Known {
    /// Running a program is no reading.
    fn may_run(self) -> Result<Self, Rejection> {
        match self.credential.role {
            Role::Operate => Ok(self),
            Role::Read => Err(Rejection {
                why: format!(
                    "the {}, whose role is read: running programs takes operate",
                    self.credential
                ),
                label: "role",
            }),
        }
    }
}
