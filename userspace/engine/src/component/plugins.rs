//! Plugins of the site: executables of root that are run every so often and say what they found. docs/plugins.md is the contract.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use gtrace_api::{ComponentHealth, HealthState, SourceState};
use gtrace_devices::Metric;
use gtrace_plugins::{Cgroup, Check, Ended, Limits, Plugin, Run};

use super::{About, Component, Context, Reasons, Snapshot, show};
use crate::checks::{Checked, Looked};
use crate::hub::{Command as HubCommand, Hub};
use crate::supervise::{self, Task, names};

/// Name of component and thread.
pub const NAME: &str = names::PLUGINS;
/// Bytes that a plugin may print.
const OUTPUT: usize = 64 * 1024;
/// With nothing to run, how long one wait lasts.
const SLEEP: Duration = Duration::from_secs(60);
/// Longest time between two heartbeats.
const SILENCE: Duration = Duration::from_secs(30);

/// Until the first look for GPUs no plugin is run, as it is not known which it may name; but at most so long, as that look may be
/// switched off.
const FIRST_LOOK: Duration = Duration::from_secs(60);
/// Between two questions whether it is over.
const ASK_AGAIN: Duration = Duration::from_millis(200);

/// How plugins are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where they are.
    pub folder: PathBuf,
    /// Between two runs of one.
    pub interval: Duration,
    /// Until one is killed.
    pub deadline: Duration,
}

/// How the component is set up, and what it found.
#[derive(Debug)]
pub struct Plugins {
    options: Option<Options>,
    /// The user to whom all of them have to belong.
    owner: u32,
    /// What runs the executable that is its last argument.
    launcher: fn(Option<&Cgroup>) -> Command,
    /// What is wrong with plugins, after the first look; nothing of what they say.
    faults: Reasons,
}

impl Default for Plugins {
    fn default() -> Self {
        Self::new(None)
    }
}

impl Plugins {
    /// Those of root; none without options.
    pub fn new(options: Option<Options>) -> Self {
        Self {
            options,
            owner: 0,
            launcher,
            faults: Reasons::default(),
        }
    }
}

/// This same program, which gives up its rights and becomes the plugin.
fn launcher(cgroup: Option<&Cgroup>) -> Command {
    // The link and not the path behind it: that may have been replaced by an upgrade.
    let mut command = Command::new("/proc/self/exe");
    command.arg("plugin-child");
    command.arg("--parent").arg(std::process::id().to_string());
    if let Some(cgroup) = cgroup {
        command.arg("--cgroup").arg(cgroup.path());
    }
    command
}

/// The component. What plugins find are reasons of their own parts and of GPUs.
#[derive(Clone, Copy, Debug)]
pub struct SitePlugins;

impl Component for SitePlugins {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "what plugins of the site find: checks as health, events and metrics",
            needs: "executables of root in the folder that `plugins` names",
            remedy: "see docs/plugins.md: only root may be able to write to a plugin and its folders, and it prints a line of JSON a check",
            task: NAME,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        let Some(options) = &context.plugins.options else {
            return Err("`plugins` names no folder in the configuration".to_owned());
        };
        let found = gtrace_plugins::find(&options.folder, context.plugins.owner);
        found.map(drop).map_err(|error| error.to_string())
    }

    fn lacks(&self, context: &Context) -> Option<String> {
        let options = context.plugins.options.as_ref()?;
        let found = gtrace_plugins::find(&options.folder, context.plugins.owner).ok()?;
        let refused = found.refused.iter();
        let refused: Vec<_> = refused.map(|(name, why)| refusal(name, why)).collect();
        (!refused.is_empty()).then(|| refused.join("; "))
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        let hub = &context.hub;
        let options = context.plugins.options.clone();
        let Some(options) = options.filter(|_| !context.disabled.contains(&NAME)) else {
            show(hub, NAME, SourceState::Off, None);
            // Nobody takes back what plugins found before they were switched off. The core ends after everything that tells it
            // something.
            let _ = hub.command(HubCommand::Looked(Looked::none()));
            return Ok(());
        };
        let task = Task::optional(NAME, SILENCE);
        let of_task = context.clone();
        hub.tasks.start(task, move |pulse| {
            let mut runner = Runner::new(&of_task, options.clone());
            let wake = runner.results.0.clone();
            pulse.wake_by(move || {
                // The runner has it for as long as it can be woken.
                let _ = wake.send(News::Woken);
            });
            while !pulse.is_stopping() {
                supervise::beat();
                runner.round();
            }
            Ok(())
        })
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        context.plugins.faults.judge("no plugin was run yet")
    }
}

fn refusal(name: &str, why: &str) -> String {
    format!("{name} is not run: {why}")
}

/// What the thread waits for.
enum News {
    /// A run is over.
    Ran(Plugin, Run),
    /// The thread is to look whether it should end.
    Woken,
}

enum Slot {
    /// Until then nothing is due.
    Idle(Instant),
    Running,
    /// Killed, and still in the kernel.
    Stuck(Child),
}

struct Known {
    plugin: Plugin,
    /// It is there and is not run, as it is refused now, or its folder is.
    refused: bool,
    slot: Slot,
    /// Runs that ended well, and others.
    done: u64,
    failed: u64,
    took: Option<Duration>,
    /// What the newest good run said.
    checks: Vec<Check>,
    faults: Vec<String>,
}

/// Runs what is due.
struct Runner {
    context: Context,
    options: Options,
    known: BTreeMap<String, Known>,
    results: (Sender<News>, Receiver<News>),
    /// When the folder is looked at again.
    look: Instant,
    refused: Vec<String>,
    began: Instant,
}

impl Runner {
    fn new(context: &Context, options: Options) -> Self {
        Self {
            context: context.clone(),
            options,
            known: BTreeMap::new(),
            results: channel(),
            look: Instant::now(),
            refused: Vec::new(),
            began: Instant::now(),
        }
    }

    /// Starts what is due, and waits for a result or until something is due.
    fn round(&mut self) {
        let now = Instant::now();
        if self.look <= now {
            self.look = now + self.options.interval;
            let looked = self.find(now);
            self.publish_states();
            self.command(HubCommand::Looked(looked));
        }
        let wait = if self.knows_gpus() {
            self.start_due(now);
            let due = self.known.values().filter_map(|known| match known.slot {
                Slot::Idle(due) if !known.refused => Some(due),
                Slot::Idle(_) | Slot::Running | Slot::Stuck(_) => None,
            });
            let next = due.chain([self.look]).min();
            next.map_or(SLEEP, |next| next.saturating_duration_since(Instant::now()))
        } else {
            ASK_AGAIN
        };
        let results = &self.results.1;
        match supervise::rest(wait.min(SLEEP), |time| results.recv_timeout(time)) {
            Ok(News::Ran(plugin, run)) => {
                self.take(&plugin, run);
                self.publish_states();
            }
            Ok(News::Woken) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }

    fn knows_gpus(&self) -> bool {
        self.context.hub.has_looked_for_gpus() || self.began.elapsed() >= FIRST_LOOK
    }

    /// Which plugins there are now.
    fn find(&mut self, now: Instant) -> Looked {
        let found = gtrace_plugins::find(&self.options.folder, self.context.plugins.owner);
        let hub = &self.context.hub;
        let (plugins, looked) = match found {
            Ok(found) => {
                show(hub, NAME, SourceState::Active, None);
                let refused = found.refused.iter();
                self.refused = refused.map(|(name, why)| refusal(name, why)).collect();
                let looked = looked(&found);
                (found.plugins, looked)
            }
            // Not a failure of what gtrace captures, which would make the daemon unfit.
            Err(error) => {
                let why = error.to_string();
                show(hub, NAME, SourceState::Degraded, Some(why.clone()));
                self.refused = vec![why.clone()];
                let looked = Looked {
                    there: Err(why),
                    ..Looked::none()
                };
                (Vec::new(), looked)
            }
        };
        // What is not in a folder that could be read is gone. Of a folder that could not be read nobody knows.
        if let Ok(there) = &looked.there {
            self.known.retain(|name, _| there.contains(name));
        }
        for known in self.known.values_mut() {
            known.refused = true;
        }
        for plugin in plugins {
            let name = plugin.name.clone();
            let known = self.known.entry(name).or_insert_with(|| Known {
                plugin: plugin.clone(),
                refused: false,
                slot: Slot::Idle(now),
                done: 0,
                failed: 0,
                took: None,
                checks: Vec::new(),
                faults: Vec::new(),
            });
            // Its folder can be another by a link.
            (known.plugin, known.refused) = (plugin, false);
        }
        for known in self.known.values_mut().filter(|known| known.refused) {
            known.checks.clear();
            known.faults.clear();
        }
        looked
    }

    fn start_due(&mut self, now: Instant) {
        let next = now + self.options.interval;
        let limits = Limits {
            deadline: self.options.deadline,
            output: OUTPUT,
        };
        for known in self.known.values_mut() {
            match &mut known.slot {
                Slot::Idle(due) if *due <= now && !known.refused => {}
                Slot::Idle(_) | Slot::Running => continue,
                Slot::Stuck(child) => {
                    if !matches!(child.try_wait(), Ok(None)) {
                        known.slot = Slot::Idle(next);
                    }
                    continue;
                }
            }
            let (plugin, done) = (known.plugin.clone(), self.results.0.clone());
            let launcher = self.context.plugins.launcher;
            let started = std::thread::Builder::new()
                .name("gtrace-plugin".to_owned())
                .spawn(move || {
                    let cgroup = own_cgroup(&plugin);
                    let command = launcher(cgroup.as_ref());
                    let run = gtrace_plugins::run(&plugin, limits, command, cgroup);
                    // Nobody waits for it once the component has ended.
                    let _ = done.send(News::Ran(plugin, run));
                });
            known.slot = match started {
                Ok(_) => Slot::Running,
                Err(error) => {
                    known.faults = vec![format!("{}: no thread: {error}", known.plugin.name)];
                    Slot::Idle(next)
                }
            };
        }
    }

    /// Takes what has come of a run.
    fn take(&mut self, plugin: &Plugin, run: Run) {
        let next = Instant::now() + self.options.interval;
        let gpus: Vec<_> = self.context.hub.gpus().iter().map(|gpu| gpu.pci).collect();
        // It can have been taken away while it ran.
        let Some(known) = self.known.get_mut(&plugin.name) else {
            return;
        };
        let name = &plugin.name;
        let mut of_unknown = Vec::new();
        known.took = Some(run.took);
        let mut is_complete = true;
        let (slot, outcome) = match run.ended {
            Ended::Done(output) => match gtrace_plugins::parse(&output) {
                output if output.checks.is_empty() && !output.faults.is_empty() => {
                    (Slot::Idle(next), Err(output.faults.join("; ")))
                }
                mut output => {
                    is_complete = output.faults.is_empty();
                    // A GPU that is gone is not well for that.
                    let is_unknown =
                        |check: &Check| check.gpu.is_some_and(|gpu| !gpus.contains(&gpu));
                    (of_unknown, output.checks) = output.checks.into_iter().partition(is_unknown);
                    for check in &of_unknown {
                        let gpu = check.gpu.map_or_else(String::new, |gpu| gpu.to_string());
                        let fault = format!("{}: there is no GPU {gpu}", check.check);
                        output.faults.push(fault);
                    }
                    let faults = output.faults.iter();
                    known.faults = faults.map(|fault| format!("{name}: {fault}")).collect();
                    known.done += 1;
                    known.checks.clone_from(&output.checks);
                    (Slot::Idle(next), Ok(output.checks))
                }
            },
            Ended::Failed(why) => (Slot::Idle(next), Err(why)),
            Ended::Stuck(why, child) => (Slot::Stuck(child), Err(why)),
        };
        known.slot = slot;
        if known.refused {
            // It was refused while it ran: that it is not known how it is has been said.
            known.checks.clear();
            known.faults.clear();
            return;
        }
        if let Err(why) = &outcome {
            known.failed += 1;
            known.checks.clear();
            known.faults = vec![format!("{name}: {why}")];
        }
        let checked = Checked {
            of_unknown,
            is_complete,
            ..Checked::new(name, outcome)
        };
        self.command(HubCommand::Checked(checked));
    }

    fn command(&self, command: HubCommand) {
        if supervise::is_revoked() {
            return;
        }
        // The core ends after this thread.
        let _ = self.context.hub.command(command);
    }

    /// Publishes metrics and what is wrong with plugins.
    fn publish_states(&self) {
        if supervise::is_revoked() {
            return;
        }
        let known = self.known.values();
        let faults = known.flat_map(|known| known.faults.iter().cloned());
        let faults = self.refused.iter().cloned().chain(faults);
        self.context.plugins.faults.set(faults);
        publish(&self.context.hub, &self.options, self.known.values());
    }
}

/// What the core learns of a folder that could be read.
fn looked(found: &gtrace_plugins::Found) -> Looked {
    let refused: BTreeMap<&String, &String> = found
        .refused
        .iter()
        .map(|(name, why)| (name, why))
        .collect();
    let run: BTreeSet<&String> = found.plugins.iter().map(|plugin| &plugin.name).collect();
    let not_run = found.there.iter().filter(|name| !run.contains(name));
    let why = |name: &String| match refused.get(name) {
        Some(why) => refusal(name, why),
        // Not all that are refused are listed.
        None => refusal(name, "it is refused, as others are"),
    };
    Looked {
        there: Ok(found.there.clone()),
        refused: not_run.map(|name| (name.clone(), why(name))).collect(),
    }
}

/// Where this process may make control groups.
fn own_cgroup(plugin: &Plugin) -> Option<Cgroup> {
    let own = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    Cgroup::below("/sys/fs/cgroup".as_ref(), &own, &plugin.name).ok()
}

fn publish<'a>(hub: &Hub, options: &Options, known: impl Iterator<Item = &'a Known>) {
    let mut metrics = Vec::new();
    for known in known {
        let plugin = ("plugin", known.plugin.name.clone());
        let mut push = |metric: Metric, labels: &[(&'static str, String)]| {
            let labels = [plugin.clone()].into_iter().chain(labels.iter().cloned());
            metrics.push(metric.with(labels.collect()));
        };
        for (result, count) in [("done", known.done), ("failed", known.failed)] {
            let help = "Runs of a plugin of the site, by how they ended";
            let runs = Metric::counter(("gtrace_plugin_runs", ""), help, count as f64);
            push(runs, &[("result", result.to_owned())]);
        }
        if let Some(took) = known.took {
            let name = ("gtrace_plugin_run_seconds", "seconds");
            let help = "How long the newest run of a plugin took";
            push(Metric::gauge(name, help, took.as_secs_f64()), &[]);
        }
        for check in &known.checks {
            let gpu = check.gpu.map_or_else(String::new, |gpu| gpu.to_string());
            let labels = [("check", check.check.clone()), ("gpu", gpu)];
            if check.state != HealthState::Unknown {
                let healthy = Metric::gauge(
                    ("gtrace_plugin_check_healthy", ""),
                    "Whether a check of a plugin is healthy (1) or not (0); gpu: empty for the host",
                    f64::from(check.state == HealthState::Healthy),
                );
                push(healthy, &labels);
            }
            for (name, value) in &check.metrics {
                let help = "What a check of a plugin measured, in the unit that its name says";
                let measured = Metric::gauge(("gtrace_plugin_value", ""), help, *value);
                let [check, gpu] = labels.clone();
                push(measured, &[check, gpu, ("metric", name.clone())]);
            }
        }
    }
    hub.samples.publish_now(NAME, options.interval, metrics);
}

#[cfg(test)]
#[path = "plugins_tests.rs"]
mod tests;
