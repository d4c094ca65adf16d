//! Driver calls by process and operation: `/api/v1/histograms`.

use gtrace_event::PciAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How often a call failed in one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallFailures {
    /// NV_STATUS, hex.
    pub status: String,
    /// Its public name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Calls that ended so.
    pub count: u64,
}

/// One row of the driver-call histograms.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct CallStats {
    /// Process id.
    pub pid: u32,
    /// Process name.
    pub comm: String,
    /// Name of the device file: `nvidia0`, `nvidiactl`, `nvidia-uvm`; `MAJOR:MINOR` for what is
    /// not the driver's.
    pub device: String,
    /// PCI address of the GPU behind the device file, where it is one's own.
    pub gpu: Option<PciAddress>,
    /// ioctl request number, hex; the name of another system call: `open`, `mmap`, `close`.
    pub ioctl: String,
    /// Name of the operation, where public.
    pub op: Option<String>,
    /// What the operation is about, hex: the control command of RM_CONTROL, the class of RM_ALLOC.
    pub code: Option<String>,
    /// Public name of `code`; `unreadable` where the parameters could not be read or were too short to have one.
    pub code_name: Option<String>,
    /// Calls.
    pub count: u64,
    /// Calls whose system call returned an error.
    pub errors: u64,
    /// Calls whose ioctl(2) returned 0 and which the driver failed all the same.
    #[serde(default)]
    pub failures: u64,
    /// How the driver failed them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub statuses: Vec<CallFailures>,
    /// Total time, nanoseconds.
    pub total_ns: u64,
    /// Percentiles and maximum, nanoseconds.
    pub p50_ns: u64,
    /// 90th percentile.
    pub p90_ns: u64,
    /// 99th percentile.
    pub p99_ns: u64,
    /// 99.9th percentile.
    pub p999_ns: u64,
    /// Maximum.
    pub max_ns: u64,
    /// Index and count of each bucket that is not empty, ascending, if they were asked for. See
    /// docs/profiles.md for the buckets.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub buckets: Vec<(u16, u64)>,
}

/// What `/metrics` adds up driver calls by. A program can call any number, so only public names are distinguished
/// apart.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallSeries {
    /// The ioctl; `other` for those without a public name.
    pub op: String,
    /// The control command or class that it is about; `other` for those without a public name.
    pub code: Option<String>,
    /// The device file, where it is one of the driver's: of those there are as many as GPUs and a few more.
    /// The files for MIG (`nvidia-caps:7`) are one; what is not the driver's is `other`.
    pub device: String,
    /// The GPU whose own device file it is.
    pub gpu: Option<PciAddress>,
}

impl CallStats {
    /// The series that the calls belong to.
    pub fn series(&self) -> CallSeries {
        const OTHER: &str = "other";
        let unnamed = self.code.as_ref().map(|_| OTHER);
        let file = self.device.split(':').next().unwrap_or(&self.device);
        let driver = file.starts_with("nvidia");
        CallSeries {
            op: self.op.as_deref().unwrap_or(OTHER).to_owned(),
            code: self.code_name.as_deref().or(unnamed).map(str::to_owned),
            device: if driver { file } else { OTHER }.to_owned(),
            gpu: self.gpu,
        }
    }

    /// The operation in few words: what RM_CONTROL or RM_ALLOC is about, without the class that
    /// the name begins with, else the ioctl.
    pub fn label(&self) -> String {
        let about = self.code_name.as_deref().map(|name| {
            name.split_once("_CTRL_CMD_")
                .map_or(name, |(_, command)| command)
        });
        let op = self.op.as_deref().unwrap_or(&self.ioctl);
        match (about, &self.code) {
            (Some(about), _) => about.to_owned(),
            (None, Some(code)) => format!("{op} {code}"),
            (None, None) => op.to_owned(),
        }
    }
}
