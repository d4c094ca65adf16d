//! Secrets that a head draws: join tokens and credentials. Only their digests are kept.

use std::fmt::Write as _;

const TOKEN: &str = "gtj_";

/// 32 random bytes, as hex.
pub(crate) fn draw() -> Result<String, String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|e| format!("no random numbers: {e}"))?;
    let mut text = String::with_capacity(64);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// A new join token.
///
/// # Errors
/// Why there are no random numbers.
pub(crate) fn join_token() -> Result<String, String> {
    Ok(format!("{TOKEN}{}", draw()?))
}
