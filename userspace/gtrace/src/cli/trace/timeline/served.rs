//! What the server of a GPU elsewhere told of calls, on a track for each thread that waited.

use std::io::Write;

use gtrace_perfetto::{Slice, Track, Value};
use gtrace_recording::layout::Event;
use gtrace_recording::name;

use super::{Process, Timeline};

impl<W: Write> Timeline<W> {
    /// A call that was answered by the server: that it waited there, and that it was executed. The server tells how
    /// long, not when: what is left of the time between request and answer is laid on both ways evenly.
    pub(super) fn served(
        &mut self,
        at: u32,
        process: &Process,
        event: &Event,
    ) -> anyhow::Result<()> {
        let Some(function) = name(event.function) else {
            return Ok(());
        };
        let [queue_ns, driver_ns, _, answers] = event.words;
        let track = self.served_track(at, process, event.thread)?;
        let sent = self.clock.boottime(event.start);
        let answered = self.clock.boottime(event.end).max(sent);
        let round = answered - sent;
        // Clocks of two hosts do not run alike.
        let queue = queue_ns.min(round);
        let driver = driver_ns.min(round - queue);
        let wire = round - queue - driver;
        let arrived = sent + wire / 2;
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
        let begun = arrived + queue;
        self.writer.slice(track, &waiting, arrived, begun)?;
        Ok(self.writer.slice(track, &done, begun, begun + driver)?)
    }

    fn served_track(&mut self, at: u32, process: &Process, thread: u32) -> anyhow::Result<Track> {
        if let Some(track) = self.served.get(&(at, thread)) {
            return Ok(*track);
        }
        let parent = self.process(at, process)?;
        let name = format!("server, for thread {thread}");
        let track = self.writer.named(&name, Some(parent))?;
        self.served.insert((at, thread), track);
        Ok(track)
    }
}
