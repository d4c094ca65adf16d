//! What of a batch is new to the head.

use std::fmt;

use gtrace_event::Epoch;
use gtrace_store::Hash;

use crate::{Batch, Carried, Position};

/// What the head has of a host.
pub trait History {
    /// The newest record that was taken; `None` before the first.
    fn cursor(&self) -> Option<Position>;
    /// The newest record of `epoch` that was taken; `None` if there is none.
    fn last_of(&self, epoch: Epoch) -> Option<Position>;
}

/// What to do with a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Take its end.
    Take(Taken),
    /// All of it was taken before, up to this record; `None` where it has nothing.
    Known(Option<Position>),
    /// Records between the cursor and its beginning are missing: the agent has to go on from the cursor.
    Missing,
}

/// The part of a batch that is new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Index of the first new record; all that follow are new.
    pub from: usize,
    /// The cursor once they are taken.
    pub cursor: Position,
    /// Numbers that the host's store no longer had. A record of the chain has to explain each.
    pub gaps: Vec<Gap>,
    /// Where the chain does not hold.
    pub faults: Vec<Fault>,
    /// Whether the host's store lost its newest records, or was replaced: these begin somewhere else than after
    /// the cursor. What was taken before stays.
    pub forked: bool,
}

/// Numbers that a store no longer had when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Of whom the record after it is.
    pub epoch: Epoch,
    /// First number that is missing.
    pub first: u64,
    /// Last number that is missing.
    pub last: u64,
    /// Hash of that record, as the agent says: an event `records_removed` has to say the same.
    pub hash: Hash,
}

/// A place where the chain does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The record does not follow the one before it: one of the two was changed.
    Broken {
        /// Its number.
        seq: u64,
    },
    /// A record that was taken before has another hash now: the store was changed after it was read.
    Rewritten {
        /// Its number.
        seq: u64,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken { seq } => write!(
                f,
                "record {seq} does not follow the one before it: one of them was changed on the host"
            ),
            Self::Rewritten { seq } => write!(
                f,
                "record {seq} was changed on the host after the head had taken it"
            ),
        }
    }
}

/// Says what of `batch` is new to a head with this history. Faults do not keep records out: they are recorded beside them.
///
/// A record is known where a later one of its epoch, or itself, was taken: those of an epoch come in order. The first
/// one that is new has to follow a record that was taken, and the newest one of its own epoch, if there is one.
pub fn judge(history: &impl History, batch: &Batch) -> Verdict {
    let records = &batch.records;
    let is_known = |record: &Position| {
        let last = history.last_of(record.id.epoch);
        last.is_some_and(|last| last.id.seq >= record.id.seq)
    };
    let Some(from) = records.iter().position(|r| !is_known(&r.position())) else {
        // Not the cursor: that may be of records that the host has lost since, and the agent would go on from there again.
        return Verdict::Known(records.last().map(Carried::position));
    };
    let before = match from.checked_sub(1) {
        Some(before) => Some(records[before].position()),
        None => batch.after,
    };
    let own = history.last_of(records[from].epoch);
    let follows = match before {
        None => own.is_none(),
        Some(before) => is_known(&before) && own.is_none_or(|own| own.id == before.id),
    };
    if !follows {
        return Verdict::Missing;
    }
    let cursor = history.cursor();
    let mut taken = taken(records, from, before);
    taken.forked = before.map(|b| b.id) != cursor.map(|c| c.id);
    // What follows is compared with what the host has now, so that one change is one fault.
    if let Some(before) = before
        && let Some(known) = history.last_of(before.id.epoch)
        && known.id == before.id
        && known.hash != before.hash
    {
        let seq = before.id.seq;
        taken.faults.insert(0, Fault::Rewritten { seq });
    }
    Verdict::Take(taken)
}

fn taken(records: &[Carried], from: usize, after: Option<Position>) -> Taken {
    let (mut seq, mut hash) = after.map_or((0, Hash::GENESIS), |after| (after.id.seq, after.hash));
    let (mut gaps, mut faults) = (Vec::new(), Vec::new());
    for record in &records[from..] {
        if record.seq == seq + 1 {
            if record.before != hash {
                faults.push(Fault::Broken { seq: record.seq });
            }
        } else if record.seq > seq {
            gaps.push(Gap {
                epoch: record.epoch,
                first: seq + 1,
                last: record.seq - 1,
                hash: record.before,
            });
        } else {
            // A decoded batch rises; the store went back without losing anything that was taken.
            faults.push(Fault::Broken { seq: record.seq });
        }
        (seq, hash) = (record.seq, record.hash);
    }
    let cursor = records.last().map(Carried::position);
    Taken {
        from,
        // `judge` is called with records.
        cursor: cursor.or(after).unwrap_or(Position::new(
            Epoch::from_bytes([0; 16]),
            0,
            Hash::GENESIS,
        )),
        gaps,
        faults,
        forked: false,
    }
}
