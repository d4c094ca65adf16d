//! Certificate, key and credentials of a listener, as their files are now.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use sha2::{Digest as _, Sha256};

use super::credentials::Credentials;
use super::pem::Contents;
use super::server::{self, ServerContents};
use super::subject::expiry;
use super::{FileError, provider};

/// The files of a listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessFiles {
    /// PEM file of the server's certificate, with those between it and its authority.
    pub certificate: PathBuf,
    /// PEM file of its private key.
    pub key: PathBuf,
    /// PEM file of the authorities whose certificates clients may show; `None`: no certificate is asked for.
    pub client_ca: Option<PathBuf>,
    /// PEM file of certificates that those authorities have revoked.
    pub client_crl: Option<PathBuf>,
    /// File of credentials.
    pub credentials: PathBuf,
    /// Whether that file may be missing: nobody whom it would have to name is let in until it is there. A head serves its agents meanwhile.
    pub credentials_optional: bool,
}

/// What the files say.
#[derive(Debug)]
pub struct Access {
    /// How TLS is spoken.
    pub tls: Arc<ServerConfig>,
    /// Who is who.
    pub credentials: Credentials,
    /// The end of the server's own certificate.
    pub expiry: Option<Timestamp>,
}

/// What [`Guard::check`] found.
#[derive(Debug)]
pub enum Reload {
    /// Nothing new.
    Unchanged,
    /// The files have changed, and what they say now holds.
    Reloaded,
    /// The files have changed and cannot be used: what they said before holds. Returned once for each change.
    Failed(FileError),
}

/// The files of a server that may go without TLS, or without credentials: `gtrace serve`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServeFiles {
    /// PEM files of the server's certificate, with those between it and its authority, and of its private key.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// PEM file of the authorities whose certificates clients may show; `None`: no certificate is asked for.
    pub client_ca: Option<PathBuf>,
    /// PEM file of certificates that those authorities have revoked.
    pub client_crl: Option<PathBuf>,
    /// File of credentials. Here the hashes of tokens are what clients prove that they know, so nobody else may read it.
    pub credentials: Option<PathBuf>,
}

/// What these files say.
#[derive(Debug)]
pub struct ServeAccess {
    /// How TLS is spoken.
    pub tls: Option<Arc<ServerConfig>>,
    /// Who is who.
    pub credentials: Option<Credentials>,
}

type ReadFiles = dyn Fn() -> Result<Read, FileError> + Send + Sync;
type LoadFiles<A> = dyn Fn(&Read) -> Result<A, FileError> + Send + Sync;

/// Holds what the files said when they were last good.
pub struct Guard<A = Access> {
    read: Box<ReadFiles>,
    load: Box<LoadFiles<A>>,
    access: RwLock<Arc<A>>,
    state: Mutex<State>,
}

impl<A: fmt::Debug> fmt::Debug for Guard<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("access", &self.access)
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}

#[derive(Debug)]
struct State {
    /// SHA-256 of the contents that were looked at last, or of why they could not be read.
    seen: [u8; 32],
    error: Option<String>,
}

impl Guard<Access> {
    /// Reads the files; `alpn` are the protocols within TLS (RFC 7301).
    ///
    /// # Errors
    ///
    /// [`FileError`] with the file that cannot be used.
    pub fn new(files: AccessFiles, alpn: &[&[u8]]) -> Result<Self, FileError> {
        let alpn: Vec<Vec<u8>> = alpn.iter().map(|name| name.to_vec()).collect();
        let of = files.clone();
        Self::of(
            move || read(&of),
            move |contents| load(&files, contents, &alpn),
        )
    }
}

impl Guard<ServeAccess> {
    /// Reads the files; `alpn` is the protocol within TLS (RFC 7301), and `provider` how it is encrypted.
    ///
    /// # Errors
    ///
    /// [`FileError`] with the file that cannot be used.
    pub fn serving(
        files: ServeFiles,
        alpn: &'static [u8],
        provider: Arc<CryptoProvider>,
    ) -> Result<Self, FileError> {
        let of = files.clone();
        Self::of(
            move || read_serving(&of),
            move |contents| load_serving(contents, &[alpn], &provider),
        )
    }
}

impl<A> Guard<A> {
    fn of(
        read: impl Fn() -> Result<Read, FileError> + Send + Sync + 'static,
        load: impl Fn(&Read) -> Result<A, FileError> + Send + Sync + 'static,
    ) -> Result<Self, FileError> {
        let contents = read();
        let seen = digest(&contents);
        let access = load(&contents?)?;
        Ok(Self {
            read: Box::new(read),
            load: Box::new(load),
            access: RwLock::new(Arc::new(access)),
            state: Mutex::new(State { seen, error: None }),
        })
    }

    /// What holds now. Later connections and requests should ask again.
    pub fn access(&self) -> Arc<A> {
        Arc::clone(&self.access.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why the files as they are now do not hold; `None` where they do.
    pub fn error(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.error.clone()
    }

    /// Reads the files and takes over what has changed. It blocks for the time that the disk takes. Contents are
    /// compared, not times: a file that is replaced twice in one tick of the clock, or through a link, is seen.
    pub fn check(&self) -> Reload {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let contents = (self.read)();
        let seen = digest(&contents);
        if seen == state.seen {
            return Reload::Unchanged;
        }
        state.seen = seen;
        match contents.and_then(|contents| (self.load)(&contents)) {
            Ok(access) => {
                state.error = None;
                let mut current = self.access.write().unwrap_or_else(PoisonError::into_inner);
                *current = Arc::new(access);
                Reload::Reloaded
            }
            Err(error) => {
                state.error = Some(error.to_string());
                Reload::Failed(error)
            }
        }
    }
}

/// The files in one order; those that are not configured are `None`.
type Read = [Option<Contents>; 5];

fn read(files: &AccessFiles) -> Result<Read, FileError> {
    let is_missing =
        files.credentials_optional && files.credentials.try_exists().is_ok_and(|is| !is);
    let credentials = Some(&files.credentials).filter(|_| !is_missing);
    read_all(
        Some((&files.certificate, &files.key)),
        credentials.map(|path| (path, false)),
        [&files.client_ca, &files.client_crl],
    )
}

fn read_serving(files: &ServeFiles) -> Result<Read, FileError> {
    read_all(
        files.tls.as_ref().map(|tls| (&tls.0, &tls.1)),
        files.credentials.as_ref().map(|path| (path, true)),
        [&files.client_ca, &files.client_crl],
    )
}

/// Reads certificate and key, credentials, which may be secret, and authorities with what they have revoked.
fn read_all(
    tls: Option<(&PathBuf, &PathBuf)>,
    credentials: Option<(&PathBuf, bool)>,
    clients: [&Option<PathBuf>; 2],
) -> Result<Read, FileError> {
    let some = |file: Option<(&PathBuf, bool)>| {
        file.map(|(path, secret)| Contents::read(path, secret))
            .transpose()
    };
    let [ca, crl] = clients.map(|path| path.as_ref().map(|path| (path, false)));
    Ok([
        some(tls.map(|(certificate, _)| (certificate, false)))?,
        some(tls.map(|(_, key)| (key, true)))?,
        some(credentials)?,
        some(ca)?,
        some(crl)?,
    ])
}

fn load_serving(
    contents: &Read,
    alpn: &[&[u8]],
    provider: &Arc<CryptoProvider>,
) -> Result<ServeAccess, FileError> {
    let [certificate, key, credentials, client_ca, client_crl] = contents;
    let tls = match (certificate, key) {
        (Some(certificate), Some(key)) => Some(server::config(
            &ServerContents {
                certificate,
                key,
                client_ca: client_ca.as_ref(),
                client_crl: client_crl.as_ref(),
            },
            alpn,
            provider,
        )?),
        _ => None,
    };
    let credentials = credentials.as_ref().map(parse_credentials).transpose()?;
    Ok(ServeAccess { tls, credentials })
}

fn parse_credentials(contents: &Contents) -> Result<Credentials, FileError> {
    let text =
        std::str::from_utf8(&contents.bytes).map_err(|_| contents.refused("it is not UTF-8"))?;
    Credentials::parse(text).map_err(|reason| contents.refused(reason))
}

fn digest(contents: &Result<Read, FileError>) -> [u8; 32] {
    let mut hasher = Sha256::new();
    match contents {
        Ok(contents) => {
            for contents in contents.iter().flatten() {
                hasher.update(contents.bytes.len().to_le_bytes());
                hasher.update(&contents.bytes);
            }
        }
        Err(error) => hasher.update(error.to_string()),
    }
    hasher.finalize().into()
}

fn load(files: &AccessFiles, contents: &Read, alpn: &[Vec<u8>]) -> Result<Access, FileError> {
    let alpn: Vec<&[u8]> = alpn.iter().map(Vec::as_slice).collect();
    let ServeAccess { tls, credentials } = load_serving(contents, &alpn, &provider())?;
    let (Some(tls), [Some(certificate), ..]) = (tls, contents) else {
        // `read` gives certificate and key.
        return Err(FileError::Content {
            path: files.certificate.clone(),
            reason: "it was not read".into(),
        });
    };
    Ok(Access {
        tls,
        credentials: credentials.unwrap_or_default(),
        expiry: certificate.certificates()?.first().and_then(expiry),
    })
}
