//! One JSON object a line each way: `{"id":1,"op":"sample"}` and `{"id":1,"ok":{…}}` or
//! `{"id":1,"error":{"absent":true,"reason":"…"}}`.

use gtrace_event::PciAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::GpuSample;

/// Longest line that either side takes. 16 GPUs with 18 NVLinks and 1024 processes each stay
/// below a quarter of it.
pub(crate) const MAX_LINE: u64 = 8 * 1024 * 1024;

/// What the daemon asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Op {
    /// A sample of every GPU.
    Sample,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) op: Op,
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
    /// The readings.
    Ok(Box<NvmlSnapshot>),
    /// NVML did not work at all.
    Error(ChildError),
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NvmlSnapshot {
    /// Version of the driver.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub driver_version: Option<String>,
    /// Version of the library, for example `12.535.129.03`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nvml_version: Option<String>,
    /// Newest CUDA version of the driver, for example `12.2`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cuda_version: Option<String>,
    /// The GPUs whose address NVML could say.
    pub gpus: Vec<NvmlGpu>,
    /// GPUs that NVML counts and cannot open.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub unreadable: Vec<UnreadableGpu>,
}

/// A GPU as NVML sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NvmlGpu {
    /// Where it sits.
    pub pci: PciAddress,
    /// NVML's index.
    pub index: u32,
    /// `GPU-…`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uuid: Option<String>,
    /// Product name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Whether NVML says that the GPU has fallen off the bus or needs a reset.
    #[serde(default)]
    pub lost: bool,
    /// Errors that readings gave, other than that they are not supported; each once.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub errors: Vec<String>,
    /// The readings; those after the error of a lost GPU are not taken.
    pub sample: GpuSample,
}

/// A GPU that NVML counts and cannot open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadableGpu {
    /// NVML's index.
    pub index: u32,
    /// Whether NVML says that it has fallen off the bus or needs a reset.
    pub lost: bool,
    /// In NVML's words.
    pub error: String,
}
