//! Everything that watches something: one trait, one registry.
//!
//! From the registry come the list of `gtrace doctor`, `gtrace status` and `/api/v1/sources`, the
//! health in `/api/v1/status`, `/healthz` and `/metrics`, the names that the configuration can switch
//! off, and what `gtrace pause` pauses. To add a component is one file here and its line in [`all`];
//! [`pressure`] is an example.

pub mod baseline;
pub mod cgroups;
pub mod cuda;
pub mod driver_modules;
pub mod gpus;
pub mod health_rules;
pub mod holders;
pub mod host;
pub mod plugins;
pub mod pressure;
pub mod rdma;
mod registry;
pub mod remote;
pub mod runtimes;
pub mod source;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gtrace_api::{ComponentCost, ComponentHealth, HealthState, SourceState, SourceStatus, Status};
use gtrace_devices::HostThresholds;
use gtrace_event::{Timestamp, WitnessName};

use crate::hub::Hub;
use crate::lock::lock;
use crate::samples::Batch;
use crate::supervise::{self, Outage, Pulse, Task, names};

pub use self::registry::{Part, Parts, check_all, pause, start, status, stop};

/// The rule of what a component judges.
pub const RULE: &str = "component";

/// What components are started and checked with.
#[derive(Clone, Debug)]
pub struct Context {
    /// Where samples, health and state go, and the registry of threads.
    pub hub: Arc<Hub>,
    /// What runs and can be paused.
    pub parts: Arc<Parts>,
    /// Names of the components that the configuration switches off.
    pub disabled: Vec<&'static str>,
    /// Root of procfs.
    pub proc_root: PathBuf,
    /// Root of sysfs.
    pub sysfs_root: PathBuf,
    /// Options of [`pressure`].
    pub pressure: pressure::Options,
    /// The baseline's file.
    pub baseline: PathBuf,
    /// Whether the baseline could be compared.
    pub compared: Arc<Reasons>,
    /// The file of the site's rules of health.
    pub health_rules: PathBuf,
    /// Whether it could be read.
    pub rules_read: Arc<Reasons>,
    /// The kubelet's socket.
    pub kubelet: PathBuf,
    /// What was read of RDMA ports.
    pub rdma: Arc<rdma::Ports>,
    /// What was read of the host itself.
    pub host: Arc<host::Kept>,
    /// From where on parts of the host count as wrong.
    pub thresholds: HostThresholds,
    /// What was read of control groups.
    pub cgroups: Arc<Reasons>,
    /// Container runtimes.
    pub runtimes: Arc<runtimes::Runtimes>,
    /// Plugins of the site.
    pub plugins: Arc<plugins::Plugins>,
}

#[cfg(test)]
impl Context {
    /// One of a host without anything.
    pub(crate) fn bare(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            parts: Arc::default(),
            disabled: Vec::new(),
            proc_root: "/nonexistent".into(),
            sysfs_root: "/nonexistent".into(),
            pressure: pressure::Options {
                interval: None,
                memory_full: None,
            },
            baseline: "/nonexistent/baseline.toml".into(),
            health_rules: "/nonexistent/health-rules.toml".into(),
            rules_read: Arc::default(),
            kubelet: "/nonexistent/kubelet.sock".into(),
            compared: Arc::default(),
            rdma: Arc::default(),
            host: Arc::default(),
            thresholds: HostThresholds::default(),
            cgroups: Arc::default(),
            runtimes: Arc::default(),
            plugins: Arc::default(),
        }
    }

    /// One of such a host whose components are shown.
    pub(crate) fn shown() -> Self {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        hub.update_status(|status| status.sources = initial());
        Self::bare(hub)
    }

    /// How the component `name` is shown.
    pub(crate) fn source(&self, name: &str) -> SourceStatus {
        let mut sources = self.hub.status().sources.into_iter();
        sources.find(|source| source.name == name).unwrap()
    }

    /// The health of the component `name` by a check of now.
    pub(crate) fn checked(&self, name: &str) -> ComponentHealth {
        check_all(self);
        self.hub.health(name).unwrap()
    }
}

/// What is not well of what a component watches, as its thread found last; `None` before the first time.
#[derive(Debug, Default)]
pub struct Reasons(Mutex<Option<Vec<String>>>);

impl Reasons {
    /// Keeps these, unless another thread has taken the place of the calling one; whether they are others than before.
    pub fn set(&self, reasons: impl IntoIterator<Item = String>) -> bool {
        let reasons: Option<Vec<String>> = Some(reasons.into_iter().collect());
        let mut kept = lock(&self.0);
        let news = !supervise::is_revoked() && *kept != reasons;
        if news {
            *kept = reasons;
        }
        news
    }

    /// The health by these; `not_yet` says why nothing is known at first.
    fn judge(&self, not_yet: &str) -> ComponentHealth {
        match &*lock(&self.0) {
            None => ComponentHealth::now(HealthState::Unknown, [not_yet.to_owned()]),
            Some(reasons) if reasons.is_empty() => ComponentHealth::now(HealthState::Healthy, None),
            Some(reasons) => ComponentHealth::now(HealthState::Degraded, reasons.clone()),
        }
    }
}

/// Has `body` run as the task `name` of one component, unless the configuration switches it off.
fn start_unless_off(
    context: &Context,
    name: &'static str,
    task: Task,
    body: impl Fn(&Context, &Pulse) + Send + Sync + 'static,
) -> std::io::Result<()> {
    if context.disabled.contains(&name) {
        show(&context.hub, name, SourceState::Off, None);
        return Ok(());
    }
    let of_task = context.clone();
    context.hub.tasks.start(task, move |pulse| {
        body(&of_task, pulse);
        Ok(())
    })
}

/// How every component stands at the time of a check.
#[derive(Debug)]
pub struct Snapshot {
    sources: Vec<SourceStatus>,
    outages: Vec<Outage>,
}

impl Snapshot {
    fn of(hub: &Hub) -> Self {
        let outages = hub.tasks.outages();
        Self {
            sources: hub.sources(&outages),
            outages,
        }
    }

    fn source(&self, name: &str) -> Option<&SourceStatus> {
        self.sources.iter().find(|source| source.name == name)
    }
}

/// What a component says of itself.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// Its name: what the configuration switches off and every list shows.
    pub name: &'static str,
    /// What it gives.
    pub gives: &'static str,
    /// What it needs of the host.
    pub needs: &'static str,
    /// How to get that where it is missing.
    pub remedy: &'static str,
    /// The thread by which it works, one of its own or one that it shares.
    pub task: &'static str,
}

/// Something that watches a part of the host.
pub trait Component: Sync {
    /// What it says of itself.
    fn about(&self) -> About;

    /// [`About::name`].
    fn name(&self) -> &'static str {
        self.about().name
    }

    /// [`About::task`].
    fn task(&self) -> &'static str {
        self.about().task
    }

    /// The witness that its events carry, if it gives events.
    fn witness(&self) -> Option<WitnessName> {
        None
    }

    /// Whether this host has what it needs, by a poll that costs nothing; why not otherwise. Those
    /// that share a thread find out when that thread tries.
    ///
    /// # Errors
    ///
    /// What is missing.
    fn supported(&self, _context: &Context) -> Result<(), String> {
        Ok(())
    }

    /// What it lacks although it works: which of its facts this host does not give. For `gtrace doctor`; the thread shows
    /// it as the reason of an active source.
    fn lacks(&self, _context: &Context) -> Option<String> {
        None
    }

    /// Starts it, supervised, if its thread serves nothing else; the daemon starts the threads that
    /// several share. It shows its state and publishes its samples through the hub.
    ///
    /// # Errors
    ///
    /// If its thread cannot be started.
    fn start(&self, _context: &Context) -> std::io::Result<()> {
        Ok(())
    }

    /// Stops the thread by which it works, with whatever else that serves, and waits for its end, at
    /// most for `patience`. False if it has not ended by then.
    fn stop(&self, context: &Context, patience: Duration) -> bool {
        context.parts.stop(self.task());
        context.hub.tasks.stop(&[self.task()], patience).is_empty()
    }

    /// Takes its hands off the host (true) or goes on (false), with whatever else its thread serves.
    /// What only reads files goes on.
    fn pause(&self, context: &Context, pause: bool) {
        context.parts.pause(self.task(), pause);
    }

    /// The health of what it watches, by what is known now: it must not wait for anything. Called by
    /// the registry every few seconds while the component works, and when the state of one has changed.
    fn check(&self, context: &Context, now: &Snapshot) -> ComponentHealth;

    /// Whether it is asked for its health also where this host does not have what it needs.
    fn judges_absence(&self) -> bool {
        false
    }

    /// What it sampled last; `None` if that was nothing.
    fn newest(&self, hub: &Hub) -> Option<Batch> {
        let batch = hub.samples.last(self.name());
        batch.filter(|batch| !batch.metrics.is_empty())
    }

    /// When it last delivered an observation or a sample.
    fn last_seen(&self, hub: &Hub) -> Option<Timestamp> {
        let observed = match self.witness() {
            Some(witness) => hub.metrics.last_seen(witness),
            None => hub.last_seen(self.name()),
        };
        observed.max(self.newest(hub).map(|batch| batch.time))
    }

    /// What it costs, as far as that is measured: the run time of its BPF programs, and the CPU time of
    /// its thread where that serves nothing else.
    fn cost(&self, status: &Status) -> Option<ComponentCost> {
        registry::cost(self.task(), self.witness(), status)
    }
}

/// The registry, in the order of `gtrace doctor`.
pub fn all() -> impl Iterator<Item = &'static dyn Component> {
    let sources = source::SOURCES
        .iter()
        .map(|source| source as &dyn Component);
    let others: [&dyn Component; 11] = [
        &rdma::Rdma,
        &baseline::BaselineFile,
        &health_rules::HealthRules,
        &driver_modules::DriverModules,
        &cuda::CudaCalls,
        &remote::Remoting,
        &pressure::Pressure,
        &holders::Holders,
        &cgroups::ControlGroups,
        &runtimes::ContainerRuntimes,
        &plugins::SitePlugins,
    ];
    let host = host::HOST.iter().map(|part| part as &dyn Component);
    sources.chain(others).chain(host)
}

/// The component of this name.
pub fn find(name: &str) -> Option<&'static dyn Component> {
    all().find(|component| component.name() == name)
}

/// The witnesses that say nothing while the thread `task` is down.
pub fn witnesses_of(task: &str) -> Vec<WitnessName> {
    let of_task = all().filter(|component| component.task() == task);
    of_task
        .filter_map(|component| component.witness())
        .collect()
}

/// Every component, not probed yet.
pub fn initial() -> Vec<SourceStatus> {
    let status = |component: &'static dyn Component| SourceStatus {
        name: component.name().to_owned(),
        witness: component.witness(),
        gives: component.about().gives.to_owned(),
        needs: component.about().needs.to_owned(),
        ..SourceStatus::default()
    };
    all().map(status).collect()
}

/// Sets how the component `name` stands; the remedy is added where it is not well. Whether that is
/// news.
pub fn set_state(
    statuses: &mut [SourceStatus],
    name: &str,
    state: SourceState,
    reason: Option<String>,
) -> bool {
    let Some(component) = find(name) else {
        return false;
    };
    let Some(status) = statuses.iter_mut().find(|s| s.name == name) else {
        return false;
    };
    if status.state == state && status.reason == reason {
        return false;
    }
    status.state = state;
    status.reason = reason;
    status.remedy = match state {
        SourceState::Active | SourceState::Off => None,
        SourceState::Degraded | SourceState::Absent | SourceState::Failed => {
            Some(component.about().remedy.to_owned())
        }
    };
    true
}

/// Shows in the hub how the component `name` stands. If that is news, every component is checked at once.
pub fn show(hub: &Hub, name: &str, state: SourceState, reason: Option<String>) {
    let mut news = false;
    hub.update_status(|status| news = set_state(&mut status.sources, name, state, reason));
    if news {
        hub.tasks.wake(names::CHECKS);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn what_is_wrong_is_news_once() {
        let kept = Reasons::default();
        let refused = || ["a file is refused".to_owned()];
        assert!(kept.set(refused()) && !kept.set(refused()));
        assert_eq!(kept.judge("").state, HealthState::Degraded);
        assert!(kept.set(None) && kept.set(refused()));
    }

    #[test]
    fn names_are_unique_and_every_component_says_what_it_is() {
        let names: BTreeSet<_> = all().map(Component::name).collect();
        assert_eq!(names.len(), all().count());
        for component in all() {
            let about = component.about();
            for text in [about.gives, about.needs, about.remedy] {
                assert!(!text.is_empty(), "{}", about.name);
            }
            assert!(find(component.name()).is_some());
        }
    }
}
