//! Batches of many hosts into the database, in one transaction.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use gtrace_event::{Epoch, HealthNews, HealthRecord, Occasion, SubjectKind, Timestamp};
use gtrace_fleet::{Batch, Carried, Gap, History, Position, Taken, Verdict, judge};
use gtrace_store::Hash;
use serde::Deserialize;

use super::bounds;
use super::lost;
use super::notes::{Took, announce};
use super::schema::APPENDED;
use super::sql::{DbError, Sql, Value};
use super::{CLOCK_AHEAD_NS, DAY_NS, Database, epoch_position, nanos, position};

/// 2024-01-01, in days since 1970: there was no gtrace before.
const FIRST_DAY: i64 = 19_723;
/// Of a batch that does not follow its chain, so many faults are kept.
const FAULTS_A_BATCH: usize = 16;
/// Epochs of a host that are known, those whose records came last; those of one batch stay together. The beginning of a store whose
/// epoch is known no more would be taken again, so these are more than the starts of a daemon in years.
const EPOCHS_MAX: usize = 4096;
/// Faults of a host that are kept, the newest; those of one transaction stay together.
const FAULTS_MAX: usize = 100;
/// Gaps of a host that are kept, the newest; those first that nothing explains.
const GAPS_MAX: usize = 100;

/// A batch of the host with this number.
#[derive(Debug)]
pub struct Arrived {
    /// Whose it is, by the credential that came with it.
    pub host: i64,
    /// The batch.
    pub batch: Batch,
    /// When it came from the host: what waited in a stream is older than its transaction.
    pub seen: Timestamp,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ingested {
    /// What the host should go on after.
    pub cursor: Option<Position>,
    /// How many records were new.
    pub taken: usize,
    /// Whether records before it are missing, so that nothing of it was taken.
    pub missing: bool,
}

/// What the database has of a host, within a transaction.
struct Known {
    cursor: Option<Position>,
    taken: i64,
    epochs: HashMap<Epoch, (i64, Position)>,
}

impl History for Known {
    fn cursor(&self) -> Option<Position> {
        self.cursor
    }

    fn last_of(&self, epoch: Epoch) -> Option<Position> {
        self.epochs.get(&epoch).map(|(_, last)| *last)
    }
}

/// The parts of a record that become columns.
#[derive(Deserialize)]
struct Columns<'a> {
    #[serde(borrow)]
    record: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    time: Timestamp,
    #[serde(borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    severity: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    gpu: Option<Gpu<'a>>,
    #[serde(default)]
    revision: i64,
    #[serde(default)]
    opened: Option<Timestamp>,
    #[serde(default)]
    last_time: Option<Timestamp>,
    #[serde(borrow, default)]
    state: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    class: Option<Cow<'a, str>>,
    #[serde(default)]
    drill: bool,
}

#[derive(Deserialize)]
struct Gpu<'a> {
    #[serde(borrow, default)]
    pci: Option<Cow<'a, str>>,
}

/// What an event `records_removed` says.
#[derive(Deserialize)]
struct Removal {
    detail: gtrace_event::RemovalDetail,
}

impl Database {
    /// Takes what is new of batches, all of them or none. Those of one host are taken in their order.
    ///
    /// # Errors
    /// [`DbError`]: nothing was taken, and the same call may succeed later.
    pub fn ingest(
        &mut self,
        now: Timestamp,
        batches: &[Arrived],
    ) -> Result<Vec<Ingested>, DbError> {
        let head = self.head.clone();
        self.transaction(|sql| {
            let day = day_of(sql, now)?;
            let mut ingest = Ingest {
                table: day_table(sql, day)?,
                sql,
                day,
                now: nanos(now),
                rows: Vec::new(),
                incidents: Vec::new(),
                removed: BTreeMap::new(),
            };
            // Hosts are locked by number, as other heads lock them: none waits for one that waits for it.
            let hosts: BTreeSet<i64> = batches.iter().map(|arrived| arrived.host).collect();
            let mut known = BTreeMap::<i64, Known>::new();
            for host in hosts {
                known.insert(host, load(ingest.sql, host)?);
            }
            let mut answers = Vec::with_capacity(batches.len());
            let mut took = Vec::new();
            for Arrived { host, batch, seen } in batches {
                let of_host = known.get_mut(host).ok_or_else(|| no_host(*host))?;
                let first = of_host.taken + 1;
                answers.push(ingest.one(*host, of_host, batch, *seen)?);
                took.push(Took {
                    host: *host,
                    first,
                    last: of_host.taken,
                });
            }
            ingest.append()?;
            ingest.put_incidents()?;
            took.retain(|took| took.last >= took.first);
            for took in &took {
                bounds::records(ingest.sql, took)?;
            }
            if let Some(head) = head {
                announce(ingest.sql, &head, day, &took)?;
            }
            Ok(answers)
        })
    }
}

struct Ingest<'a> {
    sql: &'a mut dyn Sql,
    table: String,
    day: i64,
    now: i64,
    rows: Vec<Vec<Value>>,
    /// Changes of incidents.
    incidents: Vec<Vec<Value>>,
    /// Of each host, number and hash of the last record of each range that it says it has removed.
    removed: BTreeMap<i64, BTreeSet<(i64, [u8; 32])>>,
}

impl Ingest<'_> {
    fn one(
        &mut self,
        host: i64,
        known: &mut Known,
        batch: &Batch,
        seen: Timestamp,
    ) -> Result<Ingested, DbError> {
        match judge(known, batch) {
            Verdict::Known(at) => Ok(Ingested {
                cursor: at.or(known.cursor),
                taken: 0,
                missing: false,
            }),
            Verdict::Missing => Ok(Ingested {
                cursor: known.cursor,
                taken: 0,
                missing: true,
            }),
            Verdict::Take(taken) => {
                self.take(host, known, batch, &taken)?;
                super::see(self.sql, host, nanos(seen), self.now)?;
                Ok(Ingested {
                    cursor: known.cursor,
                    taken: batch.records.len() - taken.from,
                    missing: false,
                })
            }
        }
    }

    fn take(
        &mut self,
        host: i64,
        known: &mut Known,
        batch: &Batch,
        taken: &Taken,
    ) -> Result<(), DbError> {
        if taken.forked {
            // Before what the batch says of them. Those that came before in this transaction are written first.
            self.put_incidents()?;
            let lost = lost::incidents(self.sql, host, super::time_of(self.now))?;
            self.incidents.extend(lost);
        }
        // The hash that a reader of the database has before the first row: that of the row before it.
        let mut previous = known.cursor.map(|cursor| cursor.hash);
        let mut epochs = Vec::new();
        let mut newest = known.epochs.values().map(|(n, _)| *n).max().unwrap_or(0);
        for record in &batch.records[taken.from..] {
            known.taken += 1;
            let entry = known.epochs.entry(record.epoch);
            let (epoch, last) = entry.or_insert_with(|| {
                newest += 1;
                (newest, record.position())
            });
            *last = record.position();
            let epoch = *epoch;
            if epochs.last() != Some(&record.epoch) {
                epochs.push(record.epoch);
            }
            self.record(host, known.taken, epoch, previous, record)?;
            previous = Some(record.hash);
        }
        for gap in &taken.gaps {
            self.gap(host, known, gap)?;
        }
        self.explain(host)?;
        if !taken.gaps.is_empty() {
            self.sql.execute(
                &format!(
                    "DELETE FROM gaps WHERE host = $1 AND (epoch, last_seq) NOT IN (SELECT epoch, last_seq FROM gaps \
                     WHERE host = $1 ORDER BY explained, epoch DESC, last_seq DESC LIMIT {GAPS_MAX})"
                ),
                &[host.into()],
            )?;
        }
        for epoch in epochs {
            let (n, last) = known.epochs[&epoch];
            self.sql.execute(
                "INSERT INTO epochs(host, n, epoch, last_seq, last_hash, last_n) VALUES ($1, $2, $3, $4, $5, $6) \
                 ON CONFLICT (host, epoch) DO UPDATE SET last_seq = excluded.last_seq, \
                 last_hash = excluded.last_hash, last_n = excluded.last_n",
                &[
                    host.into(),
                    n.into(),
                    epoch.to_string().into(),
                    int(last.id.seq).into(),
                    last.hash.0.as_slice().into(),
                    known.taken.into(),
                ],
            )?;
        }
        if known.epochs.len() > EPOCHS_MAX {
            self.keep_newest(host, ("epochs", "last_n"), EPOCHS_MAX)?;
        }
        for fault in taken.faults.iter().take(FAULTS_A_BATCH) {
            self.sql.execute(
                "INSERT INTO faults(host, time_ns, text) VALUES ($1, $2, $3)",
                &[host.into(), self.now.into(), fault.to_string().into()],
            )?;
        }
        if !taken.faults.is_empty() {
            self.keep_newest(host, ("faults", "time_ns"), FAULTS_MAX)?;
        }
        known.cursor = Some(taken.cursor);
        self.sql.execute(
            "UPDATE hosts SET cursor = $1, taken = $2, tip = $3, forks = forks + $4 WHERE id = $5",
            &[
                taken.cursor.to_string().into(),
                known.taken.into(),
                int(batch.tip).into(),
                i64::from(taken.forked).into(),
                host.into(),
            ],
        )?;
        Ok(())
    }

    /// Deletes what a table has of a host beyond its newest rows by this column. What ties with the oldest of these stays.
    fn keep_newest(
        &mut self,
        host: i64,
        (table, by): (&str, &str),
        most: usize,
    ) -> Result<(), DbError> {
        let older = format!(
            "DELETE FROM {table} WHERE host = $1 AND {by} < (SELECT {by} FROM {table} WHERE host = $1 \
             ORDER BY {by} DESC LIMIT 1 OFFSET {most} - 1)"
        );
        self.sql.execute(&older, &[host.into()])?;
        Ok(())
    }

    fn record(
        &mut self,
        host: i64,
        n: i64,
        epoch: i64,
        previous: Option<Hash>,
        record: &Carried,
    ) -> Result<(), DbError> {
        // What a newer gtrace wrote is kept all the same.
        let columns = serde_json::from_str::<Columns<'_>>(&record.body).ok();
        let prior = (previous != Some(record.before)).then_some(record.before.0.as_slice());
        let text =
            |text: Option<&Cow<'_, str>>| Value::from(text.map(|t| &**t).filter(|text| fits(text)));
        let of = columns.as_ref();
        self.rows.push(vec![
            self.day.into(),
            host.into(),
            n.into(),
            epoch.into(),
            int(record.seq).into(),
            prior.into(),
            record.hash.0.as_slice().into(),
            of.map(|c| &*c.record)
                .filter(|record| fits(record))
                .unwrap_or("unknown")
                .into(),
            text(of.map(|c| &c.id)),
            text(of.and_then(|c| c.kind.as_ref())),
            text(of.and_then(|c| c.severity.as_ref())),
            text(of.and_then(|c| c.gpu.as_ref()?.pci.as_ref())),
            of.map_or(self.now, |c| nanos(c.time)).into(),
            record.body.as_str().into(),
        ]);
        match of {
            Some(c) if c.record == "incident" => {
                self.incident(host, c, &record.body);
                Ok(())
            }
            Some(c) if c.record == "health" => self.reset(host, nanos(c.time), &record.body),
            Some(c) if c.kind.as_deref() == Some("records_removed") => {
                self.removal(host, &record.body);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Notes that a GPU was reset, if the record of health says so.
    fn reset(&mut self, host: i64, time_ns: i64, body: &str) -> Result<(), DbError> {
        // Most records of health are of something else, and some are long.
        let Some(health) = body
            .contains("\"gpu_reset\"")
            .then(|| serde_json::from_str::<HealthRecord>(body).ok())
            .flatten()
        else {
            return Ok(());
        };
        match health.news {
            HealthNews::Observed {
                occasion: Occasion::GpuReset { subject },
            } if subject.part == SubjectKind::Gpu => {
                super::tallies::note_reset(self.sql, host, &subject.name, time_ns.min(self.now))
            }
            _ => Ok(()),
        }
    }

    fn incident(&mut self, host: i64, of: &Columns<'_>, body: &str) {
        let texts = [Some(&of.id), of.state.as_ref(), of.class.as_ref()];
        // It is a record, and none of the incidents.
        if !texts.into_iter().flatten().all(|text| fits(text)) {
            return;
        }
        // A host whose clock is ahead, or that says so, is not the newest for years.
        let latest = self.now.saturating_add(CLOCK_AHEAD_NS);
        let time = |time: Option<Timestamp>| nanos(time.unwrap_or(of.time)).min(latest);
        self.incidents.push(vec![
            host.into(),
            of.id.as_ref().into(),
            of.revision.into(),
            time(of.opened).into(),
            time(of.last_time).into(),
            of.state.as_deref().unwrap_or("open").into(),
            of.class.as_deref().unwrap_or("unknown").into(),
            i64::from(of.drill).into(),
            body.into(),
        ]);
    }

    /// Writes changes of incidents, of which the last that came is the newest: a store that lost its newest records counts revisions anew from
    /// those that are left. They have a number that is taken at the end of the transaction, under a lock until its end: who has read up to a
    /// number misses nothing.
    fn put_incidents(&mut self) -> Result<(), DbError> {
        let incidents = std::mem::take(&mut self.incidents);
        if incidents.is_empty() {
            return Ok(());
        }
        let next = "UPDATE meta SET value = value + 1 WHERE key = 'incident_changes'";
        self.sql.execute(next, &[])?;
        let (changed, _) = super::tallies::changes(self.sql)?;
        let hosts: BTreeSet<i64> = incidents.iter().map(|row| row[0].int()).collect();
        for mut row in incidents {
            row.push(changed.into());
            self.sql.execute(
                "INSERT INTO incidents(host, id, revision, opened_ns, last_ns, state, class, drill, body, changed) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
                 ON CONFLICT (host, id) DO UPDATE SET revision = excluded.revision, last_ns = excluded.last_ns, \
                 state = excluded.state, class = excluded.class, drill = excluded.drill, body = excluded.body, \
                 changed = excluded.changed",
                &row,
            )?;
        }
        for host in hosts {
            bounds::incidents(self.sql, host)?;
        }
        Ok(())
    }

    /// A gap, which a record may explain that was taken before it: a store removes what is old, and says so at its end.
    fn gap(&mut self, host: i64, known: &Known, gap: &Gap) -> Result<(), DbError> {
        let epoch = known.epochs.get(&gap.epoch).map_or(0, |(n, _)| *n);
        let parameters = [
            host.into(),
            epoch.into(),
            int(gap.first).into(),
            int(gap.last).into(),
            gap.hash.0.as_slice().into(),
        ];
        self.sql
            .execute(
                "INSERT INTO gaps(host, epoch, first_seq, last_seq, hash, explained) VALUES ($1, $2, $3, $4, $5, 0) \
                 ON CONFLICT (host, epoch, last_seq) DO NOTHING",
                &parameters,
            )
            .map(drop)
    }

    /// Notes what a record says was removed.
    fn removal(&mut self, host: i64, body: &str) {
        let Ok(removal) = serde_json::from_str::<Removal>(body) else {
            return;
        };
        let ranges = removal.detail.removed.iter();
        let removed = ranges.filter_map(|r| Some((int(r.last), Hash::from_hex(&r.hash)?.0)));
        self.removed.entry(host).or_default().extend(removed);
    }

    /// Explains gaps by what was removed: number and hash of the last record of a range are those that the record after it goes on from. Gaps
    /// are few, and a host may list any number of ranges.
    fn explain(&mut self, host: i64) -> Result<(), DbError> {
        let Some(removed) = self.removed.get(&host) else {
            return Ok(());
        };
        let gaps = "SELECT last_seq, hash FROM gaps WHERE host = $1 AND explained = 0";
        for gap in self.sql.rows(gaps, &[host.into()])? {
            let hash = <[u8; 32]>::try_from(gap[1].bytes());
            if hash.is_ok_and(|hash| removed.contains(&(gap[0].int(), hash))) {
                self.sql.execute(
                    "UPDATE gaps SET explained = 1 WHERE host = $1 AND last_seq = $2 AND hash = $3",
                    &[host.into(), gap[0].clone(), gap[1].clone()],
                )?;
            }
        }
        Ok(())
    }

    fn append(&mut self) -> Result<(), DbError> {
        let rows = std::mem::take(&mut self.rows);
        match rows.is_empty() {
            true => Ok(()),
            false => self
                .sql
                .append(&self.table, &APPENDED, &mut rows.into_iter()),
        }
    }
}

/// Whether a column takes it: PostgreSQL takes no NUL, and none of its indexes what is long. The body has it all the same.
fn fits(text: &str) -> bool {
    text.len() <= 256 && !text.contains('\0')
}

fn int(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// What is known of a host, whose row is locked for as long as the transaction is open.
fn load(sql: &mut dyn Sql, host: i64) -> Result<Known, DbError> {
    sql.execute(
        "UPDATE hosts SET taken = taken WHERE id = $1",
        &[host.into()],
    )?;
    let rows = sql.rows(
        "SELECT cursor, taken FROM hosts WHERE id = $1",
        &[host.into()],
    )?;
    let row = rows.first().ok_or_else(|| no_host(host))?;
    let epochs = sql.rows(
        "SELECT epoch, last_seq, last_hash, n FROM epochs WHERE host = $1",
        &[host.into()],
    )?;
    let of = |row: &Vec<Value>| {
        let last = epoch_position(&row[0], &row[1], &row[2])?;
        Some((last.id.epoch, (row[3].int(), last)))
    };
    Ok(Known {
        cursor: position(&row[0]),
        taken: row[1].int(),
        epochs: epochs.iter().filter_map(of).collect(),
    })
}

fn no_host(host: i64) -> DbError {
    DbError::Corrupt(format!("no host {host}"))
}

/// The day whose table takes what comes now: by a clock that cannot be right yet the newest that there is, as retention would drop another
/// one as soon as the clock is.
fn day_of(sql: &mut dyn Sql, now: Timestamp) -> Result<i64, DbError> {
    let day = nanos(now).div_euclid(DAY_NS);
    if day >= FIRST_DAY {
        return Ok(day);
    }
    let newest = sql.number("SELECT max(day) FROM days", &[])?;
    Ok(newest.max(FIRST_DAY))
}

/// The table of the day, made where it is not there yet.
fn day_table(sql: &mut dyn Sql, day: i64) -> Result<String, DbError> {
    let rows = sql.rows("SELECT name FROM days WHERE day = $1", &[day.into()])?;
    if let Some(row) = rows.first() {
        return Ok(row[0].text().to_owned());
    }
    let date = super::time_of(day.saturating_mul(DAY_NS));
    let name = format!("records_{}", date.strftime("%Y%m%d"));
    // Locks: of two heads at midnight the second waits here, and finds it.
    let made = sql.execute(
        "INSERT INTO days(day, name) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING",
        &[day.into(), name.as_str().into()],
    )?;
    if made > 0 {
        let table = sql.day_table(&name, day);
        sql.batch(&format!(
            "{table} CREATE INDEX {name}_time ON {name}(time_ns) WHERE record = 'event'; \
             CREATE INDEX {name}_later ON {name}(subject) WHERE record = 'amendment' OR record = 'ack'; \
             CREATE INDEX {name}_raised ON {name}(severity, subject) WHERE record = 'amendment' AND severity IS NOT NULL;"
        ))?;
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::db::sql::Kind;
    use crate::db::testing::{first_batch, with_hosts};

    /// A connection whose statements are counted.
    struct Counted(Box<dyn Sql>, Arc<AtomicUsize>);

    impl Sql for Counted {
        fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<u64, DbError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.execute(sql, parameters)
        }

        fn query(
            &mut self,
            sql: &str,
            parameters: &[Value],
            row: &mut dyn FnMut(Vec<Value>) -> bool,
        ) -> Result<(), DbError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.query(sql, parameters, row)
        }

        fn batch(&mut self, sql: &str) -> Result<(), DbError> {
            self.0.batch(sql)
        }

        fn append(
            &mut self,
            table: &str,
            columns: &[(&str, Kind)],
            rows: &mut dyn Iterator<Item = Vec<Value>>,
        ) -> Result<(), DbError> {
            self.0.append(table, columns, rows)
        }

        fn day_table(&self, name: &str, day: i64) -> String {
            self.0.day_table(name, day)
        }

        fn bytes_type(&self) -> &'static str {
            self.0.bytes_type()
        }
    }

    #[test]
    fn what_came_before_the_clock_was_right_is_not_dropped_as_old() {
        let (_dir, mut database) = with_hosts(&["a", "b"]);
        let now = Timestamp::now();
        // The head starts in 1970, for a minute.
        for (host, now) in [(0, now), (1, Timestamp::UNIX_EPOCH)] {
            let batch = first_batch(host, ["{}"], now);
            database.ingest(now, &[batch]).unwrap();
        }
        let today = nanos(now).div_euclid(DAY_NS);
        assert_eq!(database.retain(today - 30).unwrap(), 0);
        assert_eq!(database.verify(1, "b").unwrap().records, 1);
    }

    #[test]
    fn a_gap_is_explained_among_any_number_of_ranges_by_a_few_statements() {
        let (_dir, database) = with_hosts(&["a"]);
        let count = Arc::<AtomicUsize>::default();
        let mut database = Database {
            sql: Box::new(Counted(database.sql, Arc::clone(&count))),
            ..database
        };
        let now = Timestamp::now();
        let removed_last = Hash::GENESIS.link(4, b"gone");
        let range = |n: u64, hash: Hash| format!(r#"{{"first":1,"last":{n},"hash":"{hash}"}}"#);
        let mut ranges: Vec<String> = (100..5_000).map(|n| range(n, Hash::GENESIS)).collect();
        ranges.push(range(4, removed_last));
        let removal = format!(
            r#"{{"record":"event","id":"e","time":"{now}","kind":"records_removed","detail":{{"removed":[{}]}}}}"#,
            ranges.join(",")
        );
        let mut arrived = first_batch(0, ["{}"], now);
        let epoch = arrived.batch.records[0].epoch;
        // Two gaps, of which the record explains one.
        let mut push = |seq: u64, before: Hash, body: &str| {
            let record = Carried::new(epoch, seq, before, body.to_owned());
            arrived.batch.records.push(record);
        };
        push(5, removed_last, "{}");
        push(9, Hash::GENESIS, "{}");
        let last = Carried::new(epoch, 9, Hash::GENESIS, "{}".to_owned()).hash;
        push(10, last, &removal);
        let taken = database.ingest(now, &[arrived]).unwrap();
        assert_eq!(taken[0].taken, 4);
        let count = count.load(Ordering::Relaxed);
        assert!(count < 50, "{count} statements");
        assert_eq!(database.host("a").unwrap().unwrap().open_gaps, 1);
    }
}
