//! A host with GPUs that is none: NVML of the CPU emulator, and processes with a device open.

use std::fs::File;
use std::io::{self, PipeWriter};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;

use crate::bench::Context;
use crate::ioctl_load::{REQUEST, traced_device};
use crate::process::Process;
use crate::sys;

/// The first argument of a process of [`GpuProcesses`], which is this program.
pub(crate) const ARGUMENT: &str = "bench-gpu-process";
/// Between two groups of calls of one of them.
const PAUSE: Duration = Duration::from_secs(2);
const CALLS: usize = 3;

/// Puts the file by which gtrace knows that the driver is loaded where only the program and its children see it.
const SCRIPT: &str = "mount -t tmpfs -o size=64k gtrace-bench /proc/driver && mkdir /proc/driver/nvidia && \
    echo 'gtrace-bench: there is no driver' > /proc/driver/nvidia/version && exec \"$0\" \"$@\"";

/// GPUs of the CPU emulator, for one daemon.
#[derive(Clone, Debug)]
pub(crate) struct Gpus {
    library: PathBuf,
    count: u32,
}

impl Gpus {
    /// `count` GPUs, or why there are none here.
    pub(crate) fn find(context: &Context, count: u32) -> Result<Self, String> {
        let library = context.gtrace.with_file_name("libgtrace_softgpu.so");
        if !library.exists() {
            return Err(
                "libgtrace_softgpu.so is not beside gtrace: cargo xtask bench builds it".to_owned(),
            );
        }
        let gpus = Self { library, count };
        let tried = gpus.command(Path::new("true")).output();
        match tried {
            Ok(output) if output.status.success() => Ok(gpus),
            Ok(output) => Err(format!(
                "a mount of its own is not allowed here: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            )),
            Err(error) => Err(format!("unshare(1) cannot be run: {error}")),
        }
    }

    /// `program` on a host on which the driver seems to be loaded.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-c", SCRIPT])
            .arg(program)
            .env("GTRACE_NVML_LIBRARY", &self.library)
            .env("GTRACE_SOFTGPU_DEVICES", self.count.to_string());
        command
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }
}

/// Processes that have the traced device open and make calls now and then, until dropped.
#[derive(Debug)]
pub(crate) struct GpuProcesses {
    // Before the processes: its end is theirs.
    _alive: PipeWriter,
    _processes: Vec<Process>,
}

impl GpuProcesses {
    pub(crate) fn start(count: usize) -> anyhow::Result<Self> {
        let program = std::env::current_exe()?;
        let (end, alive) = io::pipe()?;
        let processes = (0..count).map(|_| {
            let mut command = Command::new(&program);
            command
                .arg(ARGUMENT)
                .stdin(Stdio::from(end.try_clone()?))
                .stdout(Stdio::null());
            Process::start(&mut command)
        });
        Ok(Self {
            _processes: processes.collect::<anyhow::Result<_>>()?,
            _alive: alive,
        })
    }
}

/// What such a process does until its standard input ends.
pub(crate) fn main() -> anyhow::Result<()> {
    let device: File = traced_device()?;
    loop {
        for _ in 0..CALLS {
            sys::ioctl(device.as_fd(), REQUEST);
        }
        if sys::is_over(io::stdin().as_fd(), PAUSE).context("poll(2)")? {
            return Ok(());
        }
    }
}
