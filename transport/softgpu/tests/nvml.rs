//! NVML: what it reports follows what the driver API does in the same process.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

#[macro_use]
mod common;

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Fixture, alloc, eventually, launch_meet, meeting, name, nowhere, out, outs};
use gtrace_softgpu::abi::{In, Out};
use gtrace_softgpu::api::context;
use gtrace_softgpu::nvml::process::{
    ProcessInfo, nvmlDeviceGetComputeRunningProcesses_v3, nvmlDeviceGetProcessUtilization,
};
use gtrace_softgpu::nvml::readings::{
    FieldValue, Memory, MemoryV2, Utilization, nvmlDeviceGetFieldValues, nvmlDeviceGetMemoryInfo,
    nvmlDeviceGetMemoryInfo_v2, nvmlDeviceGetUnrepairableMemoryFlag_v1,
    nvmlDeviceGetUtilizationRates,
};
use gtrace_softgpu::nvml::repair::{self, SramErrors};
use gtrace_softgpu::nvml::{device, rest, system};

const NONE: ProcessInfo = ProcessInfo {
    pid: 0,
    memory: 0,
    gpu_instance: 0,
    compute_instance: 0,
};

/// Initialised NVML and its first device.
fn nvml() -> u64 {
    ok!(system::nvmlInit_v2());
    made!(|to| device::nvmlDeviceGetHandleByIndex_v2(0, to))
}

fn memory_used(handle: u64) -> u64 {
    let mut memory = Memory::default();
    ok!(nvmlDeviceGetMemoryInfo(handle, out(&mut memory)));
    assert_eq!(memory.total, memory.free + memory.used);
    memory.used
}

#[test]
fn memory_and_processes_follow_the_driver_api() {
    let fixture = Fixture::new();
    let handle = nvml();
    let before = memory_used(handle);
    alloc(1 << 20);
    assert_eq!(memory_used(handle), before + (1 << 20));
    let mut memory = MemoryV2 {
        version: 2 << 24 | 40,
        ..MemoryV2::default()
    };
    ok!(nvmlDeviceGetMemoryInfo_v2(handle, out(&mut memory)));
    assert_eq!(memory.used, before + (1 << 20));
    memory.version = 5;
    gives!(nvmlDeviceGetMemoryInfo_v2(handle, out(&mut memory)), 25);
    let (mut count, mut info) = (0, NONE);
    let running = nvmlDeviceGetComputeRunningProcesses_v3;
    gives!(running(handle, out(&mut count), nowhere()), 7, "no room");
    assert_eq!(count, 1);
    ok!(running(handle, out(&mut count), out(&mut info)));
    assert_eq!(
        (info.pid, info.memory),
        (std::process::id(), before + (1 << 20))
    );
    ok!(context::cuCtxDestroy_v2(fixture.context));
    ok!(running(handle, out(&mut count), nowhere()));
    assert_eq!(count, 0, "without a context");
}

#[test]
fn devices_say_how_they_reach_each_other() {
    let _fixture = Fixture::new();
    let handle = nvml();
    // Read, write, NVLink (none), atomics, PCI.
    for (index, expected) in [0, 0, 5, 0, 0].into_iter().enumerate() {
        let mut status = 99;
        let index = index as u32;
        ok!(device::nvmlDeviceGetP2PStatus(
            handle,
            handle,
            index,
            out(&mut status)
        ));
        assert_eq!(status, expected, "{index}");
    }
    gives!(
        device::nvmlDeviceGetP2PStatus(handle, handle, 9, nowhere()),
        2
    );
}

#[test]
fn utilisation_is_the_time_in_which_kernels_run() {
    let _fixture = Fixture::new();
    let handle = nvml();
    let read = || {
        let mut rates = Utilization::default();
        ok!(nvmlDeviceGetUtilizationRates(handle, out(&mut rates)));
        rates.gpu
    };
    read();
    std::thread::sleep(Duration::from_millis(200));
    assert!(read() < 50, "idle");
    let cell = meeting();
    launch_meet(0, cell, alloc(8));
    eventually(|| cell.load(Ordering::Acquire) == 1);
    std::thread::sleep(Duration::from_millis(100));
    read();
    std::thread::sleep(Duration::from_millis(200));
    assert!(read() > 90, "busy");
    let (mut count, mut sample) = (
        1,
        gtrace_softgpu::nvml::process::ProcessSample {
            pid: 0,
            timestamp: 0,
            sm: 0,
            memory: 0,
            encoder: 0,
            decoder: 0,
        },
    );
    ok!(nvmlDeviceGetProcessUtilization(
        handle,
        out(&mut sample),
        out(&mut count),
        0
    ));
    assert_eq!(sample.pid, std::process::id());
    assert!(sample.sm > 90);
    cell.fetch_add(1, Ordering::AcqRel);
    ok!(context::cuCtxSynchronize());
}

#[test]
fn devices_are_found_by_every_name_they_have() {
    let _fixture = Fixture::new();
    let handle = nvml();
    let text = |get: unsafe extern "C" fn(u64, Out<c_char>, u32) -> u32| {
        let mut buffer = [0 as c_char; 96];
        gives!(get(handle, outs(&mut buffer), 96), 0);
        // SAFETY: the function wrote a NUL-terminated text.
        unsafe { CStr::from_ptr(buffer.as_ptr()) }
            .to_str()
            .unwrap()
            .to_owned()
    };
    let uuid = text(device::nvmlDeviceGetUUID);
    assert!(uuid.starts_with("GPU-67747261-6365-2073-6f66-"), "{uuid}");
    assert_eq!(
        text(device::nvmlDeviceGetName),
        "gtrace softgpu (CPU emulator) 0"
    );
    let mut found = 0;
    let uuid = CString::new(uuid).unwrap();
    ok!(device::nvmlDeviceGetHandleByUUID(
        name(&uuid),
        out(&mut found)
    ));
    assert_eq!(found, handle);
    for address in ["00005350:01:00.0", "5350:01:00.0", "5350:01:00"] {
        let address = CString::new(address).unwrap();
        found = 0;
        ok!(device::nvmlDeviceGetHandleByPciBusId_v2(
            name(&address),
            out(&mut found)
        ));
        assert_eq!(found, handle);
    }
    let nobody = CString::new("GPU-0").unwrap();
    gives!(
        device::nvmlDeviceGetHandleByUUID(name(&nobody), out(&mut found)),
        6
    );
    gives!(device::nvmlDeviceGetHandleByIndex_v2(7, out(&mut found)), 2);
    let mut small = [0 as c_char; 4];
    // SAFETY: an array of 4 elements.
    let small = unsafe { Out::new(small.as_mut_ptr()) };
    gives!(device::nvmlDeviceGetName(handle, small, 4), 7);
    gives!(device::nvmlDeviceGetName(0xdead, small, 4), 2, "no device");
}

#[test]
fn what_a_cpu_does_not_have_is_not_supported() {
    let _fixture = Fixture::new();
    let handle = nvml();
    // SAFETY: the function reads no arguments.
    assert_eq!(unsafe { rest::nvmlDeviceGetPowerUsage() }, 3);
    let field = |field| FieldValue {
        field,
        scope: 0,
        timestamp: 0,
        latency_us: 0,
        value_type: 0,
        result: 99,
        value: 99,
    };
    let mut fields = [field(3), field(150)];
    ok!(nvmlDeviceGetFieldValues(handle, 2, outs(&mut fields)));
    assert_eq!((fields[0].result, fields[0].value), (0, 0));
    assert_eq!(fields[1].result, 3);
    let id = [0u8; 16];
    let mut table: *const c_void = std::ptr::null();
    // SAFETY: 16 bytes.
    let id = unsafe { In::new(&raw const id) };
    assert_ne!(
        call!(system::nvmlInternalGetExportTable(out(&mut table), id)),
        0
    );
}

#[test]
fn nothing_is_broken_or_repaired() {
    let _fixture = Fixture::new();
    let handle = nvml();
    let version = 1 << 24 | size_of::<SramErrors>() as u32;
    let asked = SramErrors {
        version,
        counts: [9; 11],
        threshold_exceeded: 9,
        ..SramErrors::default()
    };
    let (mut errors, mut other) = (asked, SramErrors::default());
    ok!(repair::nvmlDeviceGetSramEccErrorStatus(
        handle,
        out(&mut errors)
    ));
    assert_eq!(
        errors,
        SramErrors {
            version,
            ..SramErrors::default()
        }
    );
    gives!(
        repair::nvmlDeviceGetSramEccErrorStatus(handle, out(&mut other)),
        25
    );
    let (mut rows, mut flag) = ([9; 6], 9);
    ok!(repair::nvmlDeviceGetRemappedRows_v2(handle, out(&mut rows)));
    ok!(nvmlDeviceGetUnrepairableMemoryFlag_v1(
        handle,
        out(&mut flag)
    ));
    assert_eq!((rows, flag), ([0; 6], 0));
}
