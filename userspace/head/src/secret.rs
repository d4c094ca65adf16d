//! Secrets that a head draws: join tokens and credentials. Only their digests are kept.

/// 32 random bytes, as hex.
pub(crate) fn draw() -> Result<String, String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| format!("no random numbers: {e}"))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
