//! Detached signatures in OpenSSH's format (PROTOCOL.sshsig), which `ssh-keygen -Y verify` checks.

use ssh_key::{HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

/// Signatures are made for this use, so that none can stand for another document (`ssh-keygen -n`).
pub const NAMESPACE: &str = "gtrace-report";
/// Ending of the signature's file, as ssh-keygen names it.
pub const ENDING: &str = "sig";

/// A report could not be signed, or its signature is not valid.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// The key cannot be read.
    #[error("the key is no private key of OpenSSH: {0}")]
    Key(#[source] ssh_key::Error),
    /// The key has a passphrase.
    #[error(
        "the key has a passphrase, which gtrace does not ask for: sign with \
         `ssh-keygen -Y sign -n {NAMESPACE} -f KEY FILE`, which makes the same signature"
    )]
    Encrypted,
    /// The key is of another kind.
    #[error(
        "keys of kind {0} are not supported: use one of `ssh-keygen -t ed25519`, or sign with \
         `ssh-keygen -Y sign -n {NAMESPACE} -f KEY FILE`"
    )]
    Algorithm(String),
    /// Signing failed.
    #[error("the report could not be signed: {0}")]
    Sign(#[source] ssh_key::Error),
    /// The signature cannot be read.
    #[error("the signature is none of OpenSSH: {0}")]
    Signature(#[source] ssh_key::Error),
    /// The public key cannot be read.
    #[error("the public key is none of OpenSSH: {0}")]
    PublicKey(#[source] ssh_key::Error),
    /// It is not a signature of this file.
    #[error("the signature is not one of this file for `{NAMESPACE}`: {0}")]
    Invalid(#[source] ssh_key::Error),
    /// It is one by somebody else.
    #[error("the signature is by the key {found}, not by {wanted}")]
    OtherKey {
        /// Fingerprint of the key that signed.
        found: String,
        /// Fingerprint of the key that was asked for.
        wanted: String,
    },
}

/// Signs `bytes` with a private key in OpenSSH's format. The text is what belongs into `FILE.sig`.
pub fn sign(bytes: &[u8], key: &str) -> Result<String, SignError> {
    let key = PrivateKey::from_openssh(key).map_err(SignError::Key)?;
    if key.is_encrypted() {
        return Err(SignError::Encrypted);
    }
    if key.algorithm() != ssh_key::Algorithm::Ed25519 {
        return Err(SignError::Algorithm(key.algorithm().to_string()));
    }
    let signature =
        SshSig::sign(&key, NAMESPACE, HashAlg::Sha512, bytes).map_err(SignError::Sign)?;
    signature.to_pem(LineEnding::LF).map_err(SignError::Sign)
}

/// Checks a signature of `bytes` and gives the fingerprint of the key that made it. Whose key that is, only `wanted`
/// can say: a public key as in `id_ed25519.pub`.
pub fn check(bytes: &[u8], signature: &str, wanted: Option<&str>) -> Result<String, SignError> {
    let signature = SshSig::from_pem(signature).map_err(SignError::Signature)?;
    let key = PublicKey::from(signature.public_key().clone());
    if !key.algorithm().is_ed25519() {
        return Err(SignError::Algorithm(key.algorithm().to_string()));
    }
    key.verify(NAMESPACE, bytes, &signature)
        .map_err(SignError::Invalid)?;
    let found = key.fingerprint(HashAlg::Sha256).to_string();
    if let Some(wanted) = wanted {
        let wanted = PublicKey::from_openssh(wanted.trim()).map_err(SignError::PublicKey)?;
        if wanted.key_data() != key.key_data() {
            let wanted = wanted.fingerprint(HashAlg::Sha256).to_string();
            return Err(SignError::OtherKey { found, wanted });
        }
    }
    Ok(found)
}
