//! What a head may ask a host to do beside measuring: a closed list, of which the host's own configuration permits what it wants.
//!
//! A request is done once at most: the agent reports that it begins, and does nothing unless the head agrees.

use std::fmt;

use gtrace_event::{IncidentId, PciAddress};
use serde::{Deserialize, Serialize};

/// Largest report of an incident, in bytes.
pub const REPORT_MAX: usize = 8 << 20;
/// Longest trace, in seconds.
pub const TRACE_S_MAX: u32 = 60;
/// Most calls of a trace.
pub const TRACE_CALLS_MAX: u64 = 500_000;
/// Most bytes of a text that a host answers with.
pub const REPORTED_TEXT_MAX: usize = 4096;
/// Most requests that a host is given at a time.
pub const REQUESTS_MAX: usize = 8;

/// What a host may be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Ask {
    /// The report of an incident, as a page.
    Report {
        /// Which.
        incident: IncidentId,
    },
    /// The calls of a process for some seconds.
    Trace(TraceOrder),
    /// To reset a GPU that no process has open.
    ResetGpu {
        /// Its PCI address.
        pci: PciAddress,
    },
    /// To reboot, if no process has a GPU open.
    Reboot,
    /// Something that this version does not know: it is refused.
    #[serde(other)]
    Other,
}

/// Which calls are traced, and how much of it the process may be made to bear: each of its calls pays for a probe meanwhile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceOrder {
    /// The process, as the host numbers it; without it the only one that has a GPU open.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pid: Option<u32>,
    /// How long at most, 1 to [`TRACE_S_MAX`].
    pub seconds: u32,
    /// It ends with so many calls of the CUDA driver, 1 to [`TRACE_CALLS_MAX`].
    pub calls: u64,
}

impl TraceOrder {
    /// Whether it keeps within the limits.
    ///
    /// # Errors
    /// Which it does not.
    pub fn check(&self) -> Result<(), String> {
        if !(1..=TRACE_S_MAX).contains(&self.seconds) {
            return Err(format!("a trace takes 1 to {TRACE_S_MAX} seconds"));
        }
        if !(1..=TRACE_CALLS_MAX).contains(&self.calls) {
            return Err(format!("a trace has 1 to {TRACE_CALLS_MAX} calls"));
        }
        Ok(())
    }
}

impl fmt::Display for TraceOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pid,
            seconds,
            calls,
        } = self;
        match pid {
            Some(pid) => write!(f, "trace of process {pid}")?,
            None => f.write_str("trace of the process that has a GPU open")?,
        }
        write!(f, ", for at most {seconds} s and {calls} calls")
    }
}

impl Ask {
    /// Its name, as hosts permit it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Report { .. } => "report",
            Self::Trace(_) => "trace",
            Self::ResetGpu { .. } => "reset_gpu",
            Self::Reboot => "reboot",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Report { incident } => write!(f, "report of incident {incident}"),
            Self::Trace(order) => order.fmt(f),
            Self::ResetGpu { pci } => write!(f, "reset of GPU {pci}"),
            other => f.write_str(other.name()),
        }
    }
}

/// A request of the head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRequest {
    /// Its number.
    pub id: i64,
    /// What is asked.
    pub ask: Ask,
}

gtrace_event::named_enum! {
    /// How far a request is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum RequestState {
        /// The host has not taken it.
        Pending = "pending",
        /// The host is at it.
        Begun = "begun",
        /// The host has done it.
        Done = "done",
        /// The host refused it, or it failed.
        Failed = "failed",
        /// Its time was over.
        Expired = "expired",
    }
}

impl RequestState {
    /// Whether nothing more comes of it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Pending | Self::Begun)
    }
}

impl std::str::FromStr for RequestState {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|state| state.name() == text);
        found.ok_or_else(|| format!("`{text}` is no state of a request"))
    }
}

/// The requests of an answer that this version understands the form of, at most [`REQUESTS_MAX`].
pub fn known_requests(requests: &[serde_json::Value]) -> Vec<HostRequest> {
    let parsed = requests.iter().take(REQUESTS_MAX);
    parsed
        .filter_map(|one| serde_json::from_value(one.clone()).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_not_in_the_list_is_refused_and_hides_nothing_else() {
        let from_newer_head = [
            json!({ "id": 1, "ask": { "what": "run", "command": "rm" } }),
            json!({ "id": 2, "ask": { "what": "reboot" } }),
            json!({ "id": 3, "ask": { "what": "reset_gpu", "pci": "; rm -rf /" } }),
            json!({ "number": 4 }),
        ];
        let known = known_requests(&from_newer_head);
        let of = |id, ask| HostRequest { id, ask };
        assert_eq!(known, [of(1, Ask::Other), of(2, Ask::Reboot)]);
        let text = serde_json::to_value(of(2, Ask::Reboot)).unwrap();
        assert_eq!(text, from_newer_head[1]);
    }

    #[test]
    fn a_trace_is_bounded_and_says_what_it_is() {
        let mut order = TraceOrder {
            pid: None,
            seconds: 10,
            calls: TRACE_CALLS_MAX,
        };
        let ask = json!({ "what": "trace", "seconds": 10, "calls": TRACE_CALLS_MAX });
        assert_eq!(
            serde_json::to_value(Ask::Trace(order.clone())).unwrap(),
            ask
        );
        assert_eq!(order.check(), Ok(()));
        order.pid = Some(7);
        let text = Ask::Trace(order.clone()).to_string();
        assert_eq!(
            text,
            "trace of process 7, for at most 10 s and 500000 calls"
        );
        for (seconds, calls) in [
            (0, 1),
            (TRACE_S_MAX + 1, 1),
            (1, 0),
            (1, TRACE_CALLS_MAX + 1),
        ] {
            (order.seconds, order.calls) = (seconds, calls);
            assert!(order.check().is_err(), "{order}");
        }
    }
}
