//! The first bytes of a connection, in clear: what a server greets with, and what a client answers.

use thiserror::Error;

/// First bytes of a preamble.
pub const MAGIC: [u8; 8] = *b"GTRACE\0\x02";
/// First bytes of a greeting.
pub const GREETING_MAGIC: [u8; 8] = *b"GTRACE\0S";
/// Bytes of a greeting.
pub const GREETING_LEN: usize = 48;
/// Bytes of a preamble.
pub const PREAMBLE_LEN: usize = 48;
/// Bytes of a preamble before its tag.
const PREAMBLE_HEAD: usize = 16;
/// Oldest version of the protocol that is spoken here.
pub const VERSION_MIN: u16 = 2;
/// Newest version of the protocol that is spoken here.
pub const VERSION_MAX: u16 = 2;

/// The first bytes that a server sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Greeting {
    /// It speaks TLS.
    pub tls: bool,
    /// It wants a token of a new session.
    pub token: bool,
    /// It takes a certificate of the client in place of a token, in TLS.
    pub certificate: bool,
    /// Random.
    pub nonce: [u8; 32],
}

/// What both sides' first bytes are: a magic, versions, flags, and 32 bytes of their own.
struct First {
    versions: (u16, u16),
    flags: [bool; 3],
    own: [u8; 32],
}

impl First {
    fn to_bytes(&self, magic: [u8; 8]) -> [u8; PREAMBLE_LEN] {
        let bits = (0..).zip(self.flags);
        let flags: u32 = bits.map(|(bit, is_set)| u32::from(is_set) << bit).sum();
        let mut bytes = [0; PREAMBLE_LEN];
        bytes[..8].copy_from_slice(&magic);
        bytes[8..10].copy_from_slice(&self.versions.0.to_le_bytes());
        bytes[10..12].copy_from_slice(&self.versions.1.to_le_bytes());
        bytes[12..16].copy_from_slice(&flags.to_le_bytes());
        bytes[PREAMBLE_HEAD..].copy_from_slice(&self.own);
        bytes
    }

    /// Reads them, if they begin with `magic` and a version is spoken here.
    fn parse(
        bytes: &[u8; PREAMBLE_LEN],
        magic: [u8; 8],
        none_of_ours: fn([u8; 8]) -> PreambleError,
        not_spoken: fn(u16, u16) -> PreambleError,
    ) -> Result<Self, PreambleError> {
        let mut begin = [0; 8];
        begin.copy_from_slice(&bytes[..8]);
        if begin != magic {
            return Err(none_of_ours(begin));
        }
        let version = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let (min, max) = (version(8), version(10));
        if min > VERSION_MAX || max < VERSION_MIN || min > max {
            return Err(not_spoken(min, max));
        }
        let flags = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]);
        if flags >> 3 != 0 {
            return Err(PreambleError::Flags(flags));
        }
        let mut own = [0; 32];
        own.copy_from_slice(&bytes[PREAMBLE_HEAD..]);
        Ok(Self {
            versions: (min, max),
            flags: [1, 2, 4].map(|bit| flags & bit != 0),
            own,
        })
    }
}

impl Greeting {
    /// The bytes on the wire.
    pub fn to_bytes(&self) -> [u8; GREETING_LEN] {
        let first = First {
            versions: (VERSION_MIN, VERSION_MAX),
            flags: [self.tls, self.token, self.certificate],
            own: self.nonce,
        };
        first.to_bytes(GREETING_MAGIC)
    }

    /// Reads a greeting.
    ///
    /// # Errors
    ///
    /// [`PreambleError`]: the server is none of ours, or of another version.
    pub fn parse(bytes: &[u8; GREETING_LEN]) -> Result<Self, PreambleError> {
        let (server, version) = (PreambleError::Server, PreambleError::ServerVersion);
        let first = First::parse(bytes, GREETING_MAGIC, server, version)?;
        let [tls, token, certificate] = first.flags;
        Ok(Self {
            tls,
            token,
            certificate,
            nonce: first.own,
        })
    }
}

/// The first bytes of a client, in clear, so that its descriptor can be given to the process
/// that has the session before anything is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preamble {
    /// Oldest version that the client speaks.
    pub version_min: u16,
    /// Newest version that the client speaks.
    pub version_max: u16,
    /// TLS follows.
    pub tls: bool,
    /// The lane belongs to a session that there is.
    pub further: bool,
    /// The client of a new session shows a certificate in TLS, and no token.
    pub certificate: bool,
    /// HMAC-SHA-256 of [`tag_input`] under the secret; zeros where there is none.
    pub tag: [u8; 32],
}

/// Why a connection does not begin as one of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PreambleError {
    /// Something else than a client of gtrace.
    #[error("not a client of gtrace: the connection begins with {0:02x?}")]
    Magic([u8; 8]),
    /// No version in common.
    #[error(
        "the client speaks versions {0} to {1} of the protocol, this server {VERSION_MIN} to \
         {VERSION_MAX}; install the same gtrace on both"
    )]
    Version(u16, u16),
    /// Something else than a server of gtrace.
    #[error("no server of gtrace: it begins with {0:02x?}")]
    Server([u8; 8]),
    /// No version in common.
    #[error(
        "the server speaks versions {0} to {1} of the protocol, this client {VERSION_MIN} to \
         {VERSION_MAX}; install the same gtrace on both"
    )]
    ServerVersion(u16, u16),
    /// Bits that this version does not know.
    #[error("the first bytes have the unknown flags {0:#x}")]
    Flags(u32),
}

impl Preamble {
    /// Of a client that speaks the versions of this crate, without its tag.
    pub const fn new(tls: bool, further: bool) -> Self {
        Self {
            version_min: VERSION_MIN,
            version_max: VERSION_MAX,
            tls,
            further,
            certificate: false,
            tag: [0; 32],
        }
    }

    /// The bytes on the wire.
    pub fn to_bytes(&self) -> [u8; PREAMBLE_LEN] {
        let first = First {
            versions: (self.version_min, self.version_max),
            flags: [self.tls, self.further, self.certificate],
            own: self.tag,
        };
        first.to_bytes(MAGIC)
    }

    /// Reads a preamble.
    ///
    /// # Errors
    ///
    /// [`PreambleError`]: the connection is none of ours, or of another version.
    pub fn parse(bytes: &[u8; PREAMBLE_LEN]) -> Result<Self, PreambleError> {
        let first = First::parse(bytes, MAGIC, PreambleError::Magic, PreambleError::Version)?;
        let [tls, further, certificate] = first.flags;
        Ok(Self {
            version_min: first.versions.0,
            version_max: first.versions.1,
            tls,
            further,
            certificate,
            tag: first.own,
        })
    }

    /// The version that both speak.
    pub fn version(&self) -> u16 {
        self.version_max.min(VERSION_MAX)
    }
}

fn before_tag(preamble: &[u8; PREAMBLE_LEN]) -> &[u8] {
    &preamble[..PREAMBLE_HEAD]
}

/// What the tag of a preamble is made of, under the secret.
pub fn tag_input(greeting: &[u8; GREETING_LEN], preamble: &[u8; PREAMBLE_LEN]) -> Vec<u8> {
    [b"gtrace 2 preamble", &greeting[..], before_tag(preamble)].concat()
}

/// What the key of a connection is made of, under the secret.
pub fn key_input(greeting: &[u8; GREETING_LEN], preamble: &[u8; PREAMBLE_LEN]) -> Vec<u8> {
    [b"gtrace 2 key", &greeting[..], before_tag(preamble)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_preamble_comes_back_and_others_are_distinguished() {
        let mut preamble = Preamble::new(true, true);
        preamble.certificate = true;
        preamble.tag = [9; 32];
        assert_eq!(Preamble::parse(&preamble.to_bytes()), Ok(preamble));
        assert_eq!(preamble.version(), VERSION_MAX);
        let http = *b"GET / HTTP/1.1\r\nHost: example\r\nAccept: nothing\r\n";
        assert!(matches!(
            Preamble::parse(&http),
            Err(PreambleError::Magic(_))
        ));
        let mut newer = preamble;
        (newer.version_min, newer.version_max) = (7, 9);
        assert_eq!(
            Preamble::parse(&newer.to_bytes()),
            Err(PreambleError::Version(7, 9))
        );
        let greeting = Greeting {
            tls: true,
            token: false,
            certificate: true,
            nonce: [3; 32],
        };
        assert_eq!(Greeting::parse(&greeting.to_bytes()), Ok(greeting));
        assert!(matches!(
            Greeting::parse(&http),
            Err(PreambleError::Server(_))
        ));
        let mut newer = greeting.to_bytes();
        newer[8..12].copy_from_slice(&[7, 0, 9, 0]);
        assert_eq!(
            Greeting::parse(&newer),
            Err(PreambleError::ServerVersion(7, 9))
        );
    }

    #[test]
    fn tag_and_key_cover_all_that_comes_before_the_tag() {
        let (greeting, mut preamble) = ([1; GREETING_LEN], [2; PREAMBLE_LEN]);
        let tag = tag_input(&greeting, &preamble);
        assert_ne!(tag, key_input(&greeting, &preamble));
        preamble[PREAMBLE_LEN - 1] = 0;
        assert_eq!(
            tag,
            tag_input(&greeting, &preamble),
            "it does not cover itself"
        );
        preamble[12] = 0;
        assert_ne!(tag, tag_input(&greeting, &preamble));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 48..60)) {
            if let Some(preamble) = bytes.first_chunk() {
                let _ = Preamble::parse(preamble);
            }
            if let Some(greeting) = bytes.first_chunk() {
                let _ = Greeting::parse(greeting);
            }
        }
    }
}
