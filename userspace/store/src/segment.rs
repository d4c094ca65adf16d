//! Segments of the chain: the records of a time as they are stored, with what proves them.

use std::collections::HashMap;

use gtrace_event::{Timestamp, nanos};
use rusqlite::{OptionalExtension as _, Transaction};

use crate::removal::each_removed;
use crate::schema::{Day, sql_int, unsigned};
use crate::{Hash, Reader, StoreError};

/// A record as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number.
    pub seq: u64,
    /// The hash that the chain goes on from: that of record `seq - 1`, also where that was removed.
    pub before: Hash,
    /// Its own hash, as the store has it. [`Hash::link`] recomputes it.
    pub hash: Hash,
    /// Its JSON, which is what was hashed.
    pub body: String,
}

/// Records that follow each other, those that were removed aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// By rising number.
    pub records: Vec<StoredRecord>,
    /// How many more there are, later than these.
    pub left_out: u64,
}

impl Reader {
    /// The records from the first that was made between `from` and `to` up to the last, and everything between those
    /// two, whenever it was made; at most `limit` of them.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn segment(
        &self,
        from: Timestamp,
        to: Timestamp,
        limit: usize,
    ) -> Result<Segment, StoreError> {
        let (tx, days) = self.snapshot()?;
        let read = || -> rusqlite::Result<Segment> {
            let Some((first, last)) = ends(&tx, &days, from, to)? else {
                return Ok(Segment::default());
            };
            let mut segment = Segment::default();
            let mut left = usize::MAX;
            for day in days.iter().filter(|day| day.first_seq <= last) {
                let found = &mut segment.records;
                page(&tx, day, (first, last), limit, &mut left, found)?;
                if found.len() >= limit {
                    let after = found.last().map_or(first, |record| record.seq + 1);
                    segment.left_out += count(&tx, day, (after, last))?;
                }
            }
            Ok(segment)
        };
        read().map_err(|e| self.sqlite(e))
    }
}

impl Reader {
    /// The records with numbers above `after` as they are stored, in order: at most `limit` of them, and no more once
    /// their bodies exceed `bytes`. For who takes the chain elsewhere; also records that this version cannot read.
    ///
    /// # Errors
    /// Any that reading gives.
    pub fn chain_after(
        &self,
        after: u64,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<StoredRecord>, StoreError> {
        let (tx, days) = self.snapshot()?;
        let mut found: Vec<StoredRecord> = Vec::new();
        let mut left = bytes;
        for (index, day) in days.iter().enumerate() {
            let last = days.get(index + 1).map(|next| next.first_seq - 1);
            if last.is_some_and(|last| last <= after) {
                continue;
            }
            let first = after.saturating_add(1).max(day.first_seq);
            let range = (first, u64::MAX);
            page(&tx, day, range, limit, &mut left, &mut found).map_err(|e| self.sqlite(e))?;
            if found.len() >= limit || left == 0 {
                break;
            }
        }
        Ok(found)
    }
}

/// Records of a day from `first` to `last`, until `limit` are found or `left` bytes are used up.
fn page(
    tx: &Transaction<'_>,
    day: &Day,
    (first, last): (u64, u64),
    limit: usize,
    left: &mut usize,
    found: &mut Vec<StoredRecord>,
) -> rusqlite::Result<()> {
    let mut previous = previous(tx, day, first)?;
    let mut removed: Option<HashMap<u64, Hash>> = None;
    let sql = format!(
        "SELECT seq, hash, body FROM \"{}\" WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq",
        day.name
    );
    let mut statement = tx.prepare_cached(&sql)?;
    let mut rows = statement.query([sql_int(first), sql_int(last)])?;
    while found.len() < limit
        && *left > 0
        && let Some(row) = rows.next()?
    {
        let record = stored(tx, row, previous, &mut removed)?;
        previous = (record.seq, record.hash);
        *left = left.saturating_sub(record.body.len());
        found.push(record);
    }
    Ok(())
}

/// A record behind the one of number and hash `previous`.
fn stored(
    tx: &Transaction<'_>,
    row: &rusqlite::Row<'_>,
    (of, mut before): (u64, Hash),
    removed: &mut Option<HashMap<u64, Hash>>,
) -> rusqlite::Result<StoredRecord> {
    let seq = row.get::<_, i64>(0)?.unsigned_abs();
    let hash = Hash::from_slice(row.get_ref(1)?.as_blob()?).unwrap_or(Hash::GENESIS);
    if of + 1 != seq {
        let removed = match removed {
            Some(removed) => removed,
            None => removed.insert(removals(tx)?),
        };
        // Where no record explains the gap the chain does not hold, and whoever verifies finds that.
        before = removed.get(&(seq - 1)).copied().unwrap_or(before);
    }
    let body = String::from_utf8_lossy(row.get_ref(2)?.as_bytes()?).into_owned();
    Ok(StoredRecord {
        seq,
        before,
        hash,
        body,
    })
}

/// Numbers of the first and the last record of a time.
fn ends(
    tx: &Transaction<'_>,
    days: &[Day],
    from: Timestamp,
    to: Timestamp,
) -> rusqlite::Result<Option<(u64, u64)>> {
    let mut ends: Option<(u64, u64)> = None;
    for day in days {
        let sql = format!(
            "SELECT min(seq), max(seq) FROM \"{}\" WHERE time_ns BETWEEN ?1 AND ?2",
            day.name
        );
        let found = tx.query_row(&sql, [nanos(from), nanos(to)], |row| {
            Ok(row
                .get::<_, Option<i64>>(0)?
                .zip(row.get::<_, Option<i64>>(1)?))
        })?;
        let Some((first, last)) = found else { continue };
        let (first, last) = (first.unsigned_abs(), last.unsigned_abs());
        let (least, most) = ends.unwrap_or((first, last));
        ends = Some((least.min(first), most.max(last)));
    }
    Ok(ends)
}

fn count(tx: &Transaction<'_>, day: &Day, (first, last): (u64, u64)) -> rusqlite::Result<u64> {
    let sql = format!(
        "SELECT count(*) FROM \"{}\" WHERE seq BETWEEN ?1 AND ?2",
        day.name
    );
    tx.query_row(&sql, [sql_int(first), sql_int(last)], |row| {
        unsigned(row, 0)
    })
}

/// Number and hash of the newest record of the day before `first`; what the day opens with where there is none.
fn previous(tx: &Transaction<'_>, day: &Day, first: u64) -> rusqlite::Result<(u64, Hash)> {
    let sql = format!(
        "SELECT seq, hash FROM \"{}\" WHERE seq < ?1 ORDER BY seq DESC LIMIT 1",
        day.name
    );
    let found = tx
        .query_row(&sql, [sql_int(first)], |row| {
            let hash = Hash::from_slice(row.get_ref(1)?.as_blob()?);
            Ok((
                row.get::<_, i64>(0)?.unsigned_abs(),
                hash.unwrap_or(Hash::GENESIS),
            ))
        })
        .optional()?;
    Ok(found.unwrap_or((day.first_seq.saturating_sub(1), day.opening)))
}

/// The hash of the last record of each range that was removed, by its number.
fn removals(tx: &Transaction<'_>) -> rusqlite::Result<HashMap<u64, Hash>> {
    let mut names = tx.prepare("SELECT name FROM days")?;
    let names = names.query_map([], |row| row.get::<_, String>(0))?;
    let mut removed = HashMap::new();
    for name in names {
        each_removed(tx, &name?.replace('"', ""), |range, hash| {
            removed.insert(range.last, hash);
        })?;
    }
    Ok(removed)
}
