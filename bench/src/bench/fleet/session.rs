//! A profiling session of many simulated agents, each with a clock of its own that is wrong.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use gtrace_agent::now_ns;
use gtrace_fleet::{Metric, slot_begin};
use gtrace_head::db::{Frame, Session};
use gtrace_head::{By, FramesPage, SessionRequest, SessionView};

use super::super::Context;
use super::agents::{Fleet, Head};
use super::clocks::Skewed;
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;

const MS: i64 = 1_000_000;
const INTERVAL_MS: u32 = 200;
/// How far a clock is wrong at first, at most, and how many millionths it drifts.
const OFF: i64 = 5_000 * MS;
const DRIFT_PPM: i64 = 60;
/// Frames of the beginning and the end, while hosts learn of the session, are not counted.
const EDGE: i64 = 25;
/// So long the head may take to have the last frames.
const PATIENCE: Duration = Duration::from_secs(300);

pub(super) fn agents(context: &Context) -> usize {
    context.pick(20, 200, 1000)
}

pub(super) fn seconds(context: &Context) -> u64 {
    context.pick(15, 30, 300)
}

fn any_clock(began: i64) -> Skewed {
    Skewed {
        began,
        offset: fastrand::i64(-OFF..OFF),
        ppm: fastrand::i64(-DRIFT_PPM..=DRIFT_PPM),
    }
}

pub(super) fn run(context: &Context, report: &mut Report) -> anyhow::Result<()> {
    let (agents, seconds) = (agents(context), seconds(context));
    let dir = Scratch::new(context)?;
    let head = Head::start(context, dir.path())?;
    context.say(&format!("a session of {agents} agents for {seconds} s"));
    let keys = head.enroll(agents)?;
    let began = now_ns();
    let hosts = Fleet::start(
        keys,
        |_| dir.join("no-store.db"),
        |_, options| {
            options.allow_sessions = true;
            any_clock(began).give(options)
        },
    )?;
    hosts.connected()?;
    let asked = SessionRequest {
        name: "bench".to_owned(),
        hosts: Vec::new(),
        interval_ms: INTERVAL_MS,
        metrics: vec![Metric::Power],
        for_s: 3600,
        by: "bench".to_owned(),
    };
    let _: Session = head.client.post("/fleet/v1/sessions", &asked)?;
    let used = head.cpu_seconds()?;
    thread::sleep(Duration::from_secs(seconds));
    let cores = (head.cpu_seconds()? - used) / seconds as f64;
    let by = By {
        by: "bench".to_owned(),
    };
    let session: Session = head.client.post("/fleet/v1/sessions/bench/stop", &by)?;
    let stopped = session.stopped.context("the session goes on")?;
    let slots = session.slots(session.started).start + EDGE..session.slots(stopped).end - EDGE;
    let frames = collect(&head, &slots, agents)?;
    let all = slots.end - slots.start;
    for (host, of_host) in &frames {
        let missing = all - i64::try_from(of_host.len())?;
        anyhow::ensure!(
            missing == 0,
            "{host}: {missing} of {all} frames are missing"
        );
    }
    let mut bounds = Vec::new();
    for frame in frames.values().flatten() {
        let [gpu] = frame.frame.gpus.as_slice() else {
            anyhow::bail!("{}: a frame without its GPU", frame.host);
        };
        let mean = gpu.power_w.context("a frame without a reading")? * MS as f64;
        let from = slot_begin(frame.frame.slot, INTERVAL_MS) - began;
        let until = from + i64::from(INTERVAL_MS) * MS;
        let error = frame.frame.error_ns;
        anyhow::ensure!(
            mean >= (from - error) as f64 && mean <= (until + error) as f64,
            "{}: readings of {mean} ns are in a frame of {from} to {until}, whose bound is {error}",
            frame.host
        );
        bounds.push(error as f64 / MS as f64);
    }
    let count = bounds.len();
    let bounds = Samples::new(bounds);
    report.push(
        Figure::new(
            format!("session of {agents} agents: bound of the clock's error, p99"),
            bounds.quantile(0.99),
            "ms",
        )
        .with("p50", bounds.median())
        .with("frames", count as f64)
        .with("cores of the head", cores),
    );
    report.note(format!(
        "{agents} agents with clocks wrong by up to 5 s and {DRIFT_PPM} ppm: no frame of {all} intervals of {INTERVAL_MS} ms is \
         missing, and the readings of each lie within it and its bound"
    ));
    Ok(())
}

/// The frames of these intervals by host, once the head has those of all hosts up to the last.
fn collect(
    head: &Head,
    slots: &std::ops::Range<i64>,
    agents: usize,
) -> anyhow::Result<BTreeMap<String, Vec<Frame>>> {
    let until = Instant::now() + PATIENCE;
    let client = head.client.clone().with_deadline(PATIENCE);
    // What comes is written down by and by; an agent closes an interval seconds after it.
    loop {
        let view: SessionView = client.get("/fleet/v1/sessions/bench")?;
        let before: u64 = view.hosts.iter().map(|host| host.frames).sum();
        thread::sleep(Duration::from_secs(5));
        let view: SessionView = client.get("/fleet/v1/sessions/bench")?;
        let now: u64 = view.hosts.iter().map(|host| host.frames).sum();
        if before == now && view.hosts.len() == agents {
            break;
        }
        anyhow::ensure!(Instant::now() < until, "frames keep coming");
    }
    let mut frames: BTreeMap<String, Vec<Frame>> = BTreeMap::new();
    let mut next = String::new();
    loop {
        let path = format!("/fleet/v1/sessions/bench/frames?limit=5000{next}");
        let page: FramesPage = client.get(&path)?;
        for frame in page.frames {
            if slots.contains(&frame.frame.slot) {
                frames.entry(frame.host.clone()).or_default().push(frame);
            }
        }
        match page.next {
            Some(after) => next = format!("&after={after}"),
            None => break,
        }
    }
    anyhow::ensure!(
        frames.len() == agents,
        "{} of {agents} hosts have frames",
        frames.len()
    );
    Ok(frames)
}
