//! The page in a browser: how soon a view is drawn, and how soon it shows a line of the kernel log.

#[path = "../../../userspace/gtrace/tests/support/chromium.rs"]
#[allow(dead_code, reason = "the tests of the page use more of it")]
mod chromium;

use std::net::TcpListener;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use gtrace_event::Timestamp;
use gtrace_store::{Options, Store};
use serde_json::{Value, json};

use self::chromium::Chromium;
use super::Context;
use super::store::record;
use crate::daemon::Daemon;
use crate::ioctl_load::TRACED;
use crate::kmsg::KernelLog;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stand_in::{GpuProcesses, Gpus};
use crate::stats::Samples;

const DRAWN_MS: f64 = 1000.0;
const SHOWN_MS: f64 = 200.0;
/// A view or an event that does not come within this time does not come.
const GIVE_UP: Duration = Duration::from_secs(30);
/// What the events in the store are from.
const PAST: Duration = Duration::from_secs(3600);

/// Views, and what is there once they are drawn; `PROCESSES` stands for how many processes there are.
const VIEWS: [(&str, &str); 10] = [
    (
        "overview",
        "document.querySelectorAll('article.gpu').length >= GPUS && document.querySelectorAll('.events .event').length >= 8",
    ),
    (
        "gpu/5350:01:00.0",
        "[...document.querySelectorAll('.charts canvas')].filter((one) => one.width > 100).length >= 4",
    ),
    (EVENTS, ROWS),
    ("events?xid=31", ROWS),
    (
        "incidents",
        "document.querySelectorAll('a.incident').length >= 1",
    ),
    (
        "processes",
        "document.querySelectorAll('section + .scroll tbody tr').length >= PROCESSES",
    ),
    (
        "samples?metric=gtrace_gpu_utilization_ratio",
        "document.querySelectorAll('table.legend tbody tr').length >= GPUS && [...document.querySelectorAll('canvas')].some((one) => one.width > 100)",
    ),
    ("remote", "document.querySelector('.empty, .card')"),
    (
        "sources",
        "document.querySelectorAll('section').length >= 5",
    ),
    (
        "search?q=3b:00",
        "document.querySelectorAll('.event').length >= 1",
    ),
];
const EVENTS: &str = "events";
const ROWS: &str = "document.querySelectorAll('.events .event').length >= 150";
const GPUS: u32 = 8;

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    // What drives the browser is of the tests, and panics as these do.
    std::panic::catch_unwind(AssertUnwindSafe(|| measure(context))).unwrap_or_else(|panic| {
        let why = panic.downcast_ref::<String>().map_or("", String::as_str);
        bail!("the browser cannot be driven: {why}")
    })
}

fn measure(context: &Context) -> anyhow::Result<Report> {
    let events = context.pick(1_000, 10_000, 10_000);
    let rounds = context.pick(1, 9, 25);
    let lines = context.pick(5, 100, 500);
    let processes = context.pick(20, 500, 500);
    let gpus = Gpus::find(context, GPUS);
    let shown = match &gpus {
        Ok(gpus) => format!("{} GPUs of the CPU emulator", gpus.count()),
        Err(_) => "no GPU".to_owned(),
    };
    let mut report = Report::new(
        "page",
        format!(
            "the daemon's page in headless Chromium, 1440 x 900, {shown}, {events} events in the store, {processes} processes with a traced device open: from just before write(2) into \
             /dev/kmsg until the event stands in the list, {lines} lines; from the navigation until a view has its rows, {rounds} times each"
        ),
    );
    if let Err(why) = &gpus {
        report.note(format!("without GPUs: {why}"));
    }
    let gpus = gpus.ok();
    let Some(mut browser) = Chromium::start() else {
        report.skip("chromium is not installed");
        return Ok(report);
    };
    let dir = Scratch::new(context)?;
    fill(&dir, events)?;
    // Free at this moment; nobody else is likely to take it.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let interval = if gpus.is_some() { "1" } else { "0" };
    let options = [
        "--listen",
        &address,
        "--nvml-interval-s",
        interval,
        "--devices",
        TRACED,
    ];
    let daemon = Daemon::start_in(dir, context, gpus.as_ref(), &options)?;
    context.say("GPUs and processes");
    let at_work = GpuProcesses::start(processes)?;
    daemon.shows_processes(processes)?;
    if let Some(gpus) = &gpus {
        daemon.shows(gpus)?;
    }
    browser.window(1440, 900, "dark");
    live(context, &mut browser, &address, lines, &mut report)?;
    for (view, drawn) in VIEWS {
        if view.starts_with("samples") && gpus.is_none() {
            continue;
        }
        context.say(view);
        let here = if gpus.is_some() { GPUS } else { 0 };
        let drawn = drawn.replace("GPUS", &here.to_string());
        let drawn = drawn.replace("PROCESSES", &processes.to_string());
        let mut times = Vec::new();
        for _ in 0..rounds {
            browser.open(&format!("http://{address}/#/{view}"));
            browser.wait("the document", "location.host !== '' && document.body");
            times.push(
                number(&browser.value(&when(&drawn)))
                    .with_context(|| format!("the view {view}"))?,
            );
        }
        let figure = Figure::median(format!("{view}, drawn"), &Samples::new(times), "ms");
        report.push(figure.budget(DRAWN_MS));
    }
    report.note("the browser's clock has steps of 0.1 ms");
    drop(browser);
    drop(at_work);
    drop(daemon);
    Ok(report)
}

/// How soon lines of the kernel log are shown.
fn live(
    context: &Context,
    browser: &mut Chromium,
    address: &str,
    lines: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    context.say("lines of the kernel log");
    let mut log = KernelLog::open()?;
    browser.open(&format!("http://{address}/#/{EVENTS}"));
    browser.wait("rows", ROWS);
    let live = "document.querySelector('.connection').innerText.includes('live')";
    browser.wait("the stream is open", live);
    let mut times = Vec::new();
    for line in 0..lines {
        let mark = format!("bench page {line} of {}", std::process::id());
        browser.value(&watch(&mark));
        let written = SystemTime::now().duration_since(UNIX_EPOCH)?;
        // Another channel each, also than those of a run before, which the kernel log still has: else they are repeats of one event.
        let channel = std::process::id()
            .wrapping_mul(1024)
            .wrapping_add(line as u32);
        log.write(&format!(
            "gtrace-inject[page]: NVRM: Xid (PCI:0000:3b:00): 31, pid={}, name=python3, Ch {channel:08x}, {mark}",
            100_000 + line
        ))?;
        let shown =
            number(&browser.value("window.gtraceShown")).with_context(|| format!("line {line}"))?;
        times.push(shown - written.as_secs_f64() * 1e3);
    }
    let shown = Figure::p99("a line is shown, p99", &Samples::new(times), "ms");
    report.push(shown.budget(SHOWN_MS));
    Ok(())
}

/// Puts events of the last hour into a store.
fn fill(dir: &Scratch, events: usize) -> anyhow::Result<()> {
    let mut store = Store::open(&dir.join("store.db"), Options::default())?;
    let end = Timestamp::now();
    let records: Vec<_> = (0..events)
        .map(|n| record(n, end - PAST.mul_f64(1.0 - n as f64 / events as f64)))
        .collect();
    for batch in records.chunks(1_000) {
        store.append(batch, &[])?;
    }
    store.checkpoint()?;
    Ok(())
}

/// Promises the milliseconds from the navigation until `drawn` is true.
fn when(drawn: &str) -> String {
    format!(
        "new Promise((done) => {{ setTimeout(done, {}); const look = () => ({drawn}) ? requestAnimationFrame(() => done(performance.now())) \
         : setTimeout(look, 2); look(); }})",
        GIVE_UP.as_millis()
    )
}

/// Notes when a text comes to stand in the list of events.
fn watch(text: &str) -> String {
    let text = json!(text);
    format!(
        "window.gtraceShown = new Promise((done) => {{ setTimeout(done, {}); const list = document.querySelector('.events'); const look = () => {{ \
         if (!list.innerText.includes({text})) return; eyes.disconnect(); \
         requestAnimationFrame(() => done(performance.timeOrigin + performance.now())); }}; \
         const eyes = new MutationObserver(look); eyes.observe(document.body, {{ childList: true, subtree: true, characterData: true }}); }}); 0",
        GIVE_UP.as_millis()
    )
}

fn number(value: &Value) -> anyhow::Result<f64> {
    value
        .as_f64()
        .with_context(|| format!("the page shows nothing within {GIVE_UP:?}"))
}
