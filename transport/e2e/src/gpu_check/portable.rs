//! Which of the test programs run on a real GPU.

/// How a program is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `programs/c/NAME.c`.
    C,
    /// An example of this crate.
    Example,
    /// A test that is none of these, which the table names to say why it is left out.
    Test,
}

/// Whether a program expects what only the CPU emulator does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Portable {
    /// It does not.
    Yes,
    /// Some of its calls do; it leaves them out when GTRACE_REAL_GPU is set.
    Partly(&'static str),
    /// It does.
    No(&'static str),
}

/// A run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its name.
    pub name: &'static str,
    /// How it is built.
    pub kind: Kind,
    /// Its arguments.
    pub arguments: &'static [&'static str],
    /// What its environment adds.
    pub environment: &'static [(&'static str, &'static str)],
    /// Whether it runs on a real GPU.
    pub portable: Portable,
}

const HANDLES: &str =
    "calls with handles that are none or no more: a driver reads what they point to";

const fn c(name: &'static str, portable: Portable) -> Program {
    Program {
        name,
        kind: Kind::C,
        arguments: &[],
        environment: &[],
        portable,
    }
}

const fn with(name: &'static str, arguments: &'static [&'static str]) -> Program {
    Program {
        arguments,
        ..c(name, Portable::Yes)
    }
}

const fn partly(name: &'static str, why: &'static str) -> Program {
    c(name, Portable::Partly(why))
}

const fn no(name: &'static str, why: &'static str) -> Program {
    c(name, Portable::No(why))
}

const fn test(name: &'static str, why: &'static str) -> Program {
    Program {
        kind: Kind::Test,
        ..no(name, why)
    }
}

const fn blocking(name: &'static str) -> Program {
    Program {
        environment: &[("CUDA_LAUNCH_BLOCKING", "1")],
        ..c(name, Portable::Yes)
    }
}

/// All of them.
pub const PROGRAMS: &[Program] = &[
    c("vector_add", Portable::Yes),
    with("vector_add", &["50"]),
    c("saxpy", Portable::Yes),
    c("reduction", Portable::Yes),
    c("matmul", Portable::Yes),
    c("histogram", Portable::Yes),
    c("kernels", Portable::Yes),
    c("launches", Portable::Yes),
    c("launch_errors", Portable::Yes),
    c("copies", Portable::Yes),
    partly("streams", HANDLES),
    c("events", Portable::Yes),
    c("callbacks", Portable::Yes),
    c("managed_graphs", Portable::Yes),
    c("batches", Portable::Yes),
    c("guarded", Portable::Yes),
    partly("late", "a copy from an address that never was"),
    c("capture", Portable::Yes),
    partly(
        "graphs",
        "conditional nodes: their kernels call NVIDIA's device runtime, which is not linked in; a capture that ends \
         without a place for its graph",
    ),
    partly(
        "graph_changes",
        "handles as above; what is answered to a launch into a capture of a graph that allocates; edges that only devices \
         of compute capability 9.0 have",
    ),
    c("replay", Portable::Yes),
    c("steadfast", Portable::Yes),
    c("threads", Portable::Yes),
    c("parked", Portable::Yes),
    partly("contexts", HANDLES),
    partly("modules", HANDLES),
    partly("link", HANDLES),
    partly(
        "loaded",
        "a pointer from cuGetProcAddress need not be that of the symbol",
    ),
    c("per_thread", Portable::Yes),
    with("burst", &["64"]),
    partly(
        "creates",
        "a driver reports a failed copy with the call that failed",
    ),
    no("idle", "it waits for somebody who ends the server"),
    no("closed", "it closes the descriptors of the driver itself"),
    no("limits", "it waits until somebody has limited its worker"),
    no("few_lanes", "its server is to allow it two threads"),
    no("severed", "it waits for somebody who breaks its connection"),
    no(
        "unsupported",
        "a driver has functions that are not supported through the network",
    ),
    partly("arrays", HANDLES),
    partly(
        "images",
        "handles as above; images that lie about their length; a function that host and device share",
    ),
    c("large_image", Portable::Yes),
    c("pointers", Portable::Yes),
    partly(
        "managed",
        "what is answered to advice about memory that is not managed, and to sizes beyond all bounds",
    ),
    c("coherence", Portable::Yes),
    with("coherence", &["10000", "4"]),
    Program {
        environment: &[("GTRACE_MANAGED", "signals")],
        ..c("coherence", Portable::Yes)
    },
    with("coherence", &["4000", "4", "allocated"]),
    with("coherence", &["4000", "4", "registered"]),
    with("coherence", &["4000", "4", "shared"]),
    c("mapped", Portable::Yes),
    c("page_locked", Portable::Yes),
    c("page_locked_uses", Portable::Yes),
    with("page_locked_races", &["copies"]),
    with("page_locked_races", &["functions"]),
    with("page_locked_races", &["graphs"]),
    with("page_locked_races", &["heap"]),
    with("page_locked_races", &["untouched"]),
    Program {
        arguments: &["forks"],
        ..no(
            "page_locked_races",
            "what a child has of memory that a driver has pinned is the kernel's choice",
        )
    },
    Program {
        arguments: &["unmapped"],
        ..no(
            "page_locked_races",
            "a driver keeps the pages that the program has given back",
        )
    },
    no(
        "profiled",
        "it is about gtrace's CUPTI, which a real GPU of the host does without",
    ),
    c("segments", Portable::Yes),
    c("dispositions", Portable::Yes),
    partly(
        "virtual_memory",
        "addresses where nothing is mapped, whose use ends the context, and mapped ones that are freed; how much \
         memory is free",
    ),
    partly("shared_memory", HANDLES),
    partly("ipc", HANDLES),
    partly("pools", HANDLES),
    no("peers", "it needs two devices"),
    partly(
        "devices",
        "attributes of what is not forwarded and a real device may have: sparse arrays, memory pools, fabric and \
         multicast handles for other processes, decompression, Vulkan",
    ),
    c("forked", Portable::Yes),
    c("blocking", Portable::Yes),
    blocking("blocking"),
    c("sticky", Portable::Yes),
    blocking("sticky"),
    partly(
        "memory",
        "handles as above; addresses beyond an allocation, which may be good on a GPU that reaches the memory \
         of processes; memory that a driver keeps",
    ),
    Program {
        kind: Kind::Example,
        ..c("cudarc", Portable::Yes)
    },
    no("runtime", "NVIDIA's runtime is not part of the archive"),
    no(
        "runtime_kernels",
        "NVIDIA's runtime is not part of the archive",
    ),
    no("many_calls", "it is made for tracing, not for a remote GPU"),
    no("untouched", "it calls a driver that is made for it"),
    test(
        "programs in CUDA C++",
        "they are built with NVIDIA's compiler, which is not part of the archive",
    ),
    test(
        "devices_several, devices_visible",
        "the CPU emulator is configured with a number of devices; `devices` runs with those that there are",
    ),
    test(
        "a_device_with_little_memory",
        "the CPU emulator's memory is configured",
    ),
    test(
        "a_launch_that_fails_on_the_device",
        "the fault is injected into the CPU emulator; `sticky` makes one by itself",
    ),
    test(
        "cuda_python, nvidia_ml_py, nvitop, gpustat",
        "the packages from PyPI are not part of the archive; NVML is compared function by function",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artefacts;

    #[test]
    fn every_program_is_in_the_table() {
        let folder = artefacts::root().join("transport/e2e/programs/c");
        let mut found = 0;
        for entry in std::fs::read_dir(folder).expect("the programs") {
            let name = entry.expect("a file").file_name();
            let Some(name) = name.to_str().and_then(|name| name.strip_suffix(".c")) else {
                continue;
            };
            // Libraries: what programs are linked against, and a driver for one test.
            if ["stub", "untouched_driver"].contains(&name) {
                continue;
            }
            found += 1;
            assert!(
                PROGRAMS.iter().any(|program| program.name == name),
                "{name} is not in the table: can it run on a real GPU?"
            );
        }
        assert!(found > 20, "{found} programs");
    }

    #[test]
    fn kernels_are_of_versions_that_old_drivers_take() {
        let mut found = 0;
        for entry in std::fs::read_dir(artefacts::kernels()).expect("the kernels") {
            let path = entry.expect("a file").path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                found += 1;
                let text = std::fs::read_to_string(&path).expect("PTX is text");
                // PTX ISA 6.3 came with CUDA 10.0; any later device takes code for an earlier one.
                assert!(text.contains(".version 6.3\n"), "{}", path.display());
                assert!(text.contains(".target sm_70\n"), "{}", path.display());
            }
        }
        assert!(found > 5, "{found} kernels");
    }
}
