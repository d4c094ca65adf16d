//! The server's certificate.

use std::path::PathBuf;
use std::sync::Arc;

use gtrace_link::LinkError;

/// The configuration for certificate and key, if there are any.
///
/// # Errors
///
/// [`LinkError::Tls`] or [`LinkError::Usage`] with the file's name.
pub(crate) fn server(
    files: Option<&(PathBuf, PathBuf)>,
) -> Result<Option<Arc<rustls::ServerConfig>>, LinkError> {
    files
        .map(|(certificate, key)| gtrace_link::server_tls(certificate, key))
        .transpose()
}
