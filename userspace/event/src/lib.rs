//! The event: one occurrence of a fault or a notable call, as every source of gtrace says it, the
//! store keeps it and the API gives it.
//!
//! A source reports an [`Occurrence`]. The pipeline turns it into an [`Event`] (an id, a time, a host)
//! or folds it into one that it already has, as an [`Amendment`]. Readers apply amendments in
//! order of `revision`. An acknowledgement ([`Ack`]) is a record of its own and deletes nothing.
//!
//! JSON is snake_case; times are RFC 3339 with nanoseconds; addresses and masks are hex strings
//! (`0x7fabcd1000`), counts and ids integers, driver texts verbatim.
#![forbid(unsafe_code)]

#[macro_use]
mod text;

mod ack;
mod action;
mod advice;
mod amend;
mod detail;
mod event;
mod gpu;
mod health;
mod id;
mod incident;
mod kind;
mod named;
mod nanos;
mod occurrence;
mod process;
mod provenance;
mod record;
mod record_id;
mod severity;
mod usage;
mod variant;
mod witness;

pub use ack::Ack;
pub use action::Action;
pub use advice::Advice;
pub use amend::Amendment;
pub use detail::{
    AerDetail, ApiDetail, BaselineDetail, ContentionDetail, Detail, Drift, FabricDetail, Holder,
    HolderDetail, HostDetail, MigDetail, PcieDetail, PluginDetail, PortChange, ProcessExitDetail,
    RdmaDetail, RemovalCause, RemovalDetail, RemovedRange, SampleDetail, SlotChange, SourceDetail,
    XidDetail,
};
pub use event::Event;
pub use gpu::{Gpu, PciAddress, PciAddressError};
pub use health::{
    Cleared, Clearing, HealthAction, HealthNews, HealthReason, HealthRecord, HealthReport,
    HealthSnapshot, HealthState, HealthSubject, MaintenanceWindow, Occasion, ReasonCount,
    ReasonEvent, ReasonStatus, ReasonTally, RuleOrigin, SubjectHealth, SubjectKind,
};
pub use id::{EventId, HealthId, IdError, IncidentId};
pub use incident::{
    Affected, CausalLink, Confidence, Evidence, FailureClass, Incident, IncidentState,
    MissingEvidence, StateChange, UnknownClass,
};
pub use jiff::Timestamp;
pub use kind::{Kind, UnknownKind};
pub use nanos::nanos;
pub use occurrence::{FoldKey, LogLine, Occurrence};
pub use process::Process;
pub use provenance::Provenance;
pub use record::{EventChange, Record, RecordRef};
pub use record_id::{Epoch, RecordId, RecordIdError};
pub use severity::{Severity, UnknownSeverity};
pub use usage::{GpuUsage, ProcessEnds};
pub use variant::Variant;
pub use witness::{Witness, WitnessName};
