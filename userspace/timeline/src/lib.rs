//! What was recorded of programs that use a GPU becomes a trace in Perfetto's format: calls, streams,
//! driver calls, what a server did, events of the host and samples of its GPUs.
//!
//! [`collector`] takes what traced programs record, [`arguments`] defines what the registers of a call mean
//! that a probe saw; both give events for a [`Spool`], of which [`write()`] makes the trace. [`summary`] is the
//! same as a table and as JSON.

pub mod arguments;
pub mod collector;
mod driver_calls;
mod host;
pub mod live;
mod names;
mod served;
mod session_table;
mod sessions;
mod spool;
pub mod summary;
mod work;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use gtrace_abi::CallRecord;
use gtrace_engine::sources::watched::DeviceNames;
use gtrace_perfetto::{Clocks, Flow, Slice, Track, Value, Writer};
use gtrace_recording::clock::{Pair, Scale};
use gtrace_recording::layout::Event;
use gtrace_recording::{NO_STREAM, UnderWay, is_success, kind, name};
use rustix::time::ClockId;

pub use host::{Host, Samples};
pub use names::Kernels;
pub use session_table::SessionTable;
pub use sessions::SessionTrace;
pub use spool::Spool;

/// Who makes the calls of a trace.
#[derive(Debug, Default)]
pub struct Process {
    /// Its id; 0 if it is not known.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Names of threads, by id.
    pub threads: HashMap<u32, String>,
    /// Names of its kernels.
    pub kernels: Kernels,
}

/// What was recorded besides the calls in the spool.
#[derive(Debug, Default)]
pub struct Recorded<'a> {
    /// By the number that the spool has for them.
    pub processes: Vec<&'a Process>,
    /// Of each, the calls that had not ended.
    pub under_way: Vec<Vec<UnderWay>>,
    /// Of each, the calls that are missing as there was no room for them.
    pub lost: Vec<u64>,
    /// Calls into the driver, by process and in order of their ends.
    pub driver: Vec<(u32, CallRecord)>,
    /// Names of the driver's device files.
    pub devices: DeviceNames,
}

impl<'a> Recorded<'a> {
    /// Adds calls into the driver, which are `stranger`'s if none of the processes has its id, and the names
    /// of the device files that they name.
    pub fn add_driver(
        &mut self,
        unlisted: &'a Process,
        calls: Vec<CallRecord>,
        devices: DeviceNames,
    ) {
        let known = self
            .processes
            .iter()
            .position(|one| one.pid == unlisted.pid);
        let at = known.unwrap_or(self.processes.len()) as u32;
        if known.is_none() && !calls.is_empty() {
            self.processes.push(unlisted);
        }
        self.driver = calls.into_iter().map(|call| (at, call)).collect();
        self.devices = devices;
    }
}

/// Ticks of the recordings and CLOCK_BOOTTIME.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    scale: Scale,
    first: Pair,
    last: Pair,
}

impl Clock {
    /// As both read at two moments.
    pub fn new(scale: Scale, first: Pair, last: Pair) -> Self {
        Self { scale, first, last }
    }

    /// When it began, CLOCK_BOOTTIME in nanoseconds.
    pub fn start(&self) -> u64 {
        self.first.boottime_ns
    }

    /// When it ended.
    pub fn end(&self) -> u64 {
        self.last.boottime_ns
    }

    /// CLOCK_BOOTTIME in nanoseconds. One straight line, so that what lay within each other still does.
    pub fn boottime(&self, ticks: u64) -> u64 {
        if self.scale == Scale::BOOTTIME {
            return ticks;
        }
        let wide = i128::from;
        let ran = wide(self.last.ticks) - wide(self.first.ticks);
        if ran <= 0 {
            return self.first.boottime_ns;
        }
        let took = wide(self.last.boottime_ns) - wide(self.first.boottime_ns);
        let since = wide(ticks) - wide(self.first.ticks);
        let time = wide(self.first.boottime_ns) + since * took / ran;
        u64::try_from(time).unwrap_or(0)
    }

    fn clocks(&self) -> Clocks {
        let ago = clock_ns(ClockId::Boottime).saturating_sub(self.start());
        let then = |id| clock_ns(id).saturating_sub(ago);
        Clocks {
            boottime_ns: self.start(),
            monotonic_ns: then(ClockId::Monotonic),
            realtime_ns: then(ClockId::Realtime),
        }
    }
}

/// What a clock reads, in nanoseconds.
fn clock_ns(id: ClockId) -> u64 {
    let time = rustix::time::clock_gettime(id);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Writes the trace to a file.
///
/// # Errors
///
/// The file cannot be made or written, or the spool not read.
pub fn write(
    path: &Path,
    recorded: &Recorded<'_>,
    spool: &mut Spool,
    clock: &Clock,
    host: &Host,
) -> anyhow::Result<()> {
    let out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let writer = Writer::new(out, clock.clocks())?;
    let out = write_to(writer, recorded, (spool, u64::MAX), clock, host)?;
    out.into_inner().map_err(|error| error.into_error())?;
    Ok(())
}

/// Writes the trace with this writer; of the spool, so many of the newest calls.
pub(crate) fn write_to<W: Write>(
    writer: Writer<W>,
    recorded: &Recorded<'_>,
    (spool, most): (&mut Spool, u64),
    clock: &Clock,
    host: &Host,
) -> anyhow::Result<W> {
    let mut timeline = Timeline::new(writer, *clock);
    let processes = &recorded.processes;
    let window = spool.window().map(|window| window.as_nanos());
    let window = window.and_then(|nanoseconds| u64::try_from(nanoseconds).ok());
    let from = window.map_or(0, |window| clock.end().saturating_sub(window));
    spool.read(most, |process, event| {
        match processes.get(process as usize) {
            _ if clock.boottime(event.end) < from => Ok(()),
            Some(_) if event.kind == kind::WORK => {
                timeline.work.push((process, event));
                Ok(())
            }
            Some(of) if event.kind == kind::SERVED => timeline.served(process, of, &event),
            Some(of) => timeline.call(process, of, &event),
            None => Ok(()),
        }
    })?;
    for (at, process) in processes.iter().enumerate() {
        timeline.ends(at as u32, process, recorded)?;
    }
    timeline.work(processes)?;
    timeline.driver(recorded, from)?;
    timeline.host(host)?;
    Ok(timeline.writer.finish()?)
}

struct Timeline<W: Write> {
    writer: Writer<W>,
    clock: Clock,
    processes: HashMap<u32, Track>,
    threads: HashMap<(u32, u32), Track>,
    streams: HashMap<(u32, u64, u32), Track>,
    driver: HashMap<(u32, u32), Track>,
    /// Tracks of what the server did, by process and thread, and up to when each is full.
    served: HashMap<(u32, u32), (Track, u64)>,
    /// Calls of a thread that a server may report yet.
    calls: HashMap<(u32, u32), served::Calls>,
    /// What the GPU did, by process.
    work: Vec<(u32, Event)>,
}

impl<W: Write> Timeline<W> {
    fn new(writer: Writer<W>, clock: Clock) -> Self {
        Self {
            writer,
            clock,
            processes: HashMap::new(),
            threads: HashMap::new(),
            streams: HashMap::new(),
            driver: HashMap::new(),
            served: HashMap::new(),
            calls: HashMap::new(),
            work: Vec::new(),
        }
    }
}

/// What a stream is known by, and called. `thread`: whose default stream it is, if it is one.
fn stream_key(at: u32, stream: u64, per_thread: bool, thread: u32) -> ((u32, u64, u32), String) {
    match names::stream(stream, per_thread) {
        name if stream == 2 || stream == 0 && per_thread => {
            ((at, 2, thread), format!("{name}, thread {thread}"))
        }
        name => ((at, stream.max(1), 0), name),
    }
}

/// Whether a function's default stream is its thread's.
fn is_per_thread(function: &str) -> bool {
    function.ends_with("_ptsz") || function.ends_with("_ptds")
}

fn signed(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(0)
}

impl<W: Write> Timeline<W> {
    fn process(&mut self, at: u32, process: &Process) -> anyhow::Result<Track> {
        if let Some(track) = self.processes.get(&at) {
            return Ok(*track);
        }
        let track = self.writer.process(signed(process.pid), &process.name)?;
        self.processes.insert(at, track);
        Ok(track)
    }

    fn thread(&mut self, at: u32, process: &Process, thread: u32) -> anyhow::Result<Track> {
        if let Some(track) = self.threads.get(&(at, thread)) {
            return Ok(*track);
        }
        self.process(at, process)?;
        let name = process.threads.get(&thread);
        let name = name.map_or(process.name.as_str(), String::as_str);
        let track = self
            .writer
            .thread(signed(process.pid), signed(thread), name)?;
        self.threads.insert((at, thread), track);
        Ok(track)
    }

    /// `thread`: whose default stream it is, if it is one.
    fn stream(
        &mut self,
        at: u32,
        process: &Process,
        stream: u64,
        per_thread: bool,
        thread: u32,
    ) -> anyhow::Result<Track> {
        let (key, name) = stream_key(at, stream, per_thread, thread);
        if let Some(track) = self.streams.get(&key) {
            return Ok(*track);
        }
        let parent = self.process(at, process)?;
        let track = self.writer.named(&name, Some(parent))?;
        self.streams.insert(key, track);
        Ok(track)
    }

    fn call(&mut self, at: u32, process: &Process, event: &Event) -> anyhow::Result<()> {
        let Some(function) = name(event.function) else {
            return Ok(());
        };
        let thread = self.thread(at, process, event.thread)?;
        let (start, end) = (
            self.clock.boottime(event.start),
            self.clock.boottime(event.end),
        );
        let [first, stream, third, fourth] = event.words;
        let mut arguments: Vec<(&str, Value<'_>)> = Vec::new();
        let result = match names::result(event.code) {
            Some(name) => Value::Name(name),
            None => Value::Unsigned(event.code.into()),
        };
        let kernel;
        let (grid, block);
        // What the stream shows, if the call gives it something to do.
        let mut submitted = None;
        match event.kind {
            kind::COPY => {
                arguments.push(("bytes", Value::Unsigned(first)));
                arguments.push(("to", Value::Address(third)));
                arguments.push(("from", Value::Address(fourth)));
                submitted = Some(function);
            }
            kind::SET => {
                arguments.push(("bytes", Value::Unsigned(first)));
                arguments.push(("to", Value::Address(third)));
                submitted = Some(function);
            }
            kind::ALLOCATE => {
                arguments.push(("bytes", Value::Unsigned(first)));
                arguments.push(("address", Value::Address(third)));
            }
            kind::FREE => arguments.push(("address", Value::Address(third))),
            kind::LAUNCH => {
                kernel = match process.kernels.name(event.start, first) {
                    Some(name) => name.to_owned(),
                    None => format!("kernel {first:#x}"),
                };
                grid = dimensions([third & 0xffff_ffff, third >> 32 & 0xffff, third >> 48]);
                block = dimensions([
                    fourth & 0xffff,
                    fourth >> 16 & 0xffff,
                    fourth >> 32 & 0xffff,
                ]);
                arguments.push(("kernel", Value::Name(&kernel)));
                arguments.push(("grid", Value::Name(&grid)));
                arguments.push(("block", Value::Name(&block)));
                arguments.push(("shared_bytes", Value::Unsigned(event.extra.into())));
                submitted = Some(&kernel);
            }
            kind::STREAM if function.starts_with("cuGraphLaunch") => submitted = Some(function),
            _ => {}
        }
        let has_stream = event.kind != kind::PLAIN && stream != NO_STREAM;
        if has_stream {
            arguments.push(("stream", Value::Address(stream)));
        }
        arguments.push(("result", result));
        let submitted = submitted.filter(|_| has_stream && is_success(event.code));
        // An arrow leads to the stream, to what the GPU did and to what a server did, where they are known.
        let arrow = work::arrow(at, event.thread, event.start);
        let flow = [Flow(arrow)];
        let calls = self.calls.entry((at, event.thread)).or_default();
        calls.add(event, submitted.is_some());
        let call = Slice {
            name: function,
            category: if is_success(event.code) {
                "cuda"
            } else {
                "cuda,failed"
            },
            arguments: &arguments,
            flows: if submitted.is_some() { &flow } else { &[] },
        };
        self.writer.slice(thread, &call, start, end)?;
        if let Some(what) = submitted {
            let track = self.stream(at, process, stream, is_per_thread(function), event.thread)?;
            // It may go on to what the GPU did.
            let flow = [Flow(arrow)];
            let given = Slice {
                name: what,
                category: "submitted",
                arguments: &[],
                flows: &flow,
            };
            self.writer.instant(track, &given, end)?;
        }
        Ok(())
    }

    /// Calls that had not ended, and how many are missing.
    fn ends(&mut self, at: u32, process: &Process, recorded: &Recorded<'_>) -> anyhow::Result<()> {
        let under_way = recorded.under_way.get(at as usize);
        for call in under_way.into_iter().flatten() {
            let Some(function) = name(call.function) else {
                continue;
            };
            let track = self.thread(at, process, call.thread)?;
            let slice = Slice {
                name: function,
                category: "cuda",
                arguments: &[("result", Value::Name("not returned"))],
                flows: &[],
            };
            let start = self.clock.boottime(call.since);
            self.writer.slice(track, &slice, start, self.clock.end())?;
        }
        let lost = recorded.lost.get(at as usize).copied().unwrap_or(0);
        if lost > 0 {
            let track = self.process(at, process)?;
            let track = self
                .writer
                .named("calls that are missing here", Some(track))?;
            let slice = Slice {
                name: "rings were full",
                category: "gtrace",
                arguments: &[("calls", Value::Unsigned(lost))],
                flows: &[],
            };
            self.writer.instant(track, &slice, self.clock.end())?;
        }
        Ok(())
    }
}

fn dimensions([x, y, z]: [u64; 3]) -> String {
    format!("{x} x {y} x {z}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_on_a_straight_line() {
        let pair = |ticks, boottime_ns| Pair { ticks, boottime_ns };
        let scale = Scale::new(1 << 31);
        let clock = Clock::new(scale, pair(1_000, 500), pair(3_000, 1_500));
        assert_eq!(
            [0, 1_000, 2_000, 4_000].map(|ticks| clock.boottime(ticks)),
            [0, 500, 1_000, 2_000]
        );
        let clock = Clock::new(Scale::BOOTTIME, pair(0, 0), pair(0, 0));
        assert_eq!(clock.boottime(7), 7);
    }
}
