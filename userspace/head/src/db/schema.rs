//! Tables of the fleet's database. `docs/fleet.md` describes them.

use super::sql::{DbError, Kind, Sql};

/// Version of the layout.
pub(super) const VERSION: i64 = 1;

/// Columns of the tables of records, beside `day`. `n` counts the records of a host in the order in which they came.
pub(super) const RECORD_COLUMNS: &str = "host BIGINT NOT NULL, n BIGINT NOT NULL, epoch BIGINT NOT NULL, \
     seq BIGINT NOT NULL, prior {bytes}, hash {bytes} NOT NULL, record TEXT NOT NULL, subject TEXT, kind TEXT, \
     severity TEXT, pci TEXT, time_ns BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (host, n)";

/// The same for appending.
pub(super) const APPENDED: [(&str, Kind); 14] = [
    ("day", Kind::Int),
    ("host", Kind::Int),
    ("n", Kind::Int),
    ("epoch", Kind::Int),
    ("seq", Kind::Int),
    ("prior", Kind::Bytes),
    ("hash", Kind::Bytes),
    ("record", Kind::Text),
    ("subject", Kind::Text),
    ("kind", Kind::Text),
    ("severity", Kind::Text),
    ("pci", Kind::Text),
    ("time_ns", Kind::Int),
    ("body", Kind::Text),
];

const TABLES: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value BIGINT NOT NULL);
CREATE TABLE hosts(
    id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, machine_id TEXT, simulated BIGINT NOT NULL,
    credential {bytes} NOT NULL, enrolled_ns BIGINT NOT NULL, revoked_ns BIGINT,
    seen_ns BIGINT, state TEXT, taken BIGINT NOT NULL, cursor TEXT, tip BIGINT NOT NULL, forks BIGINT NOT NULL);
CREATE TABLE epochs(
    host BIGINT NOT NULL, n BIGINT NOT NULL, epoch TEXT NOT NULL, last_seq BIGINT NOT NULL,
    last_hash {bytes} NOT NULL, last_n BIGINT NOT NULL, PRIMARY KEY (host, epoch));
CREATE TABLE gaps(
    host BIGINT NOT NULL, epoch BIGINT NOT NULL, first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL,
    hash {bytes} NOT NULL, explained BIGINT NOT NULL, PRIMARY KEY (host, epoch, last_seq));
CREATE TABLE faults(host BIGINT NOT NULL, time_ns BIGINT NOT NULL, text TEXT NOT NULL);
CREATE INDEX faults_host ON faults(host);
CREATE TABLE tokens(
    hash {bytes} PRIMARY KEY, host TEXT, expires_ns BIGINT NOT NULL, uses BIGINT NOT NULL, made_by TEXT NOT NULL);
CREATE TABLE incidents(
    host BIGINT NOT NULL, id TEXT NOT NULL, revision BIGINT NOT NULL, opened_ns BIGINT NOT NULL,
    last_ns BIGINT NOT NULL, state TEXT NOT NULL, class TEXT NOT NULL, drill BIGINT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (host, id));
CREATE INDEX incidents_last ON incidents(last_ns);
CREATE TABLE audit(time_ns BIGINT NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL);
CREATE TABLE days(day BIGINT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE sessions(
    id BIGINT PRIMARY KEY, name TEXT NOT NULL, hosts TEXT NOT NULL, interval_ms BIGINT NOT NULL,
    started_ns BIGINT NOT NULL, stopped_ns BIGINT);
CREATE TABLE frames(
    session BIGINT NOT NULL, host BIGINT NOT NULL, slot BIGINT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (session, slot, host));
";

/// Makes the tables where they are not there, and refuses those of a newer version.
pub(super) fn create(sql: &mut dyn Sql, partitioned: Option<&str>) -> Result<(), DbError> {
    if is_there(sql)? {
        return Ok(());
    }
    let tables = TABLES.replace("{bytes}", sql.bytes_type());
    let records = partitioned.unwrap_or_default();
    let made = sql.batch(&format!(
        "BEGIN; {tables} {records} INSERT INTO meta VALUES ('version', {VERSION}); COMMIT;"
    ));
    match made {
        Ok(()) => Ok(()),
        Err(error) => {
            drop(sql.batch("ROLLBACK"));
            // Two heads that start together: one of them finds what the other has made.
            match is_there(sql)? {
                true => Ok(()),
                false => Err(error),
            }
        }
    }
}

fn is_there(sql: &mut dyn Sql) -> Result<bool, DbError> {
    let Ok(rows) = sql.rows("SELECT value FROM meta WHERE key = 'version'", &[]) else {
        return Ok(false);
    };
    match rows.first().map(|row| row[0].int()) {
        Some(VERSION) => Ok(true),
        Some(found) if found > VERSION => Err(DbError::Newer {
            found,
            known: VERSION,
        }),
        _ => Err(DbError::Corrupt("no version".to_owned())),
    }
}
