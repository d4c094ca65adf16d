//! One JSON object a line each way: `{"id":1,"op":"sample"}` and `{"id":1,"ok":{…}}` or
//! `{"id":1,"error":{"absent":true,"reason":"…"}}`. Before `ok` each GPU has two lines, `{"id":1,"asks":{"index":0,"count":2}}`
//! and `{"id":1,"gpu":{…}}` or `{"id":1,"unreadable":{…}}`: of a child that hangs it is known where, and what it has read is kept.

use gtrace_event::PciAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{GpuBoard, GpuSample};

/// Longest line that either side takes. A GPU with 18 NVLinks and 1024 processes stays far below it.
pub(crate) const MAX_LINE: u64 = 8 * 1024 * 1024;

/// What the daemon asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    /// A sample of every GPU.
    Sample,
    /// Of every GPU only what changes within milliseconds: see [`Readings::Quick`](super::Readings).
    Quick {
        /// Of so many GPUs, in turn, also traffic over PCIe.
        pcie: u32,
        /// Whether also traffic over NVLink.
        nvlink: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) op: Op,
    /// GPUs to leave out, by NVML's index.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) skip: Vec<u32>,
    /// GPUs to ask after all others.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub(crate) last: Vec<u32>,
}

/// The child's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Response {
    /// The request's.
    pub id: u64,
    /// What was asked for, or why not.
    #[serde(flatten)]
    pub answer: Answer,
}

/// What was asked for, or why not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[doc(hidden)]
pub enum Answer {
    /// This GPU is asked next.
    Asks(Asked),
    /// What it said.
    Gpu(Box<NvmlGpu>),
    /// Why it said nothing.
    Unreadable(UnreadableGpu),
    /// That was all, with what is not about one GPU.
    Ok(Box<NvmlSnapshot>),
    /// NVML did not work at all.
    Error(ChildError),
}

/// A GPU that is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct Asked {
    /// NVML's index.
    pub index: u32,
    /// How many GPUs NVML counts.
    pub count: u32,
}

/// Why NVML did not work at all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[doc(hidden)]
pub struct ChildError {
    /// Whether the host simply has no NVML or no driver, which is no fault.
    pub absent: bool,
    /// In NVML's or the dynamic linker's words.
    pub reason: String,
}

/// Reads a response line.
///
/// # Errors
/// If it is no response, with serde's words.
pub fn parse_response(line: &[u8]) -> Result<Response, String> {
    serde_json::from_slice(line).map_err(|e| format!("bad answer from the NVML child: {e}"))
}

/// Everything NVML says at one moment.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NvmlSnapshot {
    /// Version of the driver.
    pub driver_version: Option<String>,
    /// Version of the library, for example `12.535.129.03`.
    pub nvml_version: Option<String>,
    /// Newest CUDA version of the driver, for example `12.2`.
    pub cuda_version: Option<String>,
    /// The GPUs whose address NVML could say.
    pub gpus: Vec<NvmlGpu>,
    /// GPUs that NVML counts and cannot open, or that do not answer.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unreadable: Vec<UnreadableGpu>,
    /// Whether the child was killed before it had answered, as a GPU did not answer it: those behind that one were not asked.
    #[serde(skip)]
    pub cut_short: bool,
}

impl NvmlSnapshot {
    /// Whether the GPU at `pci` is left out because it does not answer, or may be that one.
    pub(crate) fn may_be_silent(&self, pci: PciAddress) -> bool {
        let mut silent = self.unreadable.iter().filter(|gpu| gpu.silent);
        silent.any(|gpu| gpu.pci.is_none_or(|at| at == pci))
    }
}

/// A GPU as NVML sees it.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NvmlGpu {
    /// Where it sits.
    pub pci: PciAddress,
    /// NVML's index.
    pub index: u32,
    /// `GPU-…`.
    pub uuid: Option<String>,
    /// Product name.
    pub name: Option<String>,
    /// Whether NVML says that the GPU has fallen off the bus or needs a reset.
    #[serde(default)]
    pub lost: bool,
    /// Errors that readings gave, other than that they are not supported; each once.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub errors: Vec<String>,
    /// What does not change while the driver is loaded.
    #[serde(skip_serializing_if = "GpuBoard::is_empty", default)]
    pub board: GpuBoard,
    /// The readings; those after the error of a lost GPU are not taken.
    pub sample: GpuSample,
}

/// A GPU that NVML counts and cannot open, or that does not answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadableGpu {
    /// NVML's index.
    pub index: u32,
    /// Where it sits, if it was read before.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pci: Option<PciAddress>,
    /// Whether it gave no answer within the deadline, and is left alone until it is asked again.
    #[serde(default)]
    pub silent: bool,
    /// Whether NVML says that it has fallen off the bus or needs a reset.
    pub lost: bool,
    /// In NVML's words, or that there were none.
    pub error: String,
}
