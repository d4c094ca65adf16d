//! An event as the correlator keeps it: what joins it to others, and what it says of the incident.

use std::fmt::Write as _;
use std::ops::Deref;

use gtrace_catalogue::{Catalogue, Category};
use gtrace_event::{
    Advice, Event, EventId, FailureClass, Gpu, Holder, Kind, PciAddress, Process, Provenance,
    Severity, Timestamp,
};

use crate::jobs::job_of;
use crate::rules::{Rules, counts};

/// Something that two events have in common. Drills have names of their own, so that they never meet real faults.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A GPU, another PCI device, or the port above it.
    Device(PciAddress),
    /// A GPU instance of MIG, by its GPU. Instances have nothing in common but their GPU's own faults.
    Instance(PciAddress, u32),
    /// A process.
    Process(u32),
    /// A container or the job of a scheduler.
    Job(String),
    /// NVLink and NVSwitch of this host.
    Fabric,
    /// A disk, network interface or RDMA device, by name.
    Named(String),
    /// gtrace itself.
    Monitoring,
}

/// Sorted keys, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Keys(Vec<Key>);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) id: EventId,
    pub(crate) kind: Kind,
    pub(crate) time: Timestamp,
    /// Of its newest occurrence.
    pub(crate) last_time: Timestamp,
    pub(crate) severity: Severity,
    pub(crate) occurrences: u64,
    pub(crate) drill: bool,
    pub(crate) keys: Keys,
    pub(crate) class: FailureClass,
    pub(crate) weight: u32,
    pub(crate) title: String,
    /// Whether it opens an incident.
    pub(crate) opens: bool,
    pub(crate) gpus: Vec<Gpu>,
    pub(crate) process: Option<Process>,
    /// The process whose own fault it is.
    pub(crate) program: Option<u32>,
    pub(crate) jobs: Vec<String>,
    /// Clients on other hosts that had the GPU by `gtrace serve`, or whose worker it is about.
    pub(crate) remote_clients: Vec<String>,
    pub(crate) advice: Option<Advice>,
    /// The rules of causes whose `from` and `to` it matches, by their place.
    pub(crate) causes: Vec<usize>,
    pub(crate) effects: Vec<usize>,
    pub(crate) host: Option<String>,
    pub(crate) machine_id: Option<String>,
    pub(crate) boot_id: Option<String>,
}

impl Member {
    /// `None` for what opens and joins nothing.
    pub(crate) fn new(event: &Event, rules: &Rules) -> Option<Self> {
        if !counts(event) {
            return None;
        }
        let rule = rules.class_of(event);
        let matching = |wanted: &dyn Fn(&crate::rules::CauseRule) -> bool| {
            let all = rules.causes().iter().enumerate();
            all.filter(|(_, rule)| wanted(rule))
                .map(|(at, _)| at)
                .collect()
        };
        let mut jobs = jobs(event);
        Some(Self {
            id: event.id,
            kind: event.kind,
            time: event.time,
            last_time: event.last_time.unwrap_or(event.time).max(event.time),
            severity: event.severity,
            occurrences: event.repeats.saturating_add(1),
            drill: event.provenance == Provenance::Injected,
            keys: keys(event, &jobs),
            class: rule.map_or(FailureClass::Unknown, |rule| rule.class),
            weight: rule.map_or(0, |rule| rule.weight),
            title: rule.map_or_else(
                || event.kind.name().replace('_', " "),
                |rule| fill(&rule.title, event),
            ),
            opens: rule
                .and_then(|rule| rule.opens)
                .unwrap_or(event.severity >= Severity::Critical),
            gpus: gpus(event),
            process: event.process.clone(),
            program: rule.filter(|rule| rule.of_program).and_then(|_| {
                let pid = event.process.as_ref()?.pid?;
                (pid != 0).then_some(pid)
            }),
            jobs: {
                jobs.extend(held_by(event));
                jobs
            },
            remote_clients: {
                let holders = event.detail.holders.holders.iter();
                holders
                    .filter_map(|held| held.remote_client.clone())
                    .collect()
            },
            advice: event.advice.clone(),
            causes: matching(&|rule| rule.is_cause(event)),
            effects: matching(&|rule| rule.is_effect(event)),
            host: event.host.clone(),
            machine_id: event.machine_id.clone(),
            boot_id: event.boot_id.clone(),
        })
    }

    /// Whether the two are own faults of two programs, which have nothing in common but the GPU.
    pub(crate) fn is_of_another_program(&self, other: &Self) -> bool {
        let both = self.program.zip(other.program);
        both.is_some_and(|(one, other)| one != other) && !self.keys.share_job(&other.keys)
    }

    /// Whether a program of the same name made both: one that was started again.
    pub(crate) fn has_name_of(&self, other: &Self) -> bool {
        let name = |member: &Self| member.process.as_ref().and_then(|p| p.comm.clone());
        name(self).is_some_and(|own| name(other) == Some(own))
    }
}

impl Keys {
    /// Adds `key` if there are fewer than `most`.
    pub(crate) fn insert(&mut self, key: &Key, most: usize) {
        if let Err(at) = self.0.binary_search(key)
            && self.0.len() < most
        {
            self.0.insert(at, key.clone());
        }
    }

    pub(crate) fn has(&self, key: &Key) -> bool {
        self.0.binary_search(key).is_ok()
    }

    /// Whether it has `key`, or the GPU of an instance, or an instance of the GPU.
    pub(crate) fn has_related(&self, key: &Key) -> bool {
        self.has(key)
            || match key {
                Key::Device(pci) => {
                    let first = Key::Instance(*pci, 0);
                    let at = self.0.partition_point(|known| *known < first);
                    matches!(self.0.get(at), Some(Key::Instance(gpu, _)) if gpu == pci)
                }
                Key::Instance(pci, _) => self.has(&Key::Device(*pci)),
                _ => false,
            }
    }

    /// Whether the two have something in common.
    pub(crate) fn share(&self, other: &Self) -> bool {
        self.0.iter().any(|key| other.has_related(key))
    }

    /// Whether the two have a container or job in common.
    pub(crate) fn share_job(&self, other: &Self) -> bool {
        let mut jobs = self.0.iter().filter(|key| matches!(key, Key::Job(_)));
        jobs.any(|job| other.has(job))
    }
}

impl Deref for Keys {
    type Target = [Key];

    fn deref(&self) -> &[Key] {
        &self.0
    }
}

impl FromIterator<Key> for Keys {
    fn from_iter<T: IntoIterator<Item = Key>>(keys: T) -> Self {
        let mut keys: Vec<Key> = keys.into_iter().collect();
        keys.sort_unstable();
        keys.dedup();
        Self(keys)
    }
}

/// Pods and jobs that had the GPU, for who reads; they tie no events together, as a pod can have eight GPUs.
fn held_by(event: &Event) -> Vec<String> {
    let holders = event.detail.holders.holders.iter();
    let name = |holder: &Holder| match (&holder.namespace, &holder.pod) {
        (Some(namespace), Some(pod)) => Some(format!("pod:{namespace}/{pod}")),
        _ => holder.job.clone(),
    };
    holders.filter_map(name).collect()
}

fn jobs(event: &Event) -> Vec<String> {
    let process = event.process.as_ref();
    let cgroup = process.and_then(|process| process.cgroup.as_deref());
    cgroup.and_then(job_of).into_iter().collect()
}

fn gpus(event: &Event) -> Vec<Gpu> {
    let named = event
        .gpu
        .iter()
        .filter(|gpu| gpu.pci.is_some() || gpu.uuid.is_some());
    // Adapters and switches stand in the same field.
    let is_gpu = !matches!(
        event.kind,
        Kind::Sxid
            | Kind::Mlx5SlotPower
            | Kind::Mlx5Overheat
            | Kind::Mlx5AccessReg
            | Kind::Mlx5Health
            | Kind::Mlx5CmdTimeout
            | Kind::Mlx5PortModule
            | Kind::NetTimeout
            | Kind::EfaError
            | Kind::NvmeTimeout
            | Kind::DiskLost
    );
    let named = named.filter(|_| is_gpu).cloned();
    let below = event.detail.pcie.gpus_below.iter().map(|pci| Gpu::at(*pci));
    named.chain(below).collect()
}

fn keys(event: &Event, jobs: &[String]) -> Keys {
    let detail = &event.detail;
    let mut keys = Vec::new();
    keys.extend(event.gpu.as_ref().and_then(|gpu| {
        let pci = gpu.pci?;
        let instance = gpu.mig_gi.map(|instance| Key::Instance(pci, instance));
        Some(instance.unwrap_or(Key::Device(pci)))
    }));
    keys.extend(detail.pcie.pci_device.map(Key::Device));
    keys.extend(detail.pcie.gpus_below.iter().copied().map(Key::Device));
    if let Some(process) = &event.process {
        keys.extend(process.pid.filter(|pid| *pid != 0).map(Key::Process));
        keys.extend(process.container.clone().map(Key::Job));
    }
    keys.extend(jobs.iter().cloned().map(Key::Job));
    keys.extend(detail.host.device.clone().map(Key::Named));
    keys.extend(detail.host.server.clone().map(Key::Named));
    keys.extend(detail.rdma.rdma_device.clone().map(Key::Named));
    keys.extend(detail.rdma.network_interface.clone().map(Key::Named));
    let is_fabric = matches!(event.kind, Kind::Sxid | Kind::Nvlink)
        || event.kind == Kind::Xid && Catalogue::builtin().category(event) == Category::Nvlink;
    keys.extend(is_fabric.then_some(Key::Fabric));
    let own = matches!(event.kind, Kind::SourceLost | Kind::RecordsRemoved);
    keys.extend(own.then_some(Key::Monitoring));
    keys.into_iter().collect()
}

/// The title of a rule with what the event says in the places of its words in braces.
fn fill(title: &str, event: &Event) -> String {
    let at = |text: &mut String| {
        let gpu = event.gpu.as_ref().and_then(|gpu| gpu.pci);
        match (gpu, event.detail.pcie.pci_device) {
            (Some(pci), _) => write!(text, "GPU {pci}"),
            (None, Some(device)) => write!(text, "device {device}"),
            (None, None) => write!(text, "a GPU"),
        }
    };
    let mut text = String::with_capacity(2 * title.len());
    let mut rest = title;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (word, after) = after.split_once('}').unwrap_or((after, ""));
        // Writing into a string cannot fail.
        let _ = match word {
            "message" => write!(text, "{}", event.message),
            "at" => at(&mut text),
            "code" => event.code().map_or(Ok(()), |code| write!(text, "{code}")),
            "who" => write!(text, "{}", who(event.process.as_ref())),
            other => write!(text, "{{{other}}}"),
        };
        rest = after;
    }
    text.push_str(rest);
    text
}

/// A process in a sentence.
pub(crate) fn who(process: Option<&Process>) -> String {
    match process.map(|process| (process.comm.as_deref(), process.pid)) {
        Some((Some(comm), Some(pid))) => format!("{comm} ({pid})"),
        Some((Some(comm), None)) => comm.to_owned(),
        Some((None, Some(pid))) => format!("process {pid}"),
        Some((None, None)) | None => "a process".to_owned(),
    }
}
