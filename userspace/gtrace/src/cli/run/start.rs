//! What `gtrace run` sets up before it serves.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;

use anyhow::Context as _;
use gtrace_catalogue::Catalogue;
use gtrace_decoder::DriverVersion;
use gtrace_event::{Timestamp, WitnessName};
use gtrace_store::Store;

use crate::bpf::{self, AttachState, Probes, ProbesOptions, Tracefs};
use crate::config::Config;
use crate::host;
use crate::hub::{Footprint, Hub, SourceState, Status};
use crate::pipeline::{self, Input, InputSender, Told};
use crate::sources::driver::{DriverHold, Follower};
use crate::sources::kmsg;
use crate::sources::probes::{Manager, ManagerOptions, loss};
use crate::sources::table::{self, show};

/// The thread that reads the kernel log.
pub(super) struct LogThread {
    /// Ends it.
    pub(super) stop: Arc<AtomicBool>,
    /// The thread.
    pub(super) thread: JoinHandle<()>,
}

pub(super) fn catalogue(config: &Config) -> anyhow::Result<Catalogue> {
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

pub(super) fn open_store(config: &Config) -> anyhow::Result<Store> {
    let options = gtrace_store::Options {
        retention_age: config.retention_age,
        retention_bytes: config.retention_bytes,
        ..gtrace_store::Options::default()
    };
    let store = Store::open(&config.store(), options)?;
    if let Some(moved) = store.moved_aside() {
        tracing::error!("the store was damaged and set aside: {moved:?}");
    }
    Ok(store)
}

pub(super) fn first_status() -> Status {
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        host: host::name(),
        boot_id: host::boot_id(),
        started: Timestamp::now(),
        paused: false,
        last_seq: 0,
        events: std::collections::BTreeMap::new(),
        sources: table::initial(),
        probes: Vec::new(),
        gpu_processes: Vec::new(),
        rdma: None,
        footprint: Footprint::default(),
        store_problem: None,
    }
}

pub(super) fn driver_version(config: &Config) -> Option<DriverVersion> {
    let root = gtrace_devices::ProcRoot(config.proc_root.clone());
    DriverVersion::parse(&gtrace_devices::DriverVersion::read(&root)?.version)
}

pub(super) fn start_probes(
    config: &Config,
    probe_log: bool,
    hub: &Arc<Hub>,
    inputs: &InputSender,
    driver: Option<DriverVersion>,
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
    let start = || -> anyhow::Result<Manager> {
        let tracefs = Tracefs::find()?;
        let layout = bpf::read_layout(&tracefs);
        let mut off = config.off.clone();
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
            driver,
            hold: Arc::clone(hold),
        };
        Ok(Manager::start(probes, tracefs, options)?)
    };
    start().map_err(fail)
}

/// A failed load with the most likely reasons on this host.
pub(crate) fn explain_load(error: &bpf::LoadError) -> anyhow::Error {
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

pub(super) fn start_kmsg(
    config: &Config,
    hub: &Arc<Hub>,
    core: &pipeline::Core,
    driver: Option<DriverVersion>,
) -> anyhow::Result<LogThread> {
    if config.off.contains(&WitnessName::Kmsg) {
        anyhow::bail!("switched off by configuration");
    }
    let path = Path::new(kmsg::PATH);
    let opened = kmsg::Reader::open(path, core.kmsg_after);
    let mut reader = match opened {
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
    reader.set_driver_version(driver);
    if let Err(error) = reader.announce(path, env!("CARGO_PKG_VERSION")) {
        tracing::debug!("the kernel log takes no line: {error}");
    }
    show(hub, WitnessName::Kmsg, SourceState::Active, None);
    let stop = Arc::new(AtomicBool::new(false));
    let (hub, inputs, stopping) = (Arc::clone(hub), core.inputs.clone(), Arc::clone(&stop));
    let thread = std::thread::Builder::new()
        .name("gtrace-kmsg".to_owned())
        .spawn(move || {
            let result = reader.run(&stopping, |told| pass_on(told, &hub, &inputs));
            if let Err(error) = result {
                tracing::error!("{} is lost: {error}", kmsg::PATH);
                show(
                    &hub,
                    WitnessName::Kmsg,
                    SourceState::Failed,
                    Some(error.to_string()),
                );
            }
        })?;
    Ok(LogThread { stop, thread })
}

fn pass_on(told: kmsg::Told, hub: &Hub, inputs: &InputSender) {
    // The core ends after this thread.
    let send = |input| {
        let _ = inputs.send(input);
    };
    match told {
        kmsg::Told::Occurrence { occurrence, .. } => {
            send(Told::once(WitnessName::Kmsg, *occurrence));
        }
        kmsg::Told::Lost { first, last } => {
            let lost = last - first + 1;
            hub.metrics.count_lost("/dev/kmsg", "overwritten", lost);
            let mut told = loss("/dev/kmsg", lost, "overwritten before they were read");
            told.detail.source.first_seq = Some(first);
            told.detail.source.last_seq = Some(last);
            send(Told::once(WitnessName::Kmsg, told));
        }
        kmsg::Told::Progress { seq, records } => {
            hub.metrics.count_records(WitnessName::Kmsg, records);
            send(Input::KmsgProgress(seq));
        }
        kmsg::Told::Garbled => hub.metrics.count_lost("/dev/kmsg", "unreadable", 1),
    }
}

/// How a probe stands when tried once: what `gtrace doctor` asks.
pub(crate) fn try_probes() -> anyhow::Result<std::collections::BTreeMap<WitnessName, AttachState>> {
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
