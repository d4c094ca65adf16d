//! Kernels, streams and events: order, what runs beside the program, times, limits of launches.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

#[macro_use]
mod common;

use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{
    Fixture, MEET, PTX, alloc, alloc_host, eventually, function, launch, launch_meet, load,
    meeting, name, new_stream, nowhere, out, zeros,
};
use gtrace_softgpu::abi::In;
use gtrace_softgpu::api::launch::cuLaunchKernel;
use gtrace_softgpu::api::{
    context, copy, device, event, fill, library, link, memory, module, occupancy, stream,
};

const INVALID_VALUE: u32 = 1;
const NOT_READY: u32 = 600;
const MILLISECOND: u64 = 1_000_000;

fn read(address: u64, count: usize) -> Vec<u64> {
    let mut values = vec![0u64; count];
    ok!(copy::cuMemcpyDtoH_v2(
        values.as_mut_ptr().cast(),
        address,
        count * 8
    ));
    values
}

fn new_event(flags: u32) -> u64 {
    made!(|to| event::cuEventCreate(to, flags))
}

#[test]
fn a_kernel_writes_what_its_parameters_say() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let target = alloc(64 * 8);
    assert_eq!(launch(function(module, "fill"), 2, 32, 0, &[target, 42]), 0);
    assert_eq!(read(target, 64), [42; 64]);
}

#[test]
fn parameters_may_come_as_one_buffer() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (fill, empty) = (function(module, "fill"), function(module, "empty"));
    let target = alloc(8);
    let buffer = [target, 77u64];
    let size = 16usize;
    let extra = [1u64, buffer.as_ptr() as u64, 2, (&raw const size) as u64, 0];
    // SAFETY: keys, buffer and size as cuLaunchKernel wants them.
    let extra = unsafe { In::new(extra.as_ptr()) };
    ok!(cuLaunchKernel(
        fill,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        0,
        In::NULL,
        extra
    ));
    assert_eq!(read(target, 1), [77]);
    gives!(
        cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, 0, In::NULL, In::NULL),
        INVALID_VALUE
    );
    // Of no parameters there need not be one.
    let size = 0usize;
    let extra = [1u64, 0, 2, (&raw const size) as u64, 0];
    // SAFETY: as above.
    let extra = unsafe { In::new(extra.as_ptr()) };
    ok!(cuLaunchKernel(
        empty,
        1,
        1,
        1,
        1,
        1,
        1,
        0,
        0,
        In::NULL,
        extra
    ));
}

#[test]
fn launches_beyond_the_limits_are_refused_and_do_no_harm() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (empty, small) = (function(module, "empty"), function(module, "small"));
    let shape = |function, grid: [u32; 3], block: [u32; 3], shared| {
        call!(cuLaunchKernel(
            function,
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2],
            shared,
            0,
            In::NULL,
            In::NULL,
        ))
    };
    assert_eq!(shape(empty, [1; 3], [1025, 1, 1], 0), INVALID_VALUE);
    assert_eq!(shape(empty, [1; 3], [32, 33, 1], 0), INVALID_VALUE);
    assert_eq!(shape(empty, [1; 3], [1, 1, 65], 0), INVALID_VALUE);
    assert_eq!(shape(empty, [0, 1, 1], [1; 3], 0), INVALID_VALUE);
    assert_eq!(shape(empty, [1, 65_536, 1], [1; 3], 0), INVALID_VALUE);
    assert_eq!(shape(empty, [1; 3], [1; 3], 48 * 1024 + 1), INVALID_VALUE);
    assert_eq!(shape(empty, [1; 3], [1024, 1, 1], 48 * 1024), 0);
    assert_eq!(
        shape(small, [1; 3], [65, 1, 1], 0),
        INVALID_VALUE,
        ".maxntid 64"
    );
    assert_eq!(
        shape(small, [1; 3], [64, 1, 1], 47 * 1024 + 1),
        INVALID_VALUE,
        "1 KiB is static"
    );
    ok!(module::cuFuncSetAttribute(small, 8, 100 * 1024));
    assert_eq!(shape(small, [1; 3], [64, 1, 1], 100 * 1024), 0);
    gives!(
        module::cuFuncSetAttribute(small, 8, 227 * 1024),
        INVALID_VALUE
    );
    ok!(context::cuCtxSynchronize());
}

#[test]
fn functions_describe_themselves() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (fill, small) = (function(module, "fill"), function(module, "small"));
    let (mut offset, mut size) = (0, 0);
    ok!(module::cuFuncGetParamInfo(
        fill,
        1,
        out(&mut offset),
        out(&mut size)
    ));
    assert_eq!((offset, size), (8, 8));
    gives!(
        module::cuFuncGetParamInfo(fill, 2, out(&mut offset), out(&mut size)),
        INVALID_VALUE
    );
    let mut value = 0;
    ok!(module::cuFuncGetAttribute(out(&mut value), 0, small));
    assert_eq!(value, 64, "threads");
    ok!(module::cuFuncGetAttribute(out(&mut value), 1, small));
    assert_eq!(value, 1024, "static shared memory");
    let mut text: *const c_char = std::ptr::null();
    ok!(module::cuFuncGetName(out(&mut text), fill));
    // SAFETY: valid while the module is loaded.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"fill");
    let missing = CString::new("missing").unwrap();
    let mut handle = 0;
    gives!(
        module::cuModuleGetFunction(out(&mut handle), module, name(&missing)),
        500
    );
    let (mut grid, mut block) = (0, 0);
    ok!(occupancy::cuOccupancyMaxPotentialBlockSize(
        out(&mut grid),
        out(&mut block),
        small,
        None,
        0,
        0,
    ));
    assert_eq!(block, 64);
    let active = made!(|to| occupancy::cuOccupancyMaxActiveBlocksPerMultiprocessor(
        to,
        function(module, "empty"),
        1024,
        0,
    ));
    assert_eq!(active, 2, "2048 threads");
    ok!(module::cuModuleUnload(module));
    assert_eq!(launch(fill, 1, 1, 0, &[0, 0]), 400, "unloaded");
}

#[test]
fn variables_of_a_module_are_initialised_and_found() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let text = CString::new("counter").unwrap();
    let (mut address, mut size) = (0, 0);
    ok!(module::cuModuleGetGlobal_v2(
        out(&mut address),
        out(&mut size),
        module,
        name(&text)
    ));
    let mut value = 0u32;
    ok!(copy::cuMemcpyDtoH_v2((&raw mut value).cast(), address, 4));
    assert_eq!((size, value), (4, 7));
}

#[test]
fn what_is_no_image_is_reported() {
    let _fixture = Fixture::new();
    let mut handle = 0;
    let load = |text: &CStr| {
        let mut handle = 0;
        call!(module::cuModuleLoadData(
            out(&mut handle),
            text.as_ptr().cast()
        ))
    };
    assert_eq!(load(c"hello"), 200);
    assert_eq!(
        load(c".version 7.0 .target sm_70 .address_size 64 .entry f() { nonsense; }"),
        218
    );
    assert_eq!(load(c".version 8.7 .target sm_120 .address_size 64"), 218);
    assert_eq!(load(c".version 99.0 .target sm_70 .address_size 64"), 222);
    assert_eq!(load(c"\x7fELF...."), 209);
    let mut log = [0u8; 200];
    let mut values = [log.as_mut_ptr() as u64, 200];
    let options = [5u32, 6];
    let broken = c".version 7.0\n.target sm_70\n.address_size 64\n.entry f() { nonsense; }";
    // SAFETY: two options with their values.
    let (options, given) = unsafe {
        (
            In::new(options.as_ptr()),
            gtrace_softgpu::abi::Out::new(values.as_mut_ptr()),
        )
    };
    gives!(
        module::cuModuleLoadDataEx(out(&mut handle), broken.as_ptr().cast(), 2, options, given,),
        218
    );
    let reported = CStr::from_bytes_until_nul(&log).unwrap().to_str().unwrap();
    assert!(
        reported.contains("line 4") && reported.contains("nonsense"),
        "{reported}"
    );
    assert_eq!(values[1] as usize, reported.len());
}

#[test]
fn linked_modules_call_each_other() {
    let _fixture = Fixture::new();
    let caller = c".version 7.0\n.target sm_70\n.address_size 64\n\
        .extern .func (.param .b64 r) twice(.param .b64 x);\n\
        .visible .entry go(.param .u64 out) { .reg .b64 %rd<4>; .param .b64 a; .param .b64 b;\n\
        ld.param.u64 %rd1, [out]; mov.u64 %rd2, 21; st.param.b64 [a], %rd2;\n\
        call.uni (b), twice, (a); ld.param.b64 %rd3, [b]; st.global.u64 [%rd1], %rd3; ret; }";
    let callee = c".version 7.0\n.target sm_70\n.address_size 64\n\
        .visible .func (.param .b64 r) twice(.param .b64 x) { .reg .b64 %rd<3>;\n\
        ld.param.u64 %rd1, [x]; add.s64 %rd2, %rd1, %rd1; st.param.b64 [r], %rd2; ret; }";
    let state = made!(|to| link::cuLinkCreate_v2(0, In::NULL, nowhere(), to));
    let add = |text: &CStr| {
        let (data, size) = (text.as_ptr().cast(), text.count_bytes() + 1);
        ok!(link::cuLinkAddData_v2(
            state,
            1,
            data,
            size,
            std::ptr::null(),
            0,
            In::NULL,
            nowhere(),
        ));
    };
    add(caller);
    let (mut image, mut size) = (std::ptr::null(), 0);
    gives!(
        link::cuLinkComplete(state, out(&mut image), out(&mut size)),
        218,
        "a function is missing"
    );
    add(callee);
    ok!(link::cuLinkComplete(state, out(&mut image), out(&mut size)));
    let loaded = made!(|to| module::cuModuleLoadData(to, image));
    ok!(link::cuLinkDestroy(state));
    let target = alloc(8);
    assert_eq!(launch(function(loaded, "go"), 1, 1, 0, &[target]), 0);
    assert_eq!(read(target, 1), [42]);
}

#[test]
fn a_kernel_of_a_library_runs_in_the_current_context() {
    let _fixture = Fixture::new();
    let text = CString::new(PTX).unwrap();
    let (mut lib, mut kernel, mut count) = (0, 0, 0);
    ok!(library::cuLibraryLoadData(
        out(&mut lib),
        text.as_ptr().cast(),
        In::NULL,
        nowhere(),
        0,
        In::NULL,
        nowhere(),
        0,
    ));
    let fill = CString::new("fill").unwrap();
    ok!(library::cuLibraryGetKernelCount(out(&mut count), lib));
    assert_eq!(count, 6);
    ok!(library::cuLibraryGetKernel(
        out(&mut kernel),
        lib,
        name(&fill)
    ));
    let target = alloc(8);
    assert_eq!(
        launch(kernel, 1, 1, 0, &[target, 3]),
        0,
        "a kernel stands for its function"
    );
    assert_eq!(read(target, 1), [3]);
    let handle = made!(|to| library::cuKernelGetFunction(to, kernel));
    assert_eq!(launch(handle, 1, 1, 0, &[target, 4]), 0);
    assert_eq!(read(target, 1), [4]);
    ok!(library::cuLibraryUnload(lib));
    assert_eq!(launch(kernel, 1, 1, 0, &[target, 5]), 400);
}

#[test]
fn a_launch_returns_before_the_kernel_ends() {
    let _fixture = Fixture::new();
    let delay = function(load(PTX), "delay");
    let (cell, met, target, own) = (meeting(), zeros(1), alloc(8), new_stream(0));
    let begun = Instant::now();
    launch_meet(own, cell, met);
    assert_eq!(launch(delay, 1, 1, own, &[target, 50 * MILLISECOND]), 0);
    gives!(stream::cuStreamQuery(own), NOT_READY);
    cell.fetch_add(1, Ordering::AcqRel);
    ok!(stream::cuStreamSynchronize(own));
    assert!(begun.elapsed() >= Duration::from_millis(50));
    ok!(stream::cuStreamQuery(own));
    assert_eq!((read(met, 1), read(target, 1)), (vec![1], vec![1]));
}

#[test]
fn blocking_streams_wait_for_the_default_stream_and_others_do_not() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (delay, fill) = (function(module, "delay"), function(module, "fill"));
    let (cell, first, second) = (meeting(), zeros(1), alloc(8));
    let (blocking, free) = (new_stream(0), new_stream(1));
    launch_meet(0, cell, first);
    assert_eq!(launch(fill, 1, 1, blocking, &[second, 2]), 0);
    assert_eq!(launch(fill, 1, 1, free, &[alloc(8), 2]), 0);
    ok!(stream::cuStreamSynchronize(free));
    gives!(
        stream::cuStreamQuery(blocking),
        NOT_READY,
        "behind the default stream"
    );
    cell.fetch_add(1, Ordering::AcqRel);
    ok!(stream::cuStreamSynchronize(blocking));
    assert_eq!(
        read(first, 1),
        [1],
        "so the default stream's kernel is done"
    );
    // The other way round: the default stream waits for what blocking streams have.
    ok!(fill::cuMemsetD8_v2(first, 0, 8));
    assert_eq!(launch(delay, 1, 1, blocking, &[first, 50 * MILLISECOND]), 0);
    assert_eq!(read(first, 1), [1], "a copy of the default stream");
}

#[test]
fn events_order_streams_and_keep_times() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (delay, fill) = (function(module, "delay"), function(module, "fill"));
    let (one, two) = (new_stream(1), new_stream(1));
    let (start, end) = (new_event(0), new_event(0));
    let (cell, first, second) = (meeting(), alloc(8), alloc(8));
    let mut milliseconds = 0f32;
    gives!(
        event::cuEventElapsedTime(out(&mut milliseconds), start, end),
        400,
        "never recorded"
    );
    ok!(event::cuEventQuery(start));
    ok!(event::cuEventRecord(start, one));
    launch_meet(one, cell, first);
    assert_eq!(launch(delay, 1, 1, one, &[first, 60 * MILLISECOND]), 0);
    ok!(event::cuEventRecord(end, one));
    gives!(event::cuEventQuery(end), NOT_READY);
    gives!(
        event::cuEventElapsedTime(out(&mut milliseconds), start, end),
        NOT_READY
    );
    ok!(stream::cuStreamWaitEvent(two, end, 0));
    assert_eq!(launch(fill, 1, 1, two, &[second, 9]), 0);
    cell.fetch_add(1, Ordering::AcqRel);
    ok!(stream::cuStreamSynchronize(two));
    ok!(event::cuEventQuery(end));
    ok!(event::cuEventSynchronize(end));
    ok!(event::cuEventElapsedTime(
        out(&mut milliseconds),
        start,
        end
    ));
    assert!((60.0..1000.0).contains(&milliseconds), "{milliseconds} ms");
    let untimed = new_event(2);
    ok!(event::cuEventRecord(untimed, one));
    ok!(event::cuEventSynchronize(untimed));
    gives!(
        event::cuEventElapsedTime(out(&mut milliseconds), start, untimed),
        400
    );
}

#[test]
fn events_for_other_processes_leave_no_pages_behind() {
    let _fixture = Fixture::new();
    let pages = || {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        maps.matches("softgpu-shared").count()
    };
    let before = pages();
    for _ in 0..8 {
        let shared = new_event(6);
        ok!(event::cuEventRecord(shared, 0));
        ok!(event::cuEventSynchronize(shared));
        ok!(event::cuEventDestroy_v2(shared));
    }
    ok!(context::cuCtxSynchronize());
    eventually(|| pages() == before);
}

const TAKES: &str = r#"
.version 7.0
.target sm_70
.address_size 64

.extern .func (.param .b64 r) malloc (.param .b64 size);

.visible .entry take(.param .u64 out, .param .u64 bytes)
{
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [bytes];
    {
        .param .b64 n;
        .param .b64 r;
        st.param.b64 [n], %rd2;
        call (r), malloc, (n);
        ld.param.b64 %rd3, [r];
    }
    st.global.u64 [%rd1], %rd3;
    ret;
}
"#;

#[test]
fn a_stack_is_no_larger_than_a_thread_can_have() {
    let _fixture = Fixture::new();
    ok!(context::cuCtxSetLimit(0, 512 << 10));
    gives!(context::cuCtxSetLimit(0, 1 << 30), INVALID_VALUE);
    let stack = made!(|to| context::cuCtxGetLimit(to, 0));
    assert_eq!(stack, 512 << 10);
}

#[test]
fn the_heap_of_kernels_is_as_large_as_its_limit() {
    let _fixture = Fixture::new();
    let target = alloc(8);
    let take = || {
        let take = function(load(TAKES), "take");
        assert_eq!(launch(take, 1, 1, 0, &[target, 16 << 20]), 0);
        read(target, 1)[0]
    };
    assert_eq!(take(), 0, "8 MiB");
    ok!(context::cuCtxSetLimit(2, 64 << 20));
    assert_ne!(take(), 0, "64 MiB");
}

#[test]
fn a_primary_context_is_made_again_once_it_is_gone() {
    let _fixture = Fixture::new();
    let mut primary = 0;
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut primary), 0));
    ok!(context::cuCtxPushCurrent_v2(primary));
    let delay = function(load(PTX), "delay");
    assert_eq!(launch(delay, 1, 1, 0, &[alloc(8), 100 * MILLISECOND]), 0);
    let releasing = std::thread::spawn(|| ok!(device::cuDevicePrimaryCtxRelease_v2(0)));
    std::thread::sleep(Duration::from_millis(20));
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut primary), 0));
    releasing.join().unwrap();
    ok!(context::cuCtxSetCurrent(primary));
    ok!(memory::cuMemFree_v2(alloc(8)));
    ok!(context::cuCtxPopCurrent_v2(nowhere()));
    ok!(device::cuDevicePrimaryCtxRelease_v2(0));
}

#[test]
fn who_waits_for_an_event_waits_for_the_record_that_there_was() {
    let _fixture = Fixture::new();
    let delay = function(load(PTX), "delay");
    let (slow, quick, waiting) = (new_stream(1), new_stream(1), new_stream(1));
    let (target, copied) = (alloc(8), alloc(8));
    let again = new_event(0);
    ok!(fill::cuMemsetD8_v2(target, 0, 8));
    ok!(context::cuCtxSynchronize());
    assert_eq!(launch(delay, 1, 1, slow, &[target, 100 * MILLISECOND]), 0);
    ok!(event::cuEventRecord(again, slow));
    ok!(stream::cuStreamWaitEvent(waiting, again, 0));
    ok!(event::cuEventRecord(again, quick));
    ok!(event::cuEventSynchronize(again));
    ok!(copy::cuMemcpyDtoDAsync_v2(copied, target, 8, waiting));
    ok!(stream::cuStreamSynchronize(waiting));
    assert_eq!(read(copied, 1), [1], "not the later record");
}

#[test]
fn pinned_copies_run_in_their_stream_and_pageable_ones_are_taken_at_once() {
    let _fixture = Fixture::new();
    let (cell, flag, target, own) = (meeting(), zeros(1), alloc(1 << 20), new_stream(1));
    let pinned = alloc_host(8).cast::<u64>();
    launch_meet(own, cell, flag);
    ok!(copy::cuMemcpyDtoHAsync_v2(pinned.cast(), flag, 8, own));
    gives!(stream::cuStreamQuery(own), NOT_READY);
    // SAFETY: allocated above; the copy may not have run, and reads of a word do not tear.
    assert_eq!(unsafe { pinned.read_volatile() }, 0, "not copied yet");
    let mut small = vec![5u8; 1000];
    ok!(copy::cuMemcpyHtoDAsync_v2(
        target,
        small.as_ptr().cast(),
        1000,
        own
    ));
    small.fill(6);
    cell.fetch_add(1, Ordering::AcqRel);
    ok!(stream::cuStreamSynchronize(own));
    // SAFETY: allocated above, and the copy has run.
    assert_eq!(unsafe { pinned.read_volatile() }, 1);
    let mut back = vec![0u8; 1000];
    ok!(copy::cuMemcpyDtoHAsync_v2(
        back.as_mut_ptr().cast(),
        target,
        1000,
        own
    ));
    assert_eq!(
        back, [5; 1000],
        "to pageable memory: done on return, as it was when issued"
    );
}

static CALLS: AtomicU32 = AtomicU32::new(0);
static STATUS: AtomicU32 = AtomicU32::new(77);

unsafe extern "C" fn count(data: *mut c_void) {
    CALLS.fetch_add(data as u32, Ordering::SeqCst);
}

unsafe extern "C" fn keep_status(_stream: u64, status: u32, _data: *mut c_void) {
    STATUS.store(status, Ordering::SeqCst);
}

#[test]
fn host_functions_run_in_the_order_of_the_stream() {
    let _fixture = Fixture::new();
    let (cell, own) = (meeting(), new_stream(1));
    launch_meet(own, cell, alloc(8));
    ok!(stream::cuLaunchHostFunc(own, Some(count), 3 as *mut c_void));
    ok!(stream::cuStreamAddCallback(
        own,
        Some(keep_status),
        std::ptr::null_mut(),
        0
    ));
    assert_eq!(CALLS.load(Ordering::SeqCst), 0);
    cell.fetch_add(1, Ordering::AcqRel);
    ok!(stream::cuStreamSynchronize(own));
    assert_eq!(CALLS.load(Ordering::SeqCst), 3);
    assert_eq!(STATUS.load(Ordering::SeqCst), 0);
}

unsafe extern "C" fn call_back_in(_data: *mut c_void) {
    let code = call!(context::cuCtxSynchronize());
    INSIDE.store(code, Ordering::SeqCst);
}

static INSIDE: AtomicU32 = AtomicU32::new(0);

#[test]
fn host_functions_must_not_wait_for_their_own_stream() {
    let _fixture = Fixture::new();
    ok!(stream::cuLaunchHostFunc(
        0,
        Some(call_back_in),
        std::ptr::null_mut()
    ));
    ok!(context::cuCtxSynchronize());
    assert_eq!(
        INSIDE.load(Ordering::SeqCst),
        800,
        "CUDA_ERROR_NOT_PERMITTED"
    );
}

#[test]
fn kernels_of_two_streams_run_at_the_same_time() {
    let _fixture = Fixture::new();
    let meet = function(load(MEET), "meet");
    let (cell, met) = (zeros(1), zeros(2));
    for own in [met, met + 8] {
        assert_eq!(launch(meet, 1, 1, new_stream(1), &[cell, 2, own]), 0);
    }
    ok!(context::cuCtxSynchronize());
    assert_eq!(read(met, 2), [1; 2], "each waits for the other");
}

#[test]
fn a_cooperative_launch_must_fit_the_device() {
    let _fixture = Fixture::new();
    let empty = function(load(PTX), "empty");
    let cooperative = gtrace_softgpu::api::launch::cuLaunchCooperativeKernel;
    ok!(cooperative(empty, 8, 1, 1, 1024, 1, 1, 0, 0, In::NULL));
    gives!(cooperative(empty, 9, 1, 1, 1024, 1, 1, 0, 0, In::NULL), 720);
}

#[test]
fn a_destroyed_stream_still_does_its_work() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (delay, fill) = (function(module, "delay"), function(module, "fill"));
    let (flag, target, own) = (alloc(8), alloc(8), new_stream(0));
    assert_eq!(launch(delay, 1, 1, own, &[flag, 30 * MILLISECOND]), 0);
    assert_eq!(launch(fill, 1, 1, own, &[target, 8]), 0);
    ok!(stream::cuStreamDestroy_v2(own));
    assert_eq!(read(target, 1), [8], "the default stream waits for it");
}

#[test]
fn a_stream_waits_for_a_value_of_memory() {
    let _fixture = Fixture::new();
    let fill = function(load(PTX), "fill");
    let (word, target, own) = (alloc_host(8), alloc(8), new_stream(1));
    gives!(
        stream::cuStreamWaitValue32(own, word as u64, 5, 4),
        INVALID_VALUE,
        "no comparison has this number"
    );
    ok!(stream::cuStreamWaitValue32(own, word as u64, 5, 0));
    assert_eq!(launch(fill, 1, 1, own, &[target, 6]), 0);
    std::thread::sleep(Duration::from_millis(5));
    gives!(stream::cuStreamQuery(own), NOT_READY);
    // SAFETY: an aligned word of page-locked memory.
    unsafe { AtomicU32::from_ptr(word.cast()) }.store(5, Ordering::Release);
    ok!(stream::cuStreamSynchronize(own));
    ok!(stream::cuStreamWriteValue64(own, target, 11, 0));
    ok!(stream::cuStreamSynchronize(own));
    assert_eq!(read(target, 1), [11]);
}

#[test]
fn threads_have_default_streams_of_their_own() {
    let fixture = Fixture::new();
    let delay = function(load(PTX), "delay");
    let flag = alloc(8);
    let params = [flag, 60 * MILLISECOND];
    let pointers = params
        .each_ref()
        .map(|value| std::ptr::from_ref(value) as u64);
    let context = fixture.context;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            ok!(context::cuCtxSetCurrent(context));
            // SAFETY: one pointer a parameter.
            let values = unsafe { In::new(pointers.as_ptr()) };
            let launch = gtrace_softgpu::api::launch::cuLaunchKernel_ptsz;
            ok!(launch(delay, 1, 1, 1, 1, 1, 1, 0, 0, values, In::NULL));
            gives!(stream::cuStreamQuery_ptsz(0), NOT_READY);
        });
    });
    ok!(stream::cuStreamQuery_ptsz(0));
    eventually(|| call!(stream::cuStreamQuery(0)) == 0);
    assert_eq!(
        read(flag, 1),
        [1],
        "the work of a thread that ended is done"
    );
}

#[test]
fn memory_freed_in_a_stream_is_freed_after_its_work() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let (delay, fill) = (function(module, "delay"), function(module, "fill"));
    let own = new_stream(1);
    let temporary = made!(|to| gtrace_softgpu::api::pool::cuMemAllocAsync(to, 8, own));
    let flag = alloc(8);
    assert_eq!(launch(delay, 1, 1, own, &[flag, 20 * MILLISECOND]), 0);
    assert_eq!(launch(fill, 1, 1, own, &[temporary, 1]), 0);
    ok!(gtrace_softgpu::api::pool::cuMemFreeAsync(temporary, own));
    ok!(stream::cuStreamSynchronize(own));
    gives!(memory::cuMemFree_v2(temporary), INVALID_VALUE);
}

#[test]
fn many_threads_may_use_one_context() {
    let fixture = Fixture::new();
    let fill = function(load(PTX), "fill");
    let context = fixture.context;
    let total = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for number in 0..4u64 {
            let total = &total;
            scope.spawn(move || {
                ok!(context::cuCtxSetCurrent(context));
                for round in 0..50 {
                    let (target, own) = (alloc(32 * 8), new_stream((round & 1) as u32));
                    assert_eq!(launch(fill, 1, 32, own, &[target, number]), 0);
                    let mut values = [9u64; 32];
                    let to = values.as_mut_ptr().cast();
                    ok!(copy::cuMemcpyDtoHAsync_v2(to, target, 256, own));
                    assert_eq!(values, [number; 32]);
                    ok!(stream::cuStreamDestroy_v2(own));
                    ok!(memory::cuMemFree_v2(target));
                    total.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(total.load(Ordering::Relaxed), 200);
}

#[test]
fn a_stream_whose_last_event_was_waited_for_is_done() {
    let _fixture = Fixture::new();
    let (own, last, target) = (new_stream(0), new_event(2), alloc(8));
    for round in 0..20_000 {
        ok!(fill::cuMemsetD8Async(target, 1, 8, own));
        ok!(event::cuEventRecord(last, own));
        if round % 2 == 0 {
            ok!(event::cuEventSynchronize(last));
        } else {
            while call!(event::cuEventQuery(last)) == NOT_READY {}
        }
        gives!(stream::cuStreamQuery(own), 0, "round {round}");
        // The legacy default stream waits for this one.
        gives!(stream::cuStreamQuery(0), 0, "round {round}");
    }
    ok!(fill::cuMemsetD8Async(target, 1, 8, own));
    ok!(stream::cuStreamSynchronize(own));
    ok!(stream::cuStreamQuery(own));
}
