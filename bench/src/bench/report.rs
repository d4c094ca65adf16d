//! `gtrace report` of ten minutes with many records.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::ensure;
use gtrace_event::Timestamp;
use gtrace_store::{Options, Store};

use super::Context;
use super::store::record;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;

const BUDGET_S: f64 = 2.0;
const BUDGET_MIB: f64 = 5.0;
/// What the report covers.
const WINDOW: Duration = Duration::from_secs(600);
/// Records a transaction.
const BATCH: usize = 1_000;

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let total = context.pick(5_000, 100_000, 100_000);
    let runs = context.pick(1, 5, 9);
    let mut report = Report::new(
        "report",
        format!("`gtrace report` as one page, of ten minutes with {total} records of Xids"),
    );
    let dir = Scratch::new(context)?;
    let path = dir.join("store.db");
    context.say("filling the store");
    let mut store = Store::open(&path, Options::default())?;
    let end = Timestamp::now();
    for batch in (0..total).collect::<Vec<_>>().chunks(BATCH) {
        let records: Vec<_> = batch
            .iter()
            .map(|&n| {
                let age = WINDOW.mul_f64(1.0 - (n + 1) as f64 / total as f64);
                record(n, end - age)
            })
            .collect();
        store.append(&records, &[])?;
    }
    store.checkpoint()?;
    drop(store);
    let mut times = Vec::new();
    for run in 0..runs {
        // A report that is there is not written over.
        let out = dir.join(format!("report-{run}.html"));
        let mut command = Command::new(&context.gtrace);
        command
            .args(["report", "--since", "11m", "--out"])
            .arg(&out)
            .env("GTRACE_STORE", &path)
            // Nobody answers there.
            .env("GTRACE_SOCKET", dir.join("none.sock"));
        let start = Instant::now();
        let output = command.output()?;
        times.push(start.elapsed().as_secs_f64());
        ensure!(
            output.status.success(),
            "gtrace report: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let size = std::fs::metadata(dir.join("report-0.html"))?.len() as f64 / (1 << 20) as f64;
    report.push(Figure::median("time", &Samples::new(times), "s").budget(BUDGET_S));
    report.push(Figure::new("size", size, "MiB").budget(BUDGET_MIB));
    Ok(report)
}
