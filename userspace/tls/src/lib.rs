//! Who may use a listener that other hosts reach.
//!
//! A [`Guard`] holds the server's certificate and the file of credentials, and reads both again when they change; a bad
//! file changes nothing and is reported. [`Credentials`] says who a bearer token or a client certificate is, and its
//! [`Role`]. [`client_config`] is the other end. [`RateLimiter`] bounds how often somebody may ask. [`is_loopback`] knows the names of
//! this host.
//!
//! TLS 1.3 only. Nothing here opens a socket.

#![forbid(unsafe_code)]

mod client;
mod credentials;
mod edit;
mod guard;
mod pem;
mod rate;
pub mod refusal;
mod server;
mod size;
mod subject;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};

pub use client::{ClientFiles, bearer_token, client_config, secret_text, system_authorities};
pub use credentials::{
    Credential, Credentials, Denied, GpuShare, Kind, Role, TokenEntry, check_name,
};
pub use edit::{NewToken, Secret, list_tokens, new_token, revoke_token};
pub use guard::{Access, AccessFiles, Guard, Reload, ServeAccess, ServeFiles};
pub use rate::RateLimiter;
pub use size::parse_size;
pub use subject::{expiry, fingerprint, subject};

/// Where the credentials are unless the configuration names another file.
pub const DEFAULT_CREDENTIALS: &str = "/etc/gtrace/credentials.toml";

fn remedy(cause: &std::io::Error) -> &'static str {
    match cause.kind() {
        std::io::ErrorKind::PermissionDenied => "; run as root",
        _ => "",
    }
}

/// Why a file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("{}: cannot be read: {cause}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// It cannot be written.
    #[error("{}: cannot be written: {cause}{}", .path.display(), remedy(.cause))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
    /// It says something that cannot be used.
    #[error("{}: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What, and what would be right.
        reason: String,
    },
}

/// Whether a Host header names this host: web pages can point a name of theirs at 127.0.0.1 (DNS rebinding).
pub fn is_loopback_host(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    is_loopback(&name.to_ascii_lowercase())
}

/// Whether a name, or an address without brackets, is this host's own.
pub fn is_loopback(name: &str) -> bool {
    let address = name.parse::<IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}
