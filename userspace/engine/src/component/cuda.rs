//! CUDA calls of running processes, counted by the thread in `cuda/service.rs`.

use gtrace_api::{ComponentHealth, CudaState, HealthState};

use super::{About, Component, Context, Snapshot};
use crate::supervise::names;

/// Name of component and thread.
pub const NAME: &str = names::CUDA;

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct CudaCalls;

impl Component for CudaCalls {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "CUDA calls of every process: latency, errors, bytes, device memory",
            needs: "cuda_api = true, CONFIG_UPROBES and CONFIG_BPF_EVENTS, CAP_BPF and CAP_PERFMON (or root)",
            remedy: "a kernel with CONFIG_UPROBES and CONFIG_BPF_EVENTS; run as root",
            task: names::CUDA,
        }
    }

    fn supported(&self, _context: &Context) -> Result<(), String> {
        let survey = gtrace_uprobes::survey();
        survey.map(drop).map_err(|error| error.to_string())
    }

    /// Degraded while calls are not counted for their cost.
    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        let cuda = context.hub.cuda();
        let report = &cuda.0;
        match report.state {
            CudaState::Off | CudaState::Paused => {
                let reason = report
                    .reason
                    .clone()
                    .unwrap_or_else(|| "not counted".to_owned());
                return ComponentHealth::now(HealthState::Unknown, [reason]);
            }
            CudaState::Failed => {
                return ComponentHealth::now(HealthState::Unknown, report.reason.clone());
            }
            CudaState::Active => {}
        }
        let detached = report.cost.functions.iter().filter(|f| f.detached);
        let names: Vec<_> = detached.map(|f| f.function.as_str()).collect();
        let mut reasons = Vec::new();
        if !names.is_empty() {
            let names = names.join(", ");
            reasons.push(format!(
                "not counted, as the probes cost more than the budget: {names}"
            ));
        }
        if report.memory_ends_early {
            reasons.push("device memory is not followed, as its probes cost too much".to_owned());
        }
        let state = match reasons.is_empty() {
            true => HealthState::Healthy,
            false => HealthState::Degraded,
        };
        ComponentHealth::now(state, reasons)
    }
}
