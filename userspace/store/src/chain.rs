use std::fmt;

use sha2::{Digest, Sha256};

/// SHA-256 of a record and of everything before it.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Used in place of a hash before the first record.
    pub const GENESIS: Self = Self([0; 32]);

    /// The hash of the record `seq` whose JSON is `body`, after a record with hash `self`:
    /// SHA-256(`self` || `seq` as 8 bytes, big-endian || `body`).
    #[must_use]
    pub fn link(self, seq: u64, body: &[u8]) -> Self {
        let mut sha = Sha256::new();
        sha.update(self.0);
        sha.update(seq.to_be_bytes());
        sha.update(body);
        Self(sha.finalize().into())
    }

    /// The hash that [`fmt::Display`] writes; `None` for any other text.
    pub fn from_hex(hex: &str) -> Option<Self> {
        let (pairs, rest) = hex.as_bytes().as_chunks::<2>();
        let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Vec<u8> = pairs.iter().map(byte).collect::<Option<_>>()?;
        Self::from_slice(&bytes).filter(|_| rest.is_empty())
    }

    pub(crate) fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_is_sha256_of_previous_hash_seq_and_body() {
        // python3: hashlib.sha256(bytes(32) + (1).to_bytes(8, "big") + b"{}").hexdigest()
        assert_eq!(
            Hash::GENESIS.link(1, b"{}").to_string(),
            "1bad765d926feacace97a8ddcd329a1f4254c208affc1ba86b3c7d59e8fba83e"
        );
    }

    #[test]
    fn a_hash_reads_back_from_its_text_and_nothing_else_does() {
        let hash = Hash::GENESIS.link(1, b"{}");
        let text = hash.to_string();
        assert_eq!(Hash::from_hex(&text), Some(hash));
        for bad in ["", &text[1..], &text.replace('1', "g"), &format!("{text}0")] {
            assert_eq!(Hash::from_hex(bad), None, "{bad}");
        }
    }
}
