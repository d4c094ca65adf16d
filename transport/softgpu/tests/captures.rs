//! Stream capture: what it takes, and each of its errors.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

#[macro_use]
mod common;
mod graph;

use std::ffi::c_void;

use common::{
    Fixture, PTX, alloc, free_memory, function, launch, load, name, new_stream, nowhere, out,
};
use graph::*;
use gtrace_softgpu::abi::In;
use gtrace_softgpu::api::capture::*;
use gtrace_softgpu::api::graph::*;
use gtrace_softgpu::api::{context, copy, event, fill, memory, module, pool, stream};

const ILLEGAL_STATE: u32 = 401;
const UNSUPPORTED: u32 = 900;
const INVALIDATED: u32 = 901;
const MERGE: u32 = 902;
const UNMATCHED: u32 = 903;
const UNJOINED: u32 = 904;
const ISOLATION: u32 = 905;
const IMPLICIT: u32 = 906;
const CAPTURED_EVENT: u32 = 907;
const WRONG_THREAD: u32 = 908;

const THREAD_LOCAL: u32 = 1;
const RELAXED: u32 = 2;

#[test]
fn what_is_captured_is_done_at_each_launch_and_in_order() {
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    let kernel = function(load(PTX), "fill");
    let (target, copied) = (alloc(8), alloc(8));
    for memory in [target, copied] {
        set(memory, 0, own);
    }
    ok!(stream::cuStreamSynchronize(own));
    begin(own, GLOBAL);
    assert_eq!(status(own), 1);
    assert_eq!(launch(kernel, 1, 1, own, &[target, 42]), 0);
    ok!(copy::cuMemcpyDtoDAsync_v2(copied, target, 8, own));
    set(target, 1, own);
    let graph = end(own).unwrap();
    assert_eq!((status(own), read(target), read(copied)), (0, 0, 0));
    let exec = instantiate(graph);
    // It needs its graph no more.
    ok!(cuGraphDestroy(graph));
    gives!(cuGraphDestroy(graph), INVALID_HANDLE);
    run(exec, own);
    assert_eq!((read(copied), read(target)), (42, 0x0101_0101_0101_0101));
    set(copied, 0, own);
    run(exec, own);
    assert_eq!(read(copied), 42);
    ok!(cuGraphExecDestroy(exec));
    gives!(cuGraphLaunch(exec, own), INVALID_HANDLE);
}

#[test]
fn a_capture_begins_and_ends_where_it_may() {
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    gives!(cuStreamBeginCapture_v2(0, GLOBAL), UNSUPPORTED);
    gives!(cuStreamBeginCapture_v2(own, 3), INVALID_VALUE);
    assert_eq!(end(own), Err(ILLEGAL_STATE));
    begin(own, GLOBAL);
    gives!(cuStreamBeginCapture_v2(own, GLOBAL), ILLEGAL_STATE);
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
            ok!(context::cuCtxSetCurrent(current));
            let mut graph = 0;
            call!(cuStreamEndCapture(own, out(&mut graph)))
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
    join(forked, own, other);
    assert_eq!(status(other), 1);
    assert_eq!(end(other), Err(UNMATCHED));
    assert_eq!(end(own), Err(INVALIDATED));

    begin(own, GLOBAL);
    join(forked, own, other);
    set(memory, 3, other);
    assert_eq!(end(own), Err(UNJOINED));
    assert_eq!((status(own), status(other)), (0, 0));

    begin(own, GLOBAL);
    join(forked, own, other);
    set(memory, 3, other);
    join(joined, other, own);
    let exec = instantiate(end(own).unwrap());
    run(exec, own);
    assert_eq!(read(memory), 0x0303_0303_0303_0303);
    gives!(event::cuEventQuery(forked), INVALID_VALUE);
    gives!(stream::cuStreamWaitEvent(own, forked, 0), CAPTURED_EVENT);
    ok!(event::cuEventRecord(forked, own));
    ok!(event::cuEventSynchronize(forked));
}

#[test]
fn what_a_capture_added_has_to_be_joined_unless_it_was_taken_out_of_the_dependencies() {
    let _fixture = Fixture::new();
    let (own, other) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING));
    let (forked, memory) = (new_event(), alloc(8));
    begin(own, GLOBAL);
    set(memory, 1, own);
    ok!(cuStreamUpdateCaptureDependencies(own, In::NULL, 0, 1));
    set(memory, 2, own);
    assert!(end(own).is_ok());

    let graph = new_graph();
    empty_node(graph, &[]);
    let into = || {
        ok!(cuStreamBeginCaptureToGraph(
            own,
            graph,
            In::NULL,
            In::NULL,
            0,
            GLOBAL
        ));
    };
    into();
    set(memory, 3, own);
    assert_eq!(end(own), Ok(graph), "what was there before joins nothing");
    into();
    join(forked, own, other);
    set(memory, 4, other);
    assert_eq!(end(own), Err(UNJOINED));
    ok!(cuGraphDestroy(graph));

    begin(own, GLOBAL);
    join(forked, own, other);
    set(memory, 5, other);
    let (_, node) = waited_for(other);
    let again = [node];
    ok!(cuStreamUpdateCaptureDependencies(
        other,
        handles(&again),
        1,
        1
    ));
    assert_eq!(end(own), Err(UNJOINED), "it was taken out and put back");
}

/// The graph into which a stream captures, and the one node for which its next work waits.
fn waited_for(stream: u64) -> (u64, u64) {
    let (mut state, mut graph, mut count) = (0, 0, 9);
    let mut nodes = std::ptr::null();
    ok!(cuStreamGetCaptureInfo_v2(
        stream,
        out(&mut state),
        nowhere(),
        out(&mut graph),
        out(&mut nodes),
        out(&mut count)
    ));
    assert_eq!((state, count), (1, 1));
    // SAFETY: as many nodes as was said.
    (graph, unsafe { nodes.read() })
}

#[test]
fn captures_stay_apart_from_each_other_and_from_what_is_not_captured() {
    let _fixture = Fixture::new();
    let (own, other) = (new_stream(NON_BLOCKING), new_stream(NON_BLOCKING));
    let (inner, outer) = (new_event(), new_event());
    begin(own, GLOBAL);
    begin(other, GLOBAL);
    ok!(event::cuEventRecord(inner, other));
    gives!(stream::cuStreamWaitEvent(own, inner, 0), MERGE);
    assert_eq!((end(own), end(other)), (Err(INVALIDATED), Err(INVALIDATED)));

    begin(own, GLOBAL);
    ok!(event::cuEventRecord(outer, other));
    gives!(stream::cuStreamWaitEvent(own, outer, 0), ISOLATION);
    assert_eq!(end(own), Err(INVALIDATED));
}

#[test]
fn the_legacy_stream_does_not_wait_for_a_capture() {
    let _fixture = Fixture::new();
    let (blocking, memory) = (new_stream(0), alloc(8));
    begin(blocking, RELAXED);
    let mut status = 0;
    gives!(cuStreamIsCapturing(0, out(&mut status)), IMPLICIT);
    gives!(fill::cuMemsetD8Async(memory, 1, 8, 0), IMPLICIT);
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
    gives!(stream::cuStreamSynchronize(own), UNSUPPORTED);
    assert_eq!(status(own), 2);
    gives!(stream::cuStreamSynchronize(own), INVALIDATED);
    gives!(
        fill::cuMemsetD8Async(alloc_in_relaxed(), 1, 8, own),
        INVALIDATED
    );
    assert_eq!(end(own), Err(INVALIDATED));

    begin(own, RELAXED);
    gives!(stream::cuStreamQuery(own), UNSUPPORTED);
    assert_eq!(end(own), Err(INVALIDATED));

    begin(own, RELAXED);
    gives!(context::cuCtxSynchronize(), UNSUPPORTED);
    assert_eq!(end(own), Err(INVALIDATED));

    for mode in [GLOBAL, THREAD_LOCAL] {
        begin(own, mode);
        gives!(memory::cuMemAlloc_v2(out(&mut address), 64), UNSUPPORTED);
        assert_eq!(end(own), Err(INVALIDATED));
        begin(own, mode);
        gives!(event::cuEventQuery(plain), UNSUPPORTED);
        assert_eq!(end(own), Err(INVALIDATED));
        begin(own, mode);
        let file = c"/nonexistent".to_owned();
        gives!(
            module::cuModuleLoad(out(&mut address), name(&file)),
            UNSUPPORTED
        );
        assert_eq!(end(own), Err(INVALIDATED));
    }
    begin(own, RELAXED);
    ok!(memory::cuMemAlloc_v2(out(&mut address), 64));
    ok!(event::cuEventQuery(plain));
    assert!(end(own).is_ok());
}

/// Memory, although a capture is under way.
fn alloc_in_relaxed() -> u64 {
    let mut mode = RELAXED;
    ok!(cuThreadExchangeStreamCaptureMode(out(&mut mode)));
    let address = alloc(8);
    ok!(cuThreadExchangeStreamCaptureMode(out(&mut mode)));
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
            ok!(context::cuCtxSetCurrent(current));
            let mut address = 0;
            call!(memory::cuMemAlloc_v2(out(&mut address), 64))
        });
        assert_eq!(other.join().unwrap(), wanted, "mode {mode}");
        assert_eq!(end(own).is_ok(), wanted == 0);
    }
}

#[test]
fn a_capture_ends_with_its_context() {
    let _fixture = Fixture::new();
    let other = made!(|to| context::cuCtxCreate_v2(to, 0, 0));
    begin(new_stream(NON_BLOCKING), GLOBAL);
    ok!(context::cuCtxDestroy_v2(other));
    ok!(memory::cuMemFree_v2(alloc(8)));
}

#[test]
fn a_callback_with_a_status_and_attached_memory_are_not_captured() {
    unsafe extern "C" fn ignore(_: u64, _: u32, _: *mut c_void) {}
    let _fixture = Fixture::new();
    let own = new_stream(NON_BLOCKING);
    begin(own, RELAXED);
    gives!(
        stream::cuStreamAddCallback(own, Some(ignore), std::ptr::null_mut(), 0),
        UNSUPPORTED
    );
    assert_eq!(end(own), Err(INVALIDATED));
}

#[test]
fn fills_and_copies_of_nothing_are_no_nodes() {
    let _fixture = Fixture::new();
    let (own, target, mut count) = (new_stream(NON_BLOCKING), alloc(64), 7usize);
    begin(own, GLOBAL);
    ok!(fill::cuMemsetD8Async(target, 1, 0, own));
    ok!(fill::cuMemsetD2D32Async(target, 16, 1, 4, 0, own));
    ok!(copy::cuMemcpyDtoDAsync_v2(target, target, 0, own));
    let graph = end(own).unwrap();
    ok!(cuGraphGetNodes(graph, nowhere(), out(&mut count)));
    assert_eq!(count, 0);
}

#[test]
fn a_capture_frees_memory_of_graphs_only() {
    let _fixture = Fixture::new();
    let (own, before, mut address) = (new_stream(NON_BLOCKING), free_memory(), 0);
    ok!(pool::cuMemAllocAsync(out(&mut address), 4096, own));
    begin(own, GLOBAL);
    gives!(pool::cuMemFreeAsync(address, own), INVALID_VALUE);
    run(instantiate(end(own).unwrap()), own);
    ok!(pool::cuMemFreeAsync(address, own));
    ok!(stream::cuStreamSynchronize(own));
    assert_eq!(free_memory(), before);
}

#[test]
fn the_next_work_of_a_capture_waits_for_its_dependencies() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    begin(own, GLOBAL);
    set(memory, 1, own);
    let (graph, first) = waited_for(own);
    let added = empty_node(graph, &[first]);
    let wait_for = |node: u64| {
        call!(cuStreamUpdateCaptureDependencies(
            own,
            handles(&[node]),
            1,
            1
        ))
    };
    assert_eq!(wait_for(added), 0);
    assert_eq!(wait_for(12345), INVALID_VALUE);
    set(memory, 2, own);
    assert_eq!(end(own), Ok(graph));
    let edges = made!(|to| cuGraphGetEdges(graph, nowhere(), nowhere(), to));
    assert_eq!(edges, 2);
}
