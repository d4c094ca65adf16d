//! Settings of TLS: who is trusted, and who the server is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{
    AlertDescription, CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct,
    Error, RootCertStore, ServerConfig, SignatureScheme, SupportedCipherSuite,
};

use crate::link::LinkError;

/// Says on both sides that it is this protocol which TLS carries (RFC 7301).
pub const ALPN: &[u8] = b"gtrace/1";

/// What a client needs for TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsClient {
    /// PEM file with the certificates of authorities that are trusted, or with the server's own
    /// certificate, which then is trusted as it is, whatever its names and dates.
    pub ca: PathBuf,
    /// Name that the server's certificate must have; none for the host of the address.
    pub name: Option<String>,
    /// PEM files of the client's own certificate, with those between it and its authority, and of its private key.
    pub own: Option<(PathBuf, PathBuf)>,
}

impl TlsClient {
    /// Of a client without a certificate of its own.
    pub const fn new(ca: PathBuf, name: Option<String>) -> Self {
        let own = None;
        Self { ca, name, own }
    }
}

fn usage(path: &Path, cause: impl std::fmt::Display) -> LinkError {
    LinkError::Usage(format!("{}: {cause}", path.display()))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, LinkError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|e| usage(path, format_args!("cannot read certificates: {e}")))?;
    if certificates.is_empty() {
        return Err(usage(
            path,
            "there is no certificate in it; it must be PEM, beginning with -----BEGIN CERTIFICATE",
        ));
    }
    Ok(certificates)
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, LinkError> {
    PrivateKeyDer::from_pem_file(path)
        .map_err(|e| usage(path, format_args!("cannot read a private key: {e}")))
}

/// The server's side, from a PEM file with its certificate (and those between it and its authority)
/// and one with its private key.
///
/// # Errors
///
/// [`LinkError::Usage`] with the file and the cause.
pub fn server_tls(certificate: &Path, key: &Path) -> Result<Arc<ServerConfig>, LinkError> {
    let chain = certificates(certificate)?;
    let secret = private_key(key)?;
    let mut config = ServerConfig::builder_with_provider(server_provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(|e| usage(certificate, e))?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|e| {
            usage(
                certificate,
                format_args!("cannot be used with the key {}: {e}", key.display()),
            )
        })?;
    config.alpn_protocols = vec![ALPN.to_vec()];
    // Sessions have secrets of their own; tickets would only be more to send.
    config.send_tls13_tickets = 0;
    Ok(Arc::new(config))
}

/// A client's connection to `host`.
pub(crate) fn client_tls(tls: &TlsClient, host: &str) -> Result<ClientConnection, LinkError> {
    let trusted = certificates(&tls.ca)?;
    let name = tls.name.as_deref().unwrap_or(host);
    let server = ServerName::try_from(name.to_owned()).map_err(|_| {
        LinkError::Usage(format!(
            "`{name}` cannot be the name of a certificate; give the right one with --tls-name"
        ))
    })?;
    let builder = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .map_err(|e| usage(&tls.ca, e))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Trust::new(trusted)?));
    let mut config = match &tls.own {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate)?;
            builder
                .with_client_auth_cert(chain, private_key(key)?)
                .map_err(|e| {
                    usage(
                        certificate,
                        format_args!("cannot be used with the key {}: {e}", key.display()),
                    )
                })?
        }
    };
    config.alpn_protocols = vec![ALPN.to_vec()];
    ClientConnection::new(Arc::new(config), server).map_err(|e| usage(&tls.ca, e))
}

pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// What a server encrypts by: suites with keys of 256 bits, as its connections are given to the processes that serve
/// them ([`TlsSecrets`](crate::TlsSecrets)), and only such keys can be given back to rustls there.
pub fn server_provider() -> Arc<CryptoProvider> {
    let mut provider = ring::default_provider();
    let is_taken = |suite: &SupportedCipherSuite| {
        let suite = suite.tls13();
        suite.is_some_and(|suite| suite.aead_alg.key_len() == 32)
    };
    provider.cipher_suites.retain(is_taken);
    Arc::new(provider)
}

/// Trusts the certificates of a file: as authorities, or as the server's own.
#[derive(Debug)]
struct Trust {
    certificates: Vec<CertificateDer<'static>>,
    /// None if the file has nothing that could be an authority.
    authorities: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl Trust {
    fn new(certificates: Vec<CertificateDer<'static>>) -> Result<Self, LinkError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates.iter().cloned());
        let provider = provider();
        let authorities =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider))
                .build()
                .ok();
        Ok(Self {
            certificates,
            authorities,
            provider,
        })
    }
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.certificates.iter().any(|pinned| pinned == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        match &self.authorities {
            Some(authorities) => authorities.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            ),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not spoken here".into()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

/// Cause and remedy of what TLS found, for a user of the client.
pub(crate) fn explain_to_client(error: &Error, tls: &TlsClient, host: &str) -> String {
    let ca = tls.ca.display();
    let name = tls.name.as_deref().unwrap_or(host);
    match error {
        Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => format!(
            "the server's certificate is neither in {ca} nor signed by one of those; give --tls-ca \
             the server's certificate or that of its authority"
        ),
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => format!(
            "the server's certificate is not for `{name}`; if another name is right, give it with \
             --tls-name"
        ),
        Error::InvalidCertificate(
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. },
        ) => format!("{error}; renew the server's certificate, or set the clocks"),
        Error::InvalidMessage(_) => {
            "what answers does not speak TLS; is it `gtrace serve` with --tls-cert?".into()
        }
        _ => format!("{error}"),
    }
}

/// Cause of what TLS found, for the log of the server.
pub(super) fn explain_to_server(error: &Error) -> String {
    match error {
        Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateExpired,
        ) => format!("the client does not trust this server's certificate ({error})"),
        _ => error.to_string(),
    }
}
