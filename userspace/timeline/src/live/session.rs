//! A trace of programs while it is taken: their CUDA calls, which they send themselves, their calls into the kernel's
//! driver, and what the daemon knows of that time.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use gtrace_abi::DeviceFilter;
use gtrace_recording::Variables;
use gtrace_recording::clock::Pair;

use super::{Daemon, DriverCalls, Freezer, Held, Kept};
use crate::collector::{Collector, Wake};
use crate::summary::Summary;
use crate::{Clock, Process, Spool};

/// See the module.
pub struct Session {
    variables: Variables,
    collector: Collector,
    spool: Option<Spool>,
    daemon: Option<Daemon>,
    begun: Pair,
    /// Sends the last calls to the daemon when an incident opens.
    freezer: Option<Freezer>,
    /// Calls into the kernel's driver, and whose they are.
    driver: Option<(u32, DriverCalls)>,
    /// The folder of the socket, where it is one of this session.
    folder: Option<tempfile::TempDir>,
}

impl Session {
    /// Begins. Programs that have `variables` send what they do: to `socket`, else to one of this session. Each call
    /// goes to `spool`, and `daemon` is asked, if there is to be a trace.
    ///
    /// # Errors
    ///
    /// The socket cannot be made.
    pub fn new(
        variables: Variables,
        socket: Option<PathBuf>,
        spool: Option<Spool>,
        daemon: Option<Daemon>,
    ) -> anyhow::Result<Self> {
        let (socket, folder) = match socket {
            Some(socket) => (socket, None),
            None => {
                let folder = tempfile::Builder::new()
                    .prefix("gtrace-trace-")
                    .tempdir()
                    .context("a folder for the socket")?;
                (folder.path().join("socket"), Some(folder))
            }
        };
        let collector =
            Collector::bind(&socket).with_context(|| format!("the socket {}", socket.display()))?;
        Ok(Self {
            variables: Variables {
                socket: Some(socket),
                ..variables
            },
            collector,
            spool,
            daemon,
            begun: Pair::now(),
            freezer: None,
            driver: None,
            folder,
        })
    }

    /// From now on, the last calls are sent wherever this says.
    pub fn freeze(&mut self, freezer: Freezer) {
        self.freezer = Some(freezer);
    }

    /// What programs need in their environment.
    pub fn variables(&self) -> &Variables {
        &self.variables
    }

    /// Where the program waits until the probes on the kernel's driver are there; `None` if there are to be none.
    /// `asked`: the devices were named.
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn hold(&self, asked: bool) -> std::io::Result<Option<Held>> {
        let there = asked || Path::new("/proc/driver/nvidia/version").exists();
        let wanted = self.spool.is_some() && there && gtrace_engine::host::is_root();
        let folder = self.folder.as_ref().filter(|_| wanted);
        folder.map(|folder| Held::new(folder.path())).transpose()
    }

    /// Takes a process's calls into the kernel's driver, `most` of them.
    ///
    /// # Errors
    ///
    /// They cannot be seen here.
    pub fn take_driver_calls(
        &mut self,
        pid: u32,
        devices: Option<Vec<DeviceFilter>>,
        most: u64,
    ) -> anyhow::Result<()> {
        let newest = self
            .spool
            .as_ref()
            .is_some_and(|spool| spool.window().is_some());
        let driver = DriverCalls::start(pid, devices, most, newest)?;
        self.driver = Some((pid, driver));
        Ok(())
    }

    /// Collects until `over`, which is checked whenever `ended` becomes readable. Once a call cannot be kept none is, of which
    /// `say` gets a line, and what is counted is collected all the same.
    ///
    /// # Errors
    ///
    /// A call cannot be kept.
    pub fn collect(
        &mut self,
        ended: Option<&OwnedFd>,
        say: fn(&str),
        mut over: impl FnMut() -> bool,
    ) -> anyhow::Result<()> {
        let events = self.spool.is_some();
        let mut busy = false;
        let mut kept = Ok(());
        loop {
            let wake = Wake { events, busy };
            self.collector.wait(ended.map(|fd| fd.as_fd()), wake)?;
            // Before what is there is taken, so that nothing comes between.
            let last = over();
            self.collector.receive();
            busy = self.keep(last).unwrap_or_else(|error| {
                say(&format!(
                    "calls are only counted from now on, and none is kept: {error:#}"
                ));
                self.spool = None;
                kept = Err(error.context("a call could not be kept"));
                false
            });
            if last {
                if let Some(freezer) = self.freezer.take() {
                    freezer.end();
                }
                return kept;
            }
        }
    }

    /// Takes the calls from the rings; whether one of them was rather full. `last`: no more come.
    fn keep(&mut self, last: bool) -> anyhow::Result<bool> {
        let busy = self.collector.drain(self.spool.as_mut())?;
        if let Some(spool) = &mut self.spool {
            spool.age()?;
            if let Some(freezer) = &mut self.freezer
                && freezer.is_due(last)
            {
                let clock = Clock::new(self.variables.scale, self.begun, Pair::now());
                freezer.send(&self.collector.recorded(), spool, &clock);
            }
        }
        Ok(busy)
    }

    /// Ends. `status`: how the program ended.
    pub fn end(self, status: Option<i32>) -> Ended {
        let clock = Clock::new(self.variables.scale, self.begun, Pair::now());
        let summary = Summary::new(&self.collector, &clock, self.spool.as_ref(), status);
        Ended {
            session: self,
            clock,
            summary,
        }
    }
}

/// What was collected.
pub struct Ended {
    session: Session,
    clock: Clock,
    /// Figures of each function.
    pub summary: Summary,
}

impl Ended {
    /// Writes the trace, if one was asked for. `say` gets a line for what is missing in it.
    ///
    /// # Errors
    ///
    /// The trace cannot be written.
    pub fn write(self, output: &Path, say: fn(&str)) -> anyhow::Result<()> {
        let Session {
            collector,
            spool,
            daemon,
            driver,
            ..
        } = self.session;
        let Some(mut spool) = spool else {
            return Ok(());
        };
        let host = daemon.map(|daemon| daemon.end(say)).unwrap_or_default();
        let driver = driver.map(|(pid, driver)| (pid, driver.end()));
        let (pid, kept) = match driver {
            Some((pid, Ok((kept, lost)))) => {
                let calls = kept.calls.len() as u64 + kept.dropped;
                say(&format!("{calls} calls into the driver{lost}"));
                (pid, kept)
            }
            Some((pid, Err(error))) => {
                say(&format!(
                    "the trace has no calls into the driver: {error:#}"
                ));
                (pid, Kept::default())
            }
            None => (0, Kept::default()),
        };
        let process = Process {
            pid,
            ..Process::default()
        };
        let mut recorded = collector.recorded();
        recorded.add_driver(&process, kept.calls, kept.names);
        crate::write(output, &recorded, &mut spool, &self.clock, &host)
    }
}
