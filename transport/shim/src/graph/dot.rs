//! A graph as a drawing, in the language of Graphviz.

// A handle and a path of the program.
#![allow(unsafe_code)]

use std::collections::HashMap;
use std::ffi::{CStr, OsStr, c_char, c_uint};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

use gtrace_cuda::types::driver::{self as cuda, CUgraph};

use super::{kernel, number, query};
use crate::entry::Answer;
use crate::functions::any_record;
use crate::session::{self, Session};
use crate::status::fail_if;

/// Names of `CUgraphNodeType`, in their order.
const KINDS: [&str; 14] = [
    "KERNEL",
    "MEMCPY",
    "MEMSET",
    "HOST",
    "CHILD GRAPH",
    "EMPTY",
    "EVENT WAIT",
    "EVENT RECORD",
    "SEMAPHORE SIGNAL",
    "SEMAPHORE WAIT",
    "MEM ALLOC",
    "MEM FREE",
    "MEM OP",
    "CONDITIONAL",
];
/// With any of these flags a kernel's size is reported too.
const OF_KERNELS: c_uint =
    cuda::CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | cuda::CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS;

/// The kernel's name, and its size where it is asked for, each on a line.
fn kernel_label(session: &'static Session, node: u64, flags: c_uint) -> Answer<String> {
    let params = kernel::params(session, node)?;
    let handle = match params.func.is_null() {
        true => number(params.kern),
        false => number(params.func),
    };
    let record = any_record(session, handle)?;
    let name = record.name.to_string_lossy();
    let mut label = format!("\\n{name}");
    if flags & OF_KERNELS != 0 {
        let _ = write!(
            label,
            "\\n<<<({},{},{}),({},{},{}),{}>>>",
            params.gridDimX,
            params.gridDimY,
            params.gridDimZ,
            params.blockDimX,
            params.blockDimY,
            params.blockDimZ,
            params.sharedMemBytes
        );
    }
    Ok(label)
}

fn text(session: &'static Session, graph: CUgraph, flags: c_uint) -> Answer<String> {
    let nodes = query::nodes(graph)?;
    let mut text = String::from("digraph dot {\n");
    for (at, node) in nodes.iter().enumerate() {
        let kind = query::kind_of(*node)?;
        let name = KINDS.get(kind as usize).unwrap_or(&"OTHER");
        let more = match kind {
            cuda::CU_GRAPH_NODE_TYPE_KERNEL => {
                // Drivers before 12.4 do not report kernels that were captured.
                kernel_label(session, *node, flags).unwrap_or_default()
            }
            _ => String::new(),
        };
        let _ = writeln!(
            text,
            "  \"{at}\" [shape=\"box\" label=\"{at}\\n{name}{more}\"];"
        );
    }
    let places: HashMap<u64, usize> = nodes.into_iter().zip(0..).collect();
    for (from, to) in query::edges(graph)? {
        if let (Some(from), Some(to)) = (places.get(&from), places.get(&to)) {
            let _ = writeln!(text, "  \"{from}\" -> \"{to}\";");
        }
    }
    text.push_str("}\n");
    Ok(text)
}

/// The client asks for nodes and edges and writes the file, as its path is the client's. Of kernels it writes their names
/// and sizes, of other nodes their kinds.
pub(crate) unsafe fn cuGraphDebugDotPrint(
    hGraph: CUgraph,
    path: *const c_char,
    flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    fail_if(path.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: a string of the program.
    let path = unsafe { CStr::from_ptr(path) };
    std::fs::write(
        OsStr::from_bytes(path.to_bytes()),
        text(session, hGraph, flags)?,
    )
    .map_err(|_| cuda::CUDA_ERROR_OPERATING_SYSTEM)
}
