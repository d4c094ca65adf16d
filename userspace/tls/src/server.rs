//! The server's side of TLS.

use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::version::TLS13;

use super::FileError;
use super::pem::Contents;

/// The files of a server, as they were read.
pub(super) struct ServerContents<'a> {
    pub(super) certificate: &'a Contents,
    pub(super) key: &'a Contents,
    pub(super) client_ca: Option<&'a Contents>,
    pub(super) client_crl: Option<&'a Contents>,
}

/// The configuration of a server. With `client_ca` clients may show a certificate, and one that is shown must be
/// signed by an authority of that file, be in its dates and not be in `client_crl`.
///
/// # Errors
///
/// [`FileError::Content`] with the file and the cause.
pub(super) fn config(
    files: &ServerContents<'_>,
    alpn: &[&[u8]],
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<ServerConfig>, FileError> {
    let chain = files.certificate.certificates()?;
    let key = files.key.key()?;
    let builder = ServerConfig::builder_with_provider(Arc::clone(provider))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| files.certificate.refused(error.to_string()))?;
    let builder = match files.client_ca {
        None => builder.with_no_client_auth(),
        Some(ca) => {
            let roots = ca.authorities()?;
            let mut verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
                    .allow_unauthenticated();
            if let Some(crl) = files.client_crl {
                verifier = verifier
                    .with_crls(crl.revocations()?)
                    // Authorities without a list revoke nothing.
                    .allow_unknown_revocation_status();
            }
            let of_crl = files.client_crl.unwrap_or(ca);
            let verifier = verifier
                .build()
                .map_err(|error| of_crl.refused(error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| {
        files.certificate.refused(format!(
            "cannot be used with the key {}: {error}",
            files.key.path.display()
        ))
    })?;
    config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
    // A resumed session would not check the client's certificate again.
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(NoServerSessionStorage {});
    Ok(Arc::new(config))
}
