//! Who has which GPU. [`crate::holders`] makes the table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_api::{ComponentHealth, HealthState, SourceState};
use gtrace_event::{PciAddress, Timestamp};
use gtrace_grpc::kubelet::{self, Allocation};

use super::{About, Component, Context, Snapshot, remote, show, start_unless_off};
use crate::holders::{self, Client, Places, Reading};
use crate::hub::{Command, Hub};
use crate::supervise::{Task, beat};

/// Name of component and thread.
pub const NAME: &str = "holders";
/// Between readings, unless a process begins to use a GPU.
const EVERY: Duration = Duration::from_secs(10);
/// At least between readings.
const APART: Duration = Duration::from_millis(500);
/// How long the kubelet has to answer.
const DEADLINE: Duration = Duration::from_secs(5);
/// Longest time between two heartbeats: the kubelet and sockets of container runtimes are asked with deadlines.
const SILENCE: Duration = Duration::from_secs(60);

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct Holders;

impl Component for Holders {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "who has which GPU: pod, namespace, container, Slurm job, step and user, remote client, on events, processes and metrics",
            needs: "the kubelet's pod-resources socket; without it control groups, /var/log/containers and the sockets of Docker and Podman serve",
            remedy: "give the daemon access to the socket that `kubelet_socket` names: in a pod by a volume of type hostPath",
            task: NAME,
        }
    }

    fn lacks(&self, context: &Context) -> Option<String> {
        no_socket(&context.kubelet)
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        let task = Task::optional(NAME, SILENCE);
        start_unless_off(context, NAME, task, |context, pulse| {
            let places = Places::of_host(&context.proc_root, &context.sysfs_root);
            let mut pods = Vec::new();
            while !pulse.is_stopping() {
                beat();
                let began = Instant::now();
                read(context, &places, &mut pods);
                pulse.wait_for_next(EVERY);
                while began.elapsed() < APART && !pulse.is_stopping() {
                    pulse.wait(APART.saturating_sub(began.elapsed()));
                }
            }
        })
    }

    /// It knows or does not know who has a GPU, and judges nothing.
    fn check(&self, _context: &Context, _now: &Snapshot) -> ComponentHealth {
        let reason = "it does not judge who has a GPU".to_owned();
        ComponentHealth::now(HealthState::Unknown, [reason])
    }
}

fn no_socket(socket: &Path) -> Option<String> {
    (!socket.exists()).then(|| format!("{} is not there: no kubelet names pods", socket.display()))
}

/// One reading of everything. `pods` is what the kubelet said last, which stands while it does not answer.
fn read(context: &Context, places: &Places, pods: &mut Vec<Allocation>) {
    let hub = &context.hub;
    let (state, reason) = match kubelet::list(&context.kubelet, DEADLINE) {
        Ok(found) => {
            *pods = found;
            (SourceState::Active, None)
        }
        Err(error) if error.is_absent() => {
            pods.clear();
            (SourceState::Active, no_socket(&context.kubelet))
        }
        Err(error) => (SourceState::Degraded, Some(error.to_string())),
    };
    let started = hub.holders.take_started();
    let (gpus, clients) = (hub.gpus(), clients(hub, &started));
    // Whether a server that does not answer is well, its own component says.
    let remote_clients = match remote::is_off(hub) {
        true => BTreeMap::new(),
        false => crate::remote::clients(&crate::remote::to_ask()).unwrap_or_default(),
    };
    let reading = Reading {
        gpus: &gpus,
        allocations: pods,
        clients: &clients,
        remote_clients: &remote_clients,
    };
    let table = holders::next(&hub.holders.get(), &reading, places, Instant::now());
    hub.samples.publish_now(NAME, EVERY, table.metrics(&gpus));
    let now = (Timestamp::now(), Instant::now());
    hub.usage.observe(&gpus, &table, &context.proc_root, now);
    hub.holders.set(table);
    if !started.is_empty() {
        // A core that has ended names nobody.
        let _ = hub.command(Command::HoldersRead(started));
    }
    show(hub, NAME, state, reason);
}

/// Processes that have a device of a GPU open, that NVML names, that have just begun to use CUDA, or that have a fault.
fn clients(hub: &Hub, started: &BTreeSet<u32>) -> Vec<Client> {
    let gpus = hub.gpus();
    let started = started.iter().copied();
    let mut found: BTreeMap<u32, Vec<(PciAddress, Option<u32>)>> =
        started.map(|pid| (pid, Vec::new())).collect();
    for user in hub.gpu_processes() {
        let of_user = found.entry(user.pid).or_default();
        for device in &user.devices {
            let number = device
                .strip_prefix("nvidia")
                .and_then(|n| n.parse::<u32>().ok());
            let gpu = number.and_then(|n| gpus.iter().find(|gpu| gpu.minor == Some(n)));
            of_user.extend(gpu.map(|gpu| (gpu.pci, None)));
        }
    }
    for gpu in &gpus {
        for process in gpu.processes() {
            let part = (gpu.pci, process.mig_gi);
            found.entry(process.pid).or_default().push(part);
        }
    }
    let client = |(pid, mut gpus): (u32, Vec<(PciAddress, Option<u32>)>)| {
        gpus.sort_unstable();
        gpus.dedup();
        // Who computes in an instance has the device of the GPU open too.
        let all = gpus.clone();
        let in_instance = |pci| all.iter().any(|(at, gi)| *at == pci && gi.is_some());
        gpus.retain(|(pci, gi)| gi.is_some() || !in_instance(*pci));
        Client { pid, gpus }
    };
    found.into_iter().map(client).collect()
}

#[cfg(test)]
mod tests {
    use gtrace_api::DeviceUser;
    use gtrace_devices::GpuInfo;
    use gtrace_event::{Event, Gpu, Holder, Kind, Occurrence, Severity, WitnessName};
    use gtrace_grpc::frame;
    use gtrace_grpc::kubelet::{
        ContainerDevices, ContainerResources, ListPodResourcesResponse, PodResources,
    };
    use gtrace_grpc::testing::{Reply, serve};

    use super::*;

    #[test]
    fn a_process_that_begins_to_use_cuda_is_read_before_its_gpu_is_known() {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        hub.update_status(|status| status.sources = crate::component::initial());
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("SLURM_JOB_ID", "4711")
            .env("SLURM_STEP_ID", "2")
            .env("SLURM_JOB_USER", "ada")
            .spawn()
            .unwrap();
        let context = Context {
            proc_root: "/proc".into(),
            sysfs_root: "/sys".into(),
            kubelet: "/nonexistent/kubelet.sock".into(),
            ..Context::bare(std::sync::Arc::clone(&hub))
        };
        let read = || read(&context, &Places::default(), &mut Vec::new());
        let holder = || hub.holders.get().of_process(child.id()).cloned();
        read();
        assert_eq!(holder(), None);
        hub.holders.note_started(&[child.id()]);
        read();
        let known = holder();
        // It stays known when nothing reports it any more.
        read();
        let stays = holder();
        child.kill().unwrap();
        child.wait().unwrap();
        let known = known.unwrap();
        let names = [&known.job, &known.step, &known.user].map(|name| name.as_deref().unwrap());
        assert_eq!(names, ["slurm:4711", "2", "ada"]);
        assert_eq!(stays, Some(known));
    }

    #[test]
    fn an_open_device_is_of_the_gpu_with_its_minor_number_whatever_index_nvml_gives() {
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        let gpu = |at: &str, index: u32, minor: u32| {
            let mut gpu = GpuInfo::at(at.parse().unwrap());
            (gpu.index, gpu.minor) = (Some(index), Some(minor));
            gpu
        };
        let (first, second) = (gpu("0000:3b:00.0", 0, 1), gpu("0000:86:00.0", 1, 0));
        hub.set_gpus(vec![first, second.clone()]);
        hub.set_gpu_processes(vec![DeviceUser {
            pid: 7,
            comm: "python3".to_owned(),
            devices: vec!["nvidia0".to_owned(), "nvidiactl".to_owned()],
            open_files: 2,
        }]);
        let found = clients(&hub, &BTreeSet::new());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].gpus, [(second.pci, None)]);
    }

    /// The kubelet is a fake of the test's, which speaks its protocol.
    #[test]
    fn the_pod_that_the_kubelet_names_is_on_events_and_in_metrics() {
        let dir = tempfile::tempdir().unwrap();
        let answer = ListPodResourcesResponse {
            pod_resources: vec![PodResources {
                name: "train-0".to_owned(),
                namespace: "ml".to_owned(),
                containers: vec![ContainerResources {
                    name: "main".to_owned(),
                    devices: vec![ContainerDevices {
                        resource_name: "nvidia.com/gpu".to_owned(),
                        device_ids: vec!["GPU-a".to_owned()],
                    }],
                    dynamic_resources: Vec::new(),
                }],
            }],
        };
        let (socket, calls) = serve(dir.path(), Reply::Message(frame(&answer)));
        let (hub, _commands) = Hub::new(crate::hub::bare_status());
        hub.update_status(|status| status.sources = crate::component::initial());
        let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
        gpu.uuid = Some("GPU-a".to_owned());
        let event_gpu = gpu.event_gpu();
        hub.set_gpus(vec![gpu]);
        let mut context = Context {
            proc_root: "/proc".into(),
            sysfs_root: "/sys".into(),
            kubelet: socket,
            ..Context::bare(std::sync::Arc::clone(&hub))
        };
        let mut pods = Vec::new();
        read(&context, &Places::default(), &mut pods);
        let (method, _) = calls.recv().unwrap();
        assert_eq!(method, kubelet::LIST);
        let of = |gpu: &Gpu| {
            let mut occurrence = Occurrence::new(Kind::Xid, Severity::Fatal, "x");
            occurrence.gpu = Some(gpu.clone());
            let event = Event::seen(Timestamp::UNIX_EPOCH, WitnessName::Kmsg, 1, occurrence);
            hub.holders.get().of(&event)
        };
        let held = of(&event_gpu);
        assert_eq!(held.len(), 1);
        assert_eq!(held[0].to_string(), "pod ml/train-0  container main");
        assert_eq!(of(&Gpu::at("0000:86:00.0".parse().unwrap())), []);
        let metrics = hub.samples.last(NAME).unwrap().metrics;
        assert!(metrics[0].labels.contains(&("namespace", "ml".to_owned())));

        // A kubelet that has gone names nobody.
        context.kubelet = dir.path().join("none.sock");
        read(&context, &Places::default(), &mut pods);
        assert_eq!(of(&event_gpu), []);
        // Each reading is counted for who had the GPU.
        let rows = hub.usage.rows(Timestamp::UNIX_EPOCH);
        let mut holders = rows
            .iter()
            .map(|row| row.holder.as_ref().map(Holder::to_string));
        assert_eq!(holders.next(), Some(None));
        assert_eq!(holders.next(), Some(Some("pod ml/train-0".to_owned())));
        assert_eq!(holders.next(), None);
        let source = context.source(NAME);
        assert_eq!(source.state, SourceState::Active);
        assert!(source.reason.unwrap().contains("none.sock"));
    }
}
