//! Who wrote a message: others who use the same NATS servers can neither write in a host's name nor in a head's.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

/// What a host and the heads share: the SHA-256 of the secret of its credential, which is all that a head keeps of it.
#[derive(Clone)]
pub struct Key([u8; 32]);

/// HMAC-SHA-256 of a message's parts, each with its length before it; 64 hex digits as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(pub [u8; 32]);

impl Key {
    /// The key of a host with this secret.
    pub fn of_secret(secret: &str) -> Self {
        Self(Sha256::digest(secret.as_bytes()).into())
    }

    /// The same as a head has it.
    pub fn of_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    fn mac(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        // A key shorter than a block is filled up with zeros (RFC 2104).
        let mut key = [0; 64];
        key[..32].copy_from_slice(&self.0);
        let mut mac = Hmac::<Sha256>::new(&key.into());
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        mac
    }

    /// Signs a message. The first part says what it is.
    pub fn sign(&self, parts: &[&[u8]]) -> Signature {
        Signature(self.mac(parts).finalize().into_bytes().into())
    }

    /// Whether it is the signature of these parts. The comparison's time says nothing of the right one.
    pub fn verifies(&self, signature: &Signature, parts: &[&[u8]]) -> bool {
        self.mac(parts).verify_slice(&signature.0).is_ok()
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A text that is no signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a signature has 64 hex digits")]
pub struct SignatureError;

impl FromStr for Signature {
    type Err = SignatureError;

    fn from_str(text: &str) -> Result<Self, SignatureError> {
        // `from_str_radix` reads a sign.
        if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(SignatureError);
        }
        let mut bytes = [0; 32];
        for (n, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * n..2 * n + 2).ok_or(SignatureError)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| SignatureError)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_its_parts_and_of_its_key_alone() {
        let key = Key::of_secret("abc");
        let signature = key.sign(&[b"records", b"gtrace.a.b.records", b"body"]);
        assert_eq!(signature.to_string().parse(), Ok(signature));
        assert!(key.verifies(&signature, &[b"records", b"gtrace.a.b.records", b"body"]));
        assert!(!key.verifies(&signature, &[b"records", b"gtrace.a.b.recordsb", b"ody"]));
        assert!(!key.verifies(&signature, &[b"records", b"gtrace.a.c.records", b"body"]));
        assert!(
            !Key::of_secret("abd")
                .verifies(&signature, &[b"records", b"gtrace.a.b.records", b"body"])
        );
        assert!("+".repeat(64).parse::<Signature>().is_err());
        assert!("é".repeat(32).parse::<Signature>().is_err());
    }
}
