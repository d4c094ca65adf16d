//! What the server says of graphs and their nodes. One that says what cannot be takes no memory for it, and no end of a stack.

// Asks with places to write to.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::OnceLock;

use gtrace_cuda::payload::{GRAPH_COPY, GRAPH_HOST, Payload as _, Pitched};
use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUgraphNode, CUgraphNodeType};
use gtrace_protocol::{DecodeError, OpId, Reader, SMALL_MAX};

use super::number;
use crate::entry::{Answer, answer_to, check};
use crate::generated::driver::remote;
use crate::session::Session;
use crate::status::fail_if;

/// Most nodes or edges of a graph: the handles of more do not fit an answer.
const COUNT_MAX: usize = SMALL_MAX / size_of::<u64>();
/// Most graphs within each other.
pub(super) const DEPTH_MAX: usize = 64;

thread_local! {
    /// Graphs within each other that are visited.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// What the answer to `op` says of a node.
pub(super) fn of_node<T>(
    session: &'static Session,
    op: OpId,
    node: u64,
    read: impl FnMut(&mut Reader<'_>) -> Result<T, DecodeError>,
) -> Answer<T> {
    answer_to(session, op, |w| w.u64(node), read)
}

/// What a node copies, as the server has it.
#[allow(clippy::redundant_closure)] // The function itself is of one lifetime.
pub(super) fn copy_of(session: &'static Session, node: u64) -> Answer<Pitched> {
    of_node(session, GRAPH_COPY, node, |r| Pitched::read(r))
}

/// Which function of the program a node calls.
pub(super) fn ticket_of(session: &'static Session, node: u64) -> Answer<u64> {
    of_node(session, GRAPH_HOST, node, |r| r.u64())
}

pub(super) fn kind_of(node: u64) -> Answer<CUgraphNodeType> {
    let mut kind = 0;
    // SAFETY: a handle, and a local variable.
    check(unsafe {
        remote::cuGraphNodeGetType(without_provenance_mut(node as usize), &raw mut kind)
    })?;
    Ok(kind)
}

/// The graph within a node.
pub(super) fn child_of(node: u64) -> Answer<u64> {
    let mut child: CUgraph = null_mut();
    // SAFETY: a handle, and a local variable.
    check(unsafe {
        remote::cuGraphChildGraphNodeGetGraph(without_provenance_mut(node as usize), &raw mut child)
    })?;
    Ok(number(child))
}

/// Does `visit` with the graph within a node, which is visited itself.
///
/// # Errors
///
/// UNKNOWN beyond [`DEPTH_MAX`], and those of `visit`.
pub(super) fn inside<T>(node: u64, visit: impl FnOnce(u64) -> Answer<T>) -> Answer<T> {
    deeper(|| visit(child_of(node)?))
}

fn deeper<T>(visit: impl FnOnce() -> Answer<T>) -> Answer<T> {
    struct Up(usize);
    impl Drop for Up {
        fn drop(&mut self) {
            DEPTH.set(self.0);
        }
    }
    let up = Up(DEPTH.get());
    fail_if(up.0 >= DEPTH_MAX, cuda::CUDA_ERROR_UNKNOWN)?;
    DEPTH.set(up.0 + 1);
    visit()
}

/// So many nulls, for what the server says that there is.
fn room<T>(count: usize) -> Answer<Vec<*mut T>> {
    match count <= COUNT_MAX {
        true => Ok(vec![null_mut(); count]),
        false => Err(cuda::CUDA_ERROR_UNKNOWN),
    }
}

pub(super) fn nodes(graph: CUgraph) -> Answer<Vec<u64>> {
    let mut count = 0;
    // SAFETY: null, and a local variable.
    check(unsafe { remote::cuGraphGetNodes(graph, null_mut(), &raw mut count) })?;
    let mut nodes = room(count)?;
    // SAFETY: room for as many, and a local variable.
    check(unsafe { remote::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &raw mut count) })?;
    Ok(nodes.into_iter().take(count).map(number).collect())
}

pub(super) fn edges(graph: CUgraph) -> Answer<Vec<(u64, u64)>> {
    // Drivers before CUDA 12.3 have only the older function, and the newer ones want to be asked for
    // what edges say if they say something.
    static NEWER: OnceLock<bool> = OnceLock::new();
    let ask = |from: *mut CUgraphNode, to: *mut CUgraphNode, edges: *mut _, count: *mut usize| {
        // SAFETY: null or room for as many as `count` says.
        let newer = || unsafe { remote::cuGraphGetEdges_v2(graph, from, to, edges, count) };
        if *NEWER.get_or_init(|| newer() != cuda::CUDA_ERROR_NOT_SUPPORTED) {
            return check(newer());
        }
        // SAFETY: as above.
        check(unsafe { remote::cuGraphGetEdges(graph, from, to, count) })
    };
    let mut count = 0;
    ask(null_mut(), null_mut(), null_mut(), &raw mut count)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let (mut from, mut to) = (room(count)?, room(count)?);
    let plain = cuda::CUgraphEdgeData {
        from_port: 0,
        to_port: 0,
        type_: 0,
        reserved: [0; 5],
    };
    let mut data = vec![plain; count];
    ask(
        from.as_mut_ptr(),
        to.as_mut_ptr(),
        data.as_mut_ptr(),
        &raw mut count,
    )?;
    Ok(from
        .into_iter()
        .zip(to)
        .take(count)
        .map(|(from, to)| (number(from), number(to)))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_has_too_much_to_say_is_not_believed() {
        let nulls = |count| room::<u8>(count).map(|nulls| nulls.len());
        assert_eq!(nulls(COUNT_MAX), Ok(COUNT_MAX));
        assert_eq!(nulls(COUNT_MAX + 1), Err(cuda::CUDA_ERROR_UNKNOWN));
        assert_eq!(nulls(usize::MAX), Err(cuda::CUDA_ERROR_UNKNOWN));
    }

    #[test]
    fn a_graph_within_itself_is_not_visited_for_ever() {
        fn visit(depth: &mut usize) -> Answer {
            *depth += 1;
            deeper(|| visit(depth))
        }
        for _ in 0..2 {
            let mut depth = 0;
            assert_eq!(visit(&mut depth), Err(cuda::CUDA_ERROR_UNKNOWN));
            assert_eq!(depth, DEPTH_MAX + 1);
        }
    }
}
