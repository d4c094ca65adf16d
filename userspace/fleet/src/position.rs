//! How far a host's records have come.

use std::fmt;
use std::str::FromStr;

use gtrace_event::{Epoch, RecordId};
use gtrace_store::Hash;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A record of a host, by its identity and by the hash of it and of everything before it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// Identity of the record.
    pub id: RecordId,
    /// Its hash in the chain of its store.
    pub hash: Hash,
}

impl Position {
    /// The record `seq` of `epoch` with this hash.
    pub fn new(epoch: Epoch, seq: u64, hash: Hash) -> Self {
        let id = RecordId { epoch, seq };
        Self { id, hash }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.id, self.hash)
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `EPOCH-SEQ:HASH`.
impl Serialize for Position {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = String::deserialize(d)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// A text that is no position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no position: it is EPOCH-SEQ:HASH")]
pub struct PositionError(pub String);

impl FromStr for Position {
    type Err = PositionError;

    fn from_str(text: &str) -> Result<Self, PositionError> {
        let parts = text.split_once(':');
        let read = parts
            .and_then(|(id, hash)| Some((id.parse::<RecordId>().ok()?, Hash::from_hex(hash)?)));
        let (id, hash) = read.ok_or_else(|| PositionError(text.to_owned()))?;
        Ok(Self { id, hash })
    }
}
