//! Health events for NVSentinel: its service `datamodels.PlatformConnector` on its Unix socket.
//!
//! Source: NVIDIA/NVSentinel, data-models/protobufs/health_event.proto.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use prost::{Enumeration, Message};

use crate::{CallError, call};

/// Where the platform connector listens.
pub const SOCKET: &str = "/var/run/nvsentinel/platform-connector.sock";
/// The method.
pub const OCCURRED: &str = "/datamodels.PlatformConnector/HealthEventOccurredV1";

/// What to do, by NVSentinel's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Enumeration)]
#[repr(i32)]
pub enum RecommendedAction {
    /// Nothing.
    None = 0,
    /// Reset the component.
    ComponentReset = 2,
    /// Ask the vendor.
    ContactSupport = 5,
    /// Run field diagnostics.
    RunFieldDiag = 6,
    /// Restart the virtual machine.
    RestartVm = 15,
    /// Restart the host.
    RestartBm = 24,
    /// Replace the virtual machine.
    ReplaceVm = 25,
    /// Run DCGM's end user diagnostics.
    RunDcgmEud = 26,
    /// Restart the application.
    RestartApp = 39,
    /// Anything else.
    Unknown = 99,
}

/// Several events.
#[derive(Clone, PartialEq, Message)]
pub struct HealthEvents {
    /// Of the protocol: 1.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// The events.
    #[prost(message, repeated, tag = "2")]
    pub events: Vec<HealthEvent>,
}

/// Something that an event is about.
#[derive(Clone, PartialEq, Message)]
pub struct Entity {
    /// `GPU`, `PCI`, `GPU_UUID`.
    #[prost(string, tag = "1")]
    pub entity_type: String,
    /// Which.
    #[prost(string, tag = "2")]
    pub entity_value: String,
}

/// google.protobuf.Timestamp.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Timestamp {
    /// Since 1970.
    #[prost(int64, tag = "1")]
    pub seconds: i64,
    /// Of the second.
    #[prost(int32, tag = "2")]
    pub nanos: i32,
}

/// A check, and how it came out.
#[derive(Clone, PartialEq, Message)]
pub struct HealthEvent {
    /// Of the protocol: 1.
    #[prost(uint32, tag = "1")]
    pub version: u32,
    /// Who says so: `gtrace`.
    #[prost(string, tag = "2")]
    pub agent: String,
    /// `GPU`, `NVSwitch`, `NIC`, `Host`.
    #[prost(string, tag = "3")]
    pub component_class: String,
    /// The check.
    #[prost(string, tag = "4")]
    pub check_name: String,
    /// Whether the node is not fit for work by it.
    #[prost(bool, tag = "5")]
    pub is_fatal: bool,
    /// Whether it is over.
    #[prost(bool, tag = "6")]
    pub is_healthy: bool,
    /// In one sentence.
    #[prost(string, tag = "7")]
    pub message: String,
    /// What to do.
    #[prost(enumeration = "RecommendedAction", tag = "8")]
    pub recommended_action: i32,
    /// Codes of Xids and SXids.
    #[prost(string, repeated, tag = "9")]
    pub error_code: Vec<String>,
    /// What it is about.
    #[prost(message, repeated, tag = "10")]
    pub entities_impacted: Vec<Entity>,
    /// More.
    #[prost(map = "string, string", tag = "11")]
    pub metadata: HashMap<String, String>,
    /// When.
    #[prost(message, optional, tag = "12")]
    pub generated_timestamp: Option<Timestamp>,
    /// The node.
    #[prost(string, tag = "13")]
    pub node_name: String,
    /// 0: as the platform connector is set up; 2: to be stored only.
    #[prost(int32, tag = "16")]
    pub processing_strategy: i32,
}

/// google.protobuf.Empty.
#[derive(Clone, Copy, PartialEq, Message)]
pub struct Empty {}

/// Gives events to the platform connector at `socket`.
///
/// # Errors
///
/// Those of [`call`].
pub fn send(socket: &Path, events: Vec<HealthEvent>, deadline: Duration) -> Result<(), CallError> {
    let events = HealthEvents { version: 1, events };
    call(socket, OCCURRED, &events, deadline).map(|Empty {}| ())
}
