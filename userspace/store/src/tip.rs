use gtrace_event::Timestamp;
use rusqlite::Connection;

use crate::Hash;
use crate::encoded::Encoded;
use crate::schema::{Day, OVERHEAD, sql_int, unix_day};

/// The end of the chain.
#[derive(Clone)]
pub(crate) struct Tip {
    /// The table that records go to; `None` before the first.
    pub(crate) day: Option<Day>,
    /// Its number, or that of the last table of the file that this one replaced.
    pub(crate) n: i64,
    pub(crate) seq: u64,
    pub(crate) hash: Hash,
    /// About how many bytes the table takes.
    pub(crate) bytes: u64,
}

impl Tip {
    /// Appends records, and answers with the new end. A table of `most` bytes is followed by another.
    pub(crate) fn extend<'a>(
        mut self,
        tx: &Connection,
        now: Timestamp,
        most: Option<u64>,
        records: impl IntoIterator<Item = &'a Encoded>,
    ) -> rusqlite::Result<Self> {
        let mut records = records.into_iter().peekable();
        if records.peek().is_none() {
            return Ok(self);
        }
        let day = self.day_of(tx, now, most)?;
        let mut insert = tx.prepare_cached(&day.insert_sql())?;
        for Encoded { body, columns } in records {
            self.seq += 1;
            self.hash = self.hash.link(self.seq, body.as_bytes());
            self.bytes += body.len() as u64 + OVERHEAD;
            insert.execute((
                sql_int(self.seq),
                &columns.record,
                &columns.event_id,
                columns.time_ns,
                &columns.kind,
                &columns.severity,
                &columns.pci,
                body,
                &self.hash.0[..],
            ))?;
        }
        self.day = Some(day);
        Ok(self)
    }

    /// The current table, or a new one. A clock that goes back a little (over midnight) opens none;
    /// one that goes back by more than a day had been ahead, and a day named after that future
    /// would take all records until then.
    fn day_of(
        &mut self,
        tx: &Connection,
        now: Timestamp,
        most: Option<u64>,
    ) -> rusqlite::Result<Day> {
        let mut today = unix_day(now);
        if let Some(day) = &self.day
            && (day.unix_day - 1..=day.unix_day).contains(&today)
        {
            if most.is_none_or(|most| self.bytes < most) {
                return Ok(day.clone());
            }
            today = day.unix_day;
        }
        let n = self.n + 1;
        let mut taken = tx.prepare("SELECT 1 FROM days WHERE name = ?1")?;
        let day = Day {
            n,
            unix_day: today,
            name: Day::name_for(today, n, |name| taken.exists([name]).unwrap_or(true)),
            first_seq: self.seq + 1,
            opening: self.hash,
        };
        tx.execute_batch(&day.create_sql())?;
        tx.execute_batch(&day.incident_index())?;
        tx.execute(
            "INSERT INTO days(n, unix_day, name, first_seq, opening_hash) VALUES (?1, ?2, ?3, ?4, ?5)",
            (day.n, day.unix_day, &day.name, sql_int(day.first_seq), &day.opening.0[..]),
        )?;
        self.n = n;
        self.bytes = 0;
        Ok(day)
    }
}
