//! What the daemon does with every component: starts, pauses, stops and checks it, and shows it.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_api::{
    ComponentCost, ComponentHealth, ComponentStatus, HealthState, HostHealth, SourceState, Status,
};
use gtrace_event::{Timestamp, WitnessName};

use super::{Component, Context, Snapshot, all};
use crate::hub::Hub;
use crate::lock::lock;
use crate::supervise::{Pulse, Task, names};

/// Between two checks of every component.
const CHECK_EVERY: Duration = Duration::from_secs(5);
/// Longest time between two of them: no check waits for anything.
const SILENCE: Duration = Duration::from_secs(15);

/// What a thread has attached to the host, and takes away while it is paused.
pub trait Part: Send + Sync {
    /// Takes it away (true) or attaches it again (false); returns once that is done.
    fn pause(&self, pause: bool);

    /// Takes it away for good and ends the thread.
    fn stop(&self);
}

/// The parts that run, by the name of their thread.
#[derive(Default)]
pub struct Parts(Mutex<Vec<(&'static str, Arc<dyn Part>)>>);

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = lock(&self.0);
        f.debug_set()
            .entries(parts.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Parts {
    /// Has `part` paused and stopped with the components that work by the thread `task`.
    pub fn add(&self, task: &'static str, part: Arc<dyn Part>) {
        let mut parts = lock(&self.0);
        parts.push((task, part));
    }

    fn get(&self, task: &str) -> Option<Arc<dyn Part>> {
        let parts = lock(&self.0);
        let part = parts.iter().find(|(name, _)| *name == task)?;
        Some(Arc::clone(&part.1))
    }

    /// Whether the thread `task` has something that can be paused.
    pub fn has(&self, task: &str) -> bool {
        self.get(task).is_some()
    }

    pub(super) fn pause(&self, task: &str, pause: bool) {
        if let Some(part) = self.get(task) {
            part.pause(pause);
        }
    }

    pub(super) fn stop(&self, task: &str) {
        let mut parts = lock(&self.0);
        let found = parts.iter().position(|(name, _)| *name == task);
        let part = found.map(|place| parts.remove(place));
        drop(parts);
        if let Some((_, part)) = part {
            part.stop();
        }
    }
}

/// The first component of every thread, as what is done to a thread is done once.
fn by_task() -> Vec<&'static dyn Component> {
    let mut first: Vec<&'static dyn Component> = Vec::new();
    for component in all() {
        if !first.iter().any(|other| other.task() == component.task()) {
            first.push(component);
        }
    }
    first
}

/// Starts every component that has a thread of its own, and the thread that checks all of them.
///
/// # Errors
///
/// If a thread cannot be started; the name of the component comes first.
pub fn start(context: &Context) -> Result<(), (&'static str, std::io::Error)> {
    for component in all() {
        let result = component.start(context);
        result.map_err(|error| (component.name(), error))?;
    }
    let task = Task::optional(names::CHECKS, SILENCE);
    let of_task = context.clone();
    let started = context.hub.tasks.start(task, move |pulse| {
        keep_checking(&of_task, CHECK_EVERY, pulse);
        Ok(())
    });
    started.map_err(|error| (names::CHECKS, error))
}

/// Checks every component now, every `interval`, and when the state of one has changed.
fn keep_checking(context: &Context, interval: Duration, pulse: &Pulse) {
    while !pulse.is_stopping() {
        check_all(context);
        pulse.wait_for_next(interval);
    }
}

/// Pauses (true) or resumes (false) every component; returns once that is done.
pub fn pause(context: &Context, pause: bool) {
    for component in by_task() {
        component.pause(context, pause);
    }
}

/// Stops every component and waits for its thread, each at most for `patience`. The names of the
/// threads that have not ended, and are left behind. The thread `http` outlives what it shows.
pub fn stop(context: &Context, patience: Duration) -> Vec<&'static str> {
    let of_components = by_task();
    let stopped = of_components
        .into_iter()
        .filter(|component| component.task() != names::HTTP)
        .filter(|component| !component.stop(context, patience));
    let mut left: Vec<_> = stopped.map(Component::task).collect();
    left.extend(context.hub.tasks.stop(&[names::CHECKS], patience));
    left
}

/// Checks every component once.
pub fn check_all(context: &Context) {
    let now = Snapshot::of(&context.hub);
    for component in all() {
        let health = match cannot_judge(component, &now) {
            Some(reason) => ComponentHealth::now(HealthState::Unknown, [reason]),
            None => component.check(context, &now),
        };
        let hub = &context.hub;
        hub.set_health(component.name(), health, CHECK_EVERY);
    }
}

/// Why a component knows nothing of the host now.
fn cannot_judge(component: &dyn Component, now: &Snapshot) -> Option<String> {
    let task = component.task();
    if now.outages.iter().any(|outage| outage.task == task) {
        return Some(format!("the thread {task} is down"));
    }
    let source = now.source(component.name())?;
    let what = match source.state {
        SourceState::Off => "off",
        SourceState::Absent if component.judges_absence() => return None,
        SourceState::Absent => "this host does not have it",
        SourceState::Active | SourceState::Degraded | SourceState::Failed => return None,
    };
    Some(source.reason.clone().unwrap_or_else(|| what.to_owned()))
}

/// The status with every component and the health of the host.
pub fn status(hub: &Hub) -> Status {
    let mut status = hub.status();
    let now = Timestamp::now();
    let of_component = |component: &'static dyn Component| {
        let last_seen = component.last_seen(hub);
        let age = last_seen.map(|at| now.duration_since(at).as_secs_f64().max(0.0));
        ComponentStatus {
            name: component.name().to_owned(),
            health: hub.health(component.name()),
            last_sample: component.newest(hub).map(|batch| batch.time),
            last_seen,
            last_seen_age_s: age,
            cost: component.cost(&status),
        }
    };
    status.components = all().map(of_component).collect();
    status.host_health = HostHealth::of(&status.components);
    status
}

/// What a component costs that works by the thread `task`.
pub(super) fn cost(
    task: &str,
    witness: Option<WitnessName>,
    status: &Status,
) -> Option<ComponentCost> {
    let programs = status.probes.iter();
    let core_share = programs
        .filter(|probe| witness.is_some() && probe.witness == witness)
        .filter_map(|probe| probe.core_share)
        .reduce(|sum, share| sum + share);
    let alone = all().filter(|other| other.task() == task).count() == 1;
    let thread = status.tasks.iter().find(|t| t.name == task && alone);
    let cpu_seconds = thread
        .filter(|t| task != names::HTTP && t.sources.iter().all(|w| Some(*w) == witness))
        .and_then(|t| t.cpu_seconds);
    let cost = ComponentCost {
        core_share,
        cpu_seconds,
    };
    (cost != ComponentCost::default()).then_some(cost)
}

#[cfg(test)]
#[path = "registry_tests.rs"]
mod tests;
