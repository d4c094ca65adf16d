use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

/// One opening of a store by its writer: a ULID, so it is unique over hosts, stores and boots.
///
/// Whatever makes a store give a number twice (a power cut that takes the newest records, a backup
/// that is put back, a store that is replaced) needs a new writer, and so a new epoch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(Ulid);

impl Epoch {
    /// A new epoch.
    pub fn generate() -> Self {
        Self(Ulid::generate())
    }

    /// Its 16 bytes, big-endian, for formats that are not text.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_bytes()
    }

    /// The epoch that [`Self::to_bytes`] gave; any 16 bytes are one.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Ulid::from_bytes(bytes))
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Epoch {
    type Err = RecordIdError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Ulid::from_string(s)
            .map(Self)
            .map_err(|_| RecordIdError(s.to_owned()))
    }
}

/// Identifies a record for ever: no two records of any store have the same one.
///
/// Written `EPOCH-SEQ`, as in `01KJSZ3M7B0000000000ABCDEF-4711`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RecordId {
    /// The epoch that appended it.
    pub epoch: Epoch,
    /// Its number in the store, rising by one.
    pub seq: u64,
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.epoch, self.seq)
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no record id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no record id: an id is EPOCH-SEQ, as the stream's `id:` gives it")]
pub struct RecordIdError(pub String);

impl FromStr for RecordId {
    type Err = RecordIdError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let parts = s.split_once('-').and_then(|(epoch, seq)| {
            let epoch = epoch.parse().ok()?;
            // `u64` reads a leading sign.
            let digits = seq.bytes().all(|b| b.is_ascii_digit());
            let seq = seq.parse().ok().filter(|_| digits)?;
            Some(Self { epoch, seq })
        });
        parts.ok_or_else(|| RecordIdError(s.to_owned()))
    }
}

text_in_json!(
    RecordId,
    "EPOCH-SEQ: the store's epoch (a ULID) and the record's number in it",
    "^[0-7][0-9A-HJKMNP-TV-Z]{25}-[0-9]+$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_nothing_else_does() {
        let id = RecordId {
            epoch: Epoch::generate(),
            seq: 4711,
        };
        assert_eq!(id.to_string().parse::<RecordId>().unwrap(), id);
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<RecordId>(&json).unwrap(), id);
        let epoch = id.epoch;
        for bad in [
            "",
            "4711",
            "x-1",
            &format!("{epoch}-"),
            &format!("{epoch}-+1"),
        ] {
            assert!(bad.parse::<RecordId>().is_err(), "{bad}");
        }
    }
}
