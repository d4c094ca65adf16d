//! Every call of the CUDA driver of a running process, by uprobes. The process is neither stopped nor prepared.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use gtrace_abi::{ApiCall, ApiCounter};
use gtrace_engine::process;
use gtrace_engine::sources::records::text_of;
use gtrace_recording::clock::{Pair, Scale};
use gtrace_recording::{NAMES, UnderWay};
use gtrace_uprobes::functions::trace_set;
use gtrace_uprobes::{Calls, Function, Options, POLL_INTERVAL, Settings, TraceError, Watch};

use super::Freezer;
use crate::arguments::{self, Meaning};
use crate::{Clock, Process, Recorded, Spool};

/// Between polls of the ring.
const DRAIN_EVERY: Duration = Duration::from_millis(2);
/// Calls that can be under way at once.
const UNDER_WAY: u32 = 16_384;
/// What the probes count that keeps a call from being in the trace.
const LOST: [ApiCounter; 3] = [
    ApiCounter::RingFull,
    ApiCounter::StartsFull,
    ApiCounter::StartsUnseen,
];
/// Bytes of a call in the ring, with its head there.
const CALL_BYTES: u32 = ApiCall::SHORT as u32 + 8;

/// What is probed, with a ring for so many calls.
fn options(pid: u32, ring: u32) -> Options {
    let mut functions = trace_set(NAMES.iter().copied());
    for function in &mut functions {
        arguments::describe(function);
    }
    let ring = ring.clamp(1 << 10, 1 << 20).saturating_mul(CALL_BYTES);
    Options {
        calls: true,
        under_way: UNDER_WAY,
        histograms: functions.len() as u32,
        ring_bytes: ring.next_power_of_two(),
        ..Options::new(Some(pid), functions)
    }
}

/// A process whose calls are being taken.
pub struct Running {
    watch: Watch,
    pid: u32,
    /// The process, as far as its calls say something of it.
    pub process: Process,
    /// By number of the function.
    meanings: Vec<Option<Meaning>>,
    /// What lies between CLOCK_MONOTONIC and CLOCK_BOOTTIME, nanoseconds.
    asleep_ns: u64,
    /// When it began.
    pub begun: Pair,
    calls: u64,
    /// Most libraries that were probed at once.
    pub libraries: usize,
    say: fn(&str),
}

/// What was seen in all.
pub struct Seen {
    calls: u64,
    /// Calls that are missing.
    pub lost: u64,
    /// What was dropped, by place.
    losses: Vec<(ApiCounter, u64)>,
    /// Calls that have not returned.
    pub under_way: Vec<UnderWay>,
}

impl Seen {
    /// A line for people; `beyond`: calls that found no room in the spool.
    pub fn text(&self, beyond: u64) -> String {
        let mut text = format!("{} calls of the CUDA driver", self.calls);
        if !self.under_way.is_empty() {
            text.push_str(&format!(", {} have not returned", self.under_way.len()));
        }
        if beyond > 0 {
            text.push_str(&format!(", {beyond} of them beyond --max-events"));
        }
        let losses = self.losses.iter().filter(|(_, n)| *n > 0);
        let losses: Vec<String> = losses
            .map(|(counter, n)| format!("{} {n}", counter.name()))
            .collect();
        if !losses.is_empty() {
            text.push_str(&format!(", and lost: {}", losses.join(", ")));
        }
        text
    }
}

impl Running {
    /// Begins, with a ring for so many calls. `say` gets a line for people whenever there is one.
    ///
    /// # Errors
    ///
    /// That the kernel has no uprobes, or that they may not be used.
    pub fn start(pid: u32, ring: u32, say: fn(&str)) -> Result<Self, TraceError> {
        let settings = Settings {
            budget: None,
            ..Settings::default()
        };
        let watch = Watch::start(options(pid, ring), settings)?;
        let functions = watch.tracer().functions();
        Ok(Self {
            meanings: functions
                .iter()
                .map(|function: &Function| Meaning::of(&function.name))
                .collect(),
            process: Process {
                pid,
                name: process::comm(&Path::new("/proc").join(pid.to_string())).unwrap_or_default(),
                ..Process::default()
            },
            asleep_ns: asleep_ns(),
            begun: Pair::now(),
            calls: 0,
            libraries: 0,
            watch,
            pid,
            say,
        })
    }

    /// Says what is traced.
    pub fn greet(&mut self) {
        if self.watch.tracer().libraries().next().is_none() {
            (self.say)(&format!(
                "process {} has no {}* open: waiting until it opens one",
                self.pid,
                gtrace_uprobes::library::LIBCUDA
            ));
        }
        if !self.watch.tracer().others_unaffected() {
            (self.say)(
                "other processes that use the same library pay for the probes too, though their calls are not \
                 traced: this kernel cannot leave them alone (Linux 6.10 can)",
            );
        }
        self.say_words();
        (self.say)(&format!("tracing process {}; end with Ctrl-C", self.pid));
    }

    fn say_words(&mut self) {
        for word in self.watch.take_words() {
            (self.say)(&word);
        }
        let libraries = self.watch.tracer().libraries().count();
        self.libraries = self.libraries.max(libraries);
    }

    /// Takes calls until the process ends, the time is over or somebody asks for the end.
    ///
    /// # Errors
    ///
    /// That the probes or the spool cannot be read or written.
    pub fn follow(
        &mut self,
        spool: &mut Spool,
        mut freezer: Option<Freezer>,
        duration: Option<Duration>,
        end: &AtomicBool,
    ) -> anyhow::Result<()> {
        let mut ring = self.watch.tracer().calls()?;
        let start = Instant::now();
        let mut looked = start;
        let mut alive = true;
        // The process pays for each call, whether it is kept or not.
        while alive && !end.load(Ordering::Relaxed) && !spool.is_full() {
            if duration.is_some_and(|duration| start.elapsed() >= duration) {
                break;
            }
            std::thread::sleep(DRAIN_EVERY);
            self.drain(&mut ring, spool)?;
            self.freeze(&mut freezer, spool, false)?;
            if looked.elapsed() >= POLL_INTERVAL {
                looked = Instant::now();
                alive = self.watch.is_alive();
                self.watch.poll()?;
                self.say_words();
            }
        }
        self.watch.detach();
        while self.drain(&mut ring, spool)? {}
        self.freeze(&mut freezer, spool, true)?;
        if let Some(freezer) = freezer {
            freezer.end();
        }
        Ok(())
    }

    /// Lets old calls go, and sends those that are kept if an incident has opened. `ends`: no more will come.
    fn freeze(
        &mut self,
        freezer: &mut Option<Freezer>,
        spool: &mut Spool,
        ends: bool,
    ) -> anyhow::Result<()> {
        spool.age()?;
        let Some(freezer) = freezer else {
            return Ok(());
        };
        if !freezer.is_due(ends) {
            return Ok(());
        }
        let seen = self.finish()?;
        let recorded = Recorded {
            processes: vec![&self.process],
            under_way: vec![seen.under_way],
            lost: vec![seen.lost],
            ..Recorded::default()
        };
        let clock = Clock::new(Scale::BOOTTIME, self.begun, Pair::now());
        freezer.send(&recorded, spool, &clock);
        Ok(())
    }

    fn drain(&mut self, ring: &mut Calls, spool: &mut Spool) -> anyhow::Result<bool> {
        let (process, meanings, asleep) = (&mut self.process, &self.meanings, self.asleep_ns);
        let calls = &mut self.calls;
        let mut failure = Ok(());
        let any = ring.drain(|call| {
            *calls += 1;
            let Some(Some(meaning)) = meanings.get(call.function as usize) else {
                return;
            };
            let tid = call.header.tid;
            let name = process.threads.entry(tid);
            name.or_insert_with(|| text_of(&call.comm));
            let event = meaning.event(call, asleep);
            meaning.learn(call, &event, &mut process.kernels);
            if failure.is_ok() {
                failure = spool.push(0, &event);
            }
        })?;
        failure?;
        Ok(any)
    }

    /// What was seen, once nothing more comes.
    ///
    /// # Errors
    ///
    /// That the counts cannot be read.
    pub fn finish(&self) -> anyhow::Result<Seen> {
        let counted = self.watch.tracer().counted()?;
        let value = |counter| counted.counter(counter);
        let under_way = self.watch.tracer().under_way()?;
        let names: HashMap<u32, u16> = (0..)
            .zip(&self.meanings)
            .filter_map(|(number, meaning)| Some((number, meaning.as_ref()?.name)))
            .collect();
        let under_way = under_way.into_iter().filter_map(|call| {
            Some(UnderWay {
                thread: call.tid,
                function: *names.get(&call.function)?,
                since: call.start_ns + self.asleep_ns,
            })
        });
        Ok(Seen {
            calls: self.calls,
            lost: LOST.into_iter().map(value).sum(),
            losses: LOST.map(|counter| (counter, value(counter))).to_vec(),
            under_way: under_way.collect(),
        })
    }
}

/// CLOCK_BOOTTIME less CLOCK_MONOTONIC: of several readings the one in which the least time lay between.
fn asleep_ns() -> u64 {
    use crate::clock_ns as read;
    use rustix::time::ClockId::{Boottime, Monotonic};
    let reading = |_| {
        let (before, boottime, after) = (read(Monotonic), read(Boottime), read(Monotonic));
        let middle = before + (after - before) / 2;
        (after - before, boottime.saturating_sub(middle))
    };
    (0..16).map(reading).min().map_or(0, |(_, asleep)| asleep)
}
