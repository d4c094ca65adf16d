//! Remediation: a site's policy makes plans of faults, and a state machine says what may be done next. No I/O.
//!
//! A plan is written down before each of its steps is done: [`Remediation::advance`] changes it and returns an [`Order`], which is
//! carried out once the change is kept. So after an end at any point a step was done once, or not at all, and its effect shows
//! which.

mod machine;
mod plan;
mod policy;

pub use machine::{Effect, Facts, HostFacts, Order, Outcome, Remediation};
pub use plan::{Cause, Course, Plan, PlanState, PlanStep, StepState};
pub use policy::{Mode, Policy, Rule, Service, Slurm, Step};
