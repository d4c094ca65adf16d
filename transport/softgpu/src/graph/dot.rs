//! A graph in the language of Graphviz, as `cuGraphDebugDotPrint` writes it.

use std::fmt::Write as _;

use super::Graph;
use super::work::Work;

/// `CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE` and `_KERNEL_NODE_PARAMS`.
const OF_KERNELS: u32 = 1 | 4;

fn label(work: &Work, flags: u32) -> String {
    match work {
        Work::Kernel(kernel) => {
            let ([gx, gy, gz], [bx, by, bz]) = (kernel.shape.grid, kernel.shape.block);
            let name = &kernel.function.entry().text;
            if flags & OF_KERNELS == 0 {
                return format!("KERNEL\\n{name}");
            }
            format!(
                "KERNEL\\n{name}\\n<<<({gx},{gy},{gz}),({bx},{by},{bz}),{}>>>",
                kernel.shape.shared
            )
        }
        Work::Memcpy(copy) => {
            let given = &copy.given;
            format!(
                "MEMCPY\\n{} x {} x {}",
                given.width, given.height, given.depth
            )
        }
        Work::Memset(memset) => {
            let given = &memset.given;
            format!(
                "MEMSET\\n{:#x}\\n{} x {}",
                given.value, given.width, given.height
            )
        }
        Work::Host(_) => "HOST".into(),
        Work::Child(_) => "CHILD GRAPH".into(),
        Work::Empty => "EMPTY".into(),
        Work::WaitEvent(..) => "EVENT WAIT".into(),
        Work::RecordEvent(..) => "EVENT RECORD".into(),
        Work::MemAlloc(memory) => format!("MEM ALLOC\\n{}", memory.size),
        Work::MemFree(_) => "MEM FREE".into(),
        Work::MemOp(_) => "MEM OP".into(),
        Work::Conditional(_) => "CONDITIONAL".into(),
    }
}

fn put(out: &mut String, graph: &Graph, prefix: &str, flags: u32) {
    let nodes = graph.nodes();
    for (at, node) in nodes.iter().enumerate() {
        let work = node.work();
        let _ = writeln!(
            out,
            "  \"{prefix}{at}\" [shape=\"box\" label=\"{at}\\n{}\"];",
            label(&work, flags)
        );
        for (number, inner) in work.inner().iter().enumerate() {
            let name = format!("{prefix}{at}_{number}_");
            let _ = writeln!(out, "  subgraph \"cluster_{name}\" {{");
            put(out, inner, &name, flags);
            let _ = writeln!(out, "  }}");
        }
    }
    let place = |handle: u64| nodes.iter().position(|node| node.handle == handle);
    for edge in graph.edges() {
        if let (Some(from), Some(to)) = (place(edge.from), place(edge.to)) {
            let _ = writeln!(out, "  \"{prefix}{from}\" -> \"{prefix}{to}\";");
        }
    }
}

/// The whole text.
pub(crate) fn text(graph: &Graph, flags: u32) -> String {
    let mut out = String::from("digraph dot {\n");
    put(&mut out, graph, &format!("graph_{}_node_", graph.id), flags);
    out.push_str("}\n");
    out
}
