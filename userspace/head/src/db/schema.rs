//! Tables of the fleet's database. `docs/fleet.md` describes them.

use super::sql::{DbError, Kind, Sql};

/// Version of the layout.
pub(super) const VERSION: i64 = 14;

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

pub(super) const TABLES: &str = "
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

/// From each version of the layout to the next, the first from 1 to 2. [`TABLES`] is version 1: so a new database passes the same
/// statements as an old one.
const UPGRADES: [&str; 13] = ["
ALTER TABLE sessions ADD COLUMN metrics TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN ends_ns BIGINT;
ALTER TABLE sessions ADD COLUMN origin TEXT NOT NULL DEFAULT '';
ALTER TABLE frames ADD COLUMN error_ns BIGINT NOT NULL DEFAULT 0;
",
    "
CREATE TABLE placements(
    host BIGINT NOT NULL, pci TEXT NOT NULL, uuid TEXT NOT NULL, first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL,
    exposed_ns BIGINT NOT NULL, PRIMARY KEY (host, pci, uuid));
",
    // By day, so that time goes with the failures in it. What was counted before is of the day on which it was counted last.
    "
CREATE TABLE placements_by_day(
    host BIGINT NOT NULL, pci TEXT NOT NULL, uuid TEXT NOT NULL, day BIGINT NOT NULL, first_ns BIGINT NOT NULL,
    last_ns BIGINT NOT NULL, exposed_ns BIGINT NOT NULL, PRIMARY KEY (host, pci, uuid, day));
INSERT INTO placements_by_day SELECT host, pci, uuid, last_ns / 86400000000000, first_ns, last_ns, exposed_ns FROM placements;
DROP TABLE placements;
ALTER TABLE placements_by_day RENAME TO placements;
",
    // With the versions of driver, kernel, VBIOS and firmware at that time, which were not kept before.
    "
CREATE TABLE placements_with_versions(
    host BIGINT NOT NULL, pci TEXT NOT NULL, uuid TEXT NOT NULL, day BIGINT NOT NULL, versions TEXT NOT NULL,
    first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL, exposed_ns BIGINT NOT NULL,
    PRIMARY KEY (host, pci, uuid, day, versions));
INSERT INTO placements_with_versions SELECT host, pci, uuid, day, '', first_ns, last_ns, exposed_ns FROM placements;
DROP TABLE placements;
ALTER TABLE placements_with_versions RENAME TO placements;
",
    // What hosts were asked to do, plans of remediation, and which head carries them out. Numbers of changes of incidents, so that
    // what was read is not read again.
    "
CREATE TABLE requests(
    id BIGINT PRIMARY KEY, host BIGINT NOT NULL, key TEXT NOT NULL UNIQUE, state TEXT NOT NULL, ask TEXT NOT NULL,
    made_by TEXT NOT NULL, made_ns BIGINT NOT NULL, deadline_ns BIGINT NOT NULL, said TEXT, answer {bytes});
CREATE TABLE plans(
    id BIGINT PRIMARY KEY, key TEXT NOT NULL UNIQUE, live BIGINT NOT NULL, holds BIGINT NOT NULL, began_ns BIGINT,
    changed_ns BIGINT NOT NULL, body TEXT NOT NULL);
CREATE TABLE leases(name TEXT PRIMARY KEY, owner TEXT NOT NULL, until_ns BIGINT NOT NULL);
INSERT INTO leases VALUES ('remediation', '', 0);
ALTER TABLE incidents ADD COLUMN changed BIGINT NOT NULL DEFAULT 0;
CREATE INDEX incidents_changed ON incidents(changed);
INSERT INTO meta VALUES ('incident_changes', 0);
INSERT INTO meta VALUES ('removals', 0);
",
    // What can be known of a plan whose text cannot be read. Plans of before are of no host until they change. By which attempt of its host
    // a request was begun.
    "
ALTER TABLE plans ADD COLUMN version BIGINT NOT NULL DEFAULT 0;
ALTER TABLE plans ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE plans ADD COLUMN made_ns BIGINT NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN attempt TEXT NOT NULL DEFAULT '';
",
    // When the state came from the host: through a stream an older one may come later.
    "ALTER TABLE hosts ADD COLUMN state_ns BIGINT;",
    // Totals that hosts count of a day, since a start of their daemon. Without a holder nobody had the GPU.
    "
CREATE TABLE gpu_usage(
    host BIGINT NOT NULL, day BIGINT NOT NULL, since_ns BIGINT NOT NULL, pci TEXT NOT NULL, uuid TEXT NOT NULL,
    model TEXT NOT NULL, holder TEXT NOT NULL, first_ns BIGINT NOT NULL, last_ns BIGINT NOT NULL, held_ms BIGINT NOT NULL,
    measured_ms BIGINT NOT NULL, busy_ms BIGINT NOT NULL, idle_ms BIGINT NOT NULL,
    PRIMARY KEY (host, day, since_ns, pci, uuid, holder));
CREATE INDEX gpu_usage_day ON gpu_usage(day);
",
    // Histograms that hosts count of a day, since a start of their daemon, as [`gtrace_profile::Histogram::pack`] writes them. How processes
    // of jobs ended, counted so too.
    "
CREATE TABLE call_latency(
    host BIGINT NOT NULL, day BIGINT NOT NULL, layer TEXT NOT NULL, call TEXT NOT NULL, driver TEXT NOT NULL,
    since_ns BIGINT NOT NULL, calls BIGINT NOT NULL, histogram {bytes} NOT NULL,
    PRIMARY KEY (host, day, layer, call, driver, since_ns));
CREATE INDEX call_latency_day ON call_latency(day, call);
CREATE TABLE process_ends(
    host BIGINT NOT NULL, day BIGINT NOT NULL, since_ns BIGINT NOT NULL, holder TEXT NOT NULL, ended BIGINT NOT NULL,
    failed BIGINT NOT NULL, PRIMARY KEY (host, day, since_ns, holder));
CREATE INDEX process_ends_day ON process_ends(day);
",
    // When which GPU was reset, as health of its host has it. Answers of hosts on their way from one head to another.
    "
CREATE TABLE gpu_resets(
    host BIGINT NOT NULL, pci TEXT NOT NULL, time_ns BIGINT NOT NULL, PRIMARY KEY (host, time_ns, pci));
CREATE TABLE read_answers(
    head TEXT NOT NULL, host BIGINT NOT NULL, id BIGINT NOT NULL, status BIGINT NOT NULL, body {bytes} NOT NULL,
    made_ns BIGINT NOT NULL, PRIMARY KEY (head, host, id));
",
    // The state of a plan, so that those that have ended are counted without their texts. Plans of before have none until they change. And
    // the audit by time.
    "
ALTER TABLE plans ADD COLUMN state TEXT NOT NULL DEFAULT '';
CREATE INDEX plans_state ON plans(live, holds, state);
CREATE INDEX audit_time ON audit(time_ns);
",
    // What nobody has resolved, which is asked for all the time, and is little beside what was; and frames without what they say.
    "
CREATE INDEX incidents_open ON incidents(last_ns) WHERE state <> 'resolved';
CREATE INDEX incidents_open_of_host ON incidents(host, last_ns) WHERE state <> 'resolved';
CREATE INDEX frames_counted ON frames(session, host, slot, error_ns);
",
    "ALTER TABLE requests RENAME COLUMN said TO reported;",
];

/// Makes the tables where they are not there, brings older ones to this version, and refuses those of a newer one.
pub(super) fn create(sql: &mut dyn Sql, partitioned: Option<&str>) -> Result<(), DbError> {
    let mut version = version(sql)?;
    if version == 0 {
        let tables = TABLES.replace("{bytes}", sql.bytes_type());
        let records = partitioned.unwrap_or_default();
        let statements = format!("{tables} {records} INSERT INTO meta VALUES ('version', 1);");
        version = change(sql, &statements, 1)?;
    }
    while version < VERSION {
        let Some(upgrade) = usize::try_from(version - 1)
            .ok()
            .and_then(|n| UPGRADES.get(n))
        else {
            return Err(DbError::Corrupt(format!("version {version} of its layout")));
        };
        let next = version + 1;
        let upgrade = upgrade.replace("{bytes}", sql.bytes_type());
        let noted = format!("{upgrade} UPDATE meta SET value = {next} WHERE key = 'version';");
        version = change(sql, &noted, next)?;
    }
    Ok(())
}

/// Does all of it or nothing; the version after it. Two heads may start together: one of them finds what the other has made.
fn change(sql: &mut dyn Sql, statements: &str, to: i64) -> Result<i64, DbError> {
    let Err(error) = sql.batch(&format!("BEGIN; {statements} COMMIT;")) else {
        return Ok(to);
    };
    drop(sql.batch("ROLLBACK"));
    match version(sql)? {
        found if found >= to => Ok(found),
        _ => Err(error),
    }
}

/// Version of the layout; 0 where there is none.
fn version(sql: &mut dyn Sql) -> Result<i64, DbError> {
    let Ok(rows) = sql.rows("SELECT value FROM meta WHERE key = 'version'", &[]) else {
        return Ok(0);
    };
    match rows.first().map(|row| row[0].int()) {
        Some(found) if found > VERSION => Err(DbError::Newer {
            found,
            known: VERSION,
        }),
        Some(found) if found > 0 => Ok(found),
        _ => Err(DbError::Corrupt("no version".to_owned())),
    }
}
