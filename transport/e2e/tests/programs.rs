//! Each program prints the same on the CPU emulator itself and through each link, and is content with what it
//! computed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod support;

use std::time::Duration;

use gtrace_e2e::server::Via;
use support::Case;

/// A test for each program, with its name and nothing special.
macro_rules! programs {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            Case::c(stringify!($name)).same_everywhere();
        }
    )*};
}

programs! {
    saxpy reduction matmul histogram kernels
    sticky launch_errors memory
    managed managed_graphs mapped page_locked virtual_memory shared_memory ipc pools
    streams events copies launches modules link callbacks late batches pointers forked contexts threads loaded
    capture graphs graph_changes per_thread arrays images guarded creates
}

#[test]
fn vector_add() {
    let output = Case::c("vector_add").same_everywhere();
    assert!(output.starts_with("sum: 4000 bytes"), "{output}");
    Case::c("vector_add").arguments(&["50"]).same_everywhere();
}

#[test]
fn steadfast() {
    let output = Case::c("steadfast").same_everywhere();
    assert_eq!(output, "every launch was executed once\n");
}

/// Managed memory holds what a model says; with GTRACE_TEST_LONG as many steps as it takes to be sure.
#[test]
fn managed_memory_is_coherent() {
    let steps = match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => "1000000",
        None => "10000",
    };
    for threads in ["1", "4"] {
        Case::c("coherence")
            .arguments(&[steps, threads])
            .limit(Duration::from_secs(3600))
            .same_everywhere();
    }
}

/// So does page-locked memory, which the host uses while the device does.
#[test]
fn page_locked_memory_is_coherent() {
    let steps = match std::env::var_os("GTRACE_TEST_LONG") {
        Some(_) => "1000000",
        None => "4000",
    };
    for (threads, kind) in [
        ("4", "allocated"),
        ("1", "small"),
        ("4", "registered"),
        ("4", "shared"),
    ] {
        Case::c("coherence")
            .arguments(&[steps, threads, kind])
            .limit(Duration::from_secs(3600))
            .same_everywhere();
    }
}

#[test]
fn functions_that_are_not_supported_say_so_and_the_program_goes_on() {
    let case = Case::c("unsupported");
    let server = case.serve(&[]);
    for (via, options) in gtrace_e2e::case::WAYS {
        let outcome = case.remote(&server, via, options);
        for name in [
            "cuImportExternalMemory",
            "cuGreenCtxCreate",
            "cuCheckpointProcessLock",
        ] {
            let answer =
                format!("{name}: 801 CUDA_ERROR_NOT_SUPPORTED\ncuGetProcAddress: not found");
            assert!(outcome.stdout.contains(&answer), "{outcome}");
            let reported = format!("{name} is not supported");
            let times = outcome.stderr.matches(&reported).count();
            assert_eq!(times, 1, "{outcome}");
        }
        // The symbol of programs with a default stream for each thread.
        let per_thread = "cuSignalExternalSemaphoresAsync_ptsz: 801 CUDA_ERROR_NOT_SUPPORTED\n";
        assert!(outcome.stdout.contains(per_thread), "{outcome}");
        assert!(outcome.stdout.ends_with("still works: 5\n"), "{outcome}");
    }
}

#[test]
fn a_host_function_that_no_thread_can_run_is_refused() {
    let case = Case::c("few_lanes");
    let server = case.serve(&["--max-lanes", "2"]);
    for via in Via::ALL {
        let outcome = case.remote(&server, via, &[]);
        assert_eq!(
            outcome.stdout,
            "cuLaunchHostFunc(NULL, host, (void *)1): 304 CUDA_ERROR_OPERATING_SYSTEM\n\
             cuCtxSynchronize(): 0 CUDA_SUCCESS\n\
             cuLaunchHostFunc(NULL, host, (void *)2): 0 CUDA_SUCCESS\n\
             cuCtxSynchronize(): 0 CUDA_SUCCESS\n\
             sum 2\n"
        );
        let refused = "no connection for another thread";
        assert_eq!(outcome.stderr.matches(refused).count(), 1, "{outcome}");
    }
}

#[test]
fn page_locked_uses() {
    let case = Case::c("page_locked_uses");
    case.same_everywhere();
    case.client("GTRACE_MANAGED", "signals").same_everywhere();
}

/// Page-locked memory that is mapped while another thread copies it, that functions of the program write while other threads
/// launch and copy, that a graph's copies use before its kernels do, that nobody has touched, that malloc uses, that a child
/// of fork(2) gets while threads launch, and that the program unmaps.
#[test]
fn page_locked_races() {
    for part in [
        "copies",
        "functions",
        "graphs",
        "untouched",
        "heap",
        "forks",
        "unmapped",
    ] {
        let case = Case::c("page_locked_races").arguments(&[part]);
        case.same_everywhere();
        case.client("GTRACE_MANAGED", "signals").same_everywhere();
    }
}

/// Where userfaultfd(2) is not permitted pages come by signals, and the program keeps its own.
#[test]
fn managed_memory_by_signals() {
    for case in [
        Case::c("managed"),
        Case::c("managed_graphs"),
        Case::c("mapped"),
        Case::c("page_locked"),
        Case::c("segments"),
        Case::c("dispositions"),
        Case::c("coherence").arguments(&["10000", "4"]),
        Case::c("coherence").arguments(&["2000", "4", "registered"]),
        Case::c("coherence").arguments(&["2000", "4", "shared"]),
    ] {
        case.client("GTRACE_MANAGED", "signals").same_everywhere();
    }
    Case::c("segments").same_everywhere();
}

#[test]
fn peers() {
    Case::c("peers")
        .server("GTRACE_SOFTGPU_DEVICES", "2")
        .same_everywhere();
}

#[test]
fn devices_several() {
    let output = Case::c("devices")
        .server("GTRACE_SOFTGPU_DEVICES", "3")
        .same_everywhere();
    assert!(
        output.contains("devices 3") && output.contains("copied to device 0: 79"),
        "{output}"
    );
}

#[test]
fn devices_visible() {
    let three = || Case::c("devices").server("GTRACE_SOFTGPU_DEVICES", "3");
    let all = three().same_everywhere();
    let uuids: Vec<&str> = all
        .lines()
        .filter_map(|line| Some(line.split_once("uuid ")?.1))
        .collect();
    assert_eq!(uuids.len(), 3, "{all}");

    let one = three()
        .client("CUDA_VISIBLE_DEVICES", "1")
        .same_everywhere();
    assert!(one.contains("devices 1") && one.contains(uuids[1]), "{one}");
    let turned = three()
        .client("CUDA_VISIBLE_DEVICES", "2,0")
        .same_everywhere();
    let first = turned.find(uuids[2]).expect("the third is visible");
    assert!(
        first < turned.find(uuids[0]).expect("the first is visible"),
        "{turned}"
    );
    let cut = three()
        .client("CUDA_VISIBLE_DEVICES", "0,7,1")
        .same_everywhere();
    assert!(cut.contains("devices 1"), "{cut}");
    for nothing in ["", "-1", "none"] {
        let none = three()
            .client("CUDA_VISIBLE_DEVICES", nothing)
            .same_everywhere();
        assert_eq!(none, "no device\n");
    }
    let written = |hex: &str| {
        format!(
            "GPU-{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    };
    let named = three()
        .client("CUDA_VISIBLE_DEVICES", &written(uuids[2]))
        .same_everywhere();
    assert!(
        named.contains("devices 1") && named.contains(uuids[2]),
        "{named}"
    );
}

#[test]
fn replays() {
    Case::c("replay").same_everywhere();
    let copies = Case::c("replay").arguments(&["5", "copies"]);
    let output = copies.same_everywhere();
    assert!(output.starts_with("5 launches"), "{output}");
}

#[test]
fn launches_that_block() {
    let blocking = Case::c("blocking")
        .client("CUDA_LAUNCH_BLOCKING", "1")
        .same_everywhere();
    assert!(blocking.starts_with("blocking 1"), "{blocking}");
    Case::c("blocking").same_everywhere();
    Case::c("sticky")
        .client("CUDA_LAUNCH_BLOCKING", "1")
        .same_everywhere();
}

#[test]
fn a_device_with_little_memory() {
    Case::c("memory")
        .server("GTRACE_SOFTGPU_MEMORY", "512MiB")
        .same_everywhere();
}

/// A driver before CUDA 12.4 does not say where the parameters of a kernel lie; its image does.
#[test]
fn a_driver_that_does_not_report_parameters() {
    for name in [
        "vector_add",
        "saxpy",
        "matmul",
        "reduction",
        "histogram",
        "link",
    ] {
        Case::c(name)
            .server("GTRACE_SOFTGPU_DRIVER_VERSION", "12020")
            .same_everywhere();
    }
    let kernels = Case::c("kernels").server("GTRACE_SOFTGPU_DRIVER_VERSION", "12020");
    let server = kernels.serve(&[]);
    kernels.remote(&server, Via::Unix, &[]);
}

#[test]
fn cudarc() {
    let output = Case::example("cudarc").same_everywhere();
    assert!(output.contains("compute capability"), "{output}");
}

/// A fault that the CPU emulator is ordered to make reaches the program as the driver's error, at its next waiting call
/// at the latest, and the program goes on to its end.
#[test]
fn a_launch_that_fails_on_the_device() {
    let case = Case::c("launches").server("GTRACE_SOFTGPU_FAULT", "launch:700@50");
    let server = case.serve(&[]);
    let mut outcomes = vec![case.outcome_directly()];
    outcomes.extend(Via::ALL.map(|via| case.outcome(&server, via, &[])));
    for outcome in outcomes {
        assert_eq!(outcome.status.code(), Some(1), "{outcome}");
        assert!(outcome.stderr.contains("gave 700"), "{outcome}");
    }
    // Another client's device works, up to its own 50th launch.
    Case::c("vector_add").remote(&server, Via::Unix, &[]);
}
