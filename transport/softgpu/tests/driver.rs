//! Contexts, memory, copies, handles and errors, by the functions that programs call.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

#[macro_use]
mod common;

use std::ffi::{CStr, CString, c_char, c_void};

use common::{
    Fixture, alloc, alloc_host, attribute, free_memory, given, name, new_stream, nowhere, out,
};
use gtrace_softgpu::abi::{In, Out};
use gtrace_softgpu::api::{
    capture, context, copy, device, event, fill, init, lookup, memory, pointer, pool, stream,
};

const INVALID_VALUE: u32 = 1;
const OUT_OF_MEMORY: u32 = 2;
const INVALID_CONTEXT: u32 = 201;
const INVALID_HANDLE: u32 = 400;
const CONTEXT_IS_DESTROYED: u32 = 709;

#[test]
fn the_device_names_itself_an_emulator() {
    let _fixture = Fixture::new();
    let mut text = [0 as c_char; 100];
    // SAFETY: an array of 100 elements.
    let buffer = unsafe { Out::new(text.as_mut_ptr()) };
    ok!(device::cuDeviceGetName(buffer, 100, 0));
    // SAFETY: the function wrote a NUL-terminated text.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_str().unwrap();
    assert_eq!(text, "gtrace softgpu (CPU emulator) 0");
    assert_eq!(attribute(1), 1024, "threads per block");
    assert_eq!((attribute(75), attribute(76)), (9, 0), "compute capability");
    gives!(device::cuDeviceGetAttribute(nowhere(), 1, 0), INVALID_VALUE);
    let mut value = 0;
    gives!(
        device::cuDeviceGetAttribute(out(&mut value), 100_000, 0),
        INVALID_VALUE
    );
    gives!(
        device::cuDeviceGetAttribute(out(&mut value), 1, 1),
        101,
        "no device 1"
    );
}

#[test]
fn memory_is_limited_and_comes_back() {
    let _fixture = Fixture::new();
    let before = free_memory();
    let address = alloc(1 << 20);
    assert_eq!(address % 512, 0);
    assert_eq!(free_memory(), before - (1 << 20));
    let mut more = 0;
    gives!(memory::cuMemAlloc_v2(out(&mut more), before), OUT_OF_MEMORY);
    gives!(memory::cuMemAlloc_v2(out(&mut more), 0), INVALID_VALUE);
    gives!(memory::cuMemAlloc_v2(nowhere(), 4), INVALID_VALUE);
    gives!(
        memory::cuMemFree_v2(address + 512),
        INVALID_VALUE,
        "not its begin"
    );
    ok!(memory::cuMemFree_v2(address));
    gives!(memory::cuMemFree_v2(address), INVALID_VALUE, "freed twice");
    ok!(memory::cuMemFree_v2(0));
    assert_eq!(free_memory(), before);
}

#[test]
fn copies_carry_bytes_and_stay_in_bounds() {
    let _fixture = Fixture::new();
    let (first, second) = (alloc(4096), alloc(4096));
    let source: Vec<u8> = (0..4096u32).map(|n| (n * 7) as u8).collect();
    let mut back = vec![0u8; 4096];
    ok!(copy::cuMemcpyHtoD_v2(first, source.as_ptr().cast(), 4096));
    ok!(copy::cuMemcpyDtoD_v2(second, first, 4096));
    ok!(copy::cuMemcpyDtoH_v2(
        back.as_mut_ptr().cast(),
        second,
        4096
    ));
    assert_eq!(back, source);
    gives!(
        copy::cuMemcpyHtoD_v2(first + 1, source.as_ptr().cast(), 4096),
        INVALID_VALUE
    );
    gives!(
        copy::cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), 0x1234, 8),
        INVALID_VALUE
    );
    ok!(copy::cuMemcpyHtoD_v2(first, source.as_ptr().cast(), 0));
    ok!(copy::cuMemcpy(second, source.as_ptr() as u64, 100));
    gives!(
        fill::cuMemsetD32_v2(first + 2, 5, 4),
        INVALID_VALUE,
        "misaligned"
    );
    ok!(fill::cuMemsetD32_v2(first, 0x0102_0304, 1024));
    ok!(fill::cuMemsetD2D8_v2(first, 64, 0xff, 8, 4));
    ok!(copy::cuMemcpyDtoH_v2(back.as_mut_ptr().cast(), first, 4096));
    assert_eq!(
        &back[..12],
        [255, 255, 255, 255, 255, 255, 255, 255, 4, 3, 2, 1]
    );
    assert_eq!(
        &back[64 * 3..64 * 3 + 9],
        [255, 255, 255, 255, 255, 255, 255, 255, 4]
    );
    assert_eq!(back[64 * 4], 4);
}

#[test]
fn rectangles_are_copied_by_rows() {
    let _fixture = Fixture::new();
    let (mut address, mut pitch) = (0, 0);
    ok!(memory::cuMemAllocPitch_v2(
        out(&mut address),
        out(&mut pitch),
        10,
        4,
        4
    ));
    assert_eq!(pitch, 512);
    let source: Vec<u8> = (0..40).collect();
    let mut request = gtrace_softgpu::types::Memcpy2D {
        src_x: 0,
        src_y: 0,
        src_type: 1,
        src_host: source.as_ptr() as u64,
        src_device: 0,
        src_array: 0,
        src_pitch: 10,
        dst_x: 0,
        dst_y: 0,
        dst_type: 2,
        dst_host: 0,
        dst_device: address,
        dst_array: 0,
        dst_pitch: pitch,
        width: 10,
        height: 4,
    };
    ok!(copy::cuMemcpy2D_v2(given(&request)));
    let mut row = [0u8; 10];
    ok!(copy::cuMemcpyDtoH_v2(
        row.as_mut_ptr().cast(),
        address + 3 * 512,
        10
    ));
    assert_eq!(row, [30, 31, 32, 33, 34, 35, 36, 37, 38, 39]);
    request.dst_y = 1;
    gives!(
        copy::cuMemcpy2D_v2(given(&request)),
        INVALID_VALUE,
        "the last row would lie past the end"
    );
}

#[test]
fn slices_of_a_box_do_not_run_into_each_other() {
    let _fixture = Fixture::new();
    let source: Vec<u8> = (0..32).collect();
    let mut request = gtrace_softgpu::types::Memcpy3D {
        src_type: 1,
        src_host: source.as_ptr() as u64,
        src_pitch: 4,
        src_height: 4,
        dst_type: 2,
        dst_device: alloc(64),
        dst_pitch: 4,
        dst_height: 3,
        width: 4,
        height: 4,
        depth: 2,
        ..Default::default()
    };
    gives!(copy::cuMemcpy3D_v2(given(&request)), INVALID_VALUE);
    request.dst_height = 5;
    ok!(copy::cuMemcpy3D_v2(given(&request)));
    let mut row = [0u8; 4];
    let last = request.dst_device + 8 * 4;
    ok!(copy::cuMemcpyDtoH_v2(row.as_mut_ptr().cast(), last, 4));
    assert_eq!(row, [28, 29, 30, 31]);
    request.dst_y = 2;
    gives!(copy::cuMemcpy3D_v2(given(&request)), INVALID_VALUE);
    (request.dst_y, request.height, request.dst_pitch) = (0, 1, 3);
    gives!(
        copy::cuMemcpy3D_v2(given(&request)),
        INVALID_VALUE,
        "a slice of one row"
    );
}

#[test]
fn contexts_are_a_stack_of_each_thread() {
    let fixture = Fixture::new();
    let other = made!(|to| context::cuCtxCreate_v2(to, 0, 0));
    let mut current = 0;
    ok!(context::cuCtxGetCurrent(out(&mut current)));
    assert_eq!(current, other);
    ok!(context::cuCtxPopCurrent_v2(out(&mut current)));
    assert_eq!(current, other);
    ok!(context::cuCtxGetCurrent(out(&mut current)));
    assert_eq!(current, fixture.context);
    std::thread::spawn(|| {
        let mut current = 9;
        ok!(context::cuCtxGetCurrent(out(&mut current)));
        assert_eq!(current, 0);
        let mut address = 0;
        gives!(memory::cuMemAlloc_v2(out(&mut address), 4), INVALID_CONTEXT);
        gives!(
            context::cuCtxPopCurrent_v2(out(&mut current)),
            INVALID_CONTEXT
        );
    })
    .join()
    .unwrap();
    ok!(context::cuCtxPushCurrent_v2(other));
    let before = free_memory();
    alloc(1 << 16);
    ok!(context::cuCtxDestroy_v2(other));
    ok!(context::cuCtxGetCurrent(out(&mut current)));
    assert_eq!(
        current, fixture.context,
        "a destroyed context leaves the stack"
    );
    assert_eq!(free_memory(), before, "and its memory goes back");
    gives!(context::cuCtxPushCurrent_v2(other), INVALID_CONTEXT);
    gives!(context::cuCtxDestroy_v2(12345), INVALID_CONTEXT);
}

#[test]
fn the_primary_context_is_counted_and_reset() {
    let _fixture = Fixture::new();
    let (mut first, mut second) = (0, 0);
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut first), 0));
    ok!(device::cuDevicePrimaryCtxRetain(out(&mut second), 0));
    assert_eq!(first, second);
    ok!(device::cuDevicePrimaryCtxRelease_v2(0));
    let (mut flags, mut active) = (9, 9);
    ok!(device::cuDevicePrimaryCtxGetState(
        0,
        out(&mut flags),
        out(&mut active)
    ));
    assert_eq!((flags, active), (0, 1));
    gives!(context::cuCtxDestroy_v2(first), INVALID_CONTEXT);
    ok!(context::cuCtxPushCurrent_v2(first));
    ok!(device::cuDevicePrimaryCtxReset_v2(0));
    gives!(context::cuCtxSynchronize(), CONTEXT_IS_DESTROYED);
    ok!(context::cuCtxPopCurrent_v2(nowhere()));
    ok!(device::cuDevicePrimaryCtxGetState(
        0,
        out(&mut flags),
        out(&mut active)
    ));
    assert_eq!(active, 0);
    gives!(device::cuDevicePrimaryCtxRelease_v2(0), INVALID_CONTEXT);
}

#[test]
fn a_wrong_handle_is_reported() {
    let _fixture = Fixture::new();
    let live = new_stream(0);
    for wrong in [3, 0xdead_beef, u64::MAX, live + 16] {
        gives!(stream::cuStreamSynchronize(wrong), INVALID_HANDLE);
        gives!(stream::cuStreamDestroy_v2(wrong), INVALID_HANDLE);
        gives!(event::cuEventQuery(wrong), INVALID_HANDLE);
        gives!(event::cuEventRecord(wrong, 0), INVALID_HANDLE);
        assert_eq!(common::launch(wrong, 1, 1, 0, &[]), INVALID_HANDLE);
    }
    gives!(
        event::cuEventQuery(live),
        INVALID_HANDLE,
        "a stream is no event"
    );
    ok!(stream::cuStreamDestroy_v2(live));
    gives!(stream::cuStreamQuery(live), INVALID_HANDLE, "destroyed");
}

#[test]
fn pointers_are_distinguished() {
    let fixture = Fixture::new();
    let (on_device, on_host) = (alloc(4096), alloc_host(4096) as u64);
    let kind = |address: u64| {
        let mut kind = 0u32;
        // SAFETY: the attribute is an unsigned int.
        let place = unsafe { Out::new((&raw mut kind).cast::<c_void>()) };
        (
            call!(pointer::cuPointerGetAttribute(place, 2, address)),
            kind,
        )
    };
    assert_eq!(kind(on_device + 100), (0, 2));
    assert_eq!(kind(on_host + 100), (0, 1));
    assert_eq!(kind(on_device + 4096).0, INVALID_VALUE);
    let (mut base, mut size) = (0, 0);
    ok!(memory::cuMemGetAddressRange_v2(
        out(&mut base),
        out(&mut size),
        on_device + 5
    ));
    assert_eq!((base, size), (on_device, 4096));
    let ids = [1u32, 9, 8];
    for (address, known) in [
        (on_device, (fixture.context, 0, 0)),
        (0x10, (0, -2, 0)), // CUDA does not know it.
    ] {
        let (mut owner, mut ordinal, mut managed) = (7u64, -7i32, -7i32);
        let places = [
            (&raw mut owner) as u64,
            (&raw mut ordinal) as u64,
            (&raw mut managed) as u64,
        ];
        // SAFETY: three attributes of these types.
        let (ids, places) = unsafe { (In::new(ids.as_ptr()), In::new(places.as_ptr())) };
        ok!(pointer::cuPointerGetAttributes(3, ids, places, address));
        assert_eq!((owner, ordinal, managed), known);
    }
    ok!(memory::cuMemFreeHost(on_host as *mut c_void));
    gives!(memory::cuMemFreeHost(on_host as *mut c_void), INVALID_VALUE);
}

#[test]
fn registered_memory_is_registered_once() {
    let _fixture = Fixture::new();
    let mut bytes = vec![0u8; 8192];
    let start = bytes.as_mut_ptr().cast::<c_void>();
    ok!(memory::cuMemHostRegister_v2(start, 8192, 0));
    gives!(memory::cuMemHostRegister_v2(start, 16, 0), 712);
    let device = made!(|to| memory::cuMemHostGetDevicePointer_v2(to, start, 0));
    assert_eq!(device, start as u64);
    ok!(memory::cuMemHostUnregister(start));
    gives!(memory::cuMemHostUnregister(start), 713);
}

#[test]
fn pools_count_what_streams_allocate() {
    let _fixture = Fixture::new();
    let before = free_memory();
    let (mut pool, mut address) = (0, 0);
    ok!(device_pool(out(&mut pool)));
    ok!(pool::cuMemAllocAsync(out(&mut address), 4096, 0));
    let used = |pool| {
        let mut used = 0u64;
        // SAFETY: the attribute is of 64 bits.
        let place = unsafe { Out::new((&raw mut used).cast::<c_void>()) };
        ok!(pool::cuMemPoolGetAttribute(pool, 7, place));
        used
    };
    assert_eq!(used(pool), 4096);
    ok!(pool::cuMemFreeAsync(address, 0));
    ok!(context::cuCtxSynchronize());
    assert_eq!(used(pool), 0);
    assert_eq!(free_memory(), before);
    gives!(pool::cuMemFreeAsync(address, 0), INVALID_VALUE);
}

unsafe extern "C" fn device_pool(pool: Out<u64>) -> u32 {
    call!(pool::cuDeviceGetDefaultMemPool(pool, 0))
}

#[test]
fn functions_are_found_by_name_and_version() {
    let _fixture = Fixture::new();
    let find = |text: &str, version: i32, flags: u64| {
        let text = CString::new(text).unwrap();
        let (mut address, mut status) = (std::ptr::null_mut(), 9);
        let code = call!(lookup::cuGetProcAddress_v2(
            name(&text),
            out(&mut address),
            version,
            flags,
            out(&mut status),
        ));
        (code, address as usize, status)
    };
    let expected = memory::cuMemAlloc_v2 as *const () as usize;
    assert_eq!(find("cuMemAlloc", 12_000, 0), (0, expected, 0));
    let twin = stream::cuStreamSynchronize_ptsz as *const () as usize;
    assert_eq!(find("cuStreamSynchronize", 12_000, 2), (0, twin, 0));
    assert_eq!(find("cuNothing", 12_000, 0), (0, 0, 1));
    let text = CString::new("cuNothing").unwrap();
    let mut address = std::ptr::dangling_mut();
    let code = call!(lookup::cuGetProcAddress_v2(
        name(&text),
        out(&mut address),
        12_000,
        0,
        nowhere(),
    ));
    assert_eq!((code, address.is_null()), (0, true), "no status is wanted");
    gives!(
        lookup::cuGetProcAddress(name(&text), out(&mut address), 12_000, 0),
        500
    );
}

#[test]
fn a_stream_does_not_capture_unless_asked_to() {
    let _fixture = Fixture::new();
    let own = new_stream(0);
    let mut status = 9;
    ok!(capture::cuStreamIsCapturing(own, out(&mut status)));
    assert_eq!(status, 0);
}

#[test]
fn error_texts_are_those_of_cuda() {
    let mut text: *const c_char = std::ptr::null();
    ok!(init::cuGetErrorString(2, out(&mut text)));
    // SAFETY: a static text.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"out of memory");
    ok!(init::cuGetErrorName(719, out(&mut text)));
    // SAFETY: a static text.
    assert_eq!(unsafe { CStr::from_ptr(text) }, c"CUDA_ERROR_LAUNCH_FAILED");
    gives!(init::cuGetErrorName(12_345, out(&mut text)), INVALID_VALUE);
    assert!(text.is_null());
}

#[test]
fn random_handles_never_crash() {
    let _fixture = Fixture::new();
    let mut seed = 0x1234_5678_9abc_def0u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..10_000 {
        let (handle, address) = (next() | 4, next());
        let (mut number, mut word) = (0, 0);
        assert_ne!(call!(context::cuCtxSetCurrent(handle)), 0);
        assert_ne!(call!(memory::cuMemFree_v2(address)), 0);
        assert_ne!(call!(pool::cuMemPoolDestroy(handle)), 0);
        assert_ne!(call!(stream::cuStreamGetId(handle, out(&mut word))), 0);
        assert_ne!(call!(stream::cuStreamWaitValue32(0, address, 1, 0)), 0);
        assert_ne!(call!(fill::cuMemsetD8_v2(address, 1, 8)), 0);
        assert_ne!(
            call!(gtrace_softgpu::api::module::cuFuncGetAttribute(
                out(&mut number),
                0,
                handle
            )),
            0
        );
        assert_ne!(call!(gtrace_softgpu::api::link::cuLinkDestroy(handle)), 0);
        assert_ne!(
            call!(gtrace_softgpu::api::library::cuLibraryUnload(handle)),
            0
        );
    }
}
