//! The host's store as a source of batches.

use std::path::{Path, PathBuf};

use gtrace_event::RecordId;
use gtrace_fleet::{Batch, Carried, PLAIN_MAX, Position, RECORDS_MAX};
use gtrace_store::{Hash, Reader, Resume, StoreError};

/// Bytes of bodies of a batch, about: with what else it has it stays far below [`PLAIN_MAX`].
const BYTES: usize = 1 << 20;

pub(crate) struct Source {
    path: PathBuf,
    reader: Option<(Reader, FileId)>,
}

/// Device and inode: a store may be replaced while it is read.
type FileId = (u64, u64);

/// Where to go on.
pub(crate) enum Place {
    /// After this record.
    After(Option<Position>),
    /// The store knows nothing of the record; an earlier one may be known.
    Unknown,
}

impl Source {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            reader: None,
        }
    }

    fn reader(&mut self) -> Result<&Reader, StoreError> {
        use std::os::unix::fs::MetadataExt as _;
        let now = std::fs::metadata(&self.path)
            .map(|file| (file.dev(), file.ino()))
            .ok();
        let same = self.reader.as_ref().is_some_and(|(_, id)| Some(*id) == now);
        if !same {
            self.reader = None;
        }
        match &mut self.reader {
            Some((reader, _)) => Ok(reader),
            none => {
                let reader = Reader::open(&self.path)?;
                Ok(&none.insert((reader, now.unwrap_or_default())).0)
            }
        }
    }

    /// Number of the newest record.
    pub(crate) fn tip(&mut self) -> Result<u64, StoreError> {
        self.reader()?.last_seq()
    }

    /// Where to go on after `cursor`, which is the newest record that the head has.
    pub(crate) fn place(&mut self, cursor: Option<Position>) -> Result<Place, StoreError> {
        let Some(cursor) = cursor else {
            return Ok(Place::After(None));
        };
        let reader = self.reader()?;
        let epochs = reader.epochs()?;
        let seq = match epochs.resume_after(cursor.id, reader.last_seq()?) {
            Resume::After(seq) => seq,
            Resume::Lost { after, .. } => after,
            Resume::Unknown => return Ok(Place::Unknown),
        };
        if seq == 0 {
            return Ok(Place::After(None));
        }
        let id = match seq == cursor.id.seq {
            true => Some(cursor.id),
            false => epochs.id_of(seq),
        };
        let Some(RecordId { epoch, seq }) = id else {
            return Ok(Place::Unknown);
        };
        // Retention may have taken the record; what the head knows of it is as good then.
        let hash = reader.hash_at(seq)?;
        let known = (seq == cursor.id.seq).then_some(cursor.hash);
        let hash = hash.or(known).unwrap_or(Hash::GENESIS);
        Ok(Place::After(Some(Position::new(epoch, seq, hash))))
    }

    /// The records after `after`, as many as fit in a batch.
    pub(crate) fn batch(&mut self, after: Option<Position>) -> Result<Batch, StoreError> {
        let reader = self.reader()?;
        let tip = reader.last_seq()?;
        let seq = after.map_or(0, |after| after.id.seq);
        let stored = reader.chain_after(seq, RECORDS_MAX, BYTES)?;
        let epochs = reader.epochs()?;
        let mut records: Vec<Carried> = Vec::with_capacity(stored.len());
        let mut size = 0;
        for record in stored {
            // Only in a store whose table of epochs was tampered with.
            let Some(RecordId { epoch, seq }) = epochs.id_of(record.seq) else {
                continue;
            };
            // What the store says that the chain goes on from: a changed record does not hide.
            let carried = Carried::new(epoch, seq, record.before, record.body);
            size += carried.size();
            if size > PLAIN_MAX - 65_536 && !records.is_empty() {
                break;
            }
            let new_epoch = records
                .last()
                .is_none_or(|last| last.epoch != carried.epoch);
            let many = new_epoch && records.len() > 200;
            records.push(carried);
            if many {
                break;
            }
        }
        Ok(Batch {
            after,
            tip,
            records,
        })
    }
}
