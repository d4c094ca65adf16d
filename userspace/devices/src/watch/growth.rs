use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use gtrace_event::{Kind, Process, Severity, Timestamp};

use super::{Findings, Reading};
use crate::{GpuProcess, GpuSample};

/// A rise must go on through each of so many parts of the window. A program that starts takes memory too, and then stays
/// where it is.
const PARTS: usize = 6;

/// A rise below this share of the GPU's memory within the window is none.
const SHARE: f64 = 0.05;

/// A process that gives back so much of the most that it had does not leak: caches shrink, batches differ.
const GIVEN_BACK: f64 = 0.02;

/// Processes by pid and MIG instance.
type Key = (u32, Option<u32>, Option<u32>);

/// Processes whose GPU memory only rises.
#[derive(Debug, Default)]
pub(super) struct Growth(BTreeMap<Key, Run>);

/// A time in which a process gave no memory back.
#[derive(Debug)]
struct Run {
    last: Timestamp,
    peak: u64,
    /// The peak at the begin of each part, oldest first.
    marks: VecDeque<(Timestamp, u64)>,
    /// What it had when it was reported.
    reported: Option<u64>,
}

impl Run {
    fn begin(time: Timestamp, bytes: u64) -> Self {
        Self {
            last: time,
            peak: bytes,
            marks: [(time, bytes)].into(),
            reported: None,
        }
    }

    /// Takes a reading; what the process had a window ago, if it has risen ever since and that is worth a report.
    fn take(&mut self, now: Timestamp, bytes: u64, total: u64, window: Duration) -> Option<u64> {
        let part = window / PARTS as u32;
        let age = |since: Timestamp| now.duration_since(since).unsigned_abs();
        let given_back = (bytes as f64) < self.peak as f64 * (1.0 - GIVEN_BACK);
        // Nothing is known of a time without readings.
        if given_back || age(self.last) > part * 2 {
            *self = Self {
                reported: self.reported.filter(|_| !given_back),
                ..Self::begin(now, bytes)
            };
            return None;
        }
        self.last = now;
        self.peak = self.peak.max(bytes);
        if self.marks.back().is_some_and(|(at, _)| age(*at) < part) {
            return None;
        }
        self.marks.push_back((now, self.peak));
        if self.marks.len() > PARTS + 1 {
            self.marks.pop_front();
        }
        let rises = self.marks.iter().zip(self.marks.iter().skip(1));
        let always = rises.clone().all(|((_, old), (_, new))| new > old);
        let (_, first) = *self.marks.front()?;
        let worth = (total as f64 * SHARE) as u64;
        let since = self.reported.unwrap_or(first);
        if self.marks.len() <= PARTS
            || !always
            || self.peak - first < worth
            || self.peak.saturating_sub(since) < worth
        {
            return None;
        }
        self.reported = Some(self.peak);
        Some(first)
    }
}

impl Growth {
    pub(super) fn observe(&mut self, window: Duration, now: &GpuSample, found: &mut Findings<'_>) {
        let key = |process: &GpuProcess| (process.pid, process.mig_gi, process.mig_ci);
        self.0
            .retain(|known, _| now.processes.iter().any(|process| key(process) == *known));
        let Some(total) = now.memory.total else {
            return;
        };
        for process in &now.processes {
            let Some(bytes) = process.used_memory else {
                continue;
            };
            let run = self.0.entry(key(process));
            let run = run.or_insert_with(|| Run::begin(now.time, bytes));
            let Some(before) = run.take(now.time, bytes, total, window) else {
                continue;
            };
            let reading = Reading {
                limit: Some(total as f64),
                ..Reading::counter("gtrace_gpu_memory_used_bytes", Some(before), bytes)
            };
            let event = found.add(
                (Kind::MemoryGrowth, Severity::Warning),
                "GPU memory of a process only rises",
                reading,
                1,
            );
            event.process = Some(Process {
                pid: Some(process.pid),
                comm: process.comm.clone(),
                ..Process::default()
            });
        }
    }
}
