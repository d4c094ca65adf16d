//! The host itself: a component for each part that `gtrace-devices` reads. One thread, `host`, reads them in turn and keeps
//! here what it found.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use gtrace_api::{ComponentHealth, HealthState, SourceState};
use gtrace_devices::{
    ClockReading, HostOutcome, HostReading, HostRoots, HostState, HostWatch, PARTS, PartInfo,
    Unread,
};

use super::{About, Component, Context, Snapshot, show};
use crate::clock;
use crate::hub::Command as HubCommand;
use crate::lock::lock;
use crate::supervise::{self, Task, names};

/// How long a part has to answer before the others are read.
const DEADLINE: Duration = Duration::from_secs(3);
/// Longest time between two heartbeats, which come after each part.
const SILENCE: Duration = Duration::from_secs(30);
/// How each part was when it was read last.
#[derive(Debug, Default)]
pub struct Kept(Mutex<BTreeMap<&'static str, (HealthState, Vec<String>)>>);

impl Kept {
    /// Keeps a judgement, unless another thread has taken the place of the calling one.
    fn set(&self, name: &'static str, state: HealthState, reasons: Vec<String>) {
        if !supervise::is_revoked() {
            lock(&self.0).insert(name, (state, reasons));
        }
    }
}

/// The components, in the order of `gtrace doctor`.
pub static HOST: [HostPart; PARTS.len()] = {
    let mut parts = [HostPart(PARTS[0]); PARTS.len()];
    let mut number = 0;
    while number < PARTS.len() {
        parts[number] = HostPart(PARTS[number]);
        number += 1;
    }
    parts
};

/// A part of the host.
#[derive(Clone, Copy, Debug)]
pub struct HostPart(PartInfo);

impl HostPart {
    /// Reads it once, apart from the thread that watches.
    fn once(&self, context: &Context) -> Result<HostReading, String> {
        let others = PARTS.iter().map(|info| info.name);
        let others: Vec<_> = others.filter(|name| *name != self.0.name).collect();
        let mut watch = watch(context, &others);
        match watch.read_next(Instant::now()) {
            Some((_, HostOutcome::Read(reading))) => Ok(reading),
            Some((_, HostOutcome::Unread(Unread::Absent(why) | Unread::Failed(why)))) => Err(why),
            Some((_, HostOutcome::Unanswered(_))) => Err("it does not answer".to_owned()),
            None => Err("nothing reads it".to_owned()),
        }
    }
}

impl Component for HostPart {
    fn about(&self) -> About {
        About {
            name: self.0.name,
            gives: self.0.gives,
            needs: self.0.needs,
            remedy: self.0.remedy,
            task: names::HOST,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        self.once(context).map(drop)
    }

    fn lacks(&self, context: &Context) -> Option<String> {
        self.once(context).ok()?.missing
    }

    /// The first one starts the thread for all.
    fn start(&self, context: &Context) -> io::Result<()> {
        let is_first = HOST
            .first()
            .is_some_and(|first| first.0.name == self.0.name);
        if !is_first {
            return Ok(());
        }
        let mut off = Vec::new();
        for part in &HOST {
            if context.disabled.contains(&part.name()) {
                show(&context.hub, part.name(), SourceState::Off, None);
                off.push(part.name());
            }
        }
        if off.len() == HOST.len() {
            return Ok(());
        }
        let task = Task::optional(names::HOST, SILENCE);
        let of_task = context.clone();
        context.hub.tasks.start(task, move |pulse| {
            let mut watch = watch(&of_task, &off).aligned_to(supervise::first_pulse());
            while !pulse.is_stopping() {
                supervise::beat();
                let now = Instant::now();
                match watch.read_next(now) {
                    Some((name, outcome)) => take(&of_task, name, outcome),
                    None => {
                        pulse.wait(watch.idle_for(now));
                    }
                }
            }
            Ok(())
        })
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        let kept = lock(&context.host.0);
        let (state, reasons) = match kept.get(self.0.name) {
            Some((state, reasons)) => (*state, reasons.clone()),
            None => (HealthState::Unknown, vec!["it was not read yet".to_owned()]),
        };
        ComponentHealth::now(state, reasons)
    }
}

fn watch(context: &Context, off: &[&str]) -> HostWatch {
    let roots = HostRoots {
        thresholds: context.thresholds,
        ..HostRoots::new(context.proc_root.clone(), context.sysfs_root.clone())
    };
    HostWatch::new(roots, off, ask_clock, DEADLINE)
}

fn ask_clock() -> io::Result<ClockReading> {
    let kernel = clock::synchronisation()?;
    Ok(ClockReading {
        synchronised: kernel.synchronised,
        max_error: Duration::from_micros(u64::try_from(kernel.max_error_us).unwrap_or(0)),
        offset_ns: kernel.offset_us.saturating_mul(1000),
    })
}

/// Reads the part `name` once, without a daemon: its state and why.
///
/// # Errors
///
/// Why it cannot be read.
pub fn look(context: &Context, name: &str) -> Result<(HealthState, Vec<String>), String> {
    let part = HOST.iter().find(|part| part.0.name == name);
    let part = part.ok_or_else(|| format!("there is no part {name}"))?;
    let reading = part.once(context)?;
    Ok((state_of(reading.state), reading.reasons))
}

fn state_of(state: HostState) -> HealthState {
    match state {
        HostState::Healthy => HealthState::Healthy,
        HostState::Degraded => HealthState::Degraded,
        HostState::Unhealthy => HealthState::Unhealthy,
    }
}

/// Passes on what became of a part.
fn take(context: &Context, name: &'static str, outcome: HostOutcome) {
    let hub = &context.hub;
    match outcome {
        HostOutcome::Read(reading) => {
            context
                .host
                .set(name, state_of(reading.state), reading.reasons);
            let info = PARTS.iter().find(|info| info.name == name);
            let every = info.map(|info| info.every).unwrap_or_default();
            hub.samples.publish_now(name, every, reading.metrics);
            for news in reading.news {
                // The core ends after everything that sends it something.
                let _ = hub.command(HubCommand::HostNews(Box::new(news)));
            }
            show(hub, name, SourceState::Active, reading.missing);
        }
        HostOutcome::Unread(Unread::Absent(why)) => {
            context
                .host
                .set(name, HealthState::Unknown, vec![why.clone()]);
            show(hub, name, SourceState::Absent, Some(why));
        }
        HostOutcome::Unread(Unread::Failed(why)) => {
            context
                .host
                .set(name, HealthState::Unknown, vec![why.clone()]);
            show(hub, name, SourceState::Failed, Some(why));
        }
        HostOutcome::Unanswered(since) => {
            let why = format!("a reading has had no answer for {} s", since.as_secs());
            context.host.set(name, HealthState::Degraded, vec![why]);
            let why = "its reading does not answer".to_owned();
            show(hub, name, SourceState::Degraded, Some(why));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::component::all;

    fn context(dir: &Path, disabled: &[&'static str]) -> Context {
        Context {
            disabled: disabled.to_vec(),
            proc_root: dir.join("proc"),
            sysfs_root: dir.join("sys"),
            baseline: dir.join("baseline.toml"),
            ..Context::shown()
        }
    }

    #[test]
    fn each_part_is_a_component() {
        for info in &PARTS {
            assert_eq!(
                all().filter(|c| c.name() == info.name).count(),
                1,
                "{}",
                info.name
            );
        }
    }

    #[test]
    fn a_part_that_is_off_is_not_read_and_one_that_is_there_has_samples_and_health() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("proc/sys/fs")).unwrap();
        let file = dir.path().join("proc/sys/fs/file-nr");
        fs::write(&file, "990 0 1000\n").unwrap();
        let context = context(dir.path(), &["disk", "clock"]);
        for part in &HOST {
            part.start(&context).unwrap();
        }
        let until = Instant::now() + Duration::from_secs(20);
        while context.source("services").state == SourceState::Off && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(context.source("disk").state, SourceState::Off);
        assert_eq!(context.source("limits").state, SourceState::Active);
        assert_eq!(context.source("memory").state, SourceState::Absent);
        let judged = context.checked("limits");
        assert_eq!(judged.state, HealthState::Unhealthy);
        assert!(
            judged.reasons[0].contains("99 % of the file handles"),
            "{judged:?}"
        );
        assert_eq!(context.checked("memory").state, HealthState::Unknown);
        let names: Vec<_> = context
            .hub
            .samples
            .newest()
            .iter()
            .map(|m| m.name)
            .collect();
        assert!(names.contains(&"gtrace_file_handles"), "{names:?}");
        let left = context
            .hub
            .tasks
            .stop(&[names::HOST], Duration::from_secs(10));
        assert!(left.is_empty());
    }

    #[test]
    fn what_does_not_answer_is_degraded_and_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path(), &[]);
        take(
            &context,
            "disk",
            HostOutcome::Unanswered(Duration::from_secs(9)),
        );
        assert_eq!(context.source("disk").state, SourceState::Degraded);
        let judged = context.checked("disk");
        assert_eq!(judged.state, HealthState::Degraded);
        assert!(judged.reasons[0].contains("9 s"), "{judged:?}");
        take(&context, "disk", HostOutcome::Read(HostReading::default()));
        assert_eq!(context.source("disk").state, SourceState::Active);
        assert_eq!(context.checked("disk").state, HealthState::Healthy);
        let failed = Unread::Failed("x".to_owned());
        take(&context, "disk", HostOutcome::Unread(failed));
        assert_eq!(context.checked("disk").state, HealthState::Unknown);
    }

    #[test]
    fn doctor_names_what_a_part_lacks() {
        let dir = tempfile::tempdir().unwrap();
        let context = context(dir.path(), &[]);
        let memory = HOST.iter().find(|part| part.name() == "memory").unwrap();
        assert!(memory.supported(&context).unwrap_err().contains("meminfo"));
        fs::create_dir_all(dir.path().join("proc")).unwrap();
        fs::write(
            dir.path().join("proc/meminfo"),
            "MemTotal: 9 kB\nMemAvailable: 8 kB\n",
        )
        .unwrap();
        assert_eq!(memory.supported(&context), Ok(()));
        assert!(memory.lacks(&context).unwrap().contains("EDAC"));
    }
}
