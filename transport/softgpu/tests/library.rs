//! The shared library as programs load it, in processes of their own as each setting is read once.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::process::{Command, Output};

use libloading::{Library, Symbol};

/// The shared library that cargo built beside this test.
fn library_path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let folder = test.parent().unwrap();
    let beside = [
        folder.join("libgtrace_softgpu.so"),
        folder.join("../libgtrace_softgpu.so"),
    ];
    beside
        .into_iter()
        .find(|path| path.exists())
        .expect("libgtrace_softgpu.so is built")
}

/// The functions of the library that the child processes call.
struct Driver(Library);

impl Driver {
    fn load() -> Self {
        // SAFETY: the CPU emulator has no constructors.
        Self(unsafe { Library::new(library_path()) }.expect("loads"))
    }

    /// A function with integer and pointer arguments, up to eleven.
    fn call(&self, name: &str, args: &[u64]) -> u32 {
        type F = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u32;
        let mut all = [0; 11];
        all[..args.len()].copy_from_slice(args);
        let [a, b, c, d, e, f, g, h, i, j, k] = all;
        // SAFETY: exported functions take integers and pointers only; those given beyond their
        // number are not looked at in the calling conventions of x86-64 and arm64.
        unsafe {
            let function: Symbol<'_, F> = self.0.get(name.as_bytes()).expect("exported");
            function(a, b, c, d, e, f, g, h, i, j, k)
        }
    }

    fn ok(&self, name: &str, args: &[u64]) {
        assert_eq!(self.call(name, args), 0, "{name}");
    }

    fn device_name(&self) -> String {
        let mut text = [0 as c_char; 100];
        self.ok("cuDeviceGetName", &[text.as_mut_ptr() as u64, 100, 0]);
        // SAFETY: the function wrote a NUL-terminated text.
        unsafe { CStr::from_ptr(text.as_ptr()) }
            .to_str()
            .unwrap()
            .to_owned()
    }

    /// A context, and a function of a module.
    fn function(&self, ptx: &str, name: &str) -> u64 {
        let (ptx, name) = (CString::new(ptx).unwrap(), CString::new(name).unwrap());
        let (mut context, mut module, mut function) = (0u64, 0u64, 0u64);
        self.ok("cuCtxCreate_v2", &[(&raw mut context) as u64, 0, 0]);
        self.ok(
            "cuModuleLoadData",
            &[(&raw mut module) as u64, ptx.as_ptr() as u64],
        );
        let place = (&raw mut function) as u64;
        self.ok(
            "cuModuleGetFunction",
            &[place, module, name.as_ptr() as u64],
        );
        function
    }

    fn launch(&self, function: u64, params: &[u64]) -> u32 {
        let values = params.as_ptr() as u64;
        self.call(
            "cuLaunchKernel",
            &[function, 1, 1, 1, 1, 1, 1, 0, 0, values, 0],
        )
    }
}

/// Runs one of the `child_` functions below in a process of its own.
fn child(name: &str, environment: &[(&str, &str)]) -> Output {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--ignored", "--nocapture"])
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success(),
        "{name} {environment:?}: {out}{err}"
    );
    assert!(out.contains("1 passed"), "{name} did not run: {out}");
    output
}

const STORE: &str = ".version 7.0\n.target sm_70\n.address_size 64\n\
    .visible .entry store(.param .u64 out) { .reg .b64 %rd<3>; ld.param.u64 %rd1, [out];\n\
    mov.u64 %rd2, 5; st.global.u64 [%rd1], %rd2; ret; }";

#[test]
fn a_device_in_mig_mode_shows_its_instances_and_another_division_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let control = folder.path().join("control");
    let divided = "mig:1g.1gb,mig:1c.3g.2gb+2c.3g.2gb,license=2027-03-31";
    std::fs::write(&control, divided).unwrap();
    let control = control.to_str().unwrap();
    child("child_mig", &[("GTRACE_SOFTGPU_CONTROL", control)]);
}

#[test]
#[ignore = "run by a_device_in_mig_mode_shows_its_instances_and_another_division_when_it_changes"]
fn child_mig() {
    let driver = Driver::load();
    let control = std::env::var("GTRACE_SOFTGPU_CONTROL").unwrap();
    driver.ok("nvmlInit_v2", &[]);
    let mut device = 0_u64;
    driver.ok(
        "nvmlDeviceGetHandleByIndex_v2",
        &[0, (&raw mut device) as u64],
    );
    let number = |name: &str, handle: u64| {
        let mut found: c_uint = 0;
        driver.ok(name, &[handle, (&raw mut found) as u64]);
        found
    };
    let text = |name: &str, handle: u64| {
        let mut text = [0 as c_char; 96];
        driver.ok(name, &[handle, text.as_mut_ptr() as u64, 96]);
        // SAFETY: the function wrote a NUL-terminated text.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) };
        text.to_str().unwrap().to_owned()
    };
    let part = |place: u64| {
        let mut handle = 0_u64;
        let arguments = [device, place, (&raw mut handle) as u64];
        let result = driver.call("nvmlDeviceGetMigDeviceHandleByIndex", &arguments);
        (result == 0).then_some(handle).ok_or(result)
    };
    let (mut current, mut pending): (c_uint, c_uint) = (9, 9);
    let mode = [device, (&raw mut current) as u64, (&raw mut pending) as u64];
    driver.ok("nvmlDeviceGetMigMode", &mode);
    assert_eq!((current, pending), (1, 1));
    assert_eq!(number("nvmlDeviceGetMaxMigDeviceCount", device), 7);
    let parts: Vec<u64> = (0..3).map(|place| part(place).unwrap()).collect();
    assert_eq!(part(3), Err(6), "NVML_ERROR_NOT_FOUND");
    assert_eq!(part(7), Err(2), "NVML_ERROR_INVALID_ARGUMENT");
    let numbers = parts.iter().map(|part| {
        let gi = number("nvmlDeviceGetGpuInstanceId", *part);
        (gi, number("nvmlDeviceGetComputeInstanceId", *part))
    });
    assert_eq!(numbers.collect::<Vec<_>>(), [(1, 0), (2, 0), (2, 1)]);
    assert!(text("nvmlDeviceGetName", parts[1]).ends_with(" 0 MIG 1c.3g.2gb"));
    let uuid = text("nvmlDeviceGetUUID", parts[2]);
    assert!(uuid.starts_with("MIG-") && uuid != text("nvmlDeviceGetUUID", parts[1]));
    let (name, mut found) = (CString::new(uuid).unwrap(), 0_u64);
    let by_uuid = [name.as_ptr() as u64, (&raw mut found) as u64];
    driver.ok("nvmlDeviceGetHandleByUUID", &by_uuid);
    assert_eq!(found, parts[2]);
    let mut memory = [0_u64; 3];
    driver.ok(
        "nvmlDeviceGetMemoryInfo",
        &[parts[1], memory.as_mut_ptr() as u64],
    );
    assert_eq!(memory, [2 << 30, 2 << 30, 0]);
    driver.ok(
        "nvmlDeviceGetDeviceHandleFromMigDeviceHandle",
        &[parts[2], (&raw mut found) as u64],
    );
    assert_eq!(found, device);
    let list = |name: &str, of: u64, profile: u64| {
        let (mut handles, mut count) = ([0_u64; 7], 9_u32);
        let to = [handles.as_mut_ptr() as u64, (&raw mut count) as u64];
        match driver.call(name, &[of, profile, to[0], to[1]]) {
            0 => Ok(handles[..count as usize].to_vec()),
            result => Err(result),
        }
    };
    let of_device = |profile| list("nvmlDeviceGetGpuInstances", device, profile);
    let gpu_instances = of_device(9).unwrap();
    assert_eq!(gpu_instances.len(), 1, "one of three slices");
    assert_eq!(of_device(0), Ok(Vec::new()), "none of seven");
    assert_eq!(of_device(77), Err(3));
    let compute_instances = list("nvmlGpuInstanceGetComputeInstances", gpu_instances[0], 1);
    let mut by_number = 0_u64;
    driver.ok(
        "nvmlGpuInstanceGetComputeInstanceById",
        &[gpu_instances[0], 1, (&raw mut by_number) as u64],
    );
    assert_eq!(compute_instances, Ok(vec![by_number]));
    // Of the whole device there is no use now, and an instance is not the whole.
    let mut rates = [0_u32; 2];
    let asked = [device, rates.as_mut_ptr() as u64];
    assert_eq!(driver.call("nvmlDeviceGetUtilizationRates", &asked), 3);
    assert_eq!(driver.call("nvmlDeviceGetGpuInstanceId", &asked), 3);
    let mut features = [0_u8; 860];
    driver.ok(
        "nvmlDeviceGetGridLicensableFeatures_v4",
        &[device, features.as_mut_ptr() as u64],
    );
    let at = |from: usize| u32::from_ne_bytes(features[from..from + 4].try_into().unwrap());
    assert_eq!((at(0), at(4), at(12), at(272), at(276)), (1, 1, 1, 1, 2027));
    // The division changes: the handle of an instance that is gone is refused.
    std::fs::write(control, "mig:7g.4gb").unwrap();
    // Calls look at the file every 10 ms.
    while part(1).is_ok() {
        std::thread::yield_now();
    }
    assert!(text("nvmlDeviceGetName", part(0).unwrap()).ends_with(" MIG 7g.4gb"));
    let mut gi: c_uint = 0;
    let gone = driver.call(
        "nvmlDeviceGetGpuInstanceId",
        &[parts[2], (&raw mut gi) as u64],
    );
    assert_eq!(gone, 2);
}

#[test]
fn the_library_exports_both_interfaces_and_its_versions() {
    child("child_exports", &[]);
}

#[test]
#[ignore = "run by the_library_exports_both_interfaces_and_its_versions"]
fn child_exports() {
    let driver = Driver::load();
    let mut count: c_int = 0;
    assert_eq!(
        driver.call("cuDeviceGetCount", &[(&raw mut count) as u64]),
        3,
        "before cuInit"
    );
    assert_eq!(
        driver.call("nvmlDeviceGetCount_v2", &[(&raw mut count) as u64]),
        1
    );
    driver.ok("cuInit", &[0]);
    driver.ok("nvmlInit_v2", &[]);
    driver.ok("nvmlDeviceGetCount_v2", &[(&raw mut count) as u64]);
    assert_eq!(count, 1);
    let mut version: c_int = 0;
    driver.ok("cuDriverGetVersion", &[(&raw mut version) as u64]);
    assert_eq!(version, 13_000);
    let mut table: *const c_void = std::ptr::null();
    let id = [0u8; 16];
    let refused = driver.call(
        "cuGetExportTable",
        &[(&raw mut table) as u64, id.as_ptr() as u64],
    );
    assert_eq!(refused, 1, "no interfaces of NVIDIA's own");
    driver.ok("nvmlShutdown", &[]);
    assert_eq!(driver.call("nvmlShutdown", &[]), 1);
    for name in [
        "cuMemcpyHtoD_v2_ptds",
        "cuLaunchKernel_ptsz",
        "cuStreamGetCaptureInfo_v3",
        "cuGetProcAddress",
        "nvmlErrorString",
        "nvmlDeviceGetVgpuMetadata",
    ] {
        // SAFETY: only looked up.
        let found = unsafe { driver.0.get::<*const c_void>(name.as_bytes()) };
        assert!(found.is_ok(), "{name}");
    }
}

#[test]
fn programs_see_the_devices_that_cuda_lets_them_see() {
    child(
        "child_devices",
        &[
            ("GTRACE_SOFTGPU_DEVICES", "3"),
            ("CUDA_VISIBLE_DEVICES", "2,0"),
        ],
    );
    let uuid = "GPU-67747261-6365-2073-6f66-746770752032";
    child(
        "child_devices",
        &[
            ("GTRACE_SOFTGPU_DEVICES", "3"),
            (
                "CUDA_VISIBLE_DEVICES",
                &format!("{uuid},GPU-67747261-6365-2073-6f66-746770752030"),
            ),
        ],
    );
}

#[test]
#[ignore = "run by programs_see_the_devices_that_cuda_lets_them_see"]
fn child_devices() {
    let driver = Driver::load();
    driver.ok("cuInit", &[0]);
    let mut count: c_int = 0;
    driver.ok("cuDeviceGetCount", &[(&raw mut count) as u64]);
    assert_eq!(count, 2);
    assert_eq!(driver.device_name(), "gtrace softgpu (CPU emulator) 2");
    driver.ok("nvmlInit_v2", &[]);
    driver.ok("nvmlDeviceGetCount_v2", &[(&raw mut count) as u64]);
    assert_eq!(count, 3, "NVML shows all");
    let mut bus = [0 as c_char; 32];
    driver.ok("cuDeviceGetPCIBusId", &[bus.as_mut_ptr() as u64, 32, 1]);
    let mut ordinal: c_int = -1;
    driver.ok(
        "cuDeviceGetByPCIBusId",
        &[(&raw mut ordinal) as u64, bus.as_ptr() as u64],
    );
    assert_eq!(ordinal, 1);
    // Each device's own memory, and a copy from one to the other.
    let (mut contexts, mut memory) = ([0u64; 2], [0u64; 2]);
    for index in 0..2 {
        let place = (&raw mut contexts[index]) as u64;
        driver.ok("cuCtxCreate_v2", &[place, 0, index as u64]);
        driver.ok("cuMemAlloc_v2", &[(&raw mut memory[index]) as u64, 4096]);
    }
    driver.ok("cuMemsetD8_v2", &[memory[1], 9, 4096]);
    let both = [memory[0], contexts[0], memory[1], contexts[1], 4096];
    driver.ok("cuMemcpyPeer", &both);
    let mut byte = 0u8;
    driver.ok(
        "cuMemcpyDtoH_v2",
        &[(&raw mut byte) as u64, memory[0] + 4095, 1],
    );
    assert_eq!(byte, 9);
    let mut can: c_int = 0;
    driver.ok("cuDeviceCanAccessPeer", &[(&raw mut can) as u64, 0, 1]);
    assert_eq!(can, 1);
    driver.ok("cuCtxEnablePeerAccess", &[contexts[0], 0]);
    assert_eq!(driver.call("cuCtxEnablePeerAccess", &[contexts[0], 0]), 704);
}

#[test]
fn without_visible_devices_there_are_none() {
    child("child_no_device", &[("CUDA_VISIBLE_DEVICES", "")]);
}

#[test]
#[ignore = "run by without_visible_devices_there_are_none"]
fn child_no_device() {
    assert_eq!(Driver::load().call("cuInit", &[0]), 100);
}

#[test]
fn skipped_launches_are_named_and_do_nothing() {
    let output = child("child_skip", &[("GTRACE_SOFTGPU_LAUNCH", "skip")]);
    let reported = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        reported.matches("accepted and not executed").count(),
        1,
        "{reported}"
    );
}

#[test]
#[ignore = "run by skipped_launches_are_named_and_do_nothing"]
fn child_skip() {
    let driver = Driver::load();
    driver.ok("cuInit", &[0]);
    assert_eq!(
        driver.device_name(),
        "gtrace softgpu (CPU emulator, launches skipped) 0"
    );
    let store = driver.function(STORE, "store");
    let mut address = 0u64;
    driver.ok("cuMemAlloc_v2", &[(&raw mut address) as u64, 8]);
    driver.ok("cuMemsetD8_v2", &[address, 1, 8]);
    assert_eq!(driver.launch(store, &[(&raw const address) as u64]), 0);
    let mut value = 0u64;
    driver.ok("cuMemcpyDtoH_v2", &[(&raw mut value) as u64, address, 8]);
    assert_eq!(value, 0x0101_0101_0101_0101);
    assert_eq!(
        driver.call("cuLaunchKernel", &[store, 1, 1, 1, 4096, 1, 1, 0, 0, 0, 0]),
        1
    );
}

#[test]
fn memory_has_the_size_that_is_reported() {
    child("child_memory", &[("GTRACE_SOFTGPU_MEMORY", "64MiB")]);
}

#[test]
#[ignore = "run by memory_has_the_size_that_is_reported"]
fn child_memory() {
    let driver = Driver::load();
    driver.ok("cuInit", &[0]);
    let mut bytes = 0usize;
    driver.ok("cuDeviceTotalMem_v2", &[(&raw mut bytes) as u64, 0]);
    assert_eq!(bytes, 64 << 20);
    driver.function(STORE, "store");
    let mut address = 0u64;
    let place = (&raw mut address) as u64;
    assert_eq!(driver.call("cuMemAlloc_v2", &[place, (64 << 20) + 1]), 2);
    driver.ok("cuMemAlloc_v2", &[place, 32 << 20]);
    assert_eq!(driver.call("cuMemAlloc_v2", &[place, 33 << 20]), 2);
}

#[test]
fn blocking_launches_return_their_error_at_the_next_call() {
    let environment = [
        ("CUDA_LAUNCH_BLOCKING", "1"),
        ("GTRACE_SOFTGPU_FAULT", "launch:700@1"),
    ];
    child("child_blocking", &environment);
}

#[test]
#[ignore = "run by blocking_launches_return_their_error_at_the_next_call"]
fn child_blocking() {
    let driver = Driver::load();
    driver.ok("cuInit", &[0]);
    let store = driver.function(STORE, "store");
    let mut address = 0u64;
    driver.ok("cuMemAlloc_v2", &[(&raw mut address) as u64, 8]);
    assert_eq!(driver.launch(store, &[(&raw const address) as u64]), 700);
}

#[test]
fn a_forked_child_cannot_use_what_its_parent_made() {
    child("child_fork", &[]);
}

#[test]
#[ignore = "run by a_forked_child_cannot_use_what_its_parent_made"]
fn child_fork() {
    let driver = Driver::load();
    driver.ok("cuInit", &[0]);
    let mut count: c_uint = 0;
    let place = (&raw mut count) as u64;
    driver.ok("cuDeviceGetCount", &[place]);
    // SAFETY: the child calls functions that take no locks of other threads, and exits.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            let codes = (
                driver.call("cuDeviceGetCount", &[place]),
                driver.call("cuInit", &[0]),
            );
            libc::_exit(if codes == (3, 3) { 0 } else { 1 });
        }
        let mut status = 0;
        libc::waitpid(child, &raw mut status, 0);
        status
    };
    assert_eq!(status, 0);
}

#[test]
fn threads_keep_their_names() {
    child("child_names", &[]);
}

#[test]
#[ignore = "run by threads_keep_their_names"]
fn child_names() {
    let name = || std::fs::read_to_string("/proc/thread-self/comm").unwrap();
    let before = name();
    let driver = Driver::load();
    driver.ok("cuInit", &[0]);
    let mut context = 0u64;
    driver.ok("cuCtxCreate_v2", &[(&raw mut context) as u64, 0, 0]);
    assert_eq!(name(), before);
}
