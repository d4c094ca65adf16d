//! Stream capture and graphs: each error of a capture, order of nodes, updates, memory of graphs.
#![allow(
    unsafe_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test"
)]

#[macro_use]
mod common;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use common::{
    Fixture, PTX, alloc, alloc_host, free_memory, function, given, launch, load, new_stream,
    nowhere, out, outs,
};
use gtrace_softgpu::abi::In;
use gtrace_softgpu::api::capture::{
    cuStreamBeginCapture_v2, cuStreamEndCapture, cuStreamGetCaptureInfo_v2, cuStreamIsCapturing,
    cuStreamUpdateCaptureDependencies, cuThreadExchangeStreamCaptureMode,
};
use gtrace_softgpu::api::graph::*;
use gtrace_softgpu::api::graph_node::*;
use gtrace_softgpu::api::{context, copy, event, fill, memory, pool, stream};
use gtrace_softgpu::types::{
    HostNodeParams, MemAllocNodeParams, MemLocation, MemPoolProps, MemsetNodeParams, NodeParams,
    UpdateInfo,
};

const INVALID_VALUE: u32 = 1;
const INVALID_HANDLE: u32 = 400;
const ILLEGAL_STATE: u32 = 401;
const NOT_SUPPORTED: u32 = 801;
const UNSUPPORTED: u32 = 900;
const INVALIDATED: u32 = 901;
const MERGE: u32 = 902;
const UNMATCHED: u32 = 903;
const UNJOINED: u32 = 904;
const ISOLATION: u32 = 905;
const IMPLICIT: u32 = 906;
const CAPTURED_EVENT: u32 = 907;
const WRONG_THREAD: u32 = 908;
const UPDATE_FAILURE: u32 = 910;

const NON_BLOCKING: u32 = 1;
const GLOBAL: u32 = 0;
const THREAD_LOCAL: u32 = 1;
const RELAXED: u32 = 2;

fn begin(stream: u64, mode: u32) {
    ok!(cuStreamBeginCapture_v2, stream, mode);
}

fn end(stream: u64) -> Result<u64, u32> {
    let mut graph = 7;
    match call!(cuStreamEndCapture, stream, out(&mut graph)) {
        0 => Ok(graph),
        code => {
            assert_eq!(graph, 0, "no graph came of it");
            Err(code)
        }
    }
}

fn status(stream: u64) -> u32 {
    let mut status = 9;
    ok!(cuStreamIsCapturing, stream, out(&mut status));
    status
}

fn new_event() -> u64 {
    let mut handle = 0;
    ok!(event::cuEventCreate, out(&mut handle), 2);
    handle
}

fn instantiate(graph: u64) -> u64 {
    let mut exec = 0;
    ok!(cuGraphInstantiateWithFlags, out(&mut exec), graph, 0);
    exec
}

fn read(address: u64) -> u64 {
    let mut value = 0u64;
    ok!(
        copy::cuMemcpyDtoH_v2,
        (&raw mut value).cast::<c_void>(),
        address,
        8
    );
    value
}

fn set(address: u64, value: u8, stream: u64) {
    ok!(fill::cuMemsetD8Async, address, value, 8, stream);
}

fn run(exec: u64, on: u64) {
    ok!(cuGraphLaunch, exec, on);
    ok!(stream::cuStreamSynchronize, on);
}

fn handles(values: &[u64]) -> In<u64> {
    // SAFETY: an array that outlives the call, whose length is named beside it.
    unsafe { In::new(values.as_ptr()) }
}

#[test]
fn what_is_captured_is_done_at_each_launch_and_in_order() {
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    let kernel = function(load(PTX), "fill");
    let (target, copied) = (alloc(8), alloc(8));
    for memory in [target, copied] {
        set(memory, 0, own);
    }
    ok!(stream::cuStreamSynchronize, own);
    begin(own, GLOBAL);
    assert_eq!(status(own), 1);
    assert_eq!(launch(kernel, 1, 1, own, &[target, 42]), 0);
    ok!(copy::cuMemcpyDtoDAsync_v2, copied, target, 8, own);
    set(target, 1, own);
    let graph = end(own).unwrap();
    assert_eq!((status(own), read(target), read(copied)), (0, 0, 0));
    let exec = instantiate(graph);
    // It needs its graph no more.
    ok!(cuGraphDestroy, graph);
    assert_eq!(call!(cuGraphDestroy, graph), INVALID_HANDLE);
    run(exec, own);
    assert_eq!((read(copied), read(target)), (42, 0x0101_0101_0101_0101));
    set(copied, 0, own);
    run(exec, own);
    assert_eq!(read(copied), 42);
    ok!(cuGraphExecDestroy, exec);
    assert_eq!(call!(cuGraphLaunch, exec, own), INVALID_HANDLE);
}

#[test]
fn a_capture_begins_and_ends_where_it_may() {
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    assert_eq!(call!(cuStreamBeginCapture_v2, 0, GLOBAL), UNSUPPORTED);
    assert_eq!(call!(cuStreamBeginCapture_v2, own, 3), INVALID_VALUE);
    assert_eq!(end(own), Err(ILLEGAL_STATE));
    begin(own, GLOBAL);
    assert_eq!(call!(cuStreamBeginCapture_v2, own, GLOBAL), ILLEGAL_STATE);
    assert!(end(own).is_ok());
}

#[test]
fn threads_end_their_own_captures_unless_they_are_relaxed() {
    let fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    let current = fixture.context;
    for (mode, wanted) in [
        (GLOBAL, WRONG_THREAD),
        (THREAD_LOCAL, WRONG_THREAD),
        (RELAXED, 0),
    ] {
        begin(own, mode);
        let other = std::thread::spawn(move || {
            ok!(context::cuCtxSetCurrent, current);
            let mut graph = 0;
            call!(cuStreamEndCapture, own, out(&mut graph))
        });
        assert_eq!(other.join().unwrap(), wanted, "mode {mode}");
        if wanted != 0 {
            assert!(end(own).is_ok());
        }
    }
}

#[test]
fn a_stream_joins_by_an_event_and_has_to_be_joined() {
    let _fixture = Fixture::new();
    let (own, other) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING));
    let (forked, joined, memory) = (new_event(), new_event(), alloc(8));
    begin(own, GLOBAL);
    ok!(event::cuEventRecord, forked, own);
    ok!(stream::cuStreamWaitEvent, other, forked, 0);
    assert_eq!(status(other), 1);
    assert_eq!(end(other), Err(UNMATCHED));
    assert_eq!(end(own), Err(INVALIDATED));

    begin(own, GLOBAL);
    ok!(event::cuEventRecord, forked, own);
    ok!(stream::cuStreamWaitEvent, other, forked, 0);
    set(memory, 3, other);
    assert_eq!(end(own), Err(UNJOINED));
    assert_eq!((status(own), status(other)), (0, 0));

    begin(own, GLOBAL);
    ok!(event::cuEventRecord, forked, own);
    ok!(stream::cuStreamWaitEvent, other, forked, 0);
    set(memory, 3, other);
    ok!(event::cuEventRecord, joined, other);
    ok!(stream::cuStreamWaitEvent, own, joined, 0);
    let exec = instantiate(end(own).unwrap());
    run(exec, own);
    assert_eq!(read(memory), 0x0303_0303_0303_0303);
    assert_eq!(call!(event::cuEventQuery, forked), INVALID_VALUE);
    assert_eq!(
        call!(stream::cuStreamWaitEvent, own, forked, 0),
        CAPTURED_EVENT
    );
    ok!(event::cuEventRecord, forked, own);
    ok!(event::cuEventSynchronize, forked);
}

#[test]
fn captures_stay_apart_from_each_other_and_from_what_is_not_captured() {
    let _fixture = Fixture::new();
    let (own, other) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING));
    let (inner, outer) = (new_event(), new_event());
    begin(own, GLOBAL);
    begin(other, GLOBAL);
    ok!(event::cuEventRecord, inner, other);
    assert_eq!(call!(stream::cuStreamWaitEvent, own, inner, 0), MERGE);
    assert_eq!((end(own), end(other)), (Err(INVALIDATED), Err(INVALIDATED)));

    begin(own, GLOBAL);
    ok!(event::cuEventRecord, outer, other);
    assert_eq!(call!(stream::cuStreamWaitEvent, own, outer, 0), ISOLATION);
    assert_eq!(end(own), Err(INVALIDATED));
}

#[test]
fn the_legacy_stream_does_not_wait_for_a_capture() {
    let _fixture = Fixture::new();
    let (blocking, memory) = (new_stream(0), alloc(8));
    begin(blocking, RELAXED);
    let mut status = 0;
    assert_eq!(call!(cuStreamIsCapturing, 0, out(&mut status)), IMPLICIT);
    assert_eq!(call!(fill::cuMemsetD8Async, memory, 1, 8, 0), IMPLICIT);
    assert_eq!(end(blocking), Err(INVALIDATED));

    let own = new_stream(NON_BLOCKING);
    begin(own, RELAXED);
    set(memory, 1, 0);
    assert!(end(own).is_ok());
}

#[test]
fn calls_that_wait_or_are_unsafe_end_a_capture() {
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    let (plain, mut address) = (new_event(), 0);
    begin(own, GLOBAL);
    assert_eq!(call!(stream::cuStreamSynchronize, own), UNSUPPORTED);
    assert_eq!(status(own), 2);
    assert_eq!(call!(stream::cuStreamSynchronize, own), INVALIDATED);
    assert_eq!(
        call!(fill::cuMemsetD8Async, alloc_in_relaxed(), 1, 8, own),
        INVALIDATED
    );
    assert_eq!(end(own), Err(INVALIDATED));

    begin(own, RELAXED);
    assert_eq!(call!(stream::cuStreamQuery, own), UNSUPPORTED);
    assert_eq!(end(own), Err(INVALIDATED));

    begin(own, RELAXED);
    assert_eq!(call!(context::cuCtxSynchronize), UNSUPPORTED);
    assert_eq!(end(own), Err(INVALIDATED));

    for mode in [GLOBAL, THREAD_LOCAL] {
        begin(own, mode);
        assert_eq!(
            call!(memory::cuMemAlloc_v2, out(&mut address), 64),
            UNSUPPORTED
        );
        assert_eq!(end(own), Err(INVALIDATED));
        begin(own, mode);
        assert_eq!(call!(event::cuEventQuery, plain), UNSUPPORTED);
        assert_eq!(end(own), Err(INVALIDATED));
    }
    begin(own, RELAXED);
    ok!(memory::cuMemAlloc_v2, out(&mut address), 64);
    ok!(event::cuEventQuery, plain);
    assert!(end(own).is_ok());
}

/// Memory, although a capture is under way.
fn alloc_in_relaxed() -> u64 {
    let mut mode = RELAXED;
    ok!(cuThreadExchangeStreamCaptureMode, out(&mut mode));
    let address = alloc(8);
    ok!(cuThreadExchangeStreamCaptureMode, out(&mut mode));
    assert_eq!(mode, RELAXED);
    address
}

#[test]
fn other_threads_are_held_to_a_global_capture_only() {
    let fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    let current = fixture.context;
    for (mode, wanted) in [(GLOBAL, UNSUPPORTED), (THREAD_LOCAL, 0), (RELAXED, 0)] {
        begin(own, mode);
        let other = std::thread::spawn(move || {
            ok!(context::cuCtxSetCurrent, current);
            let mut address = 0;
            call!(memory::cuMemAlloc_v2, out(&mut address), 64)
        });
        assert_eq!(other.join().unwrap(), wanted, "mode {mode}");
        assert_eq!(end(own).is_ok(), wanted == 0);
    }
}

#[test]
fn a_capture_ends_with_its_context() {
    let _fixture = Fixture::new();
    let mut other = 0;
    ok!(context::cuCtxCreate_v2, out(&mut other), 0, 0);
    begin(new_stream(NON_BLOCKING), GLOBAL);
    ok!(context::cuCtxDestroy_v2, other);
    ok!(memory::cuMemFree_v2, alloc(8));
}

#[test]
fn a_callback_with_a_status_and_attached_memory_are_not_captured() {
    unsafe extern "C" fn ignore(_: u64, _: u32, _: *mut c_void) {}
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    begin(own, RELAXED);
    let code = call!(
        stream::cuStreamAddCallback,
        own,
        Some(ignore),
        std::ptr::null_mut(),
        0
    );
    assert_eq!(code, UNSUPPORTED);
    assert_eq!(end(own), Err(INVALIDATED));
}

#[test]
fn the_next_work_of_a_capture_waits_for_its_dependencies() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    begin(own, GLOBAL);
    set(memory, 1, own);
    let (mut state, mut graph, mut count) = (0, 0, 9);
    let mut nodes = std::ptr::null();
    ok!(
        cuStreamGetCaptureInfo_v2,
        own,
        out(&mut state),
        nowhere(),
        out(&mut graph),
        out(&mut nodes),
        out(&mut count)
    );
    assert_eq!((state, count), (1, 1));
    // SAFETY: as many nodes as was said.
    let first = unsafe { nodes.read() };
    let mut added = 0;
    ok!(
        cuGraphAddEmptyNode,
        out(&mut added),
        graph,
        handles(&[first]),
        1
    );
    ok!(
        cuStreamUpdateCaptureDependencies,
        own,
        handles(&[added]),
        1,
        1
    );
    let stranger = [12345];
    let code = call!(
        cuStreamUpdateCaptureDependencies,
        own,
        handles(&stranger),
        1,
        1
    );
    assert_eq!(code, INVALID_VALUE);
    set(memory, 2, own);
    assert_eq!(end(own), Ok(graph));
    let mut edges = 0;
    ok!(
        cuGraphGetEdges,
        graph,
        nowhere(),
        nowhere(),
        out(&mut edges)
    );
    assert_eq!(edges, 2);
}

#[test]
fn edges_are_of_one_graph_and_make_no_cycle() {
    let _fixture = Fixture::new();
    let (mut graph, mut other, mut exec) = (0, 0, 0);
    assert_eq!(call!(cuGraphCreate, out(&mut graph), 1), INVALID_VALUE);
    ok!(cuGraphCreate, out(&mut graph), 0);
    ok!(cuGraphCreate, out(&mut other), 0);
    let (mut a, mut b, mut strange) = (0, 0, 0);
    ok!(cuGraphAddEmptyNode, out(&mut a), graph, In::NULL, 0);
    ok!(cuGraphAddEmptyNode, out(&mut b), graph, handles(&[a]), 1);
    ok!(cuGraphAddEmptyNode, out(&mut strange), other, In::NULL, 0);
    let add = |from: u64, to: u64| {
        call!(
            cuGraphAddDependencies,
            graph,
            handles(&[from]),
            handles(&[to]),
            1
        )
    };
    assert_eq!(add(a, b), INVALID_VALUE, "it is there");
    assert_eq!(add(a, a), INVALID_VALUE);
    assert_eq!(add(a, strange), INVALID_VALUE);
    assert_eq!(add(a, 5), INVALID_HANDLE);
    let twice = call!(
        cuGraphAddEmptyNode,
        out(&mut strange),
        graph,
        handles(&[a, a]),
        2
    );
    assert_eq!(twice, INVALID_VALUE);
    assert_eq!(add(b, a), 0);
    let code = call!(cuGraphInstantiateWithFlags, out(&mut exec), graph, 0);
    assert_eq!(code, INVALID_VALUE, "a cycle");
    ok!(
        cuGraphRemoveDependencies,
        graph,
        handles(&[b]),
        handles(&[a]),
        1
    );
    let gone = call!(
        cuGraphRemoveDependencies,
        graph,
        handles(&[b]),
        handles(&[a]),
        1
    );
    assert_eq!(gone, INVALID_VALUE);
    let code = call!(cuGraphInstantiateWithFlags, out(&mut exec), graph, 64);
    assert_eq!(code, INVALID_VALUE, "a flag that there is not");
    ok!(cuGraphInstantiateWithFlags, out(&mut exec), graph, 0);
    ok!(cuGraphDestroyNode, a);
    assert_eq!(call!(cuGraphDestroyNode, a), INVALID_HANDLE);
    let (mut roots, mut count) = ([0; 4], 4);
    ok!(
        cuGraphGetRootNodes,
        graph,
        outs(&mut roots),
        out(&mut count)
    );
    assert_eq!((count, roots), (1, [b, 0, 0, 0]));
}

fn memset(graph: u64, to: u64, value: u32, after: &[u64]) -> u64 {
    let params = MemsetNodeParams {
        to,
        pitch: 0,
        value,
        element_size: 4,
        width: 2,
        height: 1,
    };
    let mut node = 0;
    ok!(
        cuGraphAddMemsetNode,
        out(&mut node),
        graph,
        handles(after),
        after.len(),
        given(&params),
        0
    );
    node
}

#[test]
fn an_update_changes_what_nodes_do_and_nothing_else() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(16));
    let graph_of = |values: &[u32]| {
        let mut graph = 0;
        ok!(cuGraphCreate, out(&mut graph), 0);
        let mut last = Vec::new();
        for value in values {
            last = vec![memset(graph, memory, *value, &last)];
        }
        graph
    };
    let exec = instantiate(graph_of(&[1, 2]));
    let mut info = UpdateInfo {
        result: 9,
        error_node: 9,
        error_from: 9,
    };
    ok!(
        cuGraphExecUpdate_v2,
        exec,
        graph_of(&[3, 4]),
        out(&mut info)
    );
    assert_eq!((info.result, info.error_node), (0, 0));
    run(exec, own);
    assert_eq!(read(memory), 0x0000_0004_0000_0004);

    let code = call!(cuGraphExecUpdate_v2, exec, graph_of(&[5]), out(&mut info));
    assert_eq!((code, info.result), (UPDATE_FAILURE, 2));
    // Nodes of the same number in another order.
    let mut beside = 0;
    ok!(cuGraphCreate, out(&mut beside), 0);
    memset(beside, memory, 5, &[]);
    let second = memset(beside, memory + 8, 6, &[]);
    let code = call!(cuGraphExecUpdate_v2, exec, beside, out(&mut info));
    assert_eq!(
        (code, info.result, info.error_node),
        (UPDATE_FAILURE, 2, second)
    );
    // Another kind.
    let other = graph_of(&[7]);
    let (mut roots, mut count, mut empty) = ([0; 1], 1, 0);
    ok!(
        cuGraphGetRootNodes,
        other,
        outs(&mut roots),
        out(&mut count)
    );
    ok!(
        cuGraphAddEmptyNode,
        out(&mut empty),
        other,
        handles(&roots),
        1
    );
    let code = call!(cuGraphExecUpdate_v2, exec, other, out(&mut info));
    assert_eq!(
        (code, info.result, info.error_node),
        (UPDATE_FAILURE, 3, empty)
    );
    run(exec, own);
    assert_eq!(read(memory), 0x0000_0004_0000_0004);
}

#[test]
fn a_node_that_is_disabled_does_nothing() {
    let _fixture = Fixture::new();
    let (own, memory, mut graph) = (new_stream(NON_BLOCKING), alloc(8), 0);
    ok!(cuGraphCreate, out(&mut graph), 0);
    let node = memset(graph, memory, 1, &[]);
    let exec = instantiate(graph);
    set(memory, 0, own);
    ok!(cuGraphNodeSetEnabled, exec, node, 0);
    run(exec, own);
    assert_eq!(read(memory), 0);
    ok!(cuGraphNodeSetEnabled, exec, node, 1);
    run(exec, own);
    assert_ne!(read(memory), 0);
    assert_eq!(call!(cuGraphNodeSetEnabled, exec, 5, 1), INVALID_VALUE);
}

/// 4 KiB of the first device.
fn allocation() -> MemAllocNodeParams {
    MemAllocNodeParams {
        pool: MemPoolProps {
            alloc_type: 1,
            handle_types: 0,
            location: MemLocation { kind: 1, id: 0 },
            win32_security_attributes: std::ptr::null_mut(),
            max_size: 0,
            usage: 0,
            gpu_direct_rdma_capable: 0,
            reserved: [0; 53],
        },
        accesses: std::ptr::null(),
        access_count: 0,
        size: 4096,
        address: 0,
    }
}

/// A graph of nothing but a node that allocates, and the address.
fn allocating() -> (u64, u64) {
    let (mut graph, mut node, mut params) = (0, 0, allocation());
    ok!(cuGraphCreate, out(&mut graph), 0);
    ok!(
        cuGraphAddMemAllocNode,
        out(&mut node),
        graph,
        In::NULL,
        0,
        out(&mut params)
    );
    (graph, params.address)
}

#[test]
fn memory_of_a_graph_may_be_freed_in_the_stream_of_its_launches() {
    let _fixture = Fixture::new();
    let (own, target) = (new_stream(NON_BLOCKING), alloc(8));
    let delay = function(load(PTX), "delay");
    let (graph, address) = allocating();
    let exec = instantiate(graph);
    for _ in 0..3 {
        ok!(cuGraphLaunch, exec, own);
        assert_eq!(launch(delay, 1, 1, own, &[target, 5_000_000]), 0);
        assert_eq!(
            call!(cuGraphLaunch, exec, own),
            INVALID_VALUE,
            "it is not free"
        );
        ok!(pool::cuMemFreeAsync, address, own);
        let again = call!(pool::cuMemFreeAsync, address, own);
        assert_eq!(again, INVALID_VALUE, "it is free");
    }
    ok!(stream::cuStreamSynchronize, own);
    ok!(cuGraphExecDestroy, exec);
    ok!(cuGraphDestroy, graph);
}

#[test]
fn memory_of_a_graph_goes_with_its_context_and_once() {
    let _fixture = Fixture::new();
    let mut other = 0;
    ok!(context::cuCtxCreate_v2, out(&mut other), 0, 0);
    let (graph, address) = allocating();
    ok!(context::cuCtxDestroy_v2, other);
    assert_eq!(alloc(4096), address, "it is there for others");
    ok!(cuGraphDestroy, graph);
    ok!(memory::cuMemFree_v2, address);
}

#[test]
fn memory_of_a_graph_is_freed_before_the_next_launch() {
    let _fixture = Fixture::new();
    let before = free_memory();
    let (own, mut graph, mut node) = (new_stream(NON_BLOCKING), 0, 0);
    ok!(cuGraphCreate, out(&mut graph), 0);
    let mut params = allocation();
    ok!(
        cuGraphAddMemAllocNode,
        out(&mut node),
        graph,
        In::NULL,
        0,
        out(&mut params)
    );
    assert_ne!(params.address, 0);
    let mut clone = 0;
    assert_eq!(call!(cuGraphClone, out(&mut clone), graph), NOT_SUPPORTED);
    assert_eq!(call!(cuGraphDestroyNode, node), NOT_SUPPORTED);
    let exec = instantiate(graph);
    run(exec, own);
    assert_eq!(
        call!(cuGraphLaunch, exec, own),
        INVALID_VALUE,
        "it is not free"
    );
    ok!(memory::cuMemFree_v2, params.address);
    assert_eq!(call!(memory::cuMemFree_v2, params.address), INVALID_VALUE);
    run(exec, own);
    ok!(memory::cuMemFree_v2, params.address);
    let mut by_itself = 0;
    ok!(cuGraphInstantiateWithFlags, out(&mut by_itself), graph, 1);
    run(by_itself, own);
    run(by_itself, own);
    ok!(memory::cuMemFree_v2, params.address);
    ok!(cuGraphExecDestroy, by_itself);
    ok!(cuGraphExecDestroy, exec);
    ok!(cuGraphDestroy, graph);
    assert_eq!(free_memory(), before, "all of it went back");
}

/// A graph that sets `memory` to `value`, one that has a clone of it, and the node that has it there.
fn nested(memory: u64, value: u32) -> (u64, u64, u64) {
    let (mut inner, mut outer, mut node) = (0, 0, 0);
    ok!(cuGraphCreate, out(&mut inner), 0);
    ok!(cuGraphCreate, out(&mut outer), 0);
    memset(inner, memory, value, &[]);
    ok!(
        cuGraphAddChildGraphNode,
        out(&mut node),
        outer,
        In::NULL,
        0,
        inner
    );
    (inner, outer, node)
}

#[test]
fn a_child_belongs_to_its_node() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    let (inner, outer, node) = nested(memory, 1);
    let mut held = 0;
    ok!(cuGraphChildGraphNodeGetGraph, node, out(&mut held));
    assert_ne!(held, inner, "a clone");
    assert_eq!(call!(cuGraphDestroy, held), INVALID_VALUE);
    memset(inner, memory, 2, &[]);
    ok!(cuGraphDestroy, inner);
    run(instantiate(outer), own);
    assert_eq!(read(memory), 0x0000_0001_0000_0001);
    ok!(cuGraphDestroy, outer);
    let mut count = 0;
    assert_eq!(
        call!(cuGraphGetNodes, held, nowhere(), out(&mut count)),
        INVALID_HANDLE
    );
}

#[test]
fn a_child_ends_when_another_takes_its_place_and_stays_if_there_is_no_node() {
    let _fixture = Fixture::new();
    let (mut first, mut second, mut outer, mut node, mut held) = (0, 0, 0, 0, 0);
    for graph in [&mut first, &mut second, &mut outer] {
        ok!(cuGraphCreate, out(graph), 0);
    }
    let child = |graph: u64, ownership: u64| {
        let mut body = [0; 29];
        (body[0], body[1]) = (graph, ownership);
        NodeParams {
            kind: 4,
            reserved: [0; 3],
            body,
            more: 0,
        }
    };
    let mut params = child(first, 1);
    let add = |after: &[u64], node: &mut u64, params: &mut NodeParams| {
        call!(
            cuGraphAddNode,
            out(node),
            outer,
            handles(after),
            after.len(),
            out(params)
        )
    };
    assert_eq!(add(&[first], &mut node, &mut params), INVALID_VALUE);
    assert_eq!(add(&[], &mut node, &mut params), 0, "nobody has it");
    ok!(cuGraphChildGraphNodeGetGraph, node, out(&mut held));
    assert_eq!(held, first);
    params = child(second, 0);
    ok!(cuGraphNodeSetParams, node, out(&mut params));
    let mut count = 0;
    let found = call!(cuGraphGetNodes, held, nowhere(), out(&mut count));
    assert_eq!(found, INVALID_HANDLE);
    ok!(cuGraphDestroy, second);
    ok!(cuGraphDestroy, outer);
}

#[test]
fn a_launch_is_captured_as_it_was_instantiated() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    let (inner, outer, _) = nested(memory, 3);
    let exec = instantiate(outer);
    ok!(cuGraphDestroy, inner);
    ok!(cuGraphDestroy, outer);
    begin(own, GLOBAL);
    set(memory, 0, own);
    ok!(cuGraphLaunch, exec, own);
    run(instantiate(end(own).unwrap()), own);
    assert_eq!(read(memory), 0x0000_0003_0000_0003);
}

static CALLS: AtomicU32 = AtomicU32::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn look(data: *mut c_void) {
    CALLS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: eight bytes of page-locked memory, which the test gave.
    SEEN.store(
        unsafe { data.cast::<u64>().read_volatile() },
        Ordering::SeqCst,
    );
}

#[test]
fn a_function_runs_between_the_nodes_beside_it() {
    let _fixture = Fixture::new();
    let (own, memory, mut graph) = (new_stream(NON_BLOCKING), alloc(8), 0);
    let host = alloc_host(8);
    begin(own, GLOBAL);
    set(memory, 0x11, own);
    ok!(copy::cuMemcpyDtoHAsync_v2, host, memory, 8, own);
    ok!(stream::cuLaunchHostFunc, own, Some(look), host);
    set(memory, 0x22, own);
    ok!(copy::cuMemcpyDtoHAsync_v2, host, memory, 8, own);
    let captured = end(own).unwrap();
    let exec = instantiate(captured);
    for _ in 0..3 {
        run(exec, own);
        assert_eq!(SEEN.load(Ordering::SeqCst), 0x1111_1111_1111_1111);
        // SAFETY: eight bytes, and the stream was waited for.
        assert_eq!(unsafe { host.cast::<u64>().read() }, 0x2222_2222_2222_2222);
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 3);
    ok!(cuGraphCreate, out(&mut graph), 0);
    let nothing = HostNodeParams {
        function: None,
        data: host,
    };
    let mut node = 0;
    let code = call!(
        cuGraphAddHostNode,
        out(&mut node),
        graph,
        In::NULL,
        0,
        given(&nothing)
    );
    assert_eq!(code, INVALID_VALUE);
}

#[test]
fn an_event_of_a_graph_is_recorded_at_each_launch() {
    let _fixture = Fixture::new();
    let (own, recorded) = (new_stream(NON_BLOCKING), new_event());
    let kernel = function(load(PTX), "delay");
    let memory = alloc(8);
    begin(own, GLOBAL);
    assert_eq!(launch(kernel, 1, 1, own, &[memory, 30_000_000]), 0);
    ok!(event::cuEventRecordWithFlags, recorded, own, 1);
    let exec = instantiate(end(own).unwrap());
    ok!(event::cuEventQuery, recorded);
    for _ in 0..2 {
        ok!(cuGraphLaunch, exec, own);
        assert_eq!(call!(event::cuEventQuery, recorded), 600, "not yet");
        ok!(event::cuEventSynchronize, recorded);
        assert_eq!(read(memory), 1);
    }
}

#[test]
fn an_error_of_a_launch_is_one_of_the_context() {
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    let (wild, memory) = (function(load(PTX), "wild"), alloc(8));
    begin(own, GLOBAL);
    assert_eq!(launch(wild, 1, 1, own, &[]), 0);
    set(memory, 1, own);
    let exec = instantiate(end(own).unwrap());
    ok!(cuGraphLaunch, exec, own);
    assert_eq!(call!(stream::cuStreamSynchronize, own), 700);
    assert_eq!(call!(cuGraphLaunch, exec, own), 700);
}

static DESTROYED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn destroyed(_: *mut c_void) {
    DESTROYED.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn an_object_lives_as_long_as_what_holds_it() {
    let _fixture = Fixture::new();
    let (mut object, mut graph) = (0, 0);
    let none = std::ptr::null_mut();
    let code = call!(
        cuUserObjectCreate,
        out(&mut object),
        none,
        Some(destroyed),
        1,
        0
    );
    assert_eq!(code, INVALID_VALUE, "it may be destroyed later");
    ok!(
        cuUserObjectCreate,
        out(&mut object),
        none,
        Some(destroyed),
        2,
        1
    );
    ok!(cuGraphCreate, out(&mut graph), 0);
    ok!(cuGraphRetainUserObject, graph, object, 1, 1);
    let exec = instantiate(graph);
    ok!(cuUserObjectRelease, object, 1);
    assert_eq!(
        call!(cuGraphReleaseUserObject, graph, object, 2),
        INVALID_VALUE
    );
    ok!(cuGraphDestroy, graph);
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 0);
    ok!(cuGraphExecDestroy, exec);
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 1);
    assert_eq!(call!(cuUserObjectRelease, object, 1), INVALID_HANDLE);
}
