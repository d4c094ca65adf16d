//! Calls into the driver, on a track of their own for each thread.

use std::io::Write;

use gtrace_abi::{CallRecord, NO_STATUS};
use gtrace_engine::sources::operation::{Operation, status_text};
use gtrace_engine::sources::watched::DeviceNames;
use gtrace_perfetto::{Slice, Track, Value};

use super::{Process, Recorded, Timeline};

impl<W: Write> Timeline<W> {
    /// All of them that ended at `from` or later.
    pub(super) fn driver(&mut self, recorded: &Recorded<'_>, from: u64) -> anyhow::Result<()> {
        let calls = recorded.driver.iter();
        for (at, call) in calls.filter(|(_, call)| call.header.boottime_ns >= from) {
            if let Some(process) = recorded.processes.get(*at as usize) {
                self.driver_call(*at, process, call, &recorded.devices)?;
            }
        }
        Ok(())
    }

    /// The track of a thread's driver calls. Their times are another clock reading's than those of calls of
    /// the CUDA driver, so that what lies within such a call might seem to reach out of it by a hair.
    fn driver_track(&mut self, at: u32, process: &Process, thread: u32) -> anyhow::Result<Track> {
        if let Some(track) = self.driver.get(&(at, thread)) {
            return Ok(*track);
        }
        let parent = self.process(at, process)?;
        let name = process.threads.get(&thread).map_or("", String::as_str);
        let name = format!("{name} {thread}: calls into the driver");
        let track = self.writer.named(name.trim_start(), Some(parent))?;
        self.driver.insert((at, thread), track);
        Ok(track)
    }

    fn driver_call(
        &mut self,
        at: u32,
        process: &Process,
        call: &CallRecord,
        devices: &DeviceNames,
    ) -> anyhow::Result<()> {
        let track = self.driver_track(at, process, call.header.tid)?;
        let operation = Operation::new(call.cmd, call.code);
        let name = operation.text();
        let device = devices.name(call.rdev);
        let status = status_text(call.status);
        let failed =
            call.ret < 0 || call.status != NO_STATUS && gtrace_nvrm::is_failure(call.status);
        let mut arguments = vec![
            ("device", Value::Name(&device)),
            ("ioctl", Value::Name(&operation.ioctl)),
            ("returned", Value::Signed(call.ret)),
        ];
        if let Some(status) = &status {
            arguments.push(("status", Value::Name(status)));
        }
        if let [client, object] = call.handles
            && call.handles != [0, 0]
        {
            arguments.push(("client", Value::Address(client.into())));
            arguments.push(("object", Value::Address(object.into())));
        }
        let slice = Slice {
            name: &name,
            category: if failed { "driver,failed" } else { "driver" },
            arguments: &arguments,
            flows: &[],
        };
        let end = call.header.boottime_ns;
        let start = end.saturating_sub(call.latency_ns);
        Ok(self.writer.slice(track, &slice, start, end)?)
    }
}
