//! A batch on the wire: zstd of a binary layout, numbers little-endian.
//!
//! ```text
//! "GTB1"                          magic and version
//! u8                              1 where a position follows, else 0
//! [16] u64 [32]                   epoch, number and hash of the record that the batch goes on from
//! u64                             number of the newest record of the host's store
//! u8, [16] each                   epochs that records name
//! u32                             records, each:
//!   u8 u8 u64                     index of its epoch, flags, number
//!   [32]                          flag 1: hash that the chain goes on from; else it is that of the record before
//!   u32 bytes                     body: JSON as the store has it
//! ```

use std::io::Read as _;

use gtrace_event::Epoch;
use gtrace_store::Hash;

use crate::Position;

/// Most bytes of a batch on the wire.
pub const COMPRESSED_MAX: usize = 2 << 20;
/// Most bytes of a batch before compression.
pub const PLAIN_MAX: usize = 8 << 20;
/// Most records of a batch.
pub const RECORDS_MAX: usize = 4096;

const MAGIC: &[u8; 4] = b"GTB1";
const HAS_BEFORE: u8 = 1;
/// Level 1 takes a third of the time of the default, for a few percent of size.
const LEVEL: i32 = 1;
/// A frame that asks for a larger window is refused: memory is bounded by it. 2^23 is 8 MiB.
const WINDOW_LOG_MAX: u32 = 23;

/// Records of a host in the order of its store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Batch {
    /// The record that these follow; `None` for the beginning of a store.
    pub after: Option<Position>,
    /// Number of the newest record of the host's store.
    pub tip: u64,
    /// By rising number.
    pub records: Vec<Carried>,
}

/// A record on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    /// Epoch of the store's writer.
    pub epoch: Epoch,
    /// Number in the store.
    pub seq: u64,
    /// The hash that the chain goes on from.
    pub before: Hash,
    /// Its JSON, as it was hashed.
    pub body: String,
    /// Its own hash, which follows from the others.
    pub hash: Hash,
}

impl Carried {
    /// A record, whose hash is computed.
    pub fn new(epoch: Epoch, seq: u64, before: Hash, body: String) -> Self {
        let hash = before.link(seq, body.as_bytes());
        Self {
            epoch,
            seq,
            before,
            body,
            hash,
        }
    }

    /// Its identity and hash.
    pub fn position(&self) -> Position {
        Position::new(self.epoch, self.seq, self.hash)
    }

    /// Bytes that it takes before compression, at most.
    pub fn size(&self) -> usize {
        self.body.len() + 64
    }
}

/// Why bytes are no batch.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The frame is damaged, or decompresses to more than [`PLAIN_MAX`].
    #[error("not a zstd frame of at most {PLAIN_MAX} bytes: {0}")]
    Compression(String),
    /// It begins with other bytes.
    #[error("not a batch of version 1: agent and head are of versions that do not fit together")]
    Version,
    /// It ends too early, or goes on behind its end.
    #[error("{0} is cut off or has a value out of range")]
    Malformed(&'static str),
    /// Numbers do not rise.
    #[error("record {0} does not come after the one before it")]
    Order(u64),
    /// It is larger than allowed.
    #[error("{what}: {found}, the most is {most}")]
    TooLarge {
        /// What of it.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much may be.
        most: usize,
    },
}

/// Writes a batch.
///
/// # Errors
/// [`BatchError::TooLarge`]; [`BatchError::Compression`] where zstd fails.
pub fn encode(batch: &Batch) -> Result<Vec<u8>, BatchError> {
    let bound = |what, found, most| match found > most {
        true => Err(BatchError::TooLarge { what, found, most }),
        false => Ok(()),
    };
    bound("records", batch.records.len(), RECORDS_MAX)?;
    let mut epochs: Vec<Epoch> = Vec::new();
    for record in &batch.records {
        if epochs.last() != Some(&record.epoch) {
            epochs.push(record.epoch);
        }
    }
    bound("epochs", epochs.len(), usize::from(u8::MAX))?;
    let size: usize = batch.records.iter().map(Carried::size).sum();
    let mut out = Vec::with_capacity(size + 128 + epochs.len() * 16);
    out.extend_from_slice(MAGIC);
    out.push(u8::from(batch.after.is_some()));
    if let Some(after) = &batch.after {
        out.extend_from_slice(&after.id.epoch.to_bytes());
        out.extend_from_slice(&after.id.seq.to_le_bytes());
        out.extend_from_slice(&after.hash.0);
    }
    out.extend_from_slice(&batch.tip.to_le_bytes());
    // Both are bounded above.
    out.push(epochs.len() as u8);
    for epoch in &epochs {
        out.extend_from_slice(&epoch.to_bytes());
    }
    out.extend_from_slice(&(batch.records.len() as u32).to_le_bytes());
    let mut index = 0;
    let mut expected = batch.after.map(|after| after.hash);
    for record in &batch.records {
        if epochs[index] != record.epoch {
            index += 1;
        }
        let given = expected != Some(record.before);
        out.push(index as u8);
        out.push(if given { HAS_BEFORE } else { 0 });
        out.extend_from_slice(&record.seq.to_le_bytes());
        if given {
            out.extend_from_slice(&record.before.0);
        }
        let length = u32::try_from(record.body.len()).unwrap_or(u32::MAX);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(record.body.as_bytes());
        expected = Some(record.hash);
    }
    bound("bytes before compression", out.len(), PLAIN_MAX)?;
    let packed =
        zstd::bulk::compress(&out, LEVEL).map_err(|e| BatchError::Compression(e.to_string()))?;
    bound("bytes", packed.len(), COMPRESSED_MAX)?;
    Ok(packed)
}

/// Reads a batch, with the hash of each record computed.
///
/// # Errors
/// Any [`BatchError`]; memory is bounded by [`PLAIN_MAX`] twice over.
pub fn decode(bytes: &[u8]) -> Result<Batch, BatchError> {
    if bytes.len() > COMPRESSED_MAX {
        return Err(BatchError::TooLarge {
            what: "bytes",
            found: bytes.len(),
            most: COMPRESSED_MAX,
        });
    }
    let plain = unpack(bytes).map_err(|e| BatchError::Compression(e.to_string()))?;
    if plain.len() > PLAIN_MAX {
        return Err(BatchError::Compression("it is larger".to_owned()));
    }
    let mut input = Input(&plain);
    if input.take(4) != Some(MAGIC) {
        return Err(BatchError::Version);
    }
    let after = match input.u8() {
        Some(0) => None,
        Some(1) => Some(input.position().ok_or(BatchError::Malformed("position"))?),
        _ => return Err(BatchError::Malformed("position")),
    };
    let tip = input.u64().ok_or(BatchError::Malformed("tip"))?;
    let epochs = input.u8().ok_or(BatchError::Malformed("epochs"))?;
    let epochs: Vec<Epoch> = (0..epochs)
        .map(|_| input.epoch())
        .collect::<Option<_>>()
        .ok_or(BatchError::Malformed("epochs"))?;
    let count = input.u32().ok_or(BatchError::Malformed("count"))? as usize;
    if count > RECORDS_MAX {
        return Err(BatchError::TooLarge {
            what: "records",
            found: count,
            most: RECORDS_MAX,
        });
    }
    let mut records: Vec<Carried> = Vec::with_capacity(count);
    let mut expected = after.map(|after| after.hash);
    for _ in 0..count {
        let record = input
            .record(&epochs, expected)
            .ok_or(BatchError::Malformed("record"))?;
        if records.last().is_some_and(|last| last.seq >= record.seq) || record.seq == 0 {
            return Err(BatchError::Order(record.seq));
        }
        expected = Some(record.hash);
        records.push(record);
    }
    match input.0.is_empty() {
        true => Ok(Batch {
            after,
            tip,
            records,
        }),
        false => Err(BatchError::Malformed("end")),
    }
}

fn unpack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(bytes)?.single_frame();
    decoder.window_log_max(WINDOW_LOG_MAX)?;
    let mut plain = Vec::new();
    decoder.take(PLAIN_MAX as u64 + 1).read_to_end(&mut plain)?;
    Ok(plain)
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// SQLite and PostgreSQL have signed numbers.
    fn u64(&mut self) -> Option<u64> {
        let number = self.array().map(u64::from_le_bytes)?;
        (number <= i64::MAX as u64).then_some(number)
    }

    fn epoch(&mut self) -> Option<Epoch> {
        self.array().map(Epoch::from_bytes)
    }

    fn position(&mut self) -> Option<Position> {
        let (epoch, seq) = (self.epoch()?, self.u64()?);
        Some(Position::new(epoch, seq, Hash(self.array()?)))
    }

    fn record(&mut self, epochs: &[Epoch], expected: Option<Hash>) -> Option<Carried> {
        let epoch = *epochs.get(usize::from(self.u8()?))?;
        let flags = self.u8()?;
        let seq = self.u64()?;
        let before = match flags {
            0 => expected?,
            HAS_BEFORE => Hash(self.array()?),
            _ => return None,
        };
        let length = self.u32()? as usize;
        let body = std::str::from_utf8(self.take(length)?).ok()?.to_owned();
        // PostgreSQL's text has no NUL, and JSON has none either.
        (!body.contains('\0')).then(|| Carried::new(epoch, seq, before, body))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn batch(first: u64, bodies: Vec<String>, begins: bool, restart: usize) -> Batch {
        let epochs = [1, 2].map(|n| Epoch::from_bytes([n; 16]));
        let after =
            (!begins).then(|| Position::new(epochs[0], first, Hash::GENESIS.link(first, b"x")));
        let mut before = after.map_or(Hash::GENESIS, |after| after.hash);
        let mut records = Vec::new();
        for (n, body) in bodies.into_iter().enumerate() {
            let epoch = epochs[usize::from(n >= restart)];
            let seq = first + 1 + n as u64 * if n > 3 { 2 } else { 1 };
            let record = Carried::new(epoch, seq, before, body);
            before = record.hash;
            records.push(record);
        }
        Batch {
            after,
            tip: first + 4711,
            records,
        }
    }

    proptest! {
        #[test]
        fn a_batch_reads_back_whole(
            first in 0..1_u64 << 40,
            bodies in prop::collection::vec("[^\0]{0,60}", 0..40),
            begins: bool,
            restart in 0..40_usize,
        ) {
            let batch = batch(first, bodies, begins, restart);
            prop_assert_eq!(decode(&encode(&batch).unwrap()).unwrap(), batch);
        }

        #[test]
        fn changed_bytes_are_refused_or_change_a_hash(
            bodies in prop::collection::vec("[a-z]{0,60}", 1..10),
            at: prop::sample::Index,
            to: u8,
        ) {
            let good = batch(7, bodies, false, 5);
            let mut plain = unpack(&encode(&good).unwrap()).unwrap();
            let at = at.index(plain.len());
            prop_assume!(plain[at] != to);
            plain[at] = to;
            if let Ok(read) = decode(&zstd::bulk::compress(&plain, 1).unwrap()) {
                prop_assert_ne!(read, good);
            }
        }

        #[test]
        fn any_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode(&bytes);
            let mut plain = MAGIC.to_vec();
            plain.extend(bytes);
            let _ = decode(&zstd::bulk::compress(&plain, 1).unwrap());
        }
    }

    #[test]
    fn what_grows_beyond_the_bound_is_refused() {
        let bomb = zstd::bulk::compress(&vec![0; PLAIN_MAX * 4], 1).unwrap();
        assert!(bomb.len() < 4096);
        assert!(matches!(decode(&bomb), Err(BatchError::Compression(_))));
        let large = batch(1, vec!["x".repeat(PLAIN_MAX)], true, 9);
        assert!(matches!(encode(&large), Err(BatchError::TooLarge { .. })));
    }
}
