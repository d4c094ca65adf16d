//! What appending, verifying and querying cost on this disk: `cargo run --release -p gtrace-store
//! --example append_rate [DIRECTORY]`. Each append is followed by one fsync, so beside each figure
//! stands that of plain writes of the same size with an fsync each; before it, that of the append
//! alone, which is what stands between a record and its readers.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_event::{
    Event, Gpu, Kind, Occurrence, PciAddress, Record, Severity, Timestamp, WitnessName,
};
use gtrace_store::{Filter, GpuFilter, Options, Reader, Store};

const PCI: &str = "0000:3b:00.0";

fn record(n: u64) -> Record {
    let message = format!("NVRM: Xid (PCI:{PCI}): 79, pid=1234, GPU has fallen off the bus. {n}");
    let severity = if n.is_multiple_of(100) {
        Severity::Fatal
    } else {
        Severity::Info
    };
    let mut occurrence = Occurrence::new(Kind::Xid, severity, message);
    occurrence.detail.xid.xid = Some(79);
    occurrence.gpu = PciAddress::parse(PCI).map(Gpu::at);
    let time = Timestamp::now();
    let mut event = Event::seen(time, WitnessName::Kmsg, 1, occurrence);
    event.boot_id = Some("3f0c2c1e-5b0f-4c39-9a53-2f1f6a1f7f10".to_owned());
    event.host = Some("gpu-host-17".to_owned());
    Record::Event(Box::new(event))
}

/// Mean and worst time of `rounds` calls of `f`.
fn measure<E>(
    rounds: u32,
    mut f: impl FnMut() -> Result<(), E>,
) -> Result<(Duration, Duration), E> {
    let (mut sum, mut worst) = (Duration::ZERO, Duration::ZERO);
    for _ in 0..rounds {
        let start = Instant::now();
        f()?;
        let took = start.elapsed();
        sum += took;
        worst = worst.max(took);
    }
    Ok((sum / rounds, worst))
}

fn appends(dir: &Path, store: &mut Store) -> Result<(), Box<dyn Error>> {
    println!(
        "batch  append, mean / worst     with fsync, mean / worst     records/s   write+fsync   ratio"
    );
    let mut plain = File::create(dir.join("plain"))?;
    for batch in [1_u32, 10, 100, 1_000] {
        let records: Vec<Record> = (0..u64::from(batch)).map(record).collect();
        let body = serde_json::to_vec(&records)?;
        let rounds = (20_000 / batch).min(400);
        let (commit, worst_commit) = measure(rounds, || store.append(&records, &[]).map(drop))?;
        let (mean, worst) = measure(rounds, || {
            store.append(&records, &[])?;
            store.sync()
        })?;
        let (limit, _) = measure(rounds, || {
            plain.write_all(&body).and_then(|()| plain.sync_data())
        })?;
        let per_second = f64::from(batch) / mean.as_secs_f64();
        let ratio = mean.as_secs_f64() / limit.as_secs_f64();
        println!(
            "{batch:>5}  {commit:>10.2?} / {worst_commit:<10.2?} {mean:>10.2?} / {worst:<10.2?}  {per_second:>9.0}   {limit:>9.2?}   {ratio:>6.2}"
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let dir = match std::env::args_os().nth(1) {
        Some(dir) => tempfile::tempdir_in(dir)?,
        None => tempfile::tempdir()?,
    };
    let path = dir.path().join("store.db");
    let mut store = Store::open(&path, Options::default())?;
    println!("{} (store open, empty)", memory()?);
    appends(dir.path(), &mut store)?;
    println!("{} (after the appends)", memory()?);
    let reader = Reader::open(&path)?;
    let start = Instant::now();
    let report = reader.verify()?;
    println!(
        "verify: {} records in {:.2?}, fault {:?}",
        report.records,
        start.elapsed(),
        report.fault
    );
    let newest = Filter {
        limit: Some(100),
        ..Filter::default()
    };
    let fatal = Filter {
        min_severity: Some(Severity::Fatal),
        gpu: PciAddress::parse(PCI).map(GpuFilter::Pci),
        ..Filter::default()
    };
    for (name, filter) in [("newest 100", newest), ("fatal, 1 in 100", fatal)] {
        let start = Instant::now();
        let found = reader.query(&filter)?.len();
        println!("query {name}: {found} events in {:.2?}", start.elapsed());
    }
    println!("{} (with a reader)", memory()?);
    let size = store.size()?;
    println!(
        "{} bytes a record on disk, WAL {} KiB",
        size.used_bytes / report.records.max(1),
        size.wal_bytes >> 10
    );
    Ok(())
}

fn memory() -> std::io::Result<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|l| l.starts_with("RssAnon"));
    Ok(line.unwrap_or("RssAnon unknown").replace('\t', " "))
}
