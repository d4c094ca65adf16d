//! What the agent of a host shows a head.

const PREFIX: &str = "gta_";

/// The credential of the host with this number.
pub fn credential_text(host: i64, secret: &str) -> String {
    format!("{PREFIX}{host}_{secret}")
}

/// Whose credential it is, and its secret, if it is one.
pub fn credential_parts(credential: &str) -> Option<(i64, &str)> {
    let (host, secret) = credential.strip_prefix(PREFIX)?.split_once('_')?;
    let fine = secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit());
    Some((host.parse().ok().filter(|_| fine)?, secret))
}
