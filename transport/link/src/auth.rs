//! Tokens, proofs and random numbers.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use gtrace_protocol::{Prover, SessionId, proof_input};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::link::LinkError;

/// Fewest bytes of a token.
const TOKEN_MIN: usize = 16;
/// Most bytes of a file with a token.
const TOKEN_MAX: u64 = 4096;

/// What both sides know and never send.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Vec<u8>);

impl Token {
    /// Of these bytes, without white space around them.
    ///
    /// # Errors
    ///
    /// [`LinkError::Usage`] if it has fewer than 16 bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, LinkError> {
        let bytes = bytes.trim_ascii();
        if bytes.len() < TOKEN_MIN {
            return Err(LinkError::Usage(format!(
                "a token needs at least {TOKEN_MIN} characters, this one has {}; make one with \
                 `head -c 32 /dev/urandom | base64`",
                bytes.len()
            )));
        }
        Ok(Self(bytes.to_vec()))
    }

    /// Read from a file.
    ///
    /// # Errors
    ///
    /// [`LinkError::Usage`] with the file's name.
    pub fn from_file(path: &Path) -> Result<Self, LinkError> {
        let usage = |cause: &dyn fmt::Display| {
            LinkError::Usage(format!("the token file {}: {cause}", path.display()))
        };
        let metadata = fs::metadata(path).map_err(|e| usage(&e))?;
        if metadata.len() > TOKEN_MAX {
            return Err(usage(&format_args!("larger than {TOKEN_MAX} bytes")));
        }
        let bytes = fs::read(path).map_err(|e| usage(&e))?;
        Self::new(&bytes).map_err(|e| usage(&e))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// What both sides sent before a proof.
#[derive(Clone, Copy)]
pub(crate) struct Transcript {
    pub(crate) session: SessionId,
    pub(crate) client_nonce: [u8; 32],
    pub(crate) server_nonce: [u8; 32],
}

impl Transcript {
    fn mac(&self, prover: Prover, secret: &[u8]) -> Hmac<Sha256> {
        let input = proof_input(prover, self.session, &self.client_nonce, &self.server_nonce);
        // As RFC 2104 says: keys above a block are hashed, the rest is zeros.
        let mut key = [0; 64];
        match key.get_mut(..secret.len()) {
            Some(start) => start.copy_from_slice(secret),
            None => key[..32].copy_from_slice(&Sha256::digest(secret)),
        }
        let mut mac = Hmac::<Sha256>::new(&key.into());
        mac.update(&input);
        mac
    }

    /// The proof of `prover`, who knows `secret`.
    pub(crate) fn prove(&self, prover: Prover, secret: &[u8]) -> [u8; 32] {
        self.mac(prover, secret).finalize().into_bytes().into()
    }

    /// Whether `proof` is that of `prover`; takes the same time for every wrong proof.
    pub(crate) fn proves(&self, prover: Prover, secret: &[u8], proof: &[u8; 32]) -> bool {
        self.mac(prover, secret).verify_slice(proof).is_ok()
    }
}

/// Fills `into` with random bytes of the system.
pub(crate) fn random(into: &mut [u8]) -> Result<(), LinkError> {
    getrandom::fill(into).map_err(|error| {
        LinkError::Io(
            "the system's random numbers".into(),
            io::Error::other(error),
        )
    })
}

/// Random bytes of the system.
pub(crate) fn random_array<const N: usize>() -> Result<[u8; N], LinkError> {
    let mut bytes = [0; N];
    random(&mut bytes)?;
    Ok(bytes)
}

/// Whether two secrets are the same; takes the same time for all that differ.
pub(crate) fn same(a: &[u8; 16], b: &[u8; 16]) -> bool {
    let differences = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(differences) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_one_who_knows_the_secret_can_prove_it() {
        let transcript = Transcript {
            session: SessionId::default(),
            client_nonce: [1; 32],
            server_nonce: [2; 32],
        };
        let proof = transcript.prove(Prover::Client, b"secret");
        assert!(transcript.proves(Prover::Client, b"secret", &proof));
        assert!(!transcript.proves(Prover::Server, b"secret", &proof));
        assert!(!transcript.proves(Prover::Client, b"Secret", &proof));
        let later = Transcript {
            server_nonce: [3; 32],
            ..transcript
        };
        assert!(!later.proves(Prover::Client, b"secret", &proof));
    }

    #[test]
    fn short_tokens_are_refused_and_none_is_shown() {
        let error = Token::new(b"  abc\n").unwrap_err().to_string();
        assert!(error.contains("16 characters, this one has 3"), "{error}");
        let token = Token::new(b"0123456789abcdef\n").unwrap();
        assert_eq!(token.as_bytes(), b"0123456789abcdef");
        assert!(!format!("{token:?}").contains("0123"));
    }
}
