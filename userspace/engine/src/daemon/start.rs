//! The parts of the daemon that are no component of their own: store, probes, kernel log.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::bpf::{self, AttachState, Probes, ProbesOptions, Tracefs};
use crate::component;
use crate::config::Config;
use crate::host;
use crate::hub::Hub;
use crate::input::{Input, InputSender, loss};
use crate::lock::lock;
use crate::open_record::EndRecord;
use crate::pipeline;
use crate::sources::driver_modules::{DriverHold, Follower, loaded_version};
use crate::sources::kmsg;
use crate::sources::probes::{Manager, ManagerOptions};
use crate::sources::table::show;
use crate::supervise::{Task, names};
use crate::triggers::{TriggerError, Triggers};
use anyhow::Context as _;
use gtrace_api::{SourceState, Status};
use gtrace_catalogue::Catalogue;
use gtrace_event::{Timestamp, WitnessName};
use gtrace_store::Store;
use gtrace_uprobes::procfs::has_the_kernels_numbers;

/// So long a start waits for another daemon to end: one that was killed holds the store until the
/// kernel has torn it down.
const STORE_PATIENCE: Duration = Duration::from_secs(5);
/// Longest time between two of its heartbeats, which it gives twice a second.
const KMSG_SILENCE: Duration = Duration::from_secs(15);

/// The built-in catalogue under the site policy.
///
/// # Errors
///
/// A site policy that cannot be read or is refused.
pub fn catalogue(config: &Config) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::builtin();
    if let Some(path) = &config.site_policy {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("site policy {} cannot be read", path.display()))?;
        catalogue
            .load_site_policy(&text)
            .with_context(|| format!("site policy {} is refused", path.display()))?;
    }
    Ok(catalogue)
}

/// The site's triggers.
///
/// # Errors
///
/// A file of triggers that cannot be read or is refused.
pub fn triggers(config: &Config) -> Result<Triggers, TriggerError> {
    let load = |path: &std::path::PathBuf| Triggers::load(path);
    Ok(config
        .triggers
        .as_ref()
        .map(load)
        .transpose()?
        .unwrap_or_default())
}

pub(super) fn open_store(config: &Config) -> anyhow::Result<Store> {
    let options = gtrace_store::Options {
        retention_age: config.retention_age,
        retention_bytes: config.retention_bytes,
        ..gtrace_store::Options::default()
    };
    let store = Store::open_within(&config.store(), options, STORE_PATIENCE, |error| {
        let most = STORE_PATIENCE.as_secs();
        tracing::info!("waiting up to {most} s for the other gtrace to end: {error}");
    })?;
    Ok(store)
}

pub(super) fn first_status(config: &Config) -> Status {
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        host: host::name(),
        machine_id: host::machine_id(),
        boot_id: host::boot_id(),
        started: Timestamp::now(),
        store: std::path::absolute(config.store()).ok(),
        sources: component::initial(),
        ..Status::default()
    }
}

/// Tracepoints are found in tracefs, which systemd mounts. Minimal hosts and containers have nobody who does.
pub(super) fn mount_tracefs() {
    match Tracefs::mount_if_missing() {
        Ok(true) => tracing::info!("tracefs was not mounted; it is now, at /sys/kernel/tracing"),
        Ok(false) => {}
        // That there is none is a warning of its own, with the remedy.
        Err(error) => tracing::debug!("tracefs cannot be mounted: {error}"),
    }
}

pub(super) fn start_probes(
    config: &Config,
    probe_log: bool,
    hub: &Arc<Hub>,
    inputs: &InputSender,
    hold: &Arc<DriverHold>,
) -> anyhow::Result<Manager> {
    let fail = |error: anyhow::Error| {
        for probe in &bpf::PROBES {
            show(
                hub,
                probe.witness,
                SourceState::Failed,
                Some(format!("{error:#}")),
            );
        }
        error
    };
    if !has_the_kernels_numbers() {
        tracing::warn!(
            "gtrace runs in a PID namespace of its own: processes that the probes see have other numbers here, no names, and \
             count as ended; run it in the host's (docker run --pid=host, hostPID: true)"
        );
    }
    let start = || -> anyhow::Result<Manager> {
        let tracefs = Tracefs::find().map_err(|e| anyhow::anyhow!("{e}: {}", e.remedy()))?;
        let layout = bpf::read_layout(&tracefs);
        let mut off = config.disabled_sources.clone();
        if config.devices.is_some() {
            // The driver's functions would see its calls beside the tracepoints, which see those of
            // the devices named.
            off.push(WitnessName::DriverIoctl);
        }
        let options = ProbesOptions {
            log: probe_log,
            off,
            ring_bytes: config.ring_bytes,
            dev_xid: config.dev_xid_tracepoint,
            small: false,
        };
        let probes = Probes::load(layout, options).map_err(|error| explain_load(&error))?;
        let options = ManagerOptions {
            hub: Arc::clone(hub),
            inputs: inputs.clone(),
            config: config.clone(),
            hold: Arc::clone(hold),
        };
        Ok(Manager::start(probes, tracefs, options)?)
    };
    start().map_err(fail)
}

/// A failed load with the most likely reasons on this host.
pub fn explain_load(error: &bpf::LoadError) -> anyhow::Error {
    let mut text = error.to_string();
    if !host::may_trace() {
        text += "; this process lacks CAP_BPF and CAP_PERFMON: run it with sudo";
    }
    if host::lockdown().is_some_and(|mode| mode == "confidentiality") {
        text += "; the kernel is locked down (confidentiality), which forbids BPF to read kernel \
                 memory: boot with lockdown=integrity or less";
    }
    anyhow::anyhow!(text)
}

pub(super) fn nothing_to_watch(probes: &anyhow::Error, log: &anyhow::Error) -> anyhow::Error {
    let remedy = if host::is_root() {
        "`gtrace doctor` says what this host lacks and how to get it"
    } else {
        "run it with sudo"
    };
    anyhow::anyhow!(
        "there is nothing to watch here: the probes fail ({probes:#}), and the kernel log cannot \
         be read ({log:#}); {remedy}"
    )
}

/// Which log is read.
#[derive(Debug)]
pub(super) enum KernelLog {
    /// That of this host, /dev/kmsg.
    Host,
    /// That of a demonstration.
    StandIn(OwnedFd),
}

impl KernelLog {
    /// The log after record `after`, with the texts of the driver that is loaded now.
    fn open(&self, after: Option<u64>, proc_root: &Path) -> std::io::Result<kmsg::Reader> {
        let mut reader = match self {
            Self::Host => {
                let path = Path::new(kmsg::PATH);
                let mut reader = kmsg::Reader::open(path, after)?;
                if let Err(error) = reader.announce(path, env!("CARGO_PKG_VERSION")) {
                    tracing::debug!("the kernel log takes no line: {error}");
                }
                reader
            }
            Self::StandIn(socket) => kmsg::Reader::of(socket.try_clone()?.into(), after),
        };
        reader.set_driver_version(loaded_version(proc_root));
        Ok(reader)
    }
}

pub(super) fn start_kmsg(
    config: &Config,
    log: KernelLog,
    hub: &Arc<Hub>,
    core: &pipeline::Core,
    end_record: EndRecord,
) -> anyhow::Result<()> {
    if config.disabled_sources.contains(&WitnessName::Kmsg) {
        anyhow::bail!("switched off by configuration");
    }
    let opened = log.open(core.kmsg_after, &config.proc_root);
    let reader = match opened {
        Ok(reader) => reader,
        Err(error) => {
            show(
                hub,
                WitnessName::Kmsg,
                SourceState::Failed,
                Some(error.to_string()),
            );
            return Err(anyhow::anyhow!("{} cannot be read: {error}", kmsg::PATH));
        }
    };
    let (of_task, inputs) = (Arc::clone(hub), core.inputs.clone());
    let proc_root = config.proc_root.clone();
    let task = Task::needed(names::KMSG, KMSG_SILENCE, vec![WitnessName::Kmsg]);
    let first = Mutex::new(Some(reader));
    let (position, before) = (Arc::new(kmsg::Position::default()), core.kmsg_after);
    hub.tasks.start(task, move |pulse| {
        let first = lock(&first).take();
        let mut reader = match first {
            Some(reader) => reader,
            // What the last thread had taken may be on its way already, and must not count twice.
            None => log
                .open(position.get().or(before), &proc_root)
                .map_err(|error| format!("cannot read {}: {error}", kmsg::PATH))?,
        };
        reader.set_position(Arc::clone(&position));
        reader.set_end_record(end_record.clone());
        let wake = end_record.clone();
        pulse.wake_by(move || wake.wake());
        show(&of_task, WitnessName::Kmsg, SourceState::Active, None);
        let result = reader.run(&pulse.stop, |item| pass_on(item, &of_task, &inputs));
        result.map_err(|error| format!("cannot read {}: {error}", kmsg::PATH))
    })?;
    Ok(())
}

fn pass_on(item: kmsg::KmsgItem, hub: &Hub, inputs: &InputSender) {
    // The core ends after this thread.
    let send = |input| {
        let _ = inputs.send(input);
    };
    match item {
        kmsg::KmsgItem::Occurrence(occurrence) => {
            send(Input::once(WitnessName::Kmsg, *occurrence));
        }
        kmsg::KmsgItem::Record { boottime_ns, line } => hub.recorder.kernel(boottime_ns, line),
        kmsg::KmsgItem::Lost { first, last } => {
            let lost = last - first + 1;
            hub.metrics.count_lost("/dev/kmsg", "overwritten", lost);
            let mut observation = loss("/dev/kmsg", lost, "overwritten before they were read");
            observation.detail.source.first_seq = Some(first);
            observation.detail.source.last_seq = Some(last);
            send(Input::once(WitnessName::Kmsg, observation));
        }
        kmsg::KmsgItem::Progress { seq, records } => {
            hub.metrics.count_records(WitnessName::Kmsg, records);
            send(Input::KmsgProgress(seq));
        }
        kmsg::KmsgItem::Garbled => hub.metrics.count_lost("/dev/kmsg", "unreadable", 1),
    }
}

/// How a probe stands when tried once: what `gtrace doctor` asks.
pub fn try_probes() -> anyhow::Result<std::collections::BTreeMap<WitnessName, AttachState>> {
    let tracefs = Tracefs::find()?;
    let layout = bpf::read_layout(&tracefs);
    let options = ProbesOptions {
        small: true,
        ..ProbesOptions::default()
    };
    let mut probes = Probes::load(layout, options).map_err(|error| explain_load(&error))?;
    Follower::new(Path::new("/sys"), true).follow(&mut probes, &tracefs);
    probes.attach(&tracefs);
    let states = probes.states().clone();
    probes.detach();
    Ok(states)
}
