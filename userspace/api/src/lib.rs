//! The HTTP API of the daemon as its clients see it: the bodies of requests and answers, and the
//! client.
//!
//! Daemon and commands share these types, so both sides read and write the same JSON. The crate knows
//! nothing of BPF, of the store, or of how the daemon serves. Without the feature `bodies` it is the client
//! and the sockets' files alone.

#[cfg(feature = "bodies")]
mod calls;
pub mod client;
#[cfg(feature = "bodies")]
mod cuda;
mod problem;
#[cfg(feature = "bodies")]
mod processes;
#[cfg(feature = "bodies")]
mod ready;
#[cfg(feature = "bodies")]
mod requests;
#[cfg(feature = "bodies")]
mod samples;
mod socket_file;
#[cfg(feature = "bodies")]
mod status;
#[cfg(feature = "bodies")]
mod stream;
pub mod text;
#[cfg(feature = "bodies")]
mod title;

#[cfg(feature = "bodies")]
pub use calls::{CallFailures, CallSeries, CallStats};
#[cfg(feature = "bodies")]
pub use cuda::{
    Coverage, CudaCalls, CudaCost, CudaLibrary, CudaMemory, CudaReport, CudaState, FunctionCost,
};
pub use problem::ProblemBody;
#[cfg(feature = "bodies")]
pub use processes::{LayerCounts, ProcessUse};
#[cfg(feature = "bodies")]
pub use ready::{Ready, Version};
#[cfg(feature = "bodies")]
pub use requests::{AckRequest, CaptureRequest, IncidentRequest, MaintenanceRequest, PauseRequest};
#[cfg(feature = "bodies")]
pub use samples::{
    SampleDurations, SampleHistory, SampleKind, SampleMetric, SamplePoint, SampleRange,
    SampleSeries,
};
pub use socket_file::SocketFile;
#[cfg(feature = "bodies")]
pub use status::{
    CaptureState, ComponentCost, ComponentHealth, ComponentStatus, DeviceUser, Footprint, Health,
    HealthState, HostHealth, ProbeCost, SourceState, SourceStatus, Status, TaskState, TaskStatus,
};
#[cfg(feature = "bodies")]
pub use stream::{Gap, Published, PublishedIncident, SCHEMA_VERSION, ShownProvisional};
#[cfg(feature = "bodies")]
pub use title::{title, title_of};

/// Where the daemon's Unix socket is unless configured otherwise.
pub const DEFAULT_SOCKET: &str = "/run/gtrace/gtrace.sock";
