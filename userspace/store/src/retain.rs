use gtrace_event::Timestamp;
use rusqlite::TransactionBehavior;

use crate::schema::{Day, days, unix_day};
use crate::{Store, StoreError};

/// What [`Store::retain`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionReport {
    /// Tables dropped, oldest first (`records_20261121`).
    pub days_dropped: Vec<String>,
    /// Records in them.
    pub records_dropped: u64,
    /// Bytes by which the file shrank.
    pub bytes_freed: u64,
    /// Bytes of the database in use afterwards.
    pub used_bytes: u64,
    /// Whether the current day alone, which is never dropped, is over the limit of bytes.
    pub over_limit: bool,
}

/// Pages given back in one transaction (4 MiB), so that the WAL stays small.
const VACUUM_PAGES: u32 = 1024;

impl Store {
    /// Drops the days that [`crate::Options`] no longer keep, never the current one, and gives the
    /// space back to the file system. Call it once an hour or so; it takes as long as copying the
    /// days that remain at worst.
    ///
    /// # Errors
    /// Any that writing gives. Days dropped until then stay dropped; call it again.
    pub fn retain(&mut self, now: Timestamp) -> Result<RetentionReport, StoreError> {
        let mut report = RetentionReport::default();
        // On a full disk this is what makes room in the WAL for the drop.
        self.checkpoint_passive()?;
        let pages_before = self.pages().map_err(|e| self.sqlite(e))?.count;
        let path = self.path().to_owned();
        let all = days(self.conn(), &path)?;
        let ages = effective_days(&all, unix_day(now));
        for (pair, age) in all.windows(2).zip(ages) {
            let [day, next] = pair else { break };
            if !self.too_old(age, now) && !self.too_big()? {
                break;
            }
            self.drop_day(day)?;
            report.records_dropped += next.first_seq.saturating_sub(day.first_seq);
            report.days_dropped.push(day.name.clone());
        }
        self.shrink()?;
        let pages = self.pages().map_err(|e| self.sqlite(e))?;
        report.bytes_freed = pages_before.saturating_sub(pages.count) * pages.size;
        report.used_bytes = pages.used() * pages.size;
        report.over_limit = self.too_big()?;
        Ok(report)
    }

    fn too_old(&self, day: i64, now: Timestamp) -> bool {
        let Some(age) = self.options.retention_age else {
            return false;
        };
        let ended = day.saturating_add(1).saturating_mul(86_400);
        let age = i64::try_from(age.as_secs()).unwrap_or(i64::MAX);
        ended <= now.as_second().saturating_sub(age)
    }

    fn too_big(&self) -> Result<bool, StoreError> {
        let Some(limit) = self.options.retention_bytes else {
            return Ok(false);
        };
        let pages = self.pages().map_err(|e| self.sqlite(e))?;
        Ok(pages.used() * pages.size > limit)
    }

    fn drop_day(&mut self, day: &Day) -> Result<(), StoreError> {
        let written = self
            .conn()
            .transaction_with_behavior(TransactionBehavior::Immediate);
        written
            .and_then(|tx| {
                tx.execute("DELETE FROM days WHERE n = ?1", [day.n])?;
                tx.execute_batch(&format!("DROP TABLE \"{}\"", day.name))?;
                tx.commit()
            })
            .map_err(|e| self.failed(e))
    }

    /// Cuts the free pages off the file.
    fn shrink(&mut self) -> Result<(), StoreError> {
        let mut free = self.pages().map_err(|e| self.sqlite(e))?.free;
        if free == 0 {
            return Ok(());
        }
        loop {
            self.vacuum_step().map_err(|e| self.failed(e))?;
            let left = self.pages().map_err(|e| self.sqlite(e))?.free;
            if left == 0 || left >= free {
                break;
            }
            free = left;
        }
        self.checkpoint_passive()
    }

    /// Does not wait for readers, as emptying the WAL would, with appends waiting behind it.
    fn checkpoint_passive(&mut self) -> Result<(), StoreError> {
        self.conn()
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|e| self.failed(e))
    }

    fn vacuum_step(&mut self) -> rusqlite::Result<()> {
        let sql = format!("PRAGMA incremental_vacuum({VACUUM_PAGES})");
        let mut statement = self.conn().prepare(&sql)?;
        // Each step frees one page.
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }
}

/// The day after whose end each table can be said to be old. Where the clock had been behind, the
/// table counts as of the day before it; where it had been ahead (a date after `today`), too: a
/// wrong clock must neither drop records early nor keep them for ever.
fn effective_days(days: &[Day], today: i64) -> Vec<i64> {
    let mut newest = i64::MIN;
    days.iter()
        .map(|day| {
            if day.unix_day <= today {
                newest = newest.max(day.unix_day);
            }
            if newest == i64::MIN { today } else { newest }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hash;

    #[test]
    fn a_wrong_clock_neither_ages_nor_preserves_a_day() {
        let days: Vec<Day> = [20, 21, 0, 22, 900, 23]
            .into_iter()
            .map(|unix_day| Day {
                n: 0,
                unix_day,
                name: String::new(),
                first_seq: 1,
                opening: Hash::GENESIS,
            })
            .collect();
        assert_eq!(effective_days(&days, 25), [20, 21, 21, 22, 22, 23]);
        assert_eq!(effective_days(&days[4..5], 25), [25]);
    }
}
