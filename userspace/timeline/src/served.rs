//! Times of calls from the server of a remote GPU, on a track for each thread that called.

use std::collections::VecDeque;
use std::io::Write;

use gtrace_perfetto::{Flow, Slice, Track, Value};
use gtrace_recording::layout::Event;
use gtrace_recording::name;

use super::{Process, Timeline, work};

/// Calls of a thread that are kept: more than a server lets be under way.
const MOST: usize = 1 << 16;

/// A call of a thread, in ticks.
#[derive(Clone, Copy, Debug)]
struct Call {
    start: u64,
    end: u64,
    function: u16,
    /// Whether an arrow leads from it.
    has_arrow: bool,
}

/// The newest calls of a thread, in the order in which they ended.
#[derive(Debug, Default)]
pub(super) struct Calls(VecDeque<Call>);

impl Calls {
    pub(super) fn add(&mut self, event: &Event, has_arrow: bool) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(Call {
            start: event.start,
            end: event.end,
            function: event.function,
            has_arrow,
        });
    }

    /// The call within which something was sent at `ticks`. Calls that ended before are not asked for again: a
    /// server reports them in their order.
    fn within(&mut self, ticks: u64) -> Option<Call> {
        while self.0.front().is_some_and(|call| call.end < ticks) {
            self.0.pop_front();
        }
        // The innermost, which ended first.
        self.0.front().copied().filter(|call| call.start <= ticks)
    }
}

impl<W: Write> Timeline<W> {
    /// The server's times of a call.
    pub(super) fn served(
        &mut self,
        at: u32,
        process: &Process,
        event: &Event,
    ) -> anyhow::Result<()> {
        let [.., answers] = event.words;
        match answers {
            0 => self.executed(at, process, event),
            _ => self.answered(at, process, event),
        }
    }

    /// A call that nobody waited for. The server reported when it executed it, by a clock that was compared with this
    /// host's.
    fn executed(&mut self, at: u32, process: &Process, event: &Event) -> anyhow::Result<()> {
        let [queue_ns, driver_ns, called, _] = event.words;
        let call = self.calls.entry((at, event.thread)).or_default();
        let Some(call) = call.within(called) else {
            return Ok(());
        };
        let (track, free_at) = self.served_track(at, process, event.thread)?;
        // The server does one after the other; its clock may be misjudged.
        let start = self.clock.boottime(event.start).max(free_at);
        let end = self.clock.boottime(event.end).max(start);
        let arguments = [
            ("queue_ns", Value::Unsigned(queue_ns)),
            ("driver_ns", Value::Unsigned(driver_ns)),
            (
                "clock_off_by_at_most_ns",
                Value::Unsigned(event.extra.into()),
            ),
        ];
        let flow = [Flow(work::arrow(at, event.thread, call.start))];
        let done = Slice {
            name: name(call.function).unwrap_or_default(),
            category: "server,one_way",
            arguments: &arguments,
            flows: if call.has_arrow { &flow } else { &[] },
        };
        self.writer.slice(track, &done, start, end)?;
        self.served.insert((at, event.thread), (track, end));
        Ok(())
    }

    /// A call that was answered by the server: that it waited there, and that it was executed. The server says how
    /// long, not when: what is left of the time between request and answer is laid on both ways evenly.
    fn answered(&mut self, at: u32, process: &Process, event: &Event) -> anyhow::Result<()> {
        let Some(function) = name(event.function) else {
            return Ok(());
        };
        let [queue_ns, driver_ns, _, answers] = event.words;
        let (track, free_at) = self.served_track(at, process, event.thread)?;
        let sent = self.clock.boottime(event.start);
        let answered = self.clock.boottime(event.end).max(sent);
        let round = answered - sent;
        // Clocks of two hosts do not run alike.
        let wire = round.saturating_sub(queue_ns.saturating_add(driver_ns));
        // Behind what was executed before.
        let arrived = (sent + wire / 2).max(free_at);
        let latest = answered.max(arrived);
        let begun = arrived.saturating_add(queue_ns).min(latest);
        let ended = begun.saturating_add(driver_ns).min(latest);
        let arguments = [
            ("queue_ns", Value::Unsigned(queue_ns)),
            ("driver_ns", Value::Unsigned(driver_ns)),
            ("wire_ns", Value::Unsigned(wire)),
            ("answers", Value::Unsigned(answers)),
        ];
        let waiting = Slice {
            name: "queue",
            category: "server",
            arguments: &[],
            flows: &[],
        };
        let done = Slice {
            name: function,
            category: "server",
            arguments: &arguments,
            flows: &[],
        };
        self.writer.slice(track, &waiting, arrived, begun)?;
        self.writer.slice(track, &done, begun, ended)?;
        self.served.insert((at, event.thread), (track, ended));
        Ok(())
    }

    fn served_track(
        &mut self,
        at: u32,
        process: &Process,
        thread: u32,
    ) -> anyhow::Result<(Track, u64)> {
        if let Some(track) = self.served.get(&(at, thread)) {
            return Ok(*track);
        }
        let parent = self.process(at, process)?;
        let name = format!("server, for thread {thread}");
        let track = self.writer.named(&name, Some(parent))?;
        self.served.insert((at, thread), (track, 0));
        Ok((track, 0))
    }
}
