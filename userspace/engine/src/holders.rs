//! Who has which GPU: pods by the kubelet's pod-resources socket, containers and jobs by the control groups of the processes
//! that use a GPU, clients on other hosts by `gtrace serve`. One table for events, processes and metrics.

mod names;
mod patient;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gtrace_devices::{GpuInfo, Metric};
use gtrace_event::{Event, Gpu, Holder, PciAddress, Process};
use gtrace_grpc::kubelet::Allocation;

use crate::lock::lock;
use crate::process;

use self::names::Containers;
pub use self::names::Places;

/// Holders of one GPU that are kept, and that an event names.
pub const MOST: usize = 16;
/// A process that is gone is remembered so long, for events that come after its end.
const REMEMBERED: Duration = Duration::from_secs(120);
/// Processes that are known at most.
const PROCESSES: usize = 4096;

/// Who has what, as of the newest reading.
#[derive(Clone, Debug, Default)]
pub struct Table {
    gpus: BTreeMap<PciAddress, Vec<Held>>,
    processes: BTreeMap<u32, (Holder, Instant)>,
}

/// Who has a GPU, or a GPU instance of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    holder: Holder,
    /// `None` for the whole GPU, and where it is not known which.
    gi: Option<u32>,
}

/// Whether both may be the same instance.
fn meet(a: Option<u32>, b: Option<u32>) -> bool {
    a.zip(b).is_none_or(|(a, b)| a == b)
}

impl Table {
    /// Who had the GPU of an event, or whose process it is about.
    pub fn of(&self, event: &Event) -> Vec<Holder> {
        let process = event.process.as_ref();
        let pid = process.and_then(|process| process.pid);
        if let Some((holder, _)) = pid.and_then(|pid| self.processes.get(&pid)) {
            return vec![holder.clone()];
        }
        let of_gpu = self.of_gpu(event.gpu.as_ref());
        match process.and_then(by_group) {
            // It lived for less than a reading takes to come.
            Some(mut holder) => {
                name_pod(&mut holder, of_gpu.iter());
                vec![holder]
            }
            None => of_gpu,
        }
    }

    /// Who has a GPU, or an instance of it.
    pub fn of_gpu(&self, gpu: Option<&Gpu>) -> Vec<Holder> {
        let Some(gpu) = gpu else {
            return Vec::new();
        };
        let all = gpu.pci.and_then(|pci| self.gpus.get(&pci));
        let of_it = all.into_iter().flatten();
        let of_it = of_it.filter(|held| meet(held.gi, gpu.mig_gi));
        let mut found: Vec<_> = of_it.map(|held| held.holder.clone()).collect();
        // One may have several instances.
        found.sort();
        found.dedup();
        found
    }

    /// Whose process it is.
    pub fn of_process(&self, pid: u32) -> Option<&Holder> {
        self.processes.get(&pid).map(|(holder, _)| holder)
    }

    /// Whose process it was that has ended, where it was of a container or a job.
    pub fn of_ended(&self, process: &Process) -> Option<Holder> {
        if let Some(holder) = process.pid.and_then(|pid| self.of_process(pid)) {
            return Some(holder.clone());
        }
        // It lived for less than a reading takes to come; others of its job may not have.
        let mut holder = by_group(process)?;
        let all = || self.gpus.values().flatten().map(|held| &held.holder);
        name_pod(&mut holder, all());
        if let Some(known) = all().find(|known| known.job == holder.job) {
            holder.user.clone_from(&known.user);
        }
        Some(holder)
    }

    /// Everything as metrics.
    pub fn metrics(&self, gpus: &[GpuInfo]) -> Vec<Metric> {
        let mut all = Vec::new();
        for (pci, holders) in &self.gpus {
            let gpu = gpus.iter().find(|gpu| gpu.pci == *pci);
            let uuid = gpu.and_then(|gpu| gpu.uuid.clone());
            for Held { holder, .. } in holders {
                let labels = [
                    ("gpu", Some(pci.to_string())),
                    ("uuid", uuid.clone()),
                    ("namespace", holder.namespace.clone()),
                    ("pod", holder.pod.clone()),
                    ("container", holder.container_name.clone()),
                    ("job", holder.job.clone()),
                    ("user", holder.user.clone()),
                ];
                let known = labels.into_iter();
                let help =
                    "Always 1: who has the GPU (namespace, pod, container, job, user, where known)";
                let metric = Metric::gauge(("gtrace_gpu_holder", ""), help, 1.0);
                all.push(metric.with(known.filter_map(|(k, v)| Some((k, v?))).collect()));
            }
        }
        // Steps of one job differ in no label.
        all.dedup_by(|a, b| a.labels == b.labels);
        all
    }
}

/// The newest table, and what the next one is to have.
#[derive(Debug, Default)]
pub struct Kept {
    table: Mutex<Arc<Table>>,
    started: Mutex<BTreeSet<u32>>,
}

impl Kept {
    /// It.
    pub fn get(&self) -> Arc<Table> {
        Arc::clone(&lock(&self.table))
    }

    /// Another.
    pub fn set(&self, table: Table) {
        *lock(&self.table) = Arc::new(table);
    }

    /// The next reading is to have these processes: they have begun to use CUDA, or have a fault. Which GPU they use need not be known.
    pub fn note_started(&self, pids: &[u32]) {
        let mut started = lock(&self.started);
        started.extend(pids);
        while started.len() > PROCESSES {
            started.pop_first();
        }
    }

    /// Those since the last time.
    pub fn take_started(&self) -> BTreeSet<u32> {
        std::mem::take(&mut *lock(&self.started))
    }
}

/// A process that uses GPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Client {
    /// The process.
    pub pid: u32,
    /// Its GPUs, and the GPU instances of them in MIG mode where they are known.
    pub gpus: Vec<(PciAddress, Option<u32>)>,
}

/// What a reading is made of.
#[derive(Debug)]
pub struct Reading<'a> {
    /// The GPUs of the host.
    pub gpus: &'a [GpuInfo],
    /// Devices of pods, as the kubelet says.
    pub allocations: &'a [Allocation],
    /// Processes that use a GPU.
    pub clients: &'a [Client],
    /// Whom workers of `gtrace serve` work for, by their process.
    pub remote_clients: &'a BTreeMap<u32, String>,
}

/// Makes the next table out of a reading and of the one before.
pub fn next(before: &Table, reading: &Reading<'_>, places: &Places, now: Instant) -> Table {
    let mut gpus: BTreeMap<PciAddress, Vec<Held>> = BTreeMap::new();
    for allocation in reading.allocations {
        let holder = Holder {
            namespace: Some(allocation.namespace.clone()),
            pod: Some(allocation.pod.clone()),
            container_name: Some(allocation.container.clone()),
            ..Holder::default()
        };
        for gpu in reading.gpus {
            let Some(gi) = part_of(&allocation.device, gpu) else {
                continue;
            };
            let holder = holder.clone();
            add(gpus.entry(gpu.pci).or_default(), Held { holder, gi });
        }
    }
    let mut processes = before.processes.clone();
    processes.retain(|_, (_, seen)| now.saturating_duration_since(*seen) < REMEMBERED);
    let mut containers = Containers::of(places);
    let users: BTreeSet<u32> = reading.clients.iter().map(|client| client.pid).collect();
    places.forget_others(|pid| users.contains(&pid));
    for client in reading.clients {
        let mut holder = identify(client.pid, &mut containers);
        holder.remote_client = reading.remote_clients.get(&client.pid).cloned();
        if holder.is_empty() {
            continue;
        }
        let of_gpu = |(pci, gi): &(PciAddress, Option<u32>)| {
            let (gi, held) = (*gi, gpus.get(pci).into_iter().flatten());
            held.filter(move |held| meet(held.gi, gi))
        };
        let of_gpus = client.gpus.iter().flat_map(of_gpu);
        name_pod(&mut holder, of_gpus.map(|held| &held.holder));
        for (pci, gi) in &client.gpus {
            let known = gpus.entry(*pci).or_default();
            match known
                .iter_mut()
                .find(|known| same_container(&known.holder, &holder) && meet(known.gi, *gi))
            {
                Some(Held { holder: known, .. }) => {
                    known.job = known.job.take().or_else(|| holder.job.clone());
                }
                None => {
                    let (holder, gi) = (holder.clone(), *gi);
                    add(known, Held { holder, gi });
                }
            }
        }
        if processes.len() < PROCESSES || processes.contains_key(&client.pid) {
            processes.insert(client.pid, (holder, now));
        }
    }
    // One that has opened no GPU yet, or one that only the CPU emulates.
    for (worker, client) in reading.remote_clients {
        if users.contains(worker) || processes.len() >= PROCESSES {
            continue;
        }
        let holder = Holder {
            remote_client: Some(client.clone()),
            ..Holder::default()
        };
        processes.insert(*worker, (holder, now));
    }
    Table { gpus, processes }
}

fn add(known: &mut Vec<Held>, held: Held) {
    if known.len() < MOST && !known.contains(&held) {
        known.push(held);
        known.sort();
    }
}

/// Names the pod of which only the UID is known: the kubelet knows the name, if only one pod has the GPU, or the instance of it.
fn name_pod<'a>(holder: &mut Holder, of_gpu: impl Iterator<Item = &'a Holder>) {
    if holder.pod.is_some() || !is_pod(holder) {
        return;
    }
    let mut pods: Vec<_> = of_gpu.filter(|known| known.pod.is_some()).collect();
    // Of two containers of one pod it is not known which.
    pods.dedup_by_key(|known| (&known.namespace, &known.pod, &known.container_name));
    if let [only] = pods[..] {
        holder.namespace.clone_from(&only.namespace);
        holder.pod.clone_from(&only.pod);
        holder.container_name.clone_from(&only.container_name);
    }
}

/// The job of a process, as far as its control group names one.
fn by_group(process: &Process) -> Option<Holder> {
    let group = process.cgroup.as_deref()?;
    Some(Holder {
        job: Some(gtrace_incident::job_of(group)?),
        step: names::step_of(group),
        ..Holder::default()
    })
}

fn is_pod(holder: &Holder) -> bool {
    holder
        .job
        .as_ref()
        .is_some_and(|job| job.starts_with("pod:"))
}

/// Whether the kubelet and a process name the same container.
fn same_container(a: &Holder, b: &Holder) -> bool {
    a.pod.is_some()
        && (&a.namespace, &a.pod) == (&b.namespace, &b.pod)
        && (a.container_name == b.container_name || b.container_name.is_none())
}

/// The GPU instance that a device plugin's name is of, where the name is of this GPU: `GPU-…`, `MIG-GPU-…/1/0`, `GPU-…::2` of a
/// shared one, `nvidia0`, `nvidia0/gi1`, `nvidia.com/gpu=0`, `MIG-…` of an instance of it.
fn part_of(device: &str, gpu: &GpuInfo) -> Option<Option<u32>> {
    let mut instances = gpu.sample.iter().flat_map(|s| &s.mig_instances);
    let named = instances.find(|instance| {
        let uuid = instance.uuid.as_deref();
        device.contains("MIG-") && uuid.is_some_and(|uuid| device.contains(uuid))
    });
    if let Some(instance) = named {
        return Some(Some(instance.gi));
    }
    let uuid = gpu.uuid.as_deref();
    if let Some((before, rest)) = uuid.and_then(|uuid| device.split_once(uuid)) {
        let gi = rest.strip_prefix('/').filter(|_| before.ends_with("MIG-"));
        return Some(gi.and_then(leading_number));
    }
    let index = gpu.index?;
    let name = device.rsplit_once('=').map_or(device, |(_, name)| name);
    let end = name.find(['/', ':']).unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let number = name.strip_prefix("nvidia").unwrap_or(name);
    let is_named = name.starts_with("nvidia") || device.contains('=');
    (is_named && number.parse() == Ok(index))
        .then(|| rest.strip_prefix("/gi").and_then(leading_number))
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    text.get(..end.unwrap_or(text.len()))?.parse().ok()
}

/// What control group and environment of a process say of its container or job.
fn identify(pid: u32, containers: &mut Containers<'_>) -> Holder {
    let process = process::of(pid);
    let mut holder = Holder {
        job: process.cgroup.as_deref().and_then(gtrace_incident::job_of),
        ..Holder::default()
    };
    let slurm = containers.places.slurm_of(pid);
    match &holder.job {
        Some(job)
            if slurm.job.as_ref() == job.strip_prefix("slurm:").map(str::to_owned).as_ref() =>
        {
            (holder.step, holder.user) = (slurm.step, slurm.user);
        }
        // Without a plugin for control groups only the environment says it.
        None if process.container.is_none() => {
            holder.job = slurm.job.map(|job| format!("slurm:{job}"));
            (holder.step, holder.user) = (slurm.step, slurm.user);
        }
        _ => {}
    }
    if let Some(step) = process.cgroup.as_deref().and_then(names::step_of) {
        // An environment is inherited, by a shell in another step too.
        holder.step = Some(step);
    }
    if let Some(id) = &process.container {
        match containers.pod_of(id) {
            Some((namespace, pod, container)) => {
                (holder.namespace, holder.pod) = (Some(namespace), Some(pod));
                holder.container_name = Some(container);
            }
            None if !is_pod(&holder) => holder.container_name = containers.name_of(id),
            None => {}
        }
    }
    holder
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Kind, Occurrence, Severity, Timestamp, WitnessName};

    use super::*;

    fn gpu(at: &str, uuid: &str, index: u32) -> GpuInfo {
        let mut gpu = GpuInfo::at(at.parse().unwrap());
        (gpu.uuid, gpu.index) = (Some(uuid.to_owned()), Some(index));
        gpu
    }

    fn allocation(pod: &str, device: &str) -> Allocation {
        Allocation {
            namespace: "ml".to_owned(),
            pod: pod.to_owned(),
            container: "main".to_owned(),
            device: device.to_owned(),
        }
    }

    #[test]
    fn names_of_device_plugins_are_of_their_gpu() {
        let gpu = gpu("0000:3b:00.0", "GPU-8f3a", 1);
        for (device, gi) in [
            ("GPU-8f3a", None),
            ("GPU-8f3a::2", None),
            ("MIG-GPU-8f3a/1/0", Some(1)),
            ("nvidia1", None),
            ("nvidia1/gi0", Some(0)),
            ("nvidia.com/gpu=GPU-8f3a", None),
            ("nvidia.com/gpu=1", None),
            ("nvidia.com/gpu=1:0", None),
        ] {
            assert_eq!(part_of(device, &gpu), Some(gi), "{device}");
        }
        // Newer drivers name instances in MIG mode by UUIDs of their own.
        let mut divided = gpu.clone();
        let mut sample = gtrace_devices::GpuSample::at(gtrace_event::Timestamp::UNIX_EPOCH);
        sample.mig_instances = vec![gtrace_devices::MigInstance {
            gi: 5,
            uuid: Some("MIG-1b2c".to_owned()),
            ..Default::default()
        }];
        divided.sample = Some(sample);
        for device in ["MIG-1b2c", "MIG-1b2c::1", "nvidia.com/gpu=MIG-1b2c"] {
            assert_eq!(part_of(device, &divided), Some(Some(5)), "{device}");
            assert_eq!(part_of(device, &gpu), None, "{device}");
        }
        for device in [
            "GPU-9999",
            "nvidia10",
            "nvidia.com/gpu=10",
            "1",
            "mlx5_1",
            "",
        ] {
            assert_eq!(part_of(device, &gpu), None, "{device}");
        }
    }

    #[test]
    fn a_process_that_no_reading_has_seen_is_named_by_its_control_group() {
        let gpus = [gpu("0000:3b:00.0", "GPU-a", 0)];
        let reading = Reading {
            gpus: &gpus,
            allocations: &[allocation("train-0", "GPU-a")],
            clients: &[],
            remote_clients: &BTreeMap::new(),
        };
        let now = Instant::now();
        let table = next(&Table::default(), &reading, &Places::default(), now);
        let of = |group: &str| {
            let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, "x");
            occurrence.gpu = Some(gpus[0].event_gpu());
            occurrence.process = Some(Process {
                pid: Some(u32::MAX),
                cgroup: Some(group.to_owned()),
                ..Process::default()
            });
            let event = Event::seen(Timestamp::UNIX_EPOCH, WitnessName::Kmsg, 1, occurrence);
            let holders = table.of(&event);
            holders.iter().map(Holder::to_string).collect::<Vec<_>>()
        };
        let pod = "pod ml/train-0  container main";
        let step = "/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0";
        assert_eq!(of(step), ["slurm:4711 step 0"]);
        let group = "/kubepods.slice/kubepods-pod12345678_9abc_def0_1234_56789abcdef0.slice/x";
        assert_eq!(of(group).len(), 1);
        assert!(of(group)[0].contains(pod), "{:?}", of(group));
        // No job: whoever has the GPU.
        assert_eq!(of("/user.slice/user-1000.slice"), [pod]);
    }

    #[test]
    fn a_gpu_is_held_by_the_pods_that_the_kubelet_names() {
        let gpus = [
            gpu("0000:3b:00.0", "GPU-a", 0),
            gpu("0000:86:00.0", "GPU-b", 1),
        ];
        let allocations = [
            allocation("train-0", "GPU-a"),
            allocation("infer", "GPU-a::1"),
        ];
        let reading = Reading {
            gpus: &gpus,
            allocations: &allocations,
            clients: &[],
            remote_clients: &BTreeMap::new(),
        };
        let now = Instant::now();
        let table = next(&Table::default(), &reading, &Places::default(), now);
        let pods: Vec<_> = table.gpus[&gpus[0].pci]
            .iter()
            .map(|held| held.holder.to_string())
            .collect();
        assert_eq!(
            pods,
            [
                "pod ml/infer  container main",
                "pod ml/train-0  container main"
            ]
        );
        assert!(!table.gpus.contains_key(&gpus[1].pci));
        let metrics = table.metrics(&gpus);
        assert_eq!(metrics.len(), 2);
        assert!(metrics[0].labels.contains(&("pod", "infer".to_owned())));
        assert!(metrics[0].labels.contains(&("uuid", "GPU-a".to_owned())));
    }

    #[test]
    fn an_event_of_an_instance_names_who_was_given_that_instance() {
        let mut divided = gpu("0000:3b:00.0", "GPU-a", 0);
        let mut sample = gtrace_devices::GpuSample::at(gtrace_event::Timestamp::UNIX_EPOCH);
        sample.mig_instances = [1, 5]
            .map(|gi| gtrace_devices::MigInstance {
                gi,
                uuid: Some(format!("MIG-{gi}")),
                ..Default::default()
            })
            .into();
        divided.sample = Some(sample);
        let allocations = [
            allocation("small", "MIG-1"),
            allocation("large", "MIG-5"),
            allocation("monitor", "nvidia0"),
        ];
        let reading = Reading {
            gpus: &[divided],
            allocations: &allocations,
            clients: &[],
            remote_clients: &BTreeMap::new(),
        };
        let now = Instant::now();
        let table = next(&Table::default(), &reading, &Places::default(), now);
        let pods = |mig_gi: Option<u32>| {
            let mut occurrence = gtrace_event::Occurrence::new(
                gtrace_event::Kind::Xid,
                gtrace_event::Severity::Warning,
                "x",
            );
            let mut gpu = reading.gpus[0].event_gpu();
            gpu.mig_gi = mig_gi;
            occurrence.gpu = Some(gpu);
            let time = gtrace_event::Timestamp::UNIX_EPOCH;
            let event = Event::seen(time, gtrace_event::WitnessName::Kmsg, 1, occurrence);
            let holders = table.of(&event).into_iter();
            holders.filter_map(|holder| holder.pod).collect::<Vec<_>>()
        };
        assert_eq!(pods(Some(5)), ["large", "monitor"]);
        assert_eq!(pods(Some(2)), ["monitor"]);
        assert_eq!(pods(None), ["large", "monitor", "small"]);
    }

    #[test]
    fn a_process_that_is_gone_is_remembered_for_a_while() {
        let (now, pid) = (Instant::now(), 7);
        let holder = Holder {
            job: Some("slurm:4711".to_owned()),
            ..Holder::default()
        };
        let before = Table {
            processes: [(pid, (holder.clone(), now))].into(),
            ..Table::default()
        };
        let nothing = Reading {
            gpus: &[],
            allocations: &[],
            clients: &[],
            remote_clients: &BTreeMap::new(),
        };
        let soon = next(&before, &nothing, &Places::default(), now + REMEMBERED / 2);
        assert_eq!(soon.of_process(pid), Some(&holder));
        let late = next(&soon, &nothing, &Places::default(), now + REMEMBERED);
        assert_eq!(late.of_process(pid), None);
    }

    #[test]
    fn the_client_of_a_worker_is_its_holder_and_that_of_its_gpu() {
        let gpus = [gpu("0000:3b:00.0", "GPU-a", 0)];
        let (with_gpu, without) = (u32::MAX - 1, u32::MAX);
        let clients = [Client {
            pid: with_gpu,
            gpus: vec![(gpus[0].pci, None)],
        }];
        let remote = "lab-7: python3 (99)".to_owned();
        let reading = Reading {
            gpus: &gpus,
            allocations: &[],
            clients: &clients,
            remote_clients: &[(with_gpu, remote.clone()), (without, "b: c (1)".to_owned())].into(),
        };
        let now = Instant::now();
        let table = next(&Table::default(), &reading, &Places::default(), now);
        let of_gpu = &table.gpus[&gpus[0].pci];
        assert_eq!(of_gpu[0].holder.remote_client, Some(remote));
        assert_eq!(
            of_gpu[0].holder.to_string(),
            "remote client lab-7: python3 (99)"
        );
        let of_worker = table.of_process(without).unwrap();
        assert_eq!(of_worker.remote_client.as_deref(), Some("b: c (1)"));
    }

    #[test]
    fn one_gpu_keeps_so_many_holders_at_most() {
        let gpus = [gpu("0000:3b:00.0", "GPU-a", 0)];
        let many: Vec<_> = (0..100)
            .map(|n| allocation(&format!("p{n}"), "GPU-a"))
            .collect();
        let reading = Reading {
            gpus: &gpus,
            allocations: &many,
            clients: &[],
            remote_clients: &BTreeMap::new(),
        };
        let table = next(
            &Table::default(),
            &reading,
            &Places::default(),
            Instant::now(),
        );
        assert_eq!(table.gpus[&gpus[0].pci].len(), MOST);
    }
}
