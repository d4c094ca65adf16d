use std::sync::mpsc::{Receiver, sync_channel};

use super::*;
use crate::config::Keys;
use crate::fake_sysfs::{FakeSysfs, GPU, PORT};
use crate::poll;
use gtrace_api::HealthState;
use gtrace_devices::Relation;
use gtrace_event::Timestamp;

fn next_tree(inputs: &Receiver<Input>) -> PciTree {
    loop {
        if let Input::PciTree(tree) = inputs.recv_timeout(Duration::from_secs(20)).unwrap() {
            return tree;
        }
    }
}

fn next_observation(inputs: &Receiver<Input>) -> Observation {
    loop {
        if let Input::Observation(observation) =
            inputs.recv_timeout(Duration::from_secs(20)).unwrap()
        {
            return *observation;
        }
    }
}

fn observed_soon(inputs: &Receiver<Input>, kind: Kind) -> Observation {
    loop {
        let observation = next_observation(inputs);
        if observation.occurrence.kind == kind {
            return observation;
        }
    }
}

#[test]
fn nvml_and_pci_have_a_beat_each_and_meet_where_both_are_due() {
    let began = Instant::now();
    let second = Duration::from_secs(1);
    let mut nvml = PollTimer::new(Some(10 * second), began);
    let mut pci = PollTimer::new(Some(4 * second), began);
    let mut none = PollTimer::new(None, began);
    let (mut asked, mut polled) = (Vec::new(), Vec::new());
    for at in 0..24 {
        // The rounds come a little late, each by another time.
        let now = began + at * second + Duration::from_millis(u64::from(at) * 7);
        asked.extend(nvml.take(now).then_some(at));
        polled.extend(pci.take(now).then_some(at));
        assert!(!none.take(now));
    }
    assert_eq!(asked, [0, 10, 20]);
    assert_eq!(polled, [0, 4, 8, 12, 16, 20]);
    // Long after: once for all that was missed, and on the old beat.
    let now = began + 101 * second;
    assert!(pci.take(now) && !pci.take(now));
    assert_eq!(pci.next, Some(began + 104 * second));
    let mut once = PollTimer::new(Some(Duration::MAX), began);
    assert!(once.take(began) && !once.take(now));
}

/// The task, ended when dropped.
struct Watcher(Arc<Hub>);

impl Drop for Watcher {
    fn drop(&mut self) {
        let left = self.0.tasks.stop(&[TASK], Duration::from_secs(60));
        assert!(left.is_empty());
    }
}

/// Of a host with that sysfs, no processes, and no NVML but what `keys` name.
fn config(sys: &FakeSysfs, keys: Keys) -> Config {
    let keys = Keys {
        sysfs_root: Some(sys.root().0),
        proc_root: Some("/nonexistent".into()),
        ..keys
    };
    Config::load(Some("/dev/null".as_ref()), keys).unwrap()
}

/// Keys with these intervals in seconds, and an NVML that is not there.
fn intervals(pci: u64, nvml: u64) -> Keys {
    Keys {
        nvml_library: Some("/nonexistent".into()),
        pci_interval_s: Some(pci),
        nvml_interval_s: Some(nvml),
        ..Keys::default()
    }
}

fn bare_hub() -> Arc<Hub> {
    let (hub, _commands) = Hub::new(gtrace_api::Status::default());
    hub.update_status(|status| status.sources = component::initial());
    hub
}

/// The task with its context, inputs of the core, and who asks for polls.
fn watcher(
    sys: &FakeSysfs,
    keys: Keys,
) -> (Watcher, component::Context, Receiver<Input>, PollRequest) {
    let (config, hub) = (config(sys, keys), bare_hub());
    let context = config.components(&hub);
    let (sender, inputs) = sync_channel(64);
    let (poll_soon, _) = poll::channel();
    let hold = Arc::new(DriverHold::default());
    start(&config, &context, sender.into(), poll_soon.clone(), hold).unwrap();
    (Watcher(hub), context, inputs, poll_soon)
}

/// What the task runs, with inputs of the core.
fn state(sys: &FakeSysfs, keys: Keys) -> (State, Arc<Hub>, Receiver<Input>) {
    let (config, hub) = (config(sys, keys), bare_hub());
    let (sender, inputs) = sync_channel(64);
    let hold = Arc::new(DriverHold::default());
    let state = State::new(&config, &config.components(&hub), sender.into(), hold);
    (state.unwrap(), hub, inputs)
}

#[test]
fn without_any_interval_nobody_looks_and_nothing_breaks() {
    let sys = FakeSysfs::with_gpu();
    let (watcher, context, inputs, poll_soon) = watcher(&sys, intervals(0, 0));
    poll_soon.ask();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(context.hub.tasks.is_running(TASK));
    assert!(inputs.try_recv().is_err());
    drop(watcher);
}

#[test]
fn that_a_host_has_no_gpu_is_reported_once() {
    let sys = FakeSysfs::with_gpu();
    sys.remove_gpu();
    let (mut state, _hub, inputs) = state(&sys, intervals(10, 10));
    let reported = || {
        let inputs = inputs.try_iter();
        inputs
            .filter(|i| matches!(i, Input::Gpus(gpus) if gpus.is_empty()))
            .count()
    };
    state.poll((true, false));
    assert_eq!(reported(), 0, "nobody has looked at PCI");
    state.poll((false, true));
    state.poll((false, true));
    assert_eq!(reported(), 1);
}

#[test]
fn pci_is_looked_at_in_its_own_time_however_often_nvml_is_asked() {
    let sys = FakeSysfs::with_gpu();
    let (seldom, _context, inputs, _poll_soon) = watcher(&sys, intervals(3600, 1));
    next_tree(&inputs);
    sys.remove_gpu();
    std::thread::sleep(Duration::from_millis(2500));
    let observation = inputs
        .try_iter()
        .filter(|i| matches!(i, Input::Observation(_)));
    assert_eq!(observation.count(), 0, "an hour has not passed");
    drop(seldom);

    let sys = FakeSysfs::with_gpu();
    let (never, _context, inputs, _poll_soon) = watcher(&sys, intervals(0, 1));
    std::thread::sleep(Duration::from_millis(1500));
    let trees = inputs.try_iter().filter(|i| matches!(i, Input::PciTree(_)));
    assert_eq!(trees.count(), 0);
    drop(never);

    let sys = FakeSysfs::with_gpu();
    let (often, _context, inputs, _poll_soon) = watcher(&sys, intervals(1, 3600));
    next_tree(&inputs);
    sys.remove_gpu();
    assert_eq!(next_observation(&inputs).occurrence.kind, Kind::GpuLost);
    drop(often);
}

#[test]
fn nvml_that_never_worked_is_one_event_and_asked_again_when_a_card_comes_or_goes() {
    let sys = FakeSysfs::with_gpu();
    let (mut state, hub, inputs) = state(&sys, Keys::default());
    let of_hub = Arc::clone(&hub);
    let nvml = Arc::new(
        NvmlClient::new(NvmlConfig {
            deadline: Duration::from_millis(50),
            driver_loaded: None,
            started: Box::new(move |pid| of_hub.started_own(pid)),
            ..NvmlConfig::with_command(|| {
                let mut hanging = std::process::Command::new("sleep");
                hanging.arg("60");
                hanging
            })
        })
        .unwrap(),
    );
    state.nvml = Some(Arc::clone(&nvml));
    for _ in 0..3 {
        state.poll((true, true));
    }
    let lost = |inputs: &Receiver<Input>| {
        let inputs = inputs.try_iter();
        let of_kind = |input: &Input| matches!(input, Input::Observation(o) if o.occurrence.kind == Kind::SourceLost);
        inputs.filter(of_kind).count()
    };
    assert_eq!((nvml.status().starts, lost(&inputs)), (1, 1));
    sys.remove_gpu();
    state.poll((false, true));
    state.poll((true, false));
    assert_eq!((nvml.status().starts, lost(&inputs)), (2, 0));
}

#[test]
fn nvml_is_opened_anew_for_a_gpu_that_the_driver_was_bound_to_since() {
    const OTHER: &str = "0000:9a:00.0";
    let gpu = |pci: &str, driver: Option<&str>, shown: bool| {
        let mut gpu = GpuInfo::at(pci.parse().unwrap());
        gpu.present_in.pci = true;
        gpu.present_in.nvml = shown;
        gpu.driver_bound = driver.map(str::to_owned);
        gpu
    };
    let shown = gpu(GPU, Some("nvidia"), true);
    let with = |other: GpuInfo| vec![shown.clone(), other];
    let alone = [shown.clone()];
    let of_a_guest = with(gpu(OTHER, Some("vfio-pci"), false));
    let newcomer = with(gpu(OTHER, Some("nvidia"), false));
    assert!(has_newcomer(&alone, &newcomer), "put in or found by a scan");
    assert!(
        has_newcomer(&of_a_guest, &newcomer),
        "given back by a guest"
    );
    assert!(has_newcomer(&with(gpu(OTHER, None, false)), &newcomer));
    assert!(!has_newcomer(&newcomer, &newcomer), "once");
    assert!(!has_newcomer(&newcomer, &alone) && !has_newcomer(&newcomer, &of_a_guest));
    assert!(!has_newcomer(&alone, &of_a_guest), "not NVML's");
    let known = with(gpu(OTHER, Some("nvidia"), true));
    assert!(!has_newcomer(&alone, &known), "NVML shows it");
}

#[test]
fn what_nvml_read_is_a_sample_of_nvml_and_gone_once_it_reads_nothing() {
    let sys = FakeSysfs::with_gpu();
    let (state, hub, _inputs) = state(&sys, intervals(10, 10));
    let mut gpu = GpuInfo::at(GPU.parse().unwrap());
    let mut sample = gtrace_devices::GpuSample::at(Timestamp::now());
    sample.memory.total = Some(80 << 30);
    gpu.present_in.nvml = true;
    gpu.sample = Some(sample);
    state.publish_nvml(std::slice::from_ref(&gpu), true);
    let names = || {
        let metrics = hub.samples.newest().into_iter();
        metrics.map(|metric| metric.name).collect::<Vec<_>>()
    };
    let read = names();
    assert!(read.contains(&"gtrace_gpu_memory_size_bytes"), "{read:?}");
    assert!(!read.contains(&"gtrace_gpu_present"), "PCI shows that");
    let seen = hub.metrics.last_seen(WitnessName::Nvml);
    assert!(seen.is_some());

    gpu.sample = None;
    state.publish_nvml(&[gpu], false);
    assert_eq!(names(), [""; 0]);
    assert_eq!(hub.metrics.last_seen(WitnessName::Nvml), seen);
}

#[test]
fn a_source_that_is_off_has_no_samples() {
    let sys = FakeSysfs::with_gpu();
    sys.corrected(GPU, 1);
    let sampled = |disabled: &str| {
        let keys = Keys {
            nvml_interval_s: Some(0),
            disabled_sources: Some(disabled.to_owned()),
            ..Keys::default()
        };
        let (mut state, hub, _inputs) = state(&sys, keys);
        state.poll((false, true));
        [WitnessName::SysfsPci, WitnessName::SysfsAer].map(|source| {
            let batch = hub.samples.last(source.name());
            let sources = hub.status().sources;
            let shown = sources.iter().find(|s| s.witness == Some(source));
            (
                batch.is_some_and(|batch| !batch.metrics.is_empty()),
                shown.unwrap().state == SourceState::Active,
                hub.metrics.last_seen(source).is_some(),
            )
        })
    };
    let [pci, aer] = sampled("");
    assert_eq!((pci, aer), ((true, true, true), (true, true, false)));
    let off = (false, false, false);
    assert_eq!(sampled("sysfs:aer"), [pci, off]);
    assert_eq!(sampled("sysfs:pci"), [off, aer]);
    assert_eq!(sampled("sysfs:pci,sysfs:aer"), [off, off]);
}

#[test]
fn a_port_that_goes_down_is_an_event_a_metric_and_in_the_status() {
    let sys = FakeSysfs::with_gpu();
    let port = sys.root().0.join("class/infiniband/mlx5_0/ports/1");
    std::fs::create_dir_all(&port).unwrap();
    let set = |state: &str, physical: &str| {
        std::fs::write(port.join("phys_state"), physical).unwrap();
        std::fs::write(port.join("state"), state).unwrap();
    };
    set("4: ACTIVE\n", "5: LinkUp\n");
    std::fs::write(port.join("rate"), "400 Gb/sec (4X NDR)\n").unwrap();
    let (watcher, context, inputs, _poll_soon) = watcher(&sys, intervals(1, 0));
    let hub = &context.hub;
    let value = |name: &str| {
        let metrics = hub.samples.newest();
        let found = metrics.iter().find(|m| m.name == name);
        found.map(|metric| metric.value)
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    while value("gtrace_rdma_active_ports") != Some(1.0) {
        assert!(Instant::now() < deadline, "the port is not seen");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(value("gtrace_rdma_healthy"), Some(1.0));

    set("1: DOWN\n", "2: Polling\n");
    let observation = observed_soon(&inputs, Kind::RdmaPort);
    assert_eq!(observation.witness, WitnessName::SysfsRdma);
    assert_eq!(observation.occurrence.message, "mlx5_0 port 1 went down");
    // The state is shown before the event is sent.
    let sources = hub.status().sources;
    let source = sources.iter().find(|s| s.name == "sysfs:rdma").unwrap();
    assert_eq!(
        source.reason.as_deref(),
        Some("UNHEALTHY, 0 ports active of 1 expected: mlx5_0 port 1 is DOWN (Polling)")
    );
    assert_eq!(value("gtrace_rdma_healthy"), Some(0.0));
    assert_eq!(value("gtrace_rdma_active_ports"), Some(0.0));
    assert_eq!(value("gtrace_rdma_expected_ports"), Some(1.0));
    component::check_all(&context);
    let judged = hub.health("sysfs:rdma").unwrap();
    assert_eq!(judged.state, HealthState::Unhealthy);
    assert_eq!(judged.reasons, ["mlx5_0 port 1 is DOWN (Polling)"]);

    set("4: ACTIVE\n", "5: LinkUp\n");
    let observation = observed_soon(&inputs, Kind::RdmaPort);
    assert_eq!(observation.occurrence.severity, Severity::Info);
    std::fs::remove_dir_all(sys.root().0.join("class/infiniband/mlx5_0")).unwrap();
    observed_soon(&inputs, Kind::RdmaLost);
    drop(watcher);
}

#[test]
fn a_vanished_gpu_is_seen_at_once_when_somebody_asks_and_long_before_the_next_poll() {
    let sys = FakeSysfs::with_gpu();
    let (watcher, _context, inputs, poll_soon) = watcher(&sys, intervals(3600, 0));
    let port = PORT.parse().unwrap();
    let gpu = GPU.parse().unwrap();
    assert_eq!(next_tree(&inputs).relation(port), Relation::Above(gpu));

    // Asked before there is anything to see: the poll that follows a second later sees it.
    poll_soon.ask();
    std::thread::sleep(Duration::from_millis(200));
    sys.remove_gpu();
    let began = Instant::now();
    let observation = next_observation(&inputs);
    assert_eq!(observation.occurrence.kind, Kind::GpuLost);
    assert_eq!(observation.occurrence.gpu.unwrap().pci, Some(gpu));
    let took = began.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}, not an hour");
    drop(watcher);
    let rest: Vec<_> = inputs.try_iter().collect();
    let lost = |input: &Input| matches!(input, Input::Observation(_));
    assert!(!rest.iter().any(lost), "once");
}
