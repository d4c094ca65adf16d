//! Graphs: order of nodes, updates, memory, what belongs to nodes.
#![allow(unsafe_code, clippy::unwrap_used, reason = "a test")]
#![allow(clippy::expect_used, reason = "a test")]

#[macro_use]
mod common;
mod graph;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use common::{
    Fixture, MEET, PTX, alloc, alloc_host, free_memory, function, given, launch, load, meeting,
    new_stream, nowhere, out, outs, zeros,
};
use graph::*;
use gtrace_softgpu::abi::In;
use gtrace_softgpu::api::graph::*;
use gtrace_softgpu::api::graph_node::*;
use gtrace_softgpu::api::{context, copy, event, memory, pool, stream};
use gtrace_softgpu::types::{
    EdgeData, HostNodeParams, MemAllocNodeParams, MemLocation, MemPoolProps, MemsetNodeParams,
    NodeParams, UpdateInfo,
};

const LOSSY_QUERY: u32 = 402;
const NOT_SUPPORTED: u32 = 801;
const UPDATE_FAILURE: u32 = 910;

#[test]
fn edges_are_of_one_graph_and_make_no_cycle() {
    let _fixture = Fixture::new();
    let (mut none, mut exec) = (0, 0);
    gives!(cuGraphCreate(out(&mut none), 1), INVALID_VALUE);
    let graph = new_graph();
    let a = empty_node(graph, &[]);
    let b = empty_node(graph, &[a]);
    let foreign = empty_node(new_graph(), &[]);
    let add = |from: u64, to: u64| {
        call!(cuGraphAddDependencies(
            graph,
            handles(&[from]),
            handles(&[to]),
            1
        ))
    };
    assert_eq!(add(a, b), INVALID_VALUE, "it is there");
    assert_eq!(add(a, a), INVALID_VALUE);
    assert_eq!(add(a, foreign), INVALID_VALUE);
    assert_eq!(add(a, 5), INVALID_HANDLE);
    gives!(
        cuGraphAddEmptyNode(out(&mut none), graph, handles(&[a, a]), 2),
        INVALID_VALUE
    );
    assert_eq!(add(b, a), 0);
    gives!(
        cuGraphInstantiateWithFlags(out(&mut exec), graph, 0),
        INVALID_VALUE,
        "a cycle"
    );
    for code in [0, INVALID_VALUE] {
        gives!(
            cuGraphRemoveDependencies(graph, handles(&[b]), handles(&[a]), 1),
            code
        );
    }
    gives!(
        cuGraphInstantiateWithFlags(out(&mut exec), graph, 64),
        INVALID_VALUE,
        "a flag that there is not"
    );
    ok!(cuGraphInstantiateWithFlags(out(&mut exec), graph, 0));
    ok!(cuGraphDestroyNode(a));
    gives!(cuGraphDestroyNode(a), INVALID_HANDLE);
    let (mut roots, mut count) = ([0; 4], 4);
    ok!(cuGraphGetRootNodes(
        graph,
        outs(&mut roots),
        out(&mut count)
    ));
    assert_eq!((count, roots), (1, [b, 0, 0, 0]));
}

#[test]
fn edges_with_data_are_counted_and_not_listed_without_it() {
    let _fixture = Fixture::new();
    let graph = new_graph();
    let [a, b] = [(); 2].map(|()| empty_node(graph, &[]));
    let early = EdgeData {
        from_port: 1,
        kind: 1,
        ..EdgeData::default()
    };
    ok!(cuGraphAddDependencies_v2(
        graph,
        handles(&[a]),
        handles(&[b]),
        given(&early),
        1
    ));
    let mut count = made!(|to| cuGraphGetEdges_v2(graph, nowhere(), nowhere(), nowhere(), to));
    assert_eq!(count, 1);
    let (mut from, mut to, mut data) = ([0], [0], [EdgeData::default()]);
    let mut list = |data| {
        let (from, to) = (outs(&mut from), outs(&mut to));
        call!(cuGraphGetEdges_v2(graph, from, to, data, out(&mut count)))
    };
    assert_eq!(list(nowhere()), LOSSY_QUERY);
    assert_eq!(list(outs(&mut data)), 0);
    assert_eq!((from, to, data), ([a], [b], [early]));
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
    made!(|to| cuGraphAddMemsetNode(to, graph, handles(after), after.len(), given(&params), 0))
}

#[test]
fn an_update_changes_what_nodes_do_and_nothing_else() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(16));
    let graph_of = |values: &[u32]| {
        let graph = new_graph();
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
    ok!(cuGraphExecUpdate_v2(
        exec,
        graph_of(&[3, 4]),
        out(&mut info)
    ));
    assert_eq!((info.result, info.error_node), (0, 0));
    run(exec, own);
    assert_eq!(read(memory), 0x0000_0004_0000_0004);

    let code = call!(cuGraphExecUpdate_v2(exec, graph_of(&[5]), out(&mut info)));
    assert_eq!((code, info.result), (UPDATE_FAILURE, 2));
    // Nodes of the same number in another order.
    let beside = new_graph();
    memset(beside, memory, 5, &[]);
    let second = memset(beside, memory + 8, 6, &[]);
    let code = call!(cuGraphExecUpdate_v2(exec, beside, out(&mut info)));
    assert_eq!(
        (code, info.result, info.error_node),
        (UPDATE_FAILURE, 2, second)
    );
    // Another kind.
    let other = graph_of(&[7]);
    let (mut roots, mut count) = ([0; 1], 1);
    ok!(cuGraphGetRootNodes(
        other,
        outs(&mut roots),
        out(&mut count)
    ));
    let empty = empty_node(other, &roots);
    let code = call!(cuGraphExecUpdate_v2(exec, other, out(&mut info)));
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
    let (own, memory, graph) = (new_stream(NON_BLOCKING), alloc(8), new_graph());
    let node = memset(graph, memory, 1, &[]);
    let exec = instantiate(graph);
    set(memory, 0, own);
    ok!(cuGraphNodeSetEnabled(exec, node, 0));
    run(exec, own);
    assert_eq!(read(memory), 0);
    ok!(cuGraphNodeSetEnabled(exec, node, 1));
    run(exec, own);
    assert_ne!(read(memory), 0);
    gives!(cuGraphNodeSetEnabled(exec, 5, 1), INVALID_VALUE);
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

/// A graph of nothing but a node that allocates, the node, and the address.
fn allocating() -> (u64, u64, u64) {
    let (graph, mut params) = (new_graph(), allocation());
    let node = made!(|to| cuGraphAddMemAllocNode(to, graph, In::NULL, 0, out(&mut params)));
    (graph, node, params.address)
}

#[test]
fn memory_of_a_graph_may_be_freed_in_the_stream_of_its_launches() {
    let _fixture = Fixture::new();
    let (own, target) = (new_stream(NON_BLOCKING), alloc(8));
    let delay = function(load(PTX), "delay");
    let (graph, _, address) = allocating();
    let exec = instantiate(graph);
    for _ in 0..3 {
        ok!(cuGraphLaunch(exec, own));
        assert_eq!(launch(delay, 1, 1, own, &[target, 5_000_000]), 0);
        gives!(cuGraphLaunch(exec, own), INVALID_VALUE, "it is not free");
        ok!(pool::cuMemFreeAsync(address, own));
        gives!(
            pool::cuMemFreeAsync(address, own),
            INVALID_VALUE,
            "it is free"
        );
    }
    ok!(stream::cuStreamSynchronize(own));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
}

#[test]
fn memory_of_a_graph_goes_with_its_context_and_once() {
    let _fixture = Fixture::new();
    let other = made!(|to| context::cuCtxCreate_v2(to, 0, 0));
    let (graph, _, address) = allocating();
    ok!(context::cuCtxDestroy_v2(other));
    assert_eq!(alloc(4096), address, "it is there for others");
    ok!(cuGraphDestroy(graph));
    ok!(memory::cuMemFree_v2(address));
}

#[test]
fn memory_of_a_graph_is_freed_before_the_next_launch() {
    let _fixture = Fixture::new();
    let before = free_memory();
    let own = new_stream(NON_BLOCKING);
    let (graph, node, address) = allocating();
    assert_ne!(address, 0);
    let mut clone = 0;
    gives!(cuGraphClone(out(&mut clone), graph), NOT_SUPPORTED);
    gives!(cuGraphDestroyNode(node), NOT_SUPPORTED);
    let exec = instantiate(graph);
    run(exec, own);
    gives!(cuGraphLaunch(exec, own), INVALID_VALUE, "it is not free");
    ok!(memory::cuMemFree_v2(address));
    gives!(memory::cuMemFree_v2(address), INVALID_VALUE);
    run(exec, own);
    ok!(memory::cuMemFree_v2(address));
    let by_itself = made!(|to| cuGraphInstantiateWithFlags(to, graph, 1));
    run(by_itself, own);
    run(by_itself, own);
    ok!(memory::cuMemFree_v2(address));
    ok!(cuGraphExecDestroy(by_itself));
    ok!(cuGraphExecDestroy(exec));
    ok!(cuGraphDestroy(graph));
    assert_eq!(free_memory(), before, "all of it went back");
}

/// A graph that sets `memory` to `value`, one that has a clone of it, and the node that has it there.
fn nested(memory: u64, value: u32) -> (u64, u64, u64) {
    let (inner, outer) = (new_graph(), new_graph());
    memset(inner, memory, value, &[]);
    let node = made!(|to| cuGraphAddChildGraphNode(to, outer, In::NULL, 0, inner));
    (inner, outer, node)
}

#[test]
fn a_child_belongs_to_its_node() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    let (inner, outer, node) = nested(memory, 1);
    let held = made!(|to| cuGraphChildGraphNodeGetGraph(node, to));
    assert_ne!(held, inner, "a clone");
    gives!(cuGraphDestroy(held), INVALID_VALUE);
    memset(inner, memory, 2, &[]);
    ok!(cuGraphDestroy(inner));
    run(instantiate(outer), own);
    assert_eq!(read(memory), 0x0000_0001_0000_0001);
    ok!(cuGraphDestroy(outer));
    let mut count = 0;
    gives!(
        cuGraphGetNodes(held, nowhere(), out(&mut count)),
        INVALID_HANDLE
    );
}

#[test]
fn a_child_ends_when_another_takes_its_place_and_stays_if_there_is_no_node() {
    let _fixture = Fixture::new();
    let [first, second, outer] = [(); 3].map(|()| new_graph());
    let mut node = 0;
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
        call!(cuGraphAddNode(
            out(node),
            outer,
            handles(after),
            after.len(),
            out(params)
        ))
    };
    assert_eq!(add(&[first], &mut node, &mut params), INVALID_VALUE);
    assert_eq!(add(&[], &mut node, &mut params), 0, "nobody has it");
    let held = made!(|to| cuGraphChildGraphNodeGetGraph(node, to));
    assert_eq!(held, first);
    params = child(second, 0);
    ok!(cuGraphNodeSetParams(node, out(&mut params)));
    let mut count = 0;
    gives!(
        cuGraphGetNodes(held, nowhere(), out(&mut count)),
        INVALID_HANDLE
    );
    ok!(cuGraphDestroy(second));
    ok!(cuGraphDestroy(outer));
}

#[test]
fn a_launch_is_captured_as_it_was_instantiated() {
    let _fixture = Fixture::new();
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    let (inner, outer, _) = nested(memory, 3);
    let exec = instantiate(outer);
    ok!(cuGraphDestroy(inner));
    ok!(cuGraphDestroy(outer));
    begin(own, GLOBAL);
    set(memory, 0, own);
    ok!(cuGraphLaunch(exec, own));
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
    let (own, memory) = (new_stream(NON_BLOCKING), alloc(8));
    let host = alloc_host(8);
    begin(own, GLOBAL);
    set(memory, 0x11, own);
    ok!(copy::cuMemcpyDtoHAsync_v2(host, memory, 8, own));
    ok!(stream::cuLaunchHostFunc(own, Some(look), host));
    set(memory, 0x22, own);
    ok!(copy::cuMemcpyDtoHAsync_v2(host, memory, 8, own));
    let captured = end(own).unwrap();
    let exec = instantiate(captured);
    for _ in 0..3 {
        run(exec, own);
        assert_eq!(SEEN.load(Ordering::SeqCst), 0x1111_1111_1111_1111);
        // SAFETY: eight bytes, and the stream was waited for.
        assert_eq!(unsafe { host.cast::<u64>().read() }, 0x2222_2222_2222_2222);
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 3);
    let nothing = HostNodeParams {
        function: None,
        data: host,
    };
    let (mut node, graph) = (0, new_graph());
    let added = call!(cuGraphAddHostNode(
        out(&mut node),
        graph,
        In::NULL,
        0,
        given(&nothing)
    ));
    assert_eq!(added, INVALID_VALUE);
}

#[test]
fn an_event_of_a_graph_is_recorded_at_each_launch() {
    let _fixture = Fixture::new();
    let (own, recorded) = (new_stream(NON_BLOCKING), new_event());
    let (cell, memory) = (meeting(), zeros(1));
    let meet = function(load(MEET), "meet");
    begin(own, GLOBAL);
    let params = [cell.as_ptr() as u64, 2, memory];
    assert_eq!(launch(meet, 1, 1, own, &params), 0);
    ok!(event::cuEventRecordWithFlags(recorded, own, 1));
    let exec = instantiate(end(own).unwrap());
    ok!(event::cuEventQuery(recorded));
    for _ in 0..2 {
        cell.store(0, Ordering::Release);
        ok!(cuGraphLaunch(exec, own));
        gives!(event::cuEventQuery(recorded), 600, "not yet");
        cell.fetch_add(1, Ordering::AcqRel);
        ok!(event::cuEventSynchronize(recorded));
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
    ok!(cuGraphLaunch(exec, own));
    gives!(stream::cuStreamSynchronize(own), 700);
    gives!(cuGraphLaunch(exec, own), 700);
}

static DESTROYED: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn destroyed(_: *mut c_void) {
    DESTROYED.fetch_add(1, Ordering::SeqCst);
}

#[test]
fn an_object_lives_as_long_as_what_holds_it() {
    let _fixture = Fixture::new();
    let (mut object, graph) = (0, new_graph());
    let mut create = |count, flags| {
        let (to, none) = (out(&mut object), std::ptr::null_mut());
        call!(cuUserObjectCreate(to, none, Some(destroyed), count, flags))
    };
    assert_eq!(create(1, 0), INVALID_VALUE, "it may be destroyed later");
    assert_eq!(create(2, 1), 0);
    ok!(cuGraphRetainUserObject(graph, object, 1, 1));
    let exec = instantiate(graph);
    ok!(cuUserObjectRelease(object, 1));
    gives!(cuGraphReleaseUserObject(graph, object, 2), INVALID_VALUE);
    ok!(cuGraphDestroy(graph));
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 0);
    ok!(cuGraphExecDestroy(exec));
    assert_eq!(DESTROYED.load(Ordering::SeqCst), 1);
    gives!(cuUserObjectRelease(object, 1), INVALID_HANDLE);
}
