//! Taking a host into a fleet.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use gtrace_fleet::{EnrollAnswer, EnrollRequest};
use serde::{Deserialize, Serialize};

use crate::head_url::HttpUrl;
use crate::http::Http;
use crate::transport::{Call, LinkError, Transport as _, json, read};

/// What a host needs to ship to a head: a file that only the daemon may read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enrolled {
    /// URL of the head.
    pub head: String,
    /// The host's name in the fleet.
    pub host: String,
    /// What it shows: a secret.
    pub credential: String,
    /// PEM file of the authorities of the head's certificate; the system's where it is not named.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ca: Option<PathBuf>,
    /// The file that it was read from.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// Why a host is not enrolled.
#[derive(Debug, thiserror::Error)]
pub enum EnrollError {
    /// The head did not do it.
    #[error(transparent)]
    Head(#[from] LinkError),
    /// The file cannot be read or written.
    #[error("{path}: {cause}; `gtrace agent enroll` writes it")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
}

impl Enrolled {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// [`EnrollError::File`].
    pub fn read(path: &Path) -> Result<Self, EnrollError> {
        let failed = |cause| EnrollError::File {
            path: path.to_owned(),
            cause,
        };
        let text = fs::read(path).map_err(failed)?;
        let read = serde_json::from_slice::<Self>(&text);
        Ok(Self {
            file: Some(path.to_owned()),
            ..read.map_err(|e| failed(io::Error::other(e)))?
        })
    }

    /// What its file says now, where the host was enrolled anew, by its name and at the same head.
    pub(crate) fn renewed(&self) -> Option<Self> {
        let now = Self::read(self.file.as_deref()?).ok()?;
        let is_same = now.head == self.head && now.host == self.host;
        (is_same && now != *self).then_some(now)
    }

    /// Writes it to `path`, with mode 0600, whole or not at all.
    ///
    /// # Errors
    /// [`EnrollError::File`].
    pub fn write(&self, path: &Path) -> Result<(), EnrollError> {
        let write = || -> io::Result<()> {
            let beside = path.with_extension("new");
            match fs::remove_file(&beside) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&beside)?;
            file.write_all(&serde_json::to_vec_pretty(self)?)?;
            file.sync_all()?;
            fs::rename(beside, path)
        };
        write().map_err(|cause| EnrollError::File {
            path: path.to_owned(),
            cause,
        })
    }
}

/// Asks the head at `url` to take a host into the fleet. `ca` has the authorities of its certificate, instead of the system's.
///
/// # Errors
/// [`EnrollError::Head`].
pub async fn enroll(
    url: &HttpUrl,
    ca: Option<&Path>,
    request: &EnrollRequest,
) -> Result<Enrolled, EnrollError> {
    let http = Http::connect(url, ca, None).await?;
    let call = Call::post("/fleet/v1/enroll", json(request)?);
    let answer: EnrollAnswer = read(&http.call(call).await?)?;
    Ok(Enrolled {
        head: url.to_string(),
        host: request.host.clone(),
        credential: answer.credential,
        ca: ca.map(Path::to_owned),
        file: None,
    })
}
