//! What requests to services of the site have in common: their client, its bounds, bearer tokens and CA certificates.
#![forbid(unsafe_code)]

use std::fmt;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ureq::http::Response;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// Bytes of an answer that say why something was refused.
const BEGINNING: u64 = 300;

/// The bearer token in the file that the configuration's `key` names.
///
/// # Errors
/// Why it cannot be had, and what to correct.
pub fn token(path: &Path, key: &str) -> Result<String, String> {
    let token = std::fs::read_to_string(path).map_err(|error| {
        format!(
            "the token file {} cannot be read: {error}; correct {key}",
            path.display()
        )
    })?;
    let token = token.trim();
    match token.is_empty() || token.contains(|c: char| !c.is_ascii_graphic()) {
        false => Ok(token.to_owned()),
        true => Err(format!(
            "the token file {} has no token: it must be one line of printable ASCII",
            path.display()
        )),
    }
}

/// The certificates that a server over https must have one of: those of `file`, which the configuration's `key` names, or the system's.
///
/// # Errors
/// Why there are none, and what to correct.
pub fn certificates(file: Option<&Path>, key: &str) -> Result<Vec<Certificate<'static>>, String> {
    let path = file.or(gtrace_tls::system_authorities());
    let path = path.ok_or_else(|| {
        format!("this host has no CA certificates: install ca-certificates or set {key}")
    })?;
    let refuse = |cause: &dyn fmt::Display| {
        format!(
            "the CA certificates {} cannot be used: {cause}; set {key} to a PEM file",
            path.display()
        )
    };
    let text = std::fs::read(path).map_err(|error| refuse(&error))?;
    let items: Result<Vec<_>, _> = ureq::tls::parse_pem(&text).collect();
    let certificates = items.map_err(|error| refuse(&error))?.into_iter();
    let certificates: Vec<_> = certificates
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    match certificates.is_empty() {
        true => Err(refuse(&"it has no certificate")),
        false => Ok(certificates),
    }
}

/// A client of a service, whose certificate, if it `is_https`, has to be one of [`certificates`]. Its requests take `timeout` at most.
///
/// # Errors
/// Those of [`certificates`].
pub fn client(
    is_https: bool,
    ca: Option<&Path>,
    key: &str,
    timeout: Duration,
) -> Result<Agent, String> {
    let certificates = match is_https {
        true => certificates(ca, key)?,
        false => Vec::new(),
    };
    Ok(agent(&certificates, timeout))
}

/// The beginning of an answer, in one line: of a long one it says why.
pub fn beginning(answer: &mut Response<Body>) -> String {
    let mut text = Vec::new();
    let body = answer.body_mut().as_reader();
    let _ = body.take(BEGINNING).read_to_end(&mut text);
    let text = String::from_utf8_lossy(&text);
    text.trim().replace(char::is_control, " ")
}

/// A client whose requests take `timeout` at most, with connection and answer.
pub fn agent(certificates: &[Certificate<'static>], timeout: Duration) -> Agent {
    let mut tls = TlsConfig::builder()
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()));
    if !certificates.is_empty() {
        tls = tls.root_certs(RootCerts::new_with_certs(certificates));
    }
    let config = Agent::config_builder()
        .timeout_global(Some(timeout))
        .http_status_as_error(false)
        // A proxy of the environment is for programs of users, and a redirect would get the token.
        .proxy(None)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(1)
        .user_agent(concat!("gtrace/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build())
        .build();
    config.into()
}
