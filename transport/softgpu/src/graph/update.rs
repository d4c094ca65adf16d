//! Update of what was instantiated by a graph of the same structure.

use super::Graph;
use super::exec::{Exec, Step, steps_of};
use super::work::Work;
use crate::types::UpdateInfo;

/// `CU_GRAPH_EXEC_UPDATE_*`.
const ERROR: u32 = 1;
const TOPOLOGY_CHANGED: u32 = 2;
const NODE_TYPE_CHANGED: u32 = 3;
const PARAMETERS_CHANGED: u32 = 5;
const NOT_SUPPORTED: u32 = 6;

fn failed(result: u32, node: u64) -> UpdateInfo {
    UpdateInfo {
        result,
        error_node: node,
        error_from: 0,
    }
}

/// Whether a step may come to do `new`: what `cuGraphExecUpdate` documents of each kind of node, or
/// `CU_GRAPH_EXEC_UPDATE_*`.
pub(crate) fn may_become(old: &Work, new: &Work) -> Result<(), u32> {
    match (old, new) {
        (Work::Kernel(old), Work::Kernel(new)) => {
            let same = old.context.handle == new.context.handle;
            let cooperative = old.cooperative == new.cooperative;
            (same && cooperative)
                .then_some(())
                .ok_or(PARAMETERS_CHANGED)
        }
        (Work::Memset(old), Work::Memset(new)) => {
            let flat = old.given.height <= 1 && new.given.height <= 1;
            let same = (old.given.width, old.given.height, old.given.element_size)
                == (new.given.width, new.given.height, new.given.element_size);
            (old.context == new.context && (flat || same))
                .then_some(())
                .ok_or(PARAMETERS_CHANGED)
        }
        (Work::Memcpy(old), Work::Memcpy(new)) => {
            let kinds = |copy: &super::work::Memcpy| (copy.given.src_type, copy.given.dst_type);
            let flat = |copy: &super::work::Memcpy| copy.given.height <= 1 && copy.given.depth <= 1;
            let size = |copy: &super::work::Memcpy| {
                (copy.given.width, copy.given.height, copy.given.depth)
            };
            let same = kinds(old) == kinds(new) && old.context == new.context;
            (same && (flat(old) && flat(new) || size(old) == size(new)))
                .then_some(())
                .ok_or(PARAMETERS_CHANGED)
        }
        (Work::MemAlloc(old), Work::MemAlloc(new)) => (old.size == new.size
            && old.device == new.device)
            .then_some(())
            .ok_or(PARAMETERS_CHANGED),
        (Work::Conditional(old), Work::Conditional(new)) => (old.handle == new.handle)
            .then_some(())
            .ok_or(NOT_SUPPORTED),
        (old, new) if old.kind() != new.kind() => Err(NODE_TYPE_CHANGED),
        _ => Ok(()),
    }
}

/// Whether steps may come to do what others do.
pub(super) fn compare(old: &[Step], new: &[Step]) -> Result<(), UpdateInfo> {
    if old.len() != new.len() {
        return Err(failed(TOPOLOGY_CHANGED, 0));
    }
    for (old, new) in old.iter().zip(new) {
        if old.work.kind() != new.work.kind() {
            return Err(failed(NODE_TYPE_CHANGED, new.node));
        }
        if old.after != new.after {
            return Err(failed(TOPOLOGY_CHANGED, new.node));
        }
        may_become(&old.work, &new.work).map_err(|result| failed(result, new.node))?;
        if old.inner.len() != new.inner.len() {
            return Err(failed(PARAMETERS_CHANGED, new.node));
        }
        for (old, new) in old.inner.iter().zip(&new.inner) {
            compare(old, new)?;
        }
    }
    Ok(())
}

/// Handles of nodes stay those of the graph that was instantiated.
pub(super) fn take_over(old: &mut [Step], new: Vec<Step>) {
    for (old, new) in old.iter_mut().zip(new) {
        // Memory keeps its place.
        if !matches!(new.work, Work::MemAlloc(_)) {
            old.work = new.work;
        }
        for (old, new) in old.inner.iter_mut().zip(new.inner) {
            take_over(old, new);
        }
    }
}

/// Has `exec` do what `graph` does.
///
/// # Errors
/// Why it cannot, and at which node; nothing is changed then.
pub(crate) fn update(exec: &Exec, graph: &Graph) -> Result<(), UpdateInfo> {
    let new = steps_of(graph, false).map_err(|(node, _)| failed(ERROR, node))?;
    let mut steps = Vec::clone(&exec.steps());
    compare(&steps, &new)?;
    take_over(&mut steps, new);
    exec.set_steps(steps);
    Ok(())
}
