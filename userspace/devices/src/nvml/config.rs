//! How the child is started.

use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// What is read of each GPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Readings {
    /// Everything.
    #[default]
    All,
    /// What changes within milliseconds: utilisation, memory, power, temperature, clocks of multiprocessors and memory, and the name.
    Quick {
        /// Of so many GPUs in a reading, in turn, also traffic over PCIe: NVML measures 20 ms each way.
        pcie: u32,
        /// Whether also what went over NVLink so far.
        nvlink: bool,
    },
}

/// How the child is started and how long it may take.
pub struct NvmlConfig {
    /// Makes the command of a child that runs [`super::child_main`]. Standard input and output
    /// are set by the client; standard error is as the command has it.
    pub command: Box<dyn Fn() -> Command + Send>,
    /// How long each GPU may take to answer, and what is asked before the first. A sample of 8 GPUs takes about half a second.
    pub deadline: Duration,
    /// How long a killed child may take to be gone before it counts as stuck in the kernel.
    pub kill_wait: Duration,
    /// Waits between attempts that fail: the first one, doubled up to the second. A GPU that was read and is silent while
    /// others answer is left out for the second.
    pub retry: (Duration, Duration),
    /// The same after a child that NVML never worked in. Each attempt has the driver try to start the GPU, which on one
    /// that does not start takes seconds and logs an Xid.
    pub retry_start: (Duration, Duration),
    /// Is given the process id of each child.
    pub started: Box<dyn Fn(u32) + Send>,
    /// A file that exists while the driver is loaded; without it no child is started. NVML itself
    /// must not be asked, because it runs nvidia-modprobe, which loads the driver.
    pub driver_loaded: Option<PathBuf>,
    /// What is read.
    pub readings: Readings,
}

impl NvmlConfig {
    /// This same program with the arguments `nvml-child`, and the defaults: 5 s for each GPU,
    /// 1 s to be gone, attempts after 1 s, 2 s, 4 s, … 60 s, or 1 min, 2 min, … 1 h where NVML never worked, only while
    /// /proc/driver/nvidia/version exists.
    pub fn this_program() -> Self {
        Self::with_command(|| {
            // The link and not the path behind it: that may have been replaced by an upgrade.
            let mut command = Command::new("/proc/self/exe");
            command.arg0("gtrace").arg("nvml-child");
            command
        })
    }

    /// The defaults of [`Self::this_program`] with another command.
    pub fn with_command(command: impl Fn() -> Command + Send + 'static) -> Self {
        Self {
            command: Box::new(command),
            deadline: Duration::from_secs(5),
            kill_wait: Duration::from_secs(1),
            retry: (Duration::from_secs(1), Duration::from_secs(60)),
            retry_start: (Duration::from_secs(60), Duration::from_secs(3600)),
            started: Box::new(|_| ()),
            driver_loaded: Some(PathBuf::from("/proc/driver/nvidia/version")),
            readings: Readings::All,
        }
    }
}
