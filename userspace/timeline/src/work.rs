//! What the GPU did, on a track for each stream.

use std::collections::HashMap;
use std::io::Write;

use gtrace_perfetto::{Flow, Slice, Track, Value};
use gtrace_recording::layout::Event;
use gtrace_recording::{NO_STREAM, kind, name};

use super::{Process, Timeline, is_per_thread, stream_key};

/// The number of the arrow from a call to what was done for it: a thread begins one call at a time.
pub(super) fn arrow(process: u32, thread: u32, called: u64) -> u64 {
    // A bijection of the time (splitmix64), so that arrows of one thread never share a number.
    let mut mixed = called ^ u64::from(process) << 44 ^ u64::from(thread).rotate_right(20);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ mixed >> 31).max(1)
}

impl<W: Write> Timeline<W> {
    /// All work, stream by stream.
    pub(super) fn work(&mut self, processes: &[&Process]) -> anyhow::Result<()> {
        let mut work = std::mem::take(&mut self.work);
        // Threads report each other's work, so it comes in any order.
        work.sort_by_key(|(_, event)| event.start);
        let mut tracks: HashMap<(u32, u64, u32), (Track, u64)> = HashMap::new();
        for (at, event) in &work {
            let (Some(process), Some(function)) =
                (processes.get(*at as usize), name(event.function))
            else {
                continue;
            };
            let [_, stream, ..] = event.words;
            let stream = match stream {
                // A call that names none is one of the default stream.
                NO_STREAM => 0,
                stream => stream,
            };
            let (key, called) = stream_key(*at, stream, is_per_thread(function), event.thread);
            let (track, free_at) = match tracks.get(&key) {
                Some(known) => *known,
                None => {
                    let parent = self.process(*at, process)?;
                    let called = format!("{called}, on the GPU");
                    (self.writer.named(&called, Some(parent))?, 0)
                }
            };
            // A stream does one thing after another; readings of two anchors may differ by a little.
            let start = self.clock.boottime(event.start).max(free_at);
            let end = self.clock.boottime(event.end).max(start);
            tracks.insert(key, (track, end));
            self.piece(track, *at, process, event, (start, end))?;
        }
        Ok(())
    }

    fn piece(
        &mut self,
        track: Track,
        at: u32,
        process: &Process,
        event: &Event,
        (start, end): (u64, u64),
    ) -> anyhow::Result<()> {
        let [first, _, called, off_ns] = event.words;
        let function = name(event.function).unwrap_or_default();
        let kernel;
        let mut arguments = vec![("call", Value::Name(function))];
        let title = match u8::try_from(event.extra) {
            Ok(kind::LAUNCH) => {
                kernel = match process.kernels.name(called, first) {
                    Some(name) => name.to_owned(),
                    None => format!("kernel {first:#x}"),
                };
                kernel.as_str()
            }
            Ok(kind::COPY | kind::SET) => {
                arguments.push(("bytes", Value::Unsigned(first)));
                function
            }
            _ => function,
        };
        arguments.push(("clock_off_by_at_most_ns", Value::Unsigned(off_ns)));
        let slice = Slice {
            name: title,
            category: "gpu",
            arguments: &arguments,
            flows: &[Flow(arrow(at, event.thread, called))],
        };
        Ok(self.writer.slice(track, &slice, start, end)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_of_calls_differ() {
        let calls = [(0, 1, 5), (0, 1, 6), (0, 2, 5), (1, 1, 5)];
        let mut arrows: Vec<_> = calls.iter().map(|(p, t, at)| arrow(*p, *t, *at)).collect();
        arrows.sort_unstable();
        arrows.dedup();
        assert_eq!(arrows.len(), calls.len());
        assert_eq!(arrow(3, 4, 5), arrow(3, 4, 5));
    }
}
