//! The process's calls into the kernel's driver, kept beside the trace of its CUDA calls.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use anyhow::Context as _;
use gtrace_abi::{CallRecord, DeviceFilter};
use gtrace_engine::sources::watched::DeviceNames;

use super::output::lost_text;
use super::target::Target;
use super::tracer::{Sink, Tracer, show};

/// What was seen.
#[derive(Debug, Default)]
pub struct Kept {
    /// In order of their ends.
    pub calls: Vec<CallRecord>,
    /// Names of the device files.
    pub names: DeviceNames,
    /// Calls that are not kept, as there are too many.
    pub dropped: u64,
    most: usize,
    newest: bool,
}

impl Sink for Kept {
    fn call(&mut self, call: &CallRecord) {
        if self.newest && self.calls.len() >= self.most.saturating_mul(2) {
            self.calls.drain(..self.most);
            self.dropped += self.most as u64;
        }
        match self.newest || self.calls.len() < self.most {
            true => self.calls.push(*call),
            false => self.dropped += 1,
        }
    }

    fn calls(&self) -> u64 {
        self.calls.len() as u64 + self.dropped
    }

    fn set_names(&mut self, names: DeviceNames) {
        self.names = names;
    }

    fn flush(&mut self) -> bool {
        true
    }
}

/// The thread that takes them.
pub struct DriverCalls {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<(Kept, String)>>,
}

impl DriverCalls {
    /// Begins; on these devices, or the driver's. The first `most` calls are kept, or, of a ring, as many of the newest
    /// at least.
    ///
    /// # Errors
    ///
    /// That they cannot be seen here.
    pub fn start(
        pid: u32,
        devices: Option<Vec<DeviceFilter>>,
        most: u64,
        newest: bool,
    ) -> anyhow::Result<Self> {
        let target = Target::find(Path::new("/proc"), pid)?;
        let mut tracer = Tracer::start(pid, devices)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&stop);
        let take = move || {
            let mut kept = Kept {
                most: usize::try_from(most).unwrap_or(usize::MAX).max(1),
                newest,
                ..Kept::default()
            };
            show(&mut tracer, &target, &stopping, &mut kept)?;
            let lost = lost_text(&tracer.counters());
            Ok((kept, lost))
        };
        let thread = std::thread::Builder::new()
            .name("driver".into())
            .spawn(take)
            .context("a thread cannot be started")?;
        Ok(Self { stop, thread })
    }

    /// Ends, with what was seen and what was lost.
    ///
    /// # Errors
    ///
    /// What ended it before.
    pub fn end(self) -> anyhow::Result<(Kept, String)> {
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(kept) => kept,
            Err(_) => anyhow::bail!("the thread that takes driver calls panicked"),
        }
    }
}
