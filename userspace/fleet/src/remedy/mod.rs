//! Remediation: a site's policy makes plans of faults, and a state machine says what may be done next. No I/O.
//!
//! A plan is written down before each of its steps is done: [`Remediation::advance`] changes it and returns an [`Order`], which is
//! carried out once the change is kept. Right before it is sent, [`Plan::claim`] says whether the plan is still as it was, and that is
//! kept too. So after an end at any point it is known whether a step was sent: one that was not is begun again, and of one that was its
//! effect shows what came of it.

mod machine;
mod plan;
mod policy;
pub mod scontrol;

pub use machine::{Effect, Facts, HostFacts, Outcome, Remediation};
pub use plan::{Cause, Course, Order, Plan, PlanState, PlanStep, StepState};
pub use policy::{Mode, Policy, Rule, Service, Slurm, Step};
