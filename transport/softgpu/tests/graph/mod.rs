//! What the tests of captures and graphs share.
#![allow(dead_code, unsafe_code, reason = "a test")]

use std::ffi::c_void;

use gtrace_softgpu::abi::In;
use gtrace_softgpu::api::capture::{
    cuStreamBeginCapture_v2, cuStreamEndCapture, cuStreamIsCapturing,
};
use gtrace_softgpu::api::graph::{cuGraphCreate, cuGraphInstantiateWithFlags, cuGraphLaunch};
use gtrace_softgpu::api::graph_node::cuGraphAddEmptyNode;
use gtrace_softgpu::api::{copy, event, fill, stream};

use crate::common::out;

pub(crate) const INVALID_VALUE: u32 = 1;
pub(crate) const INVALID_HANDLE: u32 = 400;

pub(crate) const NON_BLOCKING: u32 = 1;
pub(crate) const GLOBAL: u32 = 0;

/// Begins a capture.
pub(crate) fn begin(stream: u64, mode: u32) {
    ok!(cuStreamBeginCapture_v2(stream, mode));
}

/// Ends a capture: its graph, or the error.
pub(crate) fn end(stream: u64) -> Result<u64, u32> {
    let mut graph = 7;
    match call!(cuStreamEndCapture(stream, out(&mut graph))) {
        0 => Ok(graph),
        code => {
            assert_eq!(graph, 0, "no graph came of it");
            Err(code)
        }
    }
}

/// `CU_STREAM_CAPTURE_STATUS_*`
pub(crate) fn status(stream: u64) -> u32 {
    let mut status = 9;
    ok!(cuStreamIsCapturing(stream, out(&mut status)));
    status
}

/// An event without timing.
pub(crate) fn new_event() -> u64 {
    made!(|to| event::cuEventCreate(to, 2))
}

/// An empty graph.
pub(crate) fn new_graph() -> u64 {
    made!(|to| cuGraphCreate(to, 0))
}

/// Adds an empty node behind others.
pub(crate) fn empty_node(graph: u64, after: &[u64]) -> u64 {
    made!(|to| cuGraphAddEmptyNode(to, graph, handles(after), after.len()))
}

/// Has `to` wait for what `from` has.
pub(crate) fn join(event: u64, from: u64, to: u64) {
    ok!(event::cuEventRecord(event, from));
    ok!(stream::cuStreamWaitEvent(to, event, 0));
}

/// What can be launched of a graph.
pub(crate) fn instantiate(graph: u64) -> u64 {
    made!(|to| cuGraphInstantiateWithFlags(to, graph, 0))
}

/// Eight bytes of memory.
pub(crate) fn read(address: u64) -> u64 {
    let mut value = 0u64;
    ok!(copy::cuMemcpyDtoH_v2(
        (&raw mut value).cast::<c_void>(),
        address,
        8
    ));
    value
}

/// Sets eight bytes of memory, in a stream.
pub(crate) fn set(address: u64, value: u8, stream: u64) {
    ok!(fill::cuMemsetD8Async(address, value, 8, stream));
}

/// Launches and waits.
pub(crate) fn run(exec: u64, on: u64) {
    ok!(cuGraphLaunch(exec, on));
    ok!(stream::cuStreamSynchronize(on));
}

/// A list of handles.
pub(crate) fn handles(values: &[u64]) -> In<u64> {
    // SAFETY: an array that outlives the call, whose length is named beside it.
    unsafe { In::new(values.as_ptr()) }
}
