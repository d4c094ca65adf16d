//! Throughput of the kernel-log decoder on one core, beside GNU grep.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, bail};
use gtrace_decoder::saved::SavedLog;
use gtrace_decoder::{Decoder, LogRecord, Options};

use super::Context;
use crate::corpus::{Corpus, PATTERNS};
use crate::report::{Figure, Report};
use crate::scratch::Scratch;
use crate::stats::Samples;

/// One line in so many means something.
const SHARE: u64 = 100;
/// How much `gtrace decode` would read at once.
const PIECE: usize = 64 << 10;

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let megabytes = context.pick(10, 100, 400);
    let runs = context.pick(1, 5, 9);
    let mut corpus = Corpus::new(SHARE);
    let log = corpus.saved_log(megabytes * 1_000_000);
    let mut report = Report::new(
        "decode",
        format!(
            "MB/s of one core on a generated kernel log of {megabytes} MB, one line in {SHARE} \
             of the known forms; median of {runs} runs, in turn"
        ),
    );
    let dir = Scratch::new(context)?;
    let file = dir.join("kernel.log");
    std::fs::write(&file, &log)?;

    let mut speeds = [const { Vec::new() }; 4];
    let mut counts = [0; 4];
    // The kernel gives the text of records without prefix, one by one.
    let texts: Vec<&str> = log
        .lines()
        .filter_map(|l| Some(l.split_once("] ")?.1))
        .collect();
    let live_bytes: usize = texts.iter().map(|t| t.len() + 1).sum();
    for run in 1..=runs {
        context.say(&format!("run {run} of {runs}"));
        let ways: [(usize, &dyn Fn() -> anyhow::Result<u64>); 4] = [
            (log.len(), &|| Ok(decode_saved(log.as_bytes()))),
            (live_bytes, &|| Ok(decode_live(&texts))),
            (log.len(), &|| grep(&file, "C")),
            (log.len(), &|| grep(&file, "C.UTF-8")),
        ];
        for (i, (bytes, way)) in ways.into_iter().enumerate() {
            let start = Instant::now();
            counts[i] = way()?;
            speeds[i].push(bytes as f64 / 1e6 / start.elapsed().as_secs_f64());
        }
    }
    let [saved, live, grep_c, grep_utf8] = speeds.map(Samples::new);
    for (name, own) in [
        ("saved log (prefixes parsed)", &saved),
        ("live records (`feed`)", &live),
    ] {
        report.push(
            Figure::median(name, own, "MB/s")
                .beside("grep -E -c, LC_ALL=C", grep_c.median())
                .beside("grep -E -c, LC_ALL=C.UTF-8", grep_utf8.median()),
        );
    }
    report.push(Figure::median("grep -E -c, LC_ALL=C", &grep_c, "MB/s"));
    report.push(Figure::median(
        "grep -E -c, LC_ALL=C.UTF-8",
        &grep_utf8,
        "MB/s",
    ));
    report.note(format!(
        "{} forms were generated; the decoder gives {} events (saved) and {} (live), grep counts \
         {} lines",
        corpus.forms, counts[0], counts[1], counts[2]
    ));
    Ok(report)
}

fn decode_saved(log: &[u8]) -> u64 {
    let mut decoder = SavedLog::new(Options::default());
    let mut out = Vec::new();
    let mut count = 0;
    for piece in log.chunks(PIECE) {
        decoder.feed_bytes(piece, &mut out);
        count += out.drain(..).count() as u64;
    }
    decoder.finish(&mut out);
    count + out.len() as u64
}

fn decode_live(texts: &[&str]) -> u64 {
    let mut decoder = Decoder::new(Options::default());
    let mut out = Vec::new();
    let mut count = 0;
    for (number, text) in (1..).zip(texts) {
        let record = LogRecord {
            text,
            facility: Some(0),
            level: Some(4),
            timestamp_us: Some(number * 50_000),
            time: None,
            number,
            device: None,
        };
        decoder.feed(&record, &mut out);
        count += out.drain(..).count() as u64;
    }
    decoder.flush(&mut out);
    count + out.len() as u64
}

fn grep(file: &Path, locale: &str) -> anyhow::Result<u64> {
    let output = Command::new("grep")
        .env("LC_ALL", locale)
        .args(["-E", "-c", "-e", PATTERNS])
        .arg(file)
        .output()
        .context("grep cannot be run")?;
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse() {
        Ok(count) => Ok(count),
        Err(_) => bail!(
            "grep says `{}`",
            String::from_utf8_lossy(&output.stderr).trim()
        ),
    }
}
