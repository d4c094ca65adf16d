use std::sync::atomic::{AtomicUsize, Ordering};

use gtrace_api::{CudaReport, CudaState, FunctionCost, ProbeCost};
use gtrace_devices::{GpuInfo, RdmaHealth, RdmaState};

use super::*;
use crate::component::{cuda, driver_modules, remote, show};
use crate::hub::RemoteAnswer;
use crate::tally::Tally;

fn state(context: &Context, name: &str) -> HealthState {
    context.checked(name).state
}

#[test]
fn what_is_off_or_not_there_is_no_fault_of_the_host() {
    let context = Context::shown();
    let reason = Some("the NVIDIA driver is not loaded".to_owned());
    show(&context.hub, "nvml", SourceState::Absent, reason);
    let health = context.checked("nvml");
    assert_eq!(health.state, HealthState::Unknown);
    assert_eq!(health.reasons, ["the NVIDIA driver is not loaded"]);
    assert_eq!(state(&context, "sysfs:pci"), HealthState::Unknown);
    let status = status(&context.hub);
    assert_eq!(status.components.len(), all().count());
    assert_eq!(status.host_health, HostHealth::default());
}

#[test]
fn gpus_without_a_driver_are_a_fault_unless_a_virtual_machine_has_them() {
    let context = Context::shown();
    let reason = Some("the NVIDIA driver is not loaded".to_owned());
    show(&context.hub, "nvml", SourceState::Absent, reason);
    let mut gpu = GpuInfo::at("0000:3b:00.0".parse().unwrap());
    gpu.present_in.pci = true;
    let with = |gpu: &GpuInfo| {
        context.hub.set_gpus(vec![gpu.clone()]);
        context.checked("nvml")
    };
    let health = with(&gpu);
    assert_eq!(health.state, HealthState::Unhealthy);
    assert_eq!(
        health.reasons,
        ["no program can use 1 GPU of this host: the NVIDIA driver is not loaded"]
    );
    assert_eq!(
        status(&context.hub).host_health.state,
        HealthState::Unhealthy
    );
    gpu.driver_bound = Some("vfio-pci".to_owned());
    assert_eq!(with(&gpu).state, HealthState::Unknown);
    // A driver without a library that gtrace finds.
    gpu.driver_bound = Some("nvidia".to_owned());
    gpu.present_in.proc = true;
    assert_eq!(with(&gpu).state, HealthState::Unknown);
}

#[test]
fn the_kernel_log_is_degraded_after_a_loss() {
    let context = Context::shown();
    for name in ["/dev/kmsg", "printk:console"] {
        show(&context.hub, name, SourceState::Active, None);
    }
    assert_eq!(state(&context, "/dev/kmsg"), HealthState::Healthy);
    context
        .hub
        .metrics
        .count_lost("/dev/kmsg", "overwritten", 7);
    let health = context.checked("/dev/kmsg");
    assert_eq!(health.state, HealthState::Degraded);
    assert!(
        health.reasons[0].contains("7 since the start"),
        "{health:?}"
    );
    assert_eq!(state(&context, "printk:console"), HealthState::Healthy);
    let host = status(&context.hub).host_health;
    assert_eq!(host.state, HealthState::Degraded);
    assert!(host.reasons[0].starts_with("/dev/kmsg: records were lost"));
}

#[test]
fn nvml_that_does_not_answer_and_a_silent_gpu_are_faults_of_the_host() {
    let context = Context::shown();
    let hangs = Some("no answer within 5 s".to_owned());
    show(&context.hub, "nvml", SourceState::Failed, hangs);
    let health = context.checked("nvml");
    assert_eq!(health.state, HealthState::Unhealthy);
    assert_eq!(health.reasons, ["no answer within 5 s"]);
    show(&context.hub, "nvml", SourceState::Active, None);
    assert_eq!(state(&context, "nvml"), HealthState::Healthy);

    let silent = Some("0000:3b:00.0 does not answer".to_owned());
    show(&context.hub, "sysfs:pci", SourceState::Degraded, silent);
    assert_eq!(state(&context, "sysfs:pci"), HealthState::Degraded);
    let broken = Some("sysfs is not mounted".to_owned());
    show(&context.hub, "sysfs:pci", SourceState::Failed, broken);
    assert_eq!(state(&context, "sysfs:pci"), HealthState::Unknown);
}

#[test]
fn rdma_ports_are_judged_once_they_were_read() {
    let context = Context::shown();
    show(&context.hub, "sysfs:rdma", SourceState::Active, None);
    assert_eq!(state(&context, "sysfs:rdma"), HealthState::Unknown);
    let ports = RdmaHealth {
        state: RdmaState::Unhealthy,
        reasons: vec!["mlx5_0 port 1 is DOWN".to_owned()],
        active_ports: 0,
        expected_ports: 1,
        ..RdmaHealth::default()
    };
    context.rdma.set(ports);
    let health = context.checked("sysfs:rdma");
    assert_eq!(health.state, HealthState::Unhealthy);
    assert_eq!(health.reasons, ["mlx5_0 port 1 is DOWN"]);
}

#[test]
fn a_loaded_driver_without_its_probes_is_degraded() {
    let sys = tempfile::tempdir().unwrap();
    let context = Context {
        sysfs_root: sys.path().to_owned(),
        ..Context::shown()
    };
    let name = driver_modules::NAME;
    let of_host = |state, reason: Option<&str>| {
        show(&context.hub, name, SourceState::Active, None);
        show(
            &context.hub,
            "driver:ioctl",
            state,
            reason.map(str::to_owned),
        );
    };
    of_host(SourceState::Absent, Some("no kprobes"));
    assert_eq!(state(&context, name), HealthState::Unknown);
    std::fs::create_dir_all(sys.path().join("module/nvidia")).unwrap();
    let health = context.checked(name);
    assert_eq!(health.state, HealthState::Degraded);
    assert!(health.reasons[0].contains("driver:ioctl"), "{health:?}");
    assert!(health.reasons[0].contains("no kprobes"), "{health:?}");
    of_host(SourceState::Active, None);
    assert_eq!(state(&context, name), HealthState::Healthy);
}

#[test]
fn a_kernel_without_kprobes_is_no_fault_while_another_source_serves() {
    let sys = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(sys.path().join("module/nvidia")).unwrap();
    let context = Context {
        sysfs_root: sys.path().to_owned(),
        ..Context::shown()
    };
    let of = |name, state, reason: Option<&str>| {
        show(&context.hub, name, state, reason.map(str::to_owned));
    };
    let name = driver_modules::NAME;
    of(name, SourceState::Active, None);
    for probe in ["driver:ioctl", "nv_report_error"] {
        of(probe, SourceState::Absent, Some(crate::bpf::NO_KPROBES));
    }
    assert_eq!(state(&context, name), HealthState::Degraded);
    of("syscalls:ioctl", SourceState::Active, None);
    of("/dev/kmsg", SourceState::Active, None);
    assert_eq!(state(&context, name), HealthState::Healthy);
    // One that could be attached and is not stays a fault.
    of("nv_report_error", SourceState::Failed, Some("EINVAL"));
    let health = context.checked(name);
    assert_eq!(health.state, HealthState::Degraded);
    assert!(health.reasons[0].contains("EINVAL"), "{health:?}");
}

#[test]
fn cuda_calls_that_cost_too_much_to_count_are_named() {
    let context = Context::shown();
    show(&context.hub, cuda::NAME, SourceState::Active, None);
    let with = |detached| {
        let mut report = CudaReport {
            state: CudaState::Active,
            ..CudaReport::default()
        };
        report.cost.functions = vec![FunctionCost {
            function: "cuLaunchKernel".to_owned(),
            detached,
            ..FunctionCost::default()
        }];
        context.hub.set_cuda(report, Tally::default());
    };
    with(false);
    assert_eq!(state(&context, cuda::NAME), HealthState::Healthy);
    with(true);
    let health = context.checked(cuda::NAME);
    assert_eq!(health.state, HealthState::Degraded);
    assert!(health.reasons[0].contains("budget: cuLaunchKernel"));
}

#[test]
fn a_server_of_remote_gpus_that_does_not_answer_is_degraded_and_none_is_no_fault() {
    let context = Context::shown();
    let health_after = |answer| {
        remote::observe(&context.hub, answer);
        state(&context, remote::NAME)
    };
    assert_eq!(state(&context, remote::NAME), HealthState::Unknown);
    assert_eq!(health_after(RemoteAnswer::Absent), HealthState::Unknown);
    assert_eq!(health_after(RemoteAnswer::Silent), HealthState::Degraded);
    assert_eq!(health_after(RemoteAnswer::Answered), HealthState::Healthy);
    assert!(context.hub.last_seen(remote::NAME).is_some());
}

#[test]
fn last_seen_is_when_a_component_delivered_and_cost_is_of_what_is_its_own() {
    let context = Context::shown();
    let shown = || {
        let components = status(&context.hub).components;
        let of = |name: &str| components.iter().find(|c| c.name == name).cloned().unwrap();
        (of("printk:console"), of(cuda::NAME))
    };
    let (console, calls) = shown();
    assert_eq!((console.last_seen, calls.last_seen), (None, None));
    assert_eq!((console.cost, calls.cost), (None, None));
    let hub = &context.hub;
    hub.metrics.count_records(WitnessName::PrintkConsole, 3);
    hub.saw(cuda::NAME);
    let probe = |name: &str, core_share| ProbeCost {
        probe: name.to_owned(),
        witness: crate::bpf::witness_of_program(name),
        mean_ns: None,
        runs_per_second: None,
        core_share: Some(core_share),
        missed: 0,
    };
    let probes = vec![probe("printk_console", 0.25), probe("driver_open", 0.5)];
    hub.update_status(|status| status.probes = probes);
    let (console, calls) = shown();
    assert!(console.last_seen_age_s.unwrap() < 60.0 && calls.last_seen.is_some());
    assert_eq!(console.cost.unwrap().core_share, Some(0.25));
    assert_eq!(console.cost.unwrap().cpu_seconds, None);
    let driver = find_cost(&context, "driver:ioctl").unwrap();
    assert_eq!(driver.core_share, Some(0.5));
}

fn find_cost(context: &Context, name: &str) -> Option<ComponentCost> {
    let components = status(&context.hub).components;
    components.into_iter().find(|c| c.name == name)?.cost
}

#[test]
fn a_thread_that_serves_one_component_is_its_cost_and_one_that_is_down_judges_nothing() {
    let context = Context::shown();
    show(&context.hub, "/dev/kmsg", SourceState::Active, None);
    let shared = Task {
        name: names::HOUSEKEEPING,
        needed: true,
        silence: None,
        sources: vec![WitnessName::DriverIoctl],
    };
    context.hub.tasks.start(shared, |_| Ok(())).unwrap();
    assert_eq!(find_cost(&context, driver_modules::NAME), None);
    let (begun, has_begun) = std::sync::mpsc::channel();
    let task = Task {
        name: names::KMSG,
        needed: true,
        silence: None,
        sources: vec![WitnessName::Kmsg],
    };
    let (end, ends) = std::sync::mpsc::channel::<()>();
    let ends = Mutex::new(ends);
    let body = move |_: &crate::supervise::Pulse| {
        let _ = begun.send(());
        let _ = ends.lock().unwrap().recv();
        Err("failed".to_owned())
    };
    context.hub.tasks.start(task, body).unwrap();
    has_begun.recv().unwrap();
    assert_eq!(state(&context, "/dev/kmsg"), HealthState::Healthy);
    // The kernel may be built without what counts it.
    if std::path::Path::new("/proc/self/schedstat").exists() {
        let cost = find_cost(&context, "/dev/kmsg").unwrap();
        assert!(cost.cpu_seconds.is_some());
    }
    drop(end);
    while context.hub.tasks.is_running(names::KMSG) {
        context.hub.tasks.tick(std::time::Instant::now());
    }
    let health = context.checked("/dev/kmsg");
    assert_eq!(health.state, HealthState::Unknown);
    assert_eq!(health.reasons, ["the thread kmsg is down"]);
}

#[test]
fn pausing_reaches_what_is_attached_once_and_stopping_ends_the_checks() {
    #[derive(Default)]
    struct Counting(AtomicUsize, AtomicUsize);
    impl Part for Counting {
        fn pause(&self, pause: bool) {
            self.0
                .fetch_add(if pause { 1 } else { 100 }, Ordering::Relaxed);
        }
        fn stop(&self) {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
    }
    let context = Context::shown();
    let (probes, calls) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    assert!(!context.parts.has(names::DRAIN));
    context
        .parts
        .add(names::DRAIN, Arc::clone(&probes) as Arc<dyn Part>);
    context
        .parts
        .add(names::CUDA, Arc::clone(&calls) as Arc<dyn Part>);
    start(&context).unwrap();
    pause(&context, true);
    pause(&context, false);
    for part in [&probes, &calls] {
        assert_eq!(part.0.load(Ordering::Relaxed), 101);
    }
    let left = stop(&context, Duration::from_secs(60));
    assert!(left.is_empty(), "{left:?}");
    for part in [&probes, &calls] {
        assert_eq!(part.1.load(Ordering::Relaxed), 1);
    }
}

#[test]
fn a_state_that_changes_is_judged_at_once_and_not_at_the_next_check() {
    let context = Context::shown();
    let task = Task {
        name: names::CHECKS,
        needed: false,
        silence: None,
        sources: Vec::new(),
    };
    let of_task = context.clone();
    let body = move |pulse: &Pulse| {
        keep_checking(&of_task, Duration::MAX, pulse);
        Ok(())
    };
    context.hub.tasks.start(task, body).unwrap();
    let becomes = |state: HealthState| {
        let until = std::time::Instant::now() + Duration::from_secs(60);
        while context.hub.health("nvml").is_none_or(|h| h.state != state) {
            assert!(std::time::Instant::now() < until, "never {state:?}");
            std::thread::yield_now();
        }
    };
    becomes(HealthState::Unknown);
    show(&context.hub, "nvml", SourceState::Active, None);
    becomes(HealthState::Healthy);
    let hangs = Some("no answer within 5 s".to_owned());
    show(&context.hub, "nvml", SourceState::Failed, hangs);
    becomes(HealthState::Unhealthy);
    let left = context
        .hub
        .tasks
        .stop(&[names::CHECKS], Duration::from_secs(60));
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_gpu_that_failed_to_register_with_its_fabric_is_a_fault_of_the_host() {
    let context = Context::shown();
    show(&context.hub, "nvml", SourceState::Active, None);
    let mut gpu = gtrace_devices::GpuInfo::at("0000:3b:00.0".parse().unwrap());
    let mut sample = gtrace_devices::GpuSample::at(Timestamp::UNIX_EPOCH);
    let mut fabric = gtrace_devices::Fabric {
        state: gtrace_devices::FabricState::Completed,
        waiting_s: None,
        status: Some(0),
        clique: Some(1),
        cluster: None,
        faults: Vec::new(),
    };
    sample.fabric = Some(fabric.clone());
    gpu.sample = Some(sample.clone());
    context.hub.set_gpus(vec![gpu.clone()]);
    assert_eq!(state(&context, "nvml"), HealthState::Healthy);
    fabric.status = Some(999);
    sample.fabric = Some(fabric);
    gpu.sample = Some(sample);
    context.hub.set_gpus(vec![gpu]);
    let health = context.checked("nvml");
    assert_eq!(health.state, HealthState::Unhealthy);
    assert!(health.reasons[0].contains("0000:3b:00.0"), "{health:?}");
}

#[test]
fn a_corrupted_inforom_makes_the_host_degraded() {
    let context = Context::shown();
    show(&context.hub, "nvml", SourceState::Active, None);
    let mut gpu = gtrace_devices::GpuInfo::at("0000:3b:00.0".parse().unwrap());
    gpu.board.inforom_valid = Some(true);
    context.hub.set_gpus(vec![gpu.clone()]);
    assert_eq!(state(&context, "nvml"), HealthState::Healthy);
    gpu.board.inforom_valid = Some(false);
    context.hub.set_gpus(vec![gpu]);
    let health = context.checked("nvml");
    assert_eq!(health.state, HealthState::Degraded);
    assert!(health.reasons[0].contains("InfoROM"), "{health:?}");
}
