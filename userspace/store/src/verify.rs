use std::collections::HashMap;
use std::fmt;

use rusqlite::{Row, Transaction};

use crate::columns::Columns;
use crate::removal::each_removed;
use crate::schema::{CREATE, Day, EPOCHS, SCHEMA, SCHEMA_WITHOUT_EPOCHS, sql_int, unsigned};
use crate::{Hash, Reader, StoreError};

/// What [`Reader::verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Tables walked: one or more a day.
    pub days: usize,
    /// Records found good.
    pub records: u64,
    /// Number of the first record kept; 0 if the store is empty.
    pub first_seq: u64,
    /// Number of the last good record; 0 if there is none.
    pub last_seq: u64,
    /// Its hash. A copy of number and hash outside the store shows, by
    /// [`Reader::hash_at`], whether the end was cut off; the chain alone cannot.
    pub last_hash: Hash,
    /// Records that are not there, as records of the chain say.
    pub removed: u64,
    /// The first thing that is wrong; the walk stops there.
    pub fault: Option<Fault>,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.fault.is_none()
    }
}

/// Where and why a chain is broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The first bad record, as far as one can be named.
    pub seq: Option<u64>,
    /// Table of the day.
    pub day: Option<String>,
    /// Why.
    pub why: Why,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(seq) = self.seq {
            write!(f, "record {seq}: ")?;
        }
        if let Some(day) = &self.day {
            write!(f, "day {day}: ")?;
        }
        write!(f, "{}", self.why)
    }
}

/// Why a chain is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Why {
    /// The stored hash is not that of the record and its predecessor.
    #[error("the hash is not that of the record after the one before it; one of them was changed")]
    HashMismatch,
    /// Records are missing.
    #[error("missing; the next record there is {found}")]
    Gap {
        /// The number that stands where the missing one should.
        found: u64,
    },
    /// The day does not continue the one before it.
    #[error("its opening hash is not the hash of the last record of the day before")]
    OpeningHash,
    /// The first records are not there, and no record says that they were removed.
    #[error("the records before it are missing, and no record says that they were removed")]
    Beginning,
    /// The day's first number is not the one after the last of the day before.
    #[error("it should open with record {expected}, table `days` says {found}")]
    FirstSeq {
        /// One more than the last record of the day before.
        expected: u64,
        /// What `days` has.
        found: u64,
    },
    /// A table in between is missing.
    #[error("the day before it is missing from table `days`")]
    MissingDay,
    /// The day's table is missing.
    #[error("its table is missing")]
    MissingTable,
    /// The day has no records, so they were deleted.
    #[error("it has no records")]
    EmptyDay,
    /// Name and date of the day do not belong together.
    #[error("its date in table `days` was changed")]
    Date,
    /// A table, index or trigger that does not belong to the store; a day's that `days` does not
    /// list, for example.
    #[error("`{0}` does not belong to any day or to the store")]
    Unlisted(String),
    /// A table or an index is not as this crate makes it, or missing.
    #[error("table or index `{0}` was changed or removed")]
    Schema(String),
    /// A column differs from the record.
    #[error("column `{0}` does not say what the record says")]
    Column(&'static str),
    /// The body is no record.
    #[error("the body is no record in JSON")]
    NotARecord,
    /// SQLite finds the file damaged, for example an index that does not fit its table.
    #[error("the file is damaged: {0}")]
    File(String),
}

impl Reader {
    /// Walks the whole chain from the first day kept, and checks the file and its indexes.
    ///
    /// Reads everything; meanwhile the writer can append but not empty its WAL.
    ///
    /// # Errors
    /// Only where reading is not possible at all; whatever is wrong with the content is in
    /// [`VerifyReport::fault`].
    pub fn verify(&self) -> Result<VerifyReport, StoreError> {
        let mut walk = Walk::default();
        let result = match self.snapshot() {
            Ok((tx, days)) => walk.all(&tx, &days).map_err(|e| self.sqlite(e)),
            Err(e) => Err(e),
        };
        match result {
            Err(StoreError::Corrupt { why, .. }) => walk.fault(None, None, Why::File(why)),
            other => other?,
        }
        Ok(walk.report)
    }
}

struct Walk {
    report: VerifyReport,
    /// Number and hash of the record before, once there is one.
    before: Option<(u64, Hash)>,
    /// What the records say of those that were removed: by the first number of a range its last, and
    /// the hash of that.
    removed: HashMap<u64, Vec<(u64, Hash)>>,
    /// Whether a beginning that is missing must be explained.
    explained: bool,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            report: VerifyReport::default(),
            before: None,
            removed: HashMap::new(),
            explained: true,
        }
    }
}

impl Walk {
    fn all(&mut self, tx: &Transaction<'_>, days: &[Day]) -> rusqlite::Result<()> {
        self.schema(tx, days)?;
        if self.report.fault.is_some() {
            return Ok(());
        }
        self.removals(tx, days)?;
        let mut n = None;
        for (at, day) in days.iter().enumerate() {
            if self.report.fault.is_some() {
                return Ok(());
            }
            if n.is_some_and(|n| day.n != n + 1) {
                self.fault(None, Some(day), Why::MissingDay);
                return Ok(());
            }
            n = Some(day.n);
            self.day(tx, day, days.get(at + 1))?;
        }
        if self.report.fault.is_none() {
            let result: String = tx.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if result != "ok" {
                self.fault(None, None, Why::File(result));
            }
        }
        Ok(())
    }

    /// The tables, and the indexes that queries go by, are those that this crate makes; nothing
    /// else is there, such as a trigger.
    fn schema(&mut self, tx: &Transaction<'_>, days: &[Day]) -> rusqlite::Result<()> {
        let mut found = tx
            .prepare(
                "SELECT name, sql FROM sqlite_master
                 WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'",
            )?
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<HashMap<String, String>>>()?;
        if let Some(day) = days.iter().find(|day| !found.contains_key(&day.name)) {
            self.fault(Some(day.first_seq), Some(day), Why::MissingTable);
            return Ok(());
        }
        let of_day = |day| (Some(day), Day::create_sql(day));
        let schema: String =
            tx.query_row("SELECT value FROM meta WHERE key = 'schema'", [], |row| {
                row.get(0)
            })?;
        let epochs =
            (schema != SCHEMA_WITHOUT_EPOCHS.to_string()).then(|| (None, EPOCHS.to_owned()));
        self.explained = schema == SCHEMA.to_string();
        let fixed = std::iter::once((None, CREATE.to_owned())).chain(epochs);
        let wanted = fixed.chain(days.iter().map(of_day));
        for (day, sql) in wanted {
            for sql in sql.split(';').map(str::trim).filter(|s| !s.is_empty()) {
                let name = name_of(sql);
                if found.remove(name).as_deref() != Some(sql) {
                    self.fault(None, day, Why::Schema(name.to_owned()));
                    return Ok(());
                }
            }
        }
        for day in days {
            let sql = day.incident_index();
            let name = name_of(&sql);
            // No query says that it is there.
            if found.remove(name).is_some_and(|found| found != sql) {
                self.fault(None, Some(day), Why::Schema(name.to_owned()));
                return Ok(());
            }
        }
        if let Some(name) = found.into_keys().min() {
            self.fault(None, None, Why::Unlisted(name));
        }
        Ok(())
    }

    /// Reads which records were removed. The walk checks the records that say so like all others.
    fn removals(&mut self, tx: &Transaction<'_>, days: &[Day]) -> rusqlite::Result<()> {
        for day in days {
            each_removed(tx, &day.name, |range, hash| {
                let of = self.removed.entry(range.first).or_default();
                of.push((range.last, hash));
            })?;
        }
        Ok(())
    }

    /// Goes from record `seq`, which is not there, over those that were removed, up to `end`, which is
    /// there or begins the next table.
    fn pass_over(&mut self, mut seq: u64, mut hash: Hash, end: u64) -> (u64, Hash) {
        while seq < end {
            let ranges = self.removed.get(&seq).into_iter().flatten();
            let fitting = ranges.filter(|(last, _)| (seq..end).contains(last));
            let Some((last, of_last)) = fitting.max_by_key(|(last, _)| *last) else {
                break;
            };
            self.report.removed += last + 1 - seq;
            (seq, hash) = (last + 1, *of_last);
        }
        (seq, hash)
    }

    fn day(&mut self, tx: &Transaction<'_>, day: &Day, next: Option<&Day>) -> rusqlite::Result<()> {
        if let Some(why) = self.opening(day) {
            self.fault(Some(day.first_seq), Some(day), why);
            return Ok(());
        }
        let (mut seq, mut hash) = (day.first_seq, day.opening);
        let sql = format!(
            "SELECT seq, hash, body, record, event_id, time_ns, kind, severity, pci
             FROM \"{}\" ORDER BY seq",
            day.name
        );
        let mut statement = tx.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            if let Ok(found) = unsigned(row, 0) {
                (seq, hash) = self.pass_over(seq, hash, found);
            }
            match check(row, seq, hash)? {
                Ok(next) => hash = next,
                Err(why) => {
                    self.fault(Some(seq), Some(day), why);
                    return Ok(());
                }
            }
            if self.report.first_seq == 0 {
                self.report.first_seq = seq;
            }
            (self.report.last_seq, self.report.last_hash) = (seq, hash);
            self.report.records += 1;
            seq += 1;
        }
        if let Some(next) = next {
            (seq, hash) = self.pass_over(seq, hash, next.first_seq);
        }
        if seq == day.first_seq {
            self.fault(Some(seq), Some(day), Why::EmptyDay);
            return Ok(());
        }
        self.before = Some((seq - 1, hash));
        self.report.days += 1;
        Ok(())
    }

    /// What is wrong with the way the day opens.
    fn opening(&mut self, day: &Day) -> Option<Why> {
        if (day.n == 1) != (day.first_seq == 1) {
            return Some(Why::MissingDay);
        }
        // For the first day kept, only the first record shows whether the opening is right.
        let before = match self.before {
            None if day.n == 1 => Some((0, Hash::GENESIS)),
            before => before,
        };
        if before.is_none() && self.explained {
            let removed_range = (day.first_seq - 1, day.opening);
            if !self
                .removed
                .get(&1)
                .is_some_and(|of| of.contains(&removed_range))
            {
                return Some(Why::Beginning);
            }
            self.report.removed = day.first_seq - 1;
        }
        if let Some((seq, hash)) = before {
            if day.first_seq != seq + 1 {
                return Some(Why::FirstSeq {
                    expected: seq + 1,
                    found: day.first_seq,
                });
            }
            if day.opening != hash {
                return Some(Why::OpeningHash);
            }
        }
        (!day.name_fits()).then_some(Why::Date)
    }

    fn fault(&mut self, seq: Option<u64>, day: Option<&Day>, why: Why) {
        self.report.fault.get_or_insert(Fault {
            seq,
            day: day.map(|d| d.name.clone()),
            why,
        });
    }
}

/// What `CREATE TABLE name(` and `CREATE INDEX "name" ON` name.
fn name_of(create: &str) -> &str {
    let rest = create.splitn(3, ' ').nth(2).unwrap_or("");
    let end = rest.find(['(', ' ']).unwrap_or(rest.len());
    rest[..end].trim_matches('"')
}

/// The record's hash, if the row is what the chain wants at `seq`.
fn check(row: &Row<'_>, seq: u64, before: Hash) -> rusqlite::Result<Result<Hash, Why>> {
    let found: i64 = row.get(0)?;
    if found != sql_int(seq) {
        return Ok(Err(Why::Gap {
            found: u64::try_from(found).unwrap_or(0),
        }));
    }
    // Whatever has the wrong type cannot have been hashed either.
    let (Ok(stored), Ok(body)) = (row.get_ref(1)?.as_blob(), row.get_ref(2)?.as_bytes()) else {
        return Ok(Err(Why::HashMismatch));
    };
    let hash = before.link(seq, body);
    if Hash::from_slice(stored) != Some(hash) {
        return Ok(Err(Why::HashMismatch));
    }
    let Some(columns) = std::str::from_utf8(body).ok().and_then(Columns::of_json) else {
        return Ok(Err(Why::NotARecord));
    };
    Ok(match wrong_column(row, &columns)? {
        Some(name) => Err(Why::Column(name)),
        None => Ok(hash),
    })
}

fn wrong_column(row: &Row<'_>, want: &Columns<'_>) -> rusqlite::Result<Option<&'static str>> {
    let texts = [
        (3, "record", Some(&want.record)),
        (4, "event_id", Some(&want.event_id)),
        (6, "kind", want.kind.as_ref()),
        (7, "severity", want.severity.as_ref()),
        (8, "pci", want.pci.as_ref()),
    ];
    for (i, name, want) in texts {
        let found = row.get_ref(i)?.as_str_or_null();
        if !found.is_ok_and(|found| found == want.map(AsRef::as_ref)) {
            return Ok(Some(name));
        }
    }
    let time = row.get_ref(5)?.as_i64();
    Ok((!time.is_ok_and(|t| t == want.time_ns)).then_some("time_ns"))
}
