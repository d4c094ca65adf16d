//! Answers that programs rely on although no guide says so: the samples of CUDA 13, PyTorch's allocator, NCCL,
//! and those that ask a driver whether it refuses what is wrong.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]

#[macro_use]
mod common;

use std::ffi::{CString, c_void};
use std::os::fd::{FromRawFd as _, OwnedFd};

use common::{
    Fixture, PTX, alloc, attribute, function, given, launch, load, new_stream, nowhere, out, outs,
};
use gtrace_softgpu::abi::In;
use gtrace_softgpu::api::virtual_memory as map;
use gtrace_softgpu::api::{
    context, copy, device, fill, graph, graph_node, library, memory, module, pointer,
};
use gtrace_softgpu::types::{
    CtxCreateParams, LaunchAttribute, LaunchConfig, MemAccess, MemAllocationProp, MemLocation,
};

const INVALID_VALUE: u32 = 1;
const NOT_SUPPORTED: u32 = 801;
const UNKNOWN: u32 = 999;
const SIZE: usize = 4 << 20;
const ON_DEVICE: MemLocation = MemLocation { kind: 1, id: 0 };

#[test]
fn contexts_take_parameters_that_ask_for_nothing() {
    let _fixture = Fixture::new();
    let mut context = 0;
    let mut params = CtxCreateParams {
        affinity: 0,
        affinity_count: 0,
        cig: 0,
    };
    let create = |params: &CtxCreateParams, context: &mut u64| {
        call!(context::cuCtxCreate_v4(out(context), given(params), 0, 0))
    };
    assert_eq!(create(&params, &mut context), 0);
    ok!(context::cuCtxDestroy_v2(context));
    params.cig = 1;
    assert_eq!(create(&params, &mut context), NOT_SUPPORTED);
}

fn properties(handle_types: u32) -> MemAllocationProp {
    MemAllocationProp {
        kind: 1,
        handle_types,
        location: ON_DEVICE,
        win32_handle_meta_data: 0,
        compression: 0,
        gpu_direct_rdma_capable: 0,
        usage: 0,
        reserved: [0; 4],
    }
}

/// Addresses at which the memory of a handle can be read and written.
fn mapped(handle: u64) -> u64 {
    let at = made!(|to| map::cuMemAddressReserve(to, SIZE, 0, 0, 0));
    ok!(map::cuMemMap(at, SIZE, 0, handle, 0));
    let access = MemAccess {
        location: ON_DEVICE,
        flags: 3,
    };
    ok!(map::cuMemSetAccess(at, SIZE, given(&access), 1));
    at
}

#[test]
fn more_addresses_than_there_are_cannot_be_reserved() {
    let _fixture = Fixture::new();
    let (all, mut at) = (usize::MAX & !((2 << 20) - 1), 0);
    let beyond = call!(map::cuMemAddressReserve(out(&mut at), all, 4 << 20, 0, 0));
    assert_eq!((beyond, at), (2, 0), "CUDA_ERROR_OUT_OF_MEMORY");
    ok!(map::cuMemAddressReserve(out(&mut at), SIZE, 0, 0, 0));
    ok!(map::cuMemAddressFree(at, SIZE));
}

#[test]
fn memory_travels_as_a_file_descriptor() {
    const KIND: u32 = 1;
    let _fixture = Fixture::new();
    assert_eq!(attribute(103), 1);
    let (mut first, mut second, mut plain) = (0, 0, 0);
    let create = |handle: &mut u64, types: u32| {
        call!(map::cuMemCreate(
            out(handle),
            SIZE,
            given(&properties(types)),
            0
        ))
    };
    assert_eq!(create(&mut first, KIND), 0);
    assert_eq!(create(&mut plain, 0), 0);
    // Windows' handles.
    assert_eq!(create(&mut second, 2), NOT_SUPPORTED);
    let mut fd = -1;
    let export = |handle: u64, fd: &mut i32, kind: u32| {
        call!(map::cuMemExportToShareableHandle(out(fd), handle, kind, 0))
    };
    assert_eq!(export(plain, &mut fd, KIND), INVALID_VALUE);
    assert_eq!(export(first, &mut fd, KIND), 0);
    // SAFETY: the descriptor belongs to the program from here on.
    let own = unsafe { OwnedFd::from_raw_fd(fd) };
    let import = |handle: &mut u64, fd: i32| {
        call!(map::cuMemImportFromShareableHandle(
            out(handle),
            fd as usize as *mut c_void,
            KIND
        ))
    };
    assert_eq!(import(&mut second, fd), 0);
    drop(own);
    // What one writes the other reads, also when the first handle and its mapping are gone.
    let (a, b) = (mapped(first), mapped(second));
    ok!(fill::cuMemsetD32_v2(a, 0x1234_5678, SIZE / 4));
    ok!(map::cuMemUnmap(a, SIZE));
    ok!(map::cuMemRelease(first));
    let mut words = vec![0_u32; SIZE / 4];
    ok!(copy::cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), b, SIZE));
    assert!(words.iter().all(|word| *word == 0x1234_5678));
    // A file of something else, and none.
    let other = std::fs::File::open("/dev/zero").unwrap();
    let other = std::os::fd::AsRawFd::as_raw_fd(&other);
    assert_eq!(import(&mut second, other), UNKNOWN);
    assert_eq!(import(&mut second, 9999), UNKNOWN);
    ok!(map::cuMemUnmap(b, SIZE));
    ok!(map::cuMemRelease(plain));
}

#[test]
fn a_fill_of_managed_memory_is_made_when_it_returns() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let delay = function(module, "delay");
    let (mut shared, done) = (0, alloc(8));
    ok!(memory::cuMemAllocManaged(out(&mut shared), 4096, 1));
    for value in 1..4 {
        assert_eq!(launch(delay, 1, 1, 0, &[done, 20_000_000]), 0);
        ok!(fill::cuMemsetD32_v2(shared, value, 1024));
        // SAFETY: managed memory, of which no work is left.
        let words = unsafe { std::slice::from_raw_parts(shared as *const u32, 1024) };
        assert!(words.iter().all(|word| *word == value));
    }
}

#[test]
fn launch_attributes_that_do_not_exist_are_refused() {
    let _fixture = Fixture::new();
    let module = load(PTX);
    let empty = function(module, "empty");
    let stream = new_stream(0);
    let launch = |id: u32| {
        let attribute = LaunchAttribute {
            id,
            pad: [0; 4],
            value: [0; 8],
        };
        let config = LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
            stream,
            attributes: given(&attribute),
            attribute_count: 1,
        };
        call!(gtrace_softgpu::api::launch::cuLaunchKernelEx(
            given(&config),
            empty,
            In::NULL,
            In::NULL
        ))
    };
    // The priority, a hint.
    assert_eq!(launch(8), 0);
    assert_eq!(launch(15), INVALID_VALUE);
    assert_eq!(launch(500), INVALID_VALUE);
}

#[test]
fn lists_of_a_graph_need_room() {
    let _fixture = Fixture::new();
    let (mut whole, mut first, mut second) = (0, 0, 0);
    ok!(graph::cuGraphCreate(out(&mut whole), 0));
    ok!(graph_node::cuGraphAddEmptyNode(
        out(&mut first),
        whole,
        In::NULL,
        0
    ));
    ok!(graph_node::cuGraphAddEmptyNode(
        out(&mut second),
        whole,
        given(&first),
        1
    ));
    let mut nodes = [0_u64; 4];
    for (room, expected) in [(0, INVALID_VALUE), (4, 0)] {
        let mut count = room;
        let (mut others, at) = ([0_u64; 4], outs(&mut nodes));
        let got = [
            call!(graph::cuGraphGetNodes(whole, at, out(&mut count))),
            call!(graph::cuGraphGetRootNodes(whole, at, out(&mut { room }))),
            call!(graph::cuGraphGetEdges(
                whole,
                at,
                outs(&mut others),
                out(&mut { room })
            )),
            call!(graph::cuGraphNodeGetDependencies(
                second,
                at,
                out(&mut { room })
            )),
            call!(graph::cuGraphNodeGetDependentNodes(
                first,
                at,
                out(&mut { room })
            )),
        ];
        assert_eq!(got, [expected; 5]);
        assert!(expected != 0 || count == 2);
    }
    // Without a place it is a question for the number.
    let count = made!(|to| graph::cuGraphGetNodes(whole, nowhere(), to));
    assert_eq!(count, 2);
    ok!(graph::cuGraphDestroy(whole));
}

#[test]
fn loading_says_how_long_it_took() {
    const WALL_TIME: u32 = 2;
    let _fixture = Fixture::new();
    let text = CString::new(PTX).unwrap();
    let (mut handle, mut value) = (0, u64::MAX);
    ok!(library::cuLibraryLoadData(
        out(&mut handle),
        text.as_ptr().cast(),
        given(&WALL_TIME),
        out(&mut value),
        1,
        In::NULL,
        nowhere(),
        0
    ));
    let milliseconds = f32::from_bits(value as u32);
    assert!(
        milliseconds > 0.0 && milliseconds < 60_000.0,
        "{milliseconds}"
    );
    ok!(library::cuLibraryUnload(handle));
}

#[test]
fn attributes_have_their_size() {
    let _fixture = Fixture::new();
    let at = alloc(64);
    for wanted in [0_u32, 1, 0] {
        ok!(pointer::cuPointerSetAttribute(given(&wanted), 6, at));
        let mut value = -1_i32;
        // SAFETY: an int, as the attribute is.
        let place = unsafe { gtrace_softgpu::types::Untyped::new((&raw mut value).cast()) };
        ok!(pointer::cuPointerGetAttribute(place, 6, at));
        assert_eq!(value, wanted as i32);
    }
    gives!(
        device::cuDeviceGetP2PAttribute(nowhere(), 2, 0, 0),
        INVALID_VALUE
    );
}

/// As with a driver that loads functions when they are first asked for, some of what is known of one is known then only.
#[test]
fn a_function_that_is_not_loaded_says_less() {
    const NOT_LOADED: u32 = 913;
    const MAX_THREADS: u32 = 0;
    const SHARED: u32 = 1;
    let _fixture = Fixture::new();
    let module = load(PTX);
    let mut functions = [0; 2];
    ok!(module::cuModuleEnumerateFunctions(
        outs(&mut functions),
        2,
        module
    ));
    let [first, second] = functions;
    let attribute = |function: u64, which: u32| {
        let mut value = -1;
        call!(module::cuFuncGetAttribute(out(&mut value), which, function))
    };
    let loaded = |function: u64| {
        let mut state = 9;
        ok!(module::cuFuncIsLoaded(out(&mut state), function));
        state
    };
    assert_eq!((loaded(first), loaded(second)), (0, 0));
    assert_eq!(attribute(first, MAX_THREADS), NOT_LOADED);
    assert_eq!(attribute(first, SHARED), 0);
    ok!(module::cuFuncLoad(first));
    assert_eq!((loaded(first), attribute(first, MAX_THREADS)), (1, 0));
    let mut name = std::ptr::null();
    ok!(module::cuFuncGetName(out(&mut name), second));
    // SAFETY: a text of the module.
    let name = unsafe { std::ffi::CStr::from_ptr(name) };
    assert_eq!(function(module, name.to_str().unwrap()), second);
    assert_eq!((loaded(second), attribute(second, MAX_THREADS)), (1, 0));
}
