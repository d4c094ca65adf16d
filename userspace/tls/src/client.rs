//! The client's side of TLS.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::version::TLS13;

use super::pem::Contents;
use super::{FileError, provider};

/// Where systems keep the authorities that they trust: Debian and Ubuntu, Fedora and Red Hat.
const SYSTEM_AUTHORITIES: [&str; 2] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
];

/// The file of the authorities that this system trusts; `None` where it has none.
pub fn system_authorities() -> Option<&'static Path> {
    let mut paths = SYSTEM_AUTHORITIES.iter().map(Path::new);
    paths.find(|path| path.exists())
}

/// The bearer token in the file at `path`, which other users must not be able to read.
///
/// # Errors
///
/// [`FileError`] with the file and the cause.
pub fn bearer_token(path: &Path) -> Result<String, FileError> {
    let file = Contents::read(path, true)?;
    let token = file.bytes.trim_ascii();
    match token.is_empty() || !token.iter().all(u8::is_ascii_graphic) {
        // ASCII is UTF-8.
        false => Ok(String::from_utf8_lossy(token).into_owned()),
        true => Err(file.refused("it has no token: it must be one line of printable ASCII")),
    }
}

/// The text of the file at `path`, which is secret: other users must not be able to read it.
///
/// # Errors
///
/// [`FileError`] with the file and the cause.
pub fn secret_text(path: &Path) -> Result<String, FileError> {
    let file = Contents::read(path, true)?;
    match str::from_utf8(&file.bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => Err(file.refused("it is no text (UTF-8)")),
    }
}

/// The files of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientFiles {
    /// PEM file of the authorities that are trusted. A certificate that signs itself is its own authority.
    pub ca: PathBuf,
    /// PEM files of the client's certificate, with those between it and its authority, and of its private key.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The configuration of a client, which shows its certificate if it has one.
///
/// # Errors
///
/// [`FileError`] with the file and the cause.
pub fn client_config(files: &ClientFiles, alpn: &[&[u8]]) -> Result<Arc<ClientConfig>, FileError> {
    let ca = Contents::read(&files.ca, false)?;
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| ca.refused(error.to_string()))?
        .with_root_certificates(ca.authorities()?);
    let mut config = match &files.identity {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let certificate = Contents::read(certificate, false)?;
            let key = Contents::read(key, true)?;
            builder
                .with_client_auth_cert(certificate.certificates()?, key.key()?)
                .map_err(|error| {
                    certificate.refused(format!(
                        "cannot be used with the key {}: {error}",
                        key.path.display()
                    ))
                })?
        }
    };
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    Ok(Arc::new(config))
}
