use std::collections::HashMap;
use std::fmt;

use rusqlite::{Row, Transaction};

use crate::columns::Columns;
use crate::schema::{CREATE, Day, sql_int};
use crate::{Hash, Reader, StoreError};

/// What [`Reader::verify`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    /// Days walked.
    pub days: usize,
    /// Records found good.
    pub records: u64,
    /// Number of the first record kept; 0 if the store is empty.
    pub first_seq: u64,
    /// Number of the last good record; 0 if there is none.
    pub last_seq: u64,
    /// Its hash. A pair of number and hash that was kept elsewhere shows, by
    /// [`Reader::hash_at`], whether the end was cut off; the chain alone cannot.
    pub last_hash: Hash,
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
    /// The day's first number is not the one after the last of the day before.
    #[error("it should open with record {expected}, table `days` says {found}")]
    FirstSeq {
        /// One more than the last record of the day before.
        expected: u64,
        /// What `days` says.
        found: u64,
    },
    /// A day in between is missing.
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
    /// A column says something else than the record.
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
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            report: VerifyReport {
                days: 0,
                records: 0,
                first_seq: 0,
                last_seq: 0,
                last_hash: Hash::GENESIS,
                fault: None,
            },
            before: None,
        }
    }
}

impl Walk {
    fn all(&mut self, tx: &Transaction<'_>, days: &[Day]) -> rusqlite::Result<()> {
        self.schema(tx, days)?;
        let mut n = None;
        for day in days {
            if self.report.fault.is_some() {
                return Ok(());
            }
            if n.is_some_and(|n| day.n != n + 1) {
                self.fault(None, Some(day), Why::MissingDay);
                return Ok(());
            }
            n = Some(day.n);
            self.day(tx, day)?;
        }
        if self.report.fault.is_none() {
            let said: String = tx.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            if said != "ok" {
                self.fault(None, None, Why::File(said));
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
        let wanted = std::iter::once((None, CREATE.to_owned())).chain(days.iter().map(of_day));
        for (day, sql) in wanted {
            for sql in sql.split(';').map(str::trim).filter(|s| !s.is_empty()) {
                let name = name_of(sql);
                if found.remove(name).as_deref() != Some(sql) {
                    self.fault(None, day, Why::Schema(name.to_owned()));
                    return Ok(());
                }
            }
        }
        if let Some(name) = found.into_keys().min() {
            self.fault(None, None, Why::Unlisted(name));
        }
        Ok(())
    }

    fn day(&mut self, tx: &Transaction<'_>, day: &Day) -> rusqlite::Result<()> {
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
        if seq == day.first_seq {
            self.fault(Some(seq), Some(day), Why::EmptyDay);
            return Ok(());
        }
        self.before = Some((seq - 1, hash));
        self.report.days += 1;
        Ok(())
    }

    /// What is wrong with the way the day opens.
    fn opening(&self, day: &Day) -> Option<Why> {
        if (day.n == 1) != (day.first_seq == 1) {
            return Some(Why::MissingDay);
        }
        // Of the first day kept only the first record can tell whether the opening is right.
        let before = match self.before {
            None if day.n == 1 => Some((0, Hash::GENESIS)),
            before => before,
        };
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
