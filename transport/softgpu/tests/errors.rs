//! Errors that stay, and injected faults: by the control file, so that each test injects its own.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

#[macro_use]
mod common;

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use common::{Fixture, PTX, alloc, function, launch, load, new_stream, nowhere, out};
use gtrace_softgpu::abi::Out;
use gtrace_softgpu::api::{context, copy, device, event, memory, stream};
use gtrace_softgpu::nvml;
use gtrace_softgpu::nvml::power::{self, Margin};
use gtrace_softgpu::nvml::readings::{FieldValue, nvmlDeviceGetFieldValues};
use gtrace_softgpu::nvml::repair::{self, RepairStatus, SramErrors};

const ILLEGAL_ADDRESS: u32 = 700;
const LAUNCH_FAILED: u32 = 719;

/// Folder of the control file and of the Xid lines.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let name = format!("softgpu-errors-{}", std::process::id());
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        // Of a process that had the same number.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("control"), "").unwrap();
        // SAFETY: once, before the library reads its environment; tests of this file begin here.
        unsafe {
            std::env::set_var("GTRACE_SOFTGPU_CONTROL", path.join("control"));
            std::env::set_var("GTRACE_SOFTGPU_KMSG", path.join("kmsg"));
            std::env::set_var("GTRACE_SOFTGPU_DEVICES", "2");
        }
        path
    })
}

fn fixture() -> Fixture {
    folder();
    Fixture::new()
}

/// Injects faults from the next call on.
fn inject(text: &str) {
    // The library polls at most each 10 ms.
    std::thread::sleep(Duration::from_millis(15));
    std::fs::write(folder().join("control"), text).unwrap();
}

fn kernel_log() -> String {
    std::fs::read_to_string(folder().join("kmsg")).unwrap_or_default()
}

#[test]
fn an_illegal_access_breaks_the_context_until_it_is_destroyed() {
    let fixture = fixture();
    let module = load(PTX);
    let (wild, fill) = (function(module, "wild"), function(module, "fill"));
    let target = alloc(8);
    assert_eq!(
        launch(wild, 1, 1, 0, &[]),
        0,
        "a launch reports only what it knows"
    );
    gives!(context::cuCtxSynchronize(), ILLEGAL_ADDRESS);
    gives!(context::cuCtxSynchronize(), ILLEGAL_ADDRESS, "it stays");
    assert_eq!(launch(fill, 1, 1, 0, &[target, 1]), ILLEGAL_ADDRESS);
    let mut address = 0;
    gives!(memory::cuMemAlloc_v2(out(&mut address), 8), ILLEGAL_ADDRESS);
    gives!(memory::cuMemFree_v2(target), ILLEGAL_ADDRESS);
    gives!(
        copy::cuMemcpyHtoD_v2(target, (&raw const address).cast(), 8),
        700
    );
    gives!(stream::cuStreamSynchronize(0), ILLEGAL_ADDRESS);
    let current = made!(|to| context::cuCtxGetCurrent(to));
    assert_eq!(
        current, fixture.context,
        "questions about the context are still answered"
    );
    let fresh = made!(|to| context::cuCtxCreate_v2(to, 0, 0));
    alloc(8);
    ok!(context::cuCtxDestroy_v2(fresh));
    let log = kernel_log();
    let line = log
        .lines()
        .find(|line| line.contains(": 31, pid="))
        .expect("an Xid 31");
    assert!(
        line.starts_with("NVRM: Xid (PCI:5350:01:00): 31, pid="),
        "{line}"
    );
    assert!(
        line.contains("MMU Fault") && line.contains("faulted @ 0x0_00000040"),
        "{line}"
    );
}

#[test]
fn a_reset_primary_context_works_again() {
    let _fixture = fixture();
    let mut primary = 0;
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut primary), 0));
    ok!(context::cuCtxPushCurrent_v2(primary));
    assert_eq!(launch(function(load(PTX), "stop"), 1, 1, 0, &[]), 0);
    gives!(context::cuCtxSynchronize(), LAUNCH_FAILED);
    ok!(device::cuDevicePrimaryCtxReset_v2(0));
    ok!(context::cuCtxPopCurrent_v2(nowhere()));
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut primary), 0));
    ok!(context::cuCtxPushCurrent_v2(primary));
    ok!(context::cuCtxSynchronize());
    ok!(context::cuCtxPopCurrent_v2(nowhere()));
    ok!(device::cuDevicePrimaryCtxRelease_v2(0));
}

#[test]
fn the_stream_of_a_thread_is_one_of_the_primary_context_that_there_is() {
    const PER_THREAD: u64 = 2;
    let _fixture = fixture();
    let mut primary = 0;
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut primary), 0));
    ok!(context::cuCtxPushCurrent_v2(primary));
    let empty = function(load(PTX), "empty");
    assert_eq!(launch(empty, 1, 1, PER_THREAD, &[]), 0);
    ok!(device::cuDevicePrimaryCtxReset_v2(0));
    ok!(context::cuCtxPopCurrent_v2(nowhere()));
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut primary), 0));
    ok!(context::cuCtxPushCurrent_v2(primary));
    let stop = function(load(PTX), "stop");
    assert_eq!(launch(stop, 1, 1, PER_THREAD, &[]), 0);
    gives!(
        context::cuCtxSynchronize(),
        LAUNCH_FAILED,
        "not that of the context that is gone, whose errors nobody sees"
    );
    ok!(context::cuCtxPopCurrent_v2(nowhere()));
    ok!(device::cuDevicePrimaryCtxReset_v2(0));
}

#[test]
fn after_a_fault_nothing_that_was_queued_runs() {
    let _fixture = fixture();
    let module = load(PTX);
    let (delay, wild, fill) = (
        function(module, "delay"),
        function(module, "wild"),
        function(module, "fill"),
    );
    let (flag, own) = (alloc(8), new_stream(1));
    let pinned = common::alloc_host(8).cast::<u64>();
    assert_eq!(launch(delay, 1, 1, own, &[flag, 20_000_000]), 0);
    assert_eq!(launch(wild, 1, 1, own, &[]), 0);
    assert_eq!(launch(fill, 1, 1, own, &[pinned as u64, 7]), 0);
    let mark = made!(|to| event::cuEventCreate(to, 0));
    ok!(event::cuEventRecord(mark, own));
    gives!(
        event::cuEventSynchronize(mark),
        ILLEGAL_ADDRESS,
        "and nobody hangs"
    );
    gives!(event::cuEventQuery(mark), ILLEGAL_ADDRESS);
    // SAFETY: allocated above.
    assert_eq!(unsafe { pinned.read_volatile() }, 0);
}

#[test]
fn the_nth_launch_fails_as_configured() {
    let _fixture = fixture();
    let empty = function(load(PTX), "empty");
    inject("launch:719@2");
    assert_eq!(launch(empty, 1, 1, 0, &[]), 0);
    ok!(context::cuCtxSynchronize());
    assert_eq!(launch(empty, 1, 1, 0, &[]), 0);
    gives!(context::cuCtxSynchronize(), LAUNCH_FAILED);
    inject("");
}

#[test]
fn launches_take_as_long_as_configured() {
    let _fixture = fixture();
    let empty = function(load(PTX), "empty");
    inject("delay:launch=30ms");
    let begun = Instant::now();
    assert_eq!(launch(empty, 1, 1, 0, &[]), 0);
    ok!(context::cuCtxSynchronize());
    assert!(begun.elapsed() >= Duration::from_millis(30));
    inject("");
}

#[test]
fn a_device_that_is_lost_is_lost_for_good_and_the_other_works() {
    let fixture = fixture();
    let second = made!(|to| context::cuCtxCreate_v2(to, 0, 1));
    let empty = function(load(PTX), "empty");
    ok!(nvml::system::nvmlInit_v2());
    let handle = made!(|to| nvml::device::nvmlDeviceGetHandleByIndex_v2(1, to));
    let set = made!(|to| nvml::events::nvmlEventSetCreate(to));
    ok!(nvml::events::nvmlDeviceRegisterEvents(handle, 8, set));
    let (endless, flag) = (function(load(PTX), "delay"), alloc(8));
    assert_eq!(launch(endless, 1, 1, new_stream(1), &[flag, u64::MAX]), 0);
    inject("1/lost@1");
    assert_eq!(launch(empty, 1, 1, 0, &[]), 0);
    gives!(
        context::cuCtxSynchronize(),
        999,
        "and the kernel that ran has ended"
    );
    let mut refused = 0;
    gives!(context::cuCtxCreate_v2(out(&mut refused), 0, 1), 46);
    let mut index = 0;
    gives!(
        nvml::device::nvmlDeviceGetMinorNumber(handle, out(&mut index)),
        15
    );
    let line = kernel_log()
        .lines()
        .find(|line| line.contains(" 79, "))
        .map(str::to_owned);
    let line = line.expect("an Xid 79");
    assert!(
        line.starts_with("NVRM: Xid (PCI:5350:02:00): 79, pid="),
        "{line}"
    );
    assert!(line.ends_with("GPU has fallen off the bus."), "{line}");
    let mut data = nvml::events::EventData {
        device: 0,
        event_type: 0,
        event_data: 0,
        gpu_instance: 0,
        compute_instance: 0,
    };
    ok!(nvml::events::nvmlEventSetWait_v2(set, out(&mut data), 1000));
    assert_eq!(
        (data.device, data.event_type, data.event_data),
        (handle, 8, 79)
    );
    gives!(
        nvml::events::nvmlEventSetWait_v2(set, out(&mut data), 10),
        10,
        "timeout"
    );
    ok!(nvml::events::nvmlEventSetFree(set));
    ok!(nvml::system::nvmlShutdown());
    inject("");
    ok!(context::cuCtxDestroy_v2(second));
    ok!(context::cuCtxSetCurrent(fixture.context));
    alloc(8);
    ok!(context::cuCtxSynchronize());
}

#[test]
fn nvml_reports_the_readings_that_are_set_and_no_others() {
    let _fixture = fixture();
    let mut handle = 0;
    ok!(nvml::system::nvmlInit_v2());
    ok!(nvml::device::nvmlDeviceGetHandleByIndex_v2(
        0,
        out(&mut handle)
    ));
    let number = |get: unsafe extern "C" fn(u64, Out<u32>) -> u32| {
        let mut number = 0_u32;
        let code = call!(get(handle, out(&mut number)));
        (code == 0).then_some(number).ok_or(code)
    };
    let engine = |get: unsafe extern "C" fn(u64, Out<u32>, Out<u32>) -> u32| {
        let (mut percent, mut period) = (0_u32, 0_u32);
        let code = call!(get(handle, out(&mut percent), out(&mut period)));
        (code == 0).then_some(percent).ok_or(code)
    };
    let field = |field, scope| {
        let mut asked = FieldValue {
            field,
            scope,
            timestamp: 0,
            latency_us: 0,
            value_type: 0,
            result: 99,
            value: 99,
        };
        ok!(nvmlDeviceGetFieldValues(handle, 1, out(&mut asked)));
        (asked.result == 0)
            .then_some(asked.value)
            .ok_or(asked.result)
    };
    let margin = || {
        let version = 1 << 24 | size_of::<Margin>() as u32;
        let mut margin = Margin {
            version,
            degrees: 0,
        };
        let code = call!(power::nvmlDeviceGetMarginTemperature(
            handle,
            out(&mut margin)
        ));
        (code == 0).then_some(margin.degrees).ok_or(code)
    };
    let banks = || {
        let mut banks = [9_u32; 5];
        let get = repair::nvmlDeviceGetRowRemapperHistogram;
        let code = call!(get(handle, out(&mut banks)));
        (code == 0).then_some(banks).ok_or(code)
    };
    inject("");
    assert_eq!(margin(), Err(3));
    assert_eq!(number(power::nvmlDeviceGetEnforcedPowerLimit), Err(3));
    assert_eq!(engine(power::nvmlDeviceGetJpgUtilization), Err(3));
    assert_eq!((field(82, 0), field(230, 0)), (Err(3), Err(3)));
    assert_eq!(banks(), Err(3));
    inject(
        "margin=-4,memory_temperature=71,memory_power=48,power_limit=250:300:100:350\n\
         banks=638:2:1:0:0,sram:parity=3,sram:sec_ded=2,sram:threshold,repair:tpc\n\
         jpeg=5,ofa=6,recovery=4\n",
    );
    assert_eq!(margin(), Ok(-4));
    assert_eq!(number(power::nvmlDeviceGetEnforcedPowerLimit), Ok(250_000));
    assert_eq!(
        number(power::nvmlDeviceGetPowerManagementLimit),
        Ok(250_000)
    );
    assert_eq!(
        number(power::nvmlDeviceGetPowerManagementDefaultLimit),
        Ok(300_000)
    );
    let (mut min, mut max) = (0_u32, 0_u32);
    ok!(power::nvmlDeviceGetPowerManagementLimitConstraints(
        handle,
        out(&mut min),
        out(&mut max)
    ));
    assert_eq!((min, max), (100_000, 350_000));
    assert_eq!(engine(power::nvmlDeviceGetJpgUtilization), Ok(5));
    assert_eq!(engine(power::nvmlDeviceGetOfaUtilization), Ok(6));
    assert_eq!((field(82, 0), field(230, 0)), (Ok(71), Ok(4)));
    // Of the memory alone.
    assert_eq!((field(185, 2), field(185, 0)), (Ok(48_000), Err(3)));
    assert_eq!(banks(), Ok([638, 2, 1, 0, 0]));
    let mut sram = SramErrors {
        version: 1 << 24 | size_of::<SramErrors>() as u32,
        ..SramErrors::default()
    };
    ok!(repair::nvmlDeviceGetSramEccErrorStatus(
        handle,
        out(&mut sram)
    ));
    assert_eq!(sram.counts, [3, 2, 0, 3, 2, 0, 0, 5, 0, 0, 0]);
    assert_eq!(sram.threshold_exceeded, 1);
    let mut status = RepairStatus {
        version: 1 << 24 | size_of::<RepairStatus>() as u32,
        ..RepairStatus::default()
    };
    ok!(repair::nvmlDeviceGetRepairStatus(handle, out(&mut status)));
    assert_eq!((status.channel, status.tpc), (0, 1));
    inject("");
    assert_eq!(margin(), Err(3));
}
