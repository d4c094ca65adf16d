//! What requests to services of the site have in common: their client, its bounds, bearer tokens and CA certificates.
#![forbid(unsafe_code)]

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ureq::Agent;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};

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
