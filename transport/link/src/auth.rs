//! Tokens, proofs and random numbers.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use gtrace_protocol::{
    GREETING_LEN, Message, PREAMBLE_LEN, Preamble, Prover, key_input, proof_input, tag_input,
};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroize as _;

use crate::link::LinkError;
use crate::tcp::TlsSecrets;

/// Fewest bytes of a token.
const TOKEN_MIN: usize = 16;
/// Most bytes of a file with a token.
const TOKEN_MAX: u64 = 4096;

/// What both sides know and never send: the SHA-256 of a token's text, which is what files of tokens have.
#[derive(Clone, PartialEq, Eq)]
pub struct Token([u8; 32]);

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
        Ok(Self(Sha256::digest(bytes).into()))
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

    /// The secret.
    pub const fn secret(&self) -> &[u8; 32] {
        &self.0
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

fn mac(secret: &[u8], input: &[u8]) -> Hmac<Sha256> {
    // As RFC 2104 says: keys above a block are hashed, the rest is zeros.
    let mut key = [0; 64];
    match key.get_mut(..secret.len()) {
        Some(start) => start.copy_from_slice(secret),
        None => key[..32].copy_from_slice(&Sha256::digest(secret)),
    }
    let mut mac = Hmac::<Sha256>::new(&key.into());
    mac.update(input);
    mac
}

/// The first bytes of both sides, before anything is proved.
#[derive(Clone, Copy, Debug)]
pub struct Beginning {
    /// What the server has sent.
    pub greeting: [u8; GREETING_LEN],
    /// What the client has sent.
    pub preamble: [u8; PREAMBLE_LEN],
}

impl Beginning {
    /// What the tag of the preamble has to be.
    pub(crate) fn tag(&self, secret: &[u8]) -> [u8; 32] {
        let input = tag_input(&self.greeting, &self.preamble);
        mac(secret, &input).finalize().into_bytes().into()
    }

    /// The connection's own key.
    pub(crate) fn key(&self, secret: &[u8]) -> ConnectionKey {
        let input = key_input(&self.greeting, &self.preamble);
        ConnectionKey(mac(secret, &input).finalize().into_bytes().into())
    }

    /// The key of a connection whose client has shown a certificate, which TLS has verified: TLS knows no more than both of
    /// them, and the key is of these first bytes too.
    pub fn key_in_tls(&self, tls: &TlsSecrets) -> ConnectionKey {
        self.key(&tls.exporter)
    }

    /// The key of the connection, if the client has made its preamble for this greeting with `secret`. Takes the same
    /// time for all that it has not.
    pub fn key_of(&self, secret: &[u8]) -> Option<ConnectionKey> {
        let preamble = Preamble::parse(&self.preamble).ok()?;
        let input = tag_input(&self.greeting, &self.preamble);
        mac(secret, &input)
            .verify_slice(&preamble.tag)
            .is_ok()
            .then(|| self.key(secret))
    }
}

/// What both sides of one connection share, and nobody else. It says nothing about the secret that it was made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ConnectionKey(pub [u8; 32]);

impl fmt::Debug for ConnectionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectionKey(..)")
    }
}

/// What a proof covers besides greeting and preamble.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Transcript {
    /// Hash of HELLO.
    pub(crate) hello: [u8; 32],
    /// Hash of WELCOME without its proof.
    pub(crate) welcome: [u8; 32],
    /// What TLS exports.
    pub(crate) channel: [u8; 32],
}

/// Hash of a message.
pub(crate) fn hash(message: &impl Message) -> [u8; 32] {
    Sha256::digest(message.to_bytes()).into()
}

impl Transcript {
    fn mac(&self, prover: Prover, key: &ConnectionKey) -> Hmac<Sha256> {
        let input = proof_input(prover, &self.hello, &self.welcome, &self.channel);
        mac(&key.0, &input)
    }

    /// The proof of `prover`, who has `key`.
    pub(crate) fn prove(&self, prover: Prover, key: &ConnectionKey) -> [u8; 32] {
        self.mac(prover, key).finalize().into_bytes().into()
    }

    /// Whether `proof` is that of `prover`; takes the same time for every wrong proof.
    pub(crate) fn proves(&self, prover: Prover, key: &ConnectionKey, proof: &[u8; 32]) -> bool {
        self.mac(prover, key).verify_slice(proof).is_ok()
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

    fn beginning() -> Beginning {
        let mut beginning = Beginning {
            greeting: [1; GREETING_LEN],
            preamble: Preamble::new(true, false).to_bytes(),
        };
        let tag = beginning.tag(b"secret");
        beginning.preamble = Preamble {
            tag,
            ..Preamble::new(true, false)
        }
        .to_bytes();
        beginning
    }

    #[test]
    fn a_preamble_is_good_for_one_greeting_and_as_it_was_written() {
        let good = beginning();
        assert_eq!(good.key_of(b"secret"), Some(good.key(b"secret")));
        assert_eq!(good.key_of(b"Secret"), None);
        let mut replayed = good;
        replayed.greeting[47] ^= 1;
        assert_eq!(replayed.key_of(b"secret"), None);
        // Versions and flags: whoever turns TLS off changes the tag.
        for at in [8, 10, 12] {
            let mut changed = good;
            changed.preamble[at] ^= 1;
            assert_eq!(changed.key_of(b"secret"), None, "byte {at}");
        }
        assert_ne!(replayed.key(b"secret"), good.key(b"secret"));
    }

    #[test]
    fn only_the_one_who_knows_the_secret_can_prove_it() {
        let key = beginning().key(b"secret");
        let transcript = Transcript::default();
        let proof = transcript.prove(Prover::Client, &key);
        assert!(transcript.proves(Prover::Client, &key, &proof));
        assert!(!transcript.proves(Prover::Server, &key, &proof));
        assert!(!transcript.proves(Prover::Client, &beginning().key(b"Secret"), &proof));
        let one = [1; 32];
        for other in [
            Transcript {
                hello: one,
                ..transcript
            },
            Transcript {
                welcome: one,
                ..transcript
            },
            Transcript {
                channel: one,
                ..transcript
            },
        ] {
            assert!(!other.proves(Prover::Client, &key, &proof), "{other:?}");
        }
    }

    #[test]
    fn short_tokens_are_refused_and_none_is_shown() {
        let error = Token::new(b"  abc\n").unwrap_err().to_string();
        assert!(error.contains("16 characters, this one has 3"), "{error}");
        let token = Token::new(b"0123456789abcdef\n").unwrap();
        let hash: [u8; 32] = Sha256::digest(b"0123456789abcdef").into();
        assert_eq!(*token.secret(), hash);
        assert!(!format!("{token:?}").contains("0123"));
    }
}
