//! Which epoch appended which records, and what that means for a reader that resumes.
//!
//! The same idea as Kafka's leader epochs (KIP-101): a number alone does not show whether reader
//! and store mean the same record.

use gtrace_event::{Epoch, RecordId};
use rusqlite::Connection;

use crate::schema::sql_int;

/// The epochs of a store that records are left of, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Epochs(Vec<Row>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    epoch: Epoch,
    /// Its first record; the next epoch's first ends it.
    first_seq: u64,
}

/// Where a reader goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// After the record with this number, which the store holds or has dropped by age.
    After(u64),
    /// The store lost the reader's last records (a power cut, a backup that was put back): what
    /// comes after this number is new to the reader.
    Lost {
        /// Number of the newest record that reader and store have in common.
        after: u64,
        /// How many records the reader has that the store lost.
        records: u64,
    },
    /// The store has no record of that epoch: all that it holds is new to the reader.
    Unknown,
}

impl Epochs {
    pub(crate) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let mut select = conn.prepare_cached("SELECT epoch, first_seq FROM epochs ORDER BY n")?;
        let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut all = Vec::new();
        for row in rows {
            let (epoch, first_seq): (String, i64) = row?;
            // What is no epoch was not written by this program and names no record.
            if let (Ok(epoch), Ok(first_seq @ 1..)) = (epoch.parse(), u64::try_from(first_seq)) {
                all.push(Row { epoch, first_seq });
            }
        }
        Ok(Self(all))
    }

    /// The id of the record `seq`; `None` for 0, and where the table was tampered with.
    pub fn id_of(&self, seq: u64) -> Option<RecordId> {
        let row = self.0.iter().rev().find(|row| row.first_seq <= seq)?;
        let epoch = row.epoch;
        Some(RecordId { epoch, seq })
    }

    /// Where a reader goes on whose last record was `id`, in a store that ends with `last_seq`.
    pub fn resume_after(&self, id: RecordId, last_seq: u64) -> Resume {
        let Some(at) = self.0.iter().position(|row| row.epoch == id.epoch) else {
            return Resume::Unknown;
        };
        let end = self
            .0
            .get(at + 1)
            .map_or(last_seq, |next| next.first_seq - 1);
        match id.seq.checked_sub(end) {
            None | Some(0) => Resume::After(id.seq),
            Some(records) => Resume::Lost {
                after: end,
                records,
            },
        }
    }
}

/// Notes that `epoch` begins with `first_seq`.
pub(crate) fn begin(tx: &Connection, epoch: Epoch, first_seq: u64) -> rusqlite::Result<()> {
    let insert = "INSERT INTO epochs(epoch, first_seq) VALUES (?1, ?2)";
    if first_seq > 1 && Epochs::read(tx)?.0.is_empty() {
        // A store from before there were epochs: its records get one.
        tx.execute(insert, (Epoch::generate().to_string(), 1))?;
    }
    tx.execute(insert, (epoch.to_string(), sql_int(first_seq)))?;
    Ok(())
}

/// Drops the epochs whose records all come before `first_seq`.
pub(crate) fn retain(tx: &Connection, first_seq: u64) -> rusqlite::Result<()> {
    tx.execute(
        "DELETE FROM epochs WHERE n < (SELECT max(n) FROM epochs WHERE first_seq <= ?1)",
        [sql_int(first_seq)],
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_given_twice_is_two_records_and_a_reader_of_the_lost_one_gets_the_other() {
        let [first, empty, second] = [(); 3].map(|()| Epoch::generate());
        let row = |epoch, first_seq| Row { epoch, first_seq };
        // The first epoch wrote up to 9; a power cut took 7 to 9. The next wrote nothing.
        let epochs = Epochs(vec![row(first, 1), row(empty, 7), row(second, 7)]);
        let id = |epoch, seq| RecordId { epoch, seq };
        assert_eq!(epochs.id_of(0), None);
        assert_eq!(epochs.id_of(6), Some(id(first, 6)));
        assert_eq!(epochs.id_of(7), Some(id(second, 7)));
        let resume = |epoch, seq| epochs.resume_after(id(epoch, seq), 12);
        assert_eq!(resume(first, 6), Resume::After(6));
        let lost = |after, records| Resume::Lost { after, records };
        assert_eq!(resume(first, 9), lost(6, 3));
        assert_eq!(resume(second, 9), Resume::After(9));
        assert_eq!(resume(second, 13), lost(12, 1));
        assert_eq!(resume(Epoch::generate(), 9), Resume::Unknown);
    }
}
