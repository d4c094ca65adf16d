//! Append rate, query time and size of the store, beside bare SQLite.

use std::path::Path;
use std::time::Instant;

use gtrace_event::{
    Event, Gpu, Kind, Occurrence, PciAddress, Record, Severity, Timestamp, WitnessName,
};
use gtrace_store::{Filter, GpuFilter, Options, Reader, Store};
use rusqlite::Connection;

use super::Context;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;

const BATCHES: [usize; 3] = [1, 100, 1_000];

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let total = context.pick(10_000, 100_000, 1_000_000);
    let rounds = context.pick([20, 10, 3], [400, 100, 30], [2_000, 300, 100]);
    let mut report = Report::new(
        "store",
        format!(
            "appends with one fsync each and queries of {total} events; bare SQLite inserts the \
             same text into one table with the same settings, in turn"
        ),
    );
    let dir = Scratch::new(context)?;
    let path = dir.join("store.db");
    let mut store = Store::open(&path, Options::default())?;
    let mut bare = Bare::open(&dir.join("bare.db"))?;
    let mut written = 0;
    for (batch, rounds) in BATCHES.into_iter().zip(rounds) {
        context.say(&format!("{rounds} batches of {batch}"));
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let records: Vec<_> = (written..written + batch)
                .map(|n| record(n, Timestamp::now()))
                .collect();
            written += batch;
            let per_second = |start: Instant| batch as f64 / start.elapsed().as_secs_f64();
            let start = Instant::now();
            store.append(&records, &[])?;
            store.sync()?;
            ours.push(per_second(start));
            let start = Instant::now();
            bare.append(&records)?;
            theirs.push(per_second(start));
        }
        let (ours, theirs) = (Samples::new(ours), Samples::new(theirs));
        report.push(
            Figure::median(format!("append, batches of {batch}"), &ours, "events/s")
                .with("bare SQLite", theirs.median())
                .beside("bare SQLite", theirs.median()),
        );
    }
    context.say("filling up");
    while written < total {
        let records: Vec<_> = (written..(written + 1_000).min(total))
            .map(|n| record(n, Timestamp::now()))
            .collect();
        written += records.len();
        store.append(&records, &[])?;
        bare.append(&records)?;
    }
    store.checkpoint()?;
    queries(context, &path, &bare, &mut report)?;
    let per_event = store.size()?.used_bytes as f64 / written as f64;
    let bare_per_event = bare.used_bytes()? / written as f64;
    report.push(
        Figure::new("size of an event on disk", per_event, "bytes")
            .with("bare SQLite", bare_per_event)
            .beside("bare SQLite", bare_per_event),
    );
    report.note(format!("{written} events in the store at the end"));
    Ok(report)
}

fn queries(context: &Context, path: &Path, bare: &Bare, report: &mut Report) -> anyhow::Result<()> {
    let runs = context.pick(1, 5, 7);
    let reader = Reader::open(path)?;
    let all = Filter::default();
    let newest = Filter {
        limit: Some(100),
        ..Filter::default()
    };
    let fatal = Filter {
        min_severity: Some(Severity::Fatal),
        gpu: PciAddress::parse("0000:3b:00.0").map(GpuFilter::Pci),
        ..Filter::default()
    };
    for (name, filter) in [
        ("the newest 100", &newest),
        ("the fatal ones, 1 in 100", &fatal),
        ("all", &all),
    ] {
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..runs {
            let start = Instant::now();
            found = reader.query(filter)?.len();
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        let times = Samples::new(times);
        let figure = Figure::median(format!("query: {name}"), &times, "ms").with("n", found as f64);
        report.push(if found > 100 && name == "all" {
            let theirs: Samples = (0..runs).filter_map(|_| bare.read_all().ok()).collect();
            figure
                .with("bare SQLite, no parsing", theirs.median())
                .beside(
                    "bare SQLite reading the text without parsing it",
                    theirs.median(),
                )
        } else {
            figure
        });
    }
    Ok(())
}

/// The event of the `n`th Xid, which no other folds into.
pub(super) fn record(n: usize, time: Timestamp) -> Record {
    let message = format!(
        "NVRM: Xid (PCI:0000:3b:00): 31, pid=1234, name=python3, Ch {n:08x}, intr 00000000. MMU \
         Fault: ENGINE GRAPHICS GPCCLIENT_T1_3 faulted @ 0x7f_abcd1000. Fault is of type \
         FAULT_PDE ACCESS_TYPE_VIRT_READ"
    );
    let severity = if n.is_multiple_of(100) {
        Severity::Fatal
    } else {
        Severity::Warning
    };
    let mut occurrence = Occurrence::new(Kind::Xid, severity, message);
    occurrence.detail.xid.xid = Some(31);
    occurrence.gpu = PciAddress::parse("0000:3b:00.0").map(Gpu::at);
    let mut event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
    event.boot_id = Some("3f0c2c1e-5b0f-4c39-9a53-2f1f6a1f7f10".to_owned());
    event.host = Some("gpu-host-17".to_owned());
    Record::Event(Box::new(event))
}

/// One table with a number and a text; no hash, no index, no columns to search by.
struct Bare {
    conn: Connection,
}

impl Bare {
    fn open(path: &Path) -> anyhow::Result<Self> {
        let conn = Connection::open(path)?;
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.execute_batch("CREATE TABLE events(seq INTEGER PRIMARY KEY, body TEXT NOT NULL)")?;
        Ok(Self { conn })
    }

    fn append(&mut self, records: &[Record]) -> anyhow::Result<()> {
        let bodies = records
            .iter()
            .map(serde_json::to_string)
            .collect::<Result<Vec<_>, _>>()?;
        let tx = self.conn.transaction()?;
        {
            let mut insert = tx.prepare_cached("INSERT INTO events(body) VALUES (?1)")?;
            for body in &bodies {
                insert.execute([body])?;
            }
        }
        tx.commit()?;
        Ok(())
    }

    /// Milliseconds to read every text.
    fn read_all(&self) -> anyhow::Result<f64> {
        let start = Instant::now();
        let mut select = self.conn.prepare("SELECT body FROM events ORDER BY seq")?;
        let mut rows = select.query([])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            bytes += row.get::<_, String>(0)?.len();
        }
        std::hint::black_box(bytes);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }

    fn used_bytes(&self) -> anyhow::Result<f64> {
        let pages: i64 = self
            .conn
            .pragma_query_value(None, "page_count", |row| row.get(0))?;
        let size: i64 = self
            .conn
            .pragma_query_value(None, "page_size", |row| row.get(0))?;
        Ok((pages * size) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn bare_sqlite_keeps_what_it_is_given() {
        let mut bare = Bare::open(&PathBuf::from(":memory:")).unwrap();
        bare.append(
            &(0..3)
                .map(|n| record(n, Timestamp::now()))
                .collect::<Vec<_>>(),
        )
        .unwrap();
        let count: i64 = bare
            .conn
            .query_row("SELECT count(*) FROM events", [], |row| row.get(0))
            .unwrap();
        assert_eq!(count, 3);
        assert!(bare.read_all().unwrap() >= 0.0);
        assert!(bare.used_bytes().unwrap() > 0.0);
    }
}
