//! Whether what is kept of a host is what the host had.

use gtrace_store::Hash;
use serde::{Deserialize, Serialize};

use super::Database;
use super::sql::{DbError, Value};

/// What verifying the records of a host found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainReport {
    /// The host.
    pub host: String,
    /// Records whose hash was computed anew.
    pub records: u64,
    /// Numbers that no record of the host explains, as ranges.
    pub unexplained: Vec<(u64, u64)>,
    /// What is wrong.
    pub faults: Vec<String>,
}

impl ChainReport {
    /// Whether all is as the host had it.
    pub fn is_whole(&self) -> bool {
        self.faults.is_empty() && self.unexplained.is_empty()
    }
}

impl Database {
    /// Computes the hash of each record of `host` anew, and compares it with the one after it and with the newest that
    /// the host gave.
    pub fn verify(&mut self, id: i64, host: &str) -> Result<ChainReport, DbError> {
        // One view of the database: records come meanwhile.
        self.sql.batch(match self.sql.bytes_type() {
            "BLOB" => "BEGIN",
            _ => "BEGIN ISOLATION LEVEL REPEATABLE READ",
        })?;
        let done = self.verify_now(id, host);
        let _ = self.sql.batch("COMMIT");
        done
    }

    fn verify_now(&mut self, id: i64, host: &str) -> Result<ChainReport, DbError> {
        let mut report = ChainReport {
            host: host.to_owned(),
            ..ChainReport::default()
        };
        let mut last: Option<(i64, Hash)> = None;
        for tables in self.in_order(id)? {
            let of = |table: &String| {
                format!("SELECT n, seq, prior, hash, body FROM {table} WHERE host = $1")
            };
            let all: Vec<String> = tables.iter().map(of).collect();
            let sql = format!("{} ORDER BY n", all.join(" UNION ALL "));
            self.sql.query(&sql, &[id.into()], &mut |row| {
                check(&mut report, &mut last, &row);
                // One is enough to know, and a thousand are no better.
                report.faults.len() < 100
            })?;
        }
        let cursor = self.cursor(id)?;
        // Without any record, retention has taken all.
        if let (Some((_, hash)), Some(cursor)) = (last, cursor)
            && hash != cursor.hash
        {
            report.faults.push(format!(
                "the newest record here is not the one that was taken last ({})",
                cursor.id
            ));
        }
        let gaps = self.sql.rows(
            "SELECT first_seq, last_seq FROM gaps WHERE host = $1 AND explained = 0 ORDER BY first_seq",
            &[id.into()],
        )?;
        let range = |row: &Vec<Value>| (row[0].int().unsigned_abs(), row[1].int().unsigned_abs());
        report.unexplained = gaps.iter().map(range).collect();
        let faults = self.sql.rows(
            "SELECT text FROM faults WHERE host = $1 ORDER BY time_ns LIMIT 100",
            &[id.into()],
        )?;
        report
            .faults
            .extend(faults.iter().map(|row| row[0].text().to_owned()));
        Ok(report)
    }
}

impl Database {
    /// The tables with records of a host, by the numbers of these. Those whose numbers overlap are together: a table is that of the day
    /// by the clock of the head that took a record, and clocks are set, and differ.
    pub(super) fn in_order(&mut self, id: i64) -> Result<Vec<Vec<String>>, DbError> {
        let mut ranges = Vec::new();
        for table in self.tables()? {
            let sql = format!(
                "SELECT (SELECT min(n) FROM {table} WHERE host = $1), (SELECT max(n) FROM {table} WHERE host = $1)"
            );
            let rows = self.sql.rows(&sql, &[id.into()])?;
            let range = rows
                .first()
                .and_then(|row| Some((row[0].opt_int()?, row[1].opt_int()?)));
            ranges.extend(range.map(|(first, last)| (first, last, table)));
        }
        ranges.sort_unstable();
        let mut groups: Vec<Vec<String>> = Vec::new();
        let mut end = i64::MIN;
        for (first, last, table) in ranges {
            match groups.last_mut() {
                Some(group) if first <= end => group.push(table),
                _ => groups.push(vec![table]),
            }
            end = end.max(last);
        }
        Ok(groups)
    }
}

fn check(report: &mut ChainReport, last: &mut Option<(i64, Hash)>, row: &[Value]) {
    let (n, seq) = (row[0].int(), row[1].int().unsigned_abs());
    let Ok(hash) = <[u8; 32]>::try_from(row[3].bytes()).map(Hash) else {
        report.faults.push(format!("record {seq} has no hash"));
        return;
    };
    if let Some((before, _)) = last
        && *before + 1 != n
    {
        report.faults.push(format!(
            "{} records before record {seq} are missing here",
            n - *before - 1
        ));
    }
    let prior = match row[2].bytes().try_into().map(Hash) {
        Ok(prior) => Some(prior),
        // It goes on from the row before it; where retention took that, it is taken for what it is.
        Err(_) => last
            .filter(|(before, _)| *before + 1 == n)
            .map(|(_, hash)| hash),
    };
    if prior.is_some_and(|prior| prior.link(seq, row[4].text().as_bytes()) != hash) {
        report
            .faults
            .push(format!("record {seq} was changed in the fleet's database"));
    }
    report.records += 1;
    *last = Some((n, hash));
}
