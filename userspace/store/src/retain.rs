//! Retention: by age whole tables go, by size the least severe events of the oldest tables, then
//! the oldest tables. Each removal is recorded in the transaction that makes it, with the hash by
//! which the chain goes on; so a record that is missing without one was taken by somebody else.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use gtrace_event::{Kind, RemovalCause, Severity, Timestamp};
use rusqlite::{Connection, OptionalExtension};

use crate::removal::{Range, Removal};
use crate::schema::{Day, days, sql_int, unix_day, unsigned};
use crate::{Hash, Store, StoreError, epochs};

/// What [`Store::retain`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetentionReport {
    /// Tables dropped, oldest first (`records_20261121`).
    pub days_dropped: Vec<String>,
    /// Records removed, those of the tables dropped among them.
    pub records_removed: u64,
    /// Bytes by which the file shrank.
    pub bytes_freed: u64,
    /// Bytes of the database in use afterwards.
    pub used_bytes: u64,
    /// Whether the current table alone, which is never dropped, is over the limit of bytes.
    pub over_limit: bool,
    /// Whether there is more to remove, which the next call does.
    pub unfinished: bool,
}

/// One call of [`Store::retain`].
struct Pass {
    now: Timestamp,
    until: Instant,
    report: RetentionReport,
}

impl Pass {
    /// Whether its time is over; then the report says that there is more to do.
    fn is_over(&mut self) -> bool {
        let over = Instant::now() >= self.until;
        self.report.unfinished |= over;
        over
    }
}

/// Pages given back in one transaction (4 MiB), so that the WAL stays small.
const VACUUM_PAGES: u32 = 1024;
/// So long one call removes, as appends wait behind it.
const AT_MOST: Duration = Duration::from_secs(1);
/// Events removed in one transaction at most, for the same reason.
const EVENTS_AT_ONCE: usize = 4096;

impl Store {
    /// Removes what [`crate::Options`] no longer keeps, no event of the current table, and gives the
    /// space back to the file system. Call it now and then, and when [`Store::retention_is_due`]. It
    /// takes about a second at most, and goes on at the next call.
    ///
    /// By `now` the removals are dated and, with `by_age`, it is decided what is too old: not where the
    /// clock may be wrong.
    ///
    /// # Errors
    /// Any that writing gives. What was removed until then stays removed; call it again.
    pub fn retain(&mut self, now: Timestamp, by_age: bool) -> Result<RetentionReport, StoreError> {
        let mut pass = Pass {
            now,
            until: Instant::now() + AT_MOST,
            report: RetentionReport::default(),
        };
        (self.appended_bytes, self.retention_unfinished) = (0, false);
        // On a full disk this is what makes room in the WAL for the drop.
        self.checkpoint_passive()?;
        let pages_before = self.pages().map_err(|e| self.sqlite(e))?.count;
        if by_age {
            self.drop_aged(&mut pass)?;
        }
        self.fit(&mut pass)?;
        self.shrink(&mut pass)?;
        let mut report = pass.report;
        self.retention_unfinished = report.unfinished;
        let pages = self.pages().map_err(|e| self.sqlite(e))?;
        report.bytes_freed = pages_before.saturating_sub(pages.count) * pages.size;
        report.used_bytes = pages.used() * pages.size;
        report.over_limit = !report.unfinished && self.too_big()?;
        Ok(report)
    }

    /// Whether so much was appended since the last retention that the limit of bytes may be near.
    pub fn retention_is_due(&self) -> bool {
        const LEAST: u64 = 64 << 10;
        let limit = self.options.retention_bytes;
        self.retention_unfinished
            || limit.is_some_and(|limit| self.appended_bytes >= (limit / 64).max(LEAST))
    }

    fn days(&mut self) -> Result<Vec<Day>, StoreError> {
        let path = self.path().to_owned();
        days(self.conn(), &path)
    }

    fn drop_aged(&mut self, pass: &mut Pass) -> Result<(), StoreError> {
        let all = self.days()?;
        let ages = effective_days(&all, unix_day(pass.now));
        for (pair, age) in all.windows(2).zip(ages) {
            let [day, next] = pair else { break };
            if !self.too_old(age, pass.now) {
                break;
            }
            self.drop_day(RemovalCause::Age, [day, next], pass)?;
        }
        Ok(())
    }

    /// Removes by severity, then by age, until the store is no larger than its limit.
    fn fit(&mut self, pass: &mut Pass) -> Result<(), StoreError> {
        if !self.too_big()? {
            return Ok(());
        }
        self.fit_by_severity(pass)?;
        self.drop_front_without_events(pass)?;
        while !pass.report.unfinished {
            let all = self.days()?;
            let [day, next, ..] = &all[..] else { break };
            if !self.too_big()? {
                break;
            }
            self.drop_day(RemovalCause::Size, [day, next], pass)?;
        }
        Ok(())
    }

    fn fit_by_severity(&mut self, pass: &mut Pass) -> Result<(), StoreError> {
        let all = self.days()?;
        let closed = all.split_last().map_or(&all[..], |(_, closed)| closed);
        for level in [Severity::Info, Severity::Warning, Severity::Critical] {
            for (at, day) in closed.iter().enumerate() {
                if !self.too_big()? {
                    return Ok(());
                }
                if self.thinned.get(&day.n).is_none_or(|done| *done < level) {
                    self.thin(&all[at..], level, pass)?;
                    if pass.is_over() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Removes events up to severity `level` from the first of `tables`, and what the others have
    /// about them, until the store fits.
    fn thin(&mut self, tables: &[Day], level: Severity, pass: &mut Pass) -> Result<(), StoreError> {
        let Some(day) = tables.first() else {
            return Ok(());
        };
        let mut from = day.first_seq;
        while self.too_big()? && !pass.is_over() {
            let picked = pick(self.conn(), tables, level, from).map_err(|e| self.sqlite(e))?;
            if !picked.parts.is_empty() {
                self.remove(level, pass.now, &picked.parts)?;
                let ranges = picked.parts.iter().flat_map(|(_, ranges)| ranges);
                pass.report.records_removed += ranges.map(|range| range.records).sum::<u64>();
            }
            let Some(next) = picked.next else {
                self.thinned.insert(day.n, level);
                break;
            };
            from = next;
        }
        Ok(())
    }

    fn remove(
        &mut self,
        level: Severity,
        now: Timestamp,
        parts: &[(String, Vec<Range>)],
    ) -> Result<(), StoreError> {
        let removal = Removal {
            cause: RemovalCause::Size,
            up_to: Some(level),
            ranges: parts
                .iter()
                .flat_map(|(_, ranges)| ranges)
                .copied()
                .collect(),
            moved_aside: None,
        };
        self.write(now, Some(&removal), [], &[], |tx| {
            for (table, ranges) in parts {
                let sql = format!("DELETE FROM \"{table}\" WHERE seq BETWEEN ?1 AND ?2");
                let mut delete = tx.prepare_cached(&sql)?;
                for range in ranges {
                    delete.execute((sql_int(range.first), sql_int(range.last)))?;
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// Drops the oldest tables that only record removals: what they record is older than they are.
    fn drop_front_without_events(&mut self, pass: &mut Pass) -> Result<(), StoreError> {
        loop {
            let all = self.days()?;
            let [day, next, ..] = &all[..] else { break };
            let sql = format!(
                "SELECT 1 FROM \"{}\" WHERE kind IS NOT '{}' OR severity <> '{}' LIMIT 1",
                day.name,
                Kind::RecordsRemoved,
                Severity::Info
            );
            let other = self.conn().query_row(&sql, [], |_| Ok(())).optional();
            if other.map_err(|e| self.sqlite(e))?.is_some() {
                break;
            }
            self.drop_day(RemovalCause::Size, [day, next], pass)?;
        }
        Ok(())
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

    /// Drops the oldest table, `day`; everything before `next` is then missing.
    fn drop_day(
        &mut self,
        cause: RemovalCause,
        [day, next]: [&Day; 2],
        pass: &mut Pass,
    ) -> Result<(), StoreError> {
        let count = format!("SELECT count(*) FROM \"{}\"", day.name);
        let records = self.conn().query_row(&count, [], |row| unsigned(row, 0));
        let records = records.map_err(|e| self.sqlite(e))?;
        let removal = Removal {
            cause,
            up_to: None,
            ranges: vec![Range {
                first: 1,
                last: next.first_seq - 1,
                hash: next.opening,
                records,
            }],
            moved_aside: None,
        };
        self.write(pass.now, Some(&removal), [], &[], |tx| {
            tx.execute("DELETE FROM days WHERE n = ?1", [day.n])?;
            tx.execute_batch(&format!("DROP TABLE \"{}\"", day.name))?;
            epochs::retain(tx, next.first_seq)
        })?;
        self.thinned.remove(&day.n);
        pass.report.records_removed += records;
        pass.report.days_dropped.push(day.name.clone());
        Ok(())
    }

    /// Cuts the free pages off the file.
    fn shrink(&mut self, pass: &mut Pass) -> Result<(), StoreError> {
        let mut free = self.pages().map_err(|e| self.sqlite(e))?.free;
        if free == 0 {
            return Ok(());
        }
        loop {
            self.vacuum_step().map_err(|e| self.sqlite(e))?;
            let left = self.pages().map_err(|e| self.sqlite(e))?.free;
            if left == 0 || left >= free {
                break;
            }
            free = left;
            if pass.is_over() {
                break;
            }
        }
        self.checkpoint_passive()
    }

    /// Does not wait for readers, as emptying the WAL would, with appends waiting behind it.
    fn checkpoint_passive(&mut self) -> Result<(), StoreError> {
        self.conn()
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
            .map_err(|e| self.sqlite(e))
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

/// What one transaction removes.
struct Picked {
    /// By table.
    parts: Vec<(String, Vec<Range>)>,
    /// Where to go on in the first table; `None` at its end.
    next: Option<u64>,
}

/// Some events up to severity `level` of the first of `tables`, from number `from` on, with their
/// amendments and acknowledgements. An event that an amendment made more severe stays.
fn pick(conn: &Connection, tables: &[Day], level: Severity, from: u64) -> rusqlite::Result<Picked> {
    let none = |next| Picked {
        parts: Vec::new(),
        next,
    };
    let Some(day) = tables.first() else {
        return Ok(none(None));
    };
    let candidates = candidates(conn, day, level, from)?;
    let next = match candidates.len() {
        EVENTS_AT_ONCE => candidates.last().map(|(seq, _)| seq + 1),
        _ => None,
    };
    let ids = || candidates.iter().map(|(_, id)| id.as_str());
    let (Some(first), Some(last)) = (ids().min(), ids().max()) else {
        return Ok(none(next));
    };
    let severe = names(|severity| severity > level);
    let mut wanted: HashSet<&str> = ids().collect();
    let mut later = Vec::new();
    for table in tables {
        // SQLite compares texts as Rust does, by their bytes.
        let sql = format!(
            "SELECT seq, event_id, severity IN ({severe}) FROM \"{t}\" INDEXED BY \"{t}_later\"
             WHERE record <> 'event' AND event_id BETWEEN ?1 AND ?2",
            t = table.name
        );
        let mut statement = conn.prepare_cached(&sql)?;
        let mut rows = statement.query((first, last))?;
        let mut about: Vec<(u64, String)> = Vec::new();
        while let Some(row) = rows.next()? {
            let id: String = row.get(1)?;
            if row.get::<_, Option<bool>>(2)? == Some(true) {
                wanted.remove(id.as_str());
            }
            about.push((unsigned(row, 0)?, id));
        }
        later.push(about);
    }
    let mut parts = Vec::new();
    for (table, mut about) in tables.iter().zip(later) {
        if table.n == day.n {
            about.extend(candidates.iter().cloned());
        }
        let about = about.into_iter();
        let mut seqs: Vec<u64> = about
            .filter(|(_, id)| wanted.contains(id.as_str()))
            .map(|(seq, _)| seq)
            .collect();
        seqs.sort_unstable();
        let ranges = ranges(conn, table, &seqs)?;
        if !ranges.is_empty() {
            parts.push((table.name.clone(), ranges));
        }
    }
    Ok(Picked { parts, next })
}

/// Numbers and ids of events up to severity `level`.
fn candidates(
    conn: &Connection,
    day: &Day,
    level: Severity,
    from: u64,
) -> rusqlite::Result<Vec<(u64, String)>> {
    let sql = format!(
        "SELECT seq, event_id FROM \"{}\"
         WHERE seq >= ?1 AND record = 'event' AND severity IN ({}) AND kind <> '{}'
         ORDER BY seq LIMIT {EVENTS_AT_ONCE}",
        day.name,
        names(|severity| severity <= level),
        Kind::RecordsRemoved
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([sql_int(from)], |row| Ok((unsigned(row, 0)?, row.get(1)?)))?;
    rows.collect()
}

/// The severities that `are` so, as SQL has them in a list.
fn names(are: impl Fn(Severity) -> bool) -> String {
    let severities = Severity::ALL.into_iter().filter(|severity| are(*severity));
    let names: Vec<_> = severities.map(|severity| format!("'{severity}'")).collect();
    names.join(",")
}

/// Makes ranges of rising numbers.
fn ranges(conn: &Connection, table: &Day, seqs: &[u64]) -> rusqlite::Result<Vec<Range>> {
    let sql = format!("SELECT hash FROM \"{}\" WHERE seq = ?1", table.name);
    let mut hash_of = conn.prepare_cached(&sql)?;
    let runs = seqs.chunk_by(|a, b| a + 1 == *b);
    let runs = runs.filter_map(|run| Some((*run.first()?, *run.last()?, run.len() as u64)));
    runs.map(|(first, last, records)| {
        let hash = hash_of.query_row([sql_int(last)], |row| row.get::<_, [u8; 32]>(0))?;
        Ok(Range {
            first,
            last,
            hash: Hash(hash),
            records,
        })
    })
    .collect()
}

/// The day after whose end each table counts as old. Where the clock had been behind, the
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
