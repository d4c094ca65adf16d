//! What is kept of a host at most: one that writes without end takes neither the room of others nor their time.

use super::notes::Took;
use super::sql::{DbError, Sql};

/// Records of a host that are kept, the newest: retention alone leaves what came in its days, however much that is.
pub(super) const RECORDS_MAX: i64 = 5_000_000;
/// So many go at a time.
pub(super) const RECORDS_DROPPED: i64 = 10_000;
/// Most of them that go at once: more than come in a transaction, and little where a database has too many from before.
const RECORDS_AT_ONCE: i64 = 50_000;
/// Incidents of a host that are kept, those that changed last: retention leaves what nobody has resolved.
pub(super) const INCIDENTS_MAX: i64 = 10_000;
/// So many of them go at a time: what is counted from incidents is read anew after that.
pub(super) const INCIDENTS_DROPPED: i64 = 1000;

/// Drops the oldest records of a host that has too many, after these were taken.
pub(super) fn records(sql: &mut dyn Sql, took: &Took) -> Result<(), DbError> {
    let is_due = (took.first - 1) / RECORDS_DROPPED < took.last / RECORDS_DROPPED;
    let last = took.last - RECORDS_MAX;
    if !is_due || last <= 0 {
        return Ok(());
    }
    let mut tables = Vec::new();
    for day in sql.rows("SELECT name FROM days", &[])? {
        let table = day[0].text();
        let oldest = format!("SELECT min(n) FROM {table} WHERE host = $1");
        let rows = sql.rows(&oldest, &[took.host.into()])?;
        let oldest = rows.first().and_then(|row| row[0].opt_int());
        tables.extend(oldest.map(|oldest| (oldest, table.to_owned())));
    }
    // The oldest of all tables, and not of each: what is missing between others is a fault of the chain.
    let oldest = tables.iter().map(|(oldest, _)| *oldest).min();
    let last = last.min(oldest.unwrap_or_default() + RECORDS_AT_ONCE - 1);
    for (_, table) in tables.iter().filter(|(oldest, _)| *oldest <= last) {
        let delete = format!("DELETE FROM {table} WHERE host = $1 AND n <= $2");
        sql.execute(&delete, &[took.host.into(), last.into()])?;
    }
    Ok(())
}

/// Drops incidents of a host that has too many, in the order of their changes: its clock may be wrong.
pub(super) fn incidents(sql: &mut dyn Sql, host: i64) -> Result<(), DbError> {
    let count = "SELECT count(*) FROM incidents WHERE host = $1";
    if sql.number(count, &[host.into()])? <= INCIDENTS_MAX {
        return Ok(());
    }
    let oldest = INCIDENTS_MAX - INCIDENTS_DROPPED - 1;
    sql.execute(
        &format!(
            "DELETE FROM incidents WHERE host = $1 AND (changed, last_ns, id) < (SELECT changed, last_ns, id FROM incidents \
             WHERE host = $1 ORDER BY changed DESC, last_ns DESC, id DESC LIMIT 1 OFFSET {oldest})"
        ),
        &[host.into()],
    )?;
    super::tallies::note_removal(sql)
}
