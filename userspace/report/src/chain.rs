//! `chain.jsonl`: a segment of the store's hash chain, and the proof that it is whole.
//!
//! A line a record: `seq`, `body` (a string, as its bytes are what is hashed). The first line, and one after records that
//! retention removed, has `before`, the hash to go on from. Every [`CHECKPOINT`]th line, the last, and the last before removed
//! records have `hash`. Hashes do not compress, and those between follow from the bodies.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::material::{ChainRecord, ChainSegment};

/// So many records from one stated hash to the next.
const CHECKPOINT: usize = 1000;

#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize)]
struct Line<'a> {
    seq: u64,
    before: Option<String>,
    body: Cow<'a, str>,
    hash: Option<String>,
}

/// What a segment comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of the first record.
    pub first_seq: u64,
    /// Number of the last one.
    pub last_seq: u64,
    /// How many records.
    pub records: u64,
    /// The hash before the first record, hex.
    pub before: String,
    /// Hash of the last record, hex: that of the store's record `last_seq`.
    pub last: String,
}

/// A segment that does not hold together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ChainError {
    /// A line is none.
    #[error("line {line} is no record: {why}")]
    NotARecord {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// A hash is not that of the record and all before it.
    #[error("record {seq} or one before it was changed: its hash differs")]
    HashMismatch {
        /// The record.
        seq: u64,
    },
    /// The last records before removed ones, or of all, have no hash that proves them.
    #[error("records up to {seq} have no hash that proves them")]
    Unproven {
        /// The last of them.
        seq: u64,
    },
    /// Records are missing without the hash to go on from.
    #[error("records are missing before record {seq}")]
    Gap {
        /// The record after them.
        seq: u64,
    },
    /// There is no record.
    #[error("there is no record")]
    Empty,
}

/// The hash of a record, as docs/store.md defines it: SHA-256(`before` || `seq`, big-endian || `body`).
fn link(before: &[u8; 32], seq: u64, body: &str) -> [u8; 32] {
    let sha = Sha256::new()
        .chain_update(before)
        .chain_update(seq.to_be_bytes());
    sha.chain_update(body.as_bytes()).finalize().into()
}

pub(crate) fn hex(hash: &[u8]) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut hash = [0; 32];
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != hash.len() || !rest.is_empty() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(hash)
}

/// Whether nothing is missing between two records.
fn follows(before: &ChainRecord, record: &ChainRecord) -> bool {
    before.seq.checked_add(1) == Some(record.seq) && before.hash == record.before
}

/// The segment as lines; empty where it has no record.
pub(crate) fn write(segment: &ChainSegment) -> Vec<u8> {
    let mut out = Vec::new();
    let mut before: Option<&ChainRecord> = None;
    for (at, record) in segment.records.iter().enumerate() {
        let goes_on = before.is_some_and(|before| follows(before, record));
        let next = segment.records.get(at + 1);
        let ends = next.is_none_or(|next| !follows(record, next));
        let stated = at % CHECKPOINT == CHECKPOINT - 1 || ends;
        let line = Line {
            seq: record.seq,
            before: (!goes_on).then(|| hex(&record.before)),
            body: Cow::Borrowed(&record.body),
            hash: stated.then(|| hex(&record.hash)),
        };
        // A struct of texts and numbers has a form in JSON, and a Vec takes all bytes.
        let _ = serde_json::to_writer(&mut out, &line);
        out.push(b'\n');
        before = Some(record);
    }
    out
}

/// The ends of a segment, as the store has them.
pub(crate) fn summary(segment: &ChainSegment) -> Option<Summary> {
    let (first, last) = (segment.records.first()?, segment.records.last()?);
    Some(Summary {
        first_seq: first.seq,
        last_seq: last.seq,
        records: segment.records.len() as u64,
        before: hex(&first.before),
        last: hex(&last.hash),
    })
}

/// Recomputes every hash of `chain.jsonl`.
///
/// # Errors
///
/// [`ChainError`], of the first record that does not fit.
pub(crate) fn verify(lines: &[u8]) -> Result<Summary, ChainError> {
    let mut state: Option<(Summary, [u8; 32])> = None;
    let mut proven = false;
    let lines = lines.split(|b| *b == b'\n').filter(|line| !line.is_empty());
    for (at, line) in lines.enumerate() {
        let bad = |why: &str| ChainError::NotARecord {
            line: at + 1,
            why: why.to_owned(),
        };
        let line: Line = serde_json::from_slice(line).map_err(|error| bad(&error.to_string()))?;
        // The hash before this record, where the one before it is there.
        let known = state.as_ref().and_then(|(so_far, hash)| {
            (so_far.last_seq.checked_add(1) == Some(line.seq)).then_some(*hash)
        });
        let before = match (&line.before, known) {
            (Some(text), _) => unhex(text).ok_or_else(|| bad("`before` is no hash"))?,
            (None, Some(hash)) => hash,
            (None, None) => return Err(ChainError::Gap { seq: line.seq }),
        };
        if let (Some(_), Some((so_far, _))) = (&line.before, &state) {
            let seq = so_far.last_seq;
            // Nothing later depends on those records.
            if !proven {
                return Err(ChainError::Unproven { seq });
            }
            if known.is_some_and(|hash| hash != before) {
                return Err(ChainError::HashMismatch { seq: line.seq });
            }
        }
        let first = || Summary {
            first_seq: line.seq,
            last_seq: 0,
            records: 0,
            before: hex(&before),
            last: String::new(),
        };
        let mut summary = state.map_or_else(first, |(summary, _)| summary);
        if summary.records > 0 && line.seq <= summary.last_seq {
            return Err(bad("its number does not rise"));
        }
        let hash = link(&before, line.seq, &line.body);
        proven = line.hash.is_some();
        if line.hash.is_some_and(|stated| stated != hex(&hash)) {
            return Err(ChainError::HashMismatch { seq: line.seq });
        }
        (summary.last_seq, summary.last) = (line.seq, hex(&hash));
        summary.records += 1;
        state = Some((summary, hash));
    }
    let (summary, _) = state.ok_or(ChainError::Empty)?;
    match proven {
        true => Ok(summary),
        // Else a segment whose end was cut off would pass.
        false => Err(ChainError::Unproven {
            seq: summary.last_seq,
        }),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Records `first` and later with these bodies, after a hash of zeros.
    pub(crate) fn segment(first: u64, bodies: &[String]) -> ChainSegment {
        let mut before = [0; 32];
        let mut records = Vec::new();
        for (seq, body) in (first..).zip(bodies) {
            let hash = link(&before, seq, body);
            records.push(ChainRecord {
                seq,
                before,
                hash,
                body: body.clone(),
            });
            before = hash;
        }
        ChainSegment { records }
    }

    fn bodies(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("{{\"n\":{n}}}")).collect()
    }

    #[test]
    fn the_hash_is_that_of_the_store() {
        // As in gtrace-store: python3 hashlib.sha256(bytes(32) + (1).to_bytes(8, "big") + b"{}").
        assert_eq!(
            hex(&link(&[0; 32], 1, "{}")),
            "1bad765d926feacace97a8ddcd329a1f4254c208affc1ba86b3c7d59e8fba83e"
        );
    }

    #[test]
    fn a_segment_verifies_and_a_changed_record_is_found_at_the_next_stated_hash() {
        let segment = segment(7, &bodies(2500));
        let lines = write(&segment);
        let found = verify(&lines).unwrap();
        assert_eq!(Some(found), summary(&segment));
        let text = String::from_utf8(lines).unwrap();
        let changed = text.replace(r#"{\"n\":1200}"#, r#"{\"n\":1201}"#);
        let error = verify(changed.as_bytes()).unwrap_err();
        assert_eq!(error, ChainError::HashMismatch { seq: 2006 });
        let without: String = text
            .lines()
            .filter(|l| !l.contains(r#"\"n\":9}"#))
            .collect::<Vec<_>>()
            .join("\n");
        assert_eq!(verify(without.as_bytes()), Err(ChainError::Gap { seq: 17 }));
        let cut = text.lines().take(1500).collect::<Vec<_>>().join("\n");
        assert!(verify(cut.as_bytes()).is_err());
    }

    #[test]
    fn removed_records_are_passed_over_and_those_before_them_are_proven_too() {
        let mut gap = segment(1, &bodies(10));
        gap.records.drain(3..6);
        assert_eq!(verify(&write(&gap)).unwrap().records, 7);
        let text = String::from_utf8(write(&gap)).unwrap();
        let changed = text.replace(r#"{\"n\":1}"#, r#"{\"n\":99}"#);
        assert_eq!(
            verify(changed.as_bytes()),
            Err(ChainError::HashMismatch { seq: 3 })
        );
        // Without the hash before the gap nothing proves what is before it.
        let stated = format!(r#","hash":"{}""#, hex(&gap.records[2].hash));
        let unproven = text.replace(&stated, "");
        assert_ne!(unproven, text);
        assert_eq!(
            verify(unproven.as_bytes()),
            Err(ChainError::Unproven { seq: 3 })
        );
    }

    #[test]
    fn no_record_begins_a_chain_of_its_own_in_the_middle() {
        let mut two = segment(1, &bodies(3));
        let mut other = segment(1, &bodies(9));
        two.records.push(other.records.remove(8));
        two.records[3].seq = 4;
        two.records[3].hash = link(&two.records[3].before, 4, &two.records[3].body);
        assert_eq!(
            verify(&write(&two)),
            Err(ChainError::HashMismatch { seq: 4 })
        );
    }
}
