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

const fn test(name: &'static str, why: &'static str) -> Program {
    Program {
        name,
        kind: Kind::Test,
        arguments: &[],
        environment: &[],
        portable: Portable::No(why),
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
    Program {
        arguments: &["50"],
        ..c("vector_add", Portable::Yes)
    },
    c("saxpy", Portable::Yes),
    c("reduction", Portable::Yes),
    c("matmul", Portable::Yes),
    c("histogram", Portable::Yes),
    c("kernels", Portable::Yes),
    c("launches", Portable::Yes),
    c("launch_errors", Portable::Yes),
    c("copies", Portable::Yes),
    c("streams", Portable::Partly(HANDLES)),
    c("events", Portable::Yes),
    c("callbacks", Portable::Yes),
    c("managed_graphs", Portable::Yes),
    c("batches", Portable::Yes),
    c("guarded", Portable::Yes),
    c(
        "late",
        Portable::Partly("a copy from an address that never was"),
    ),
    c("capture", Portable::Yes),
    c(
        "graphs",
        Portable::Partly(
            "conditional nodes: their kernels call NVIDIA's device runtime, which is not linked in",
        ),
    ),
    c("replay", Portable::Yes),
    c("steadfast", Portable::Yes),
    c("threads", Portable::Yes),
    c("contexts", Portable::Partly(HANDLES)),
    c("modules", Portable::Partly(HANDLES)),
    c("link", Portable::Partly(HANDLES)),
    c(
        "loaded",
        Portable::Partly("a pointer from cuGetProcAddress need not be that of the symbol"),
    ),
    c("per_thread", Portable::Yes),
    Program {
        arguments: &["64"],
        ..c("burst", Portable::Yes)
    },
    c(
        "creates",
        Portable::Partly("a driver reports a failed copy with the call that failed"),
    ),
    Program {
        portable: Portable::No("it waits for somebody who ends the server"),
        ..c("idle", Portable::Yes)
    },
    Program {
        portable: Portable::No("it waits until somebody has limited its worker"),
        ..c("limits", Portable::Yes)
    },
    Program {
        portable: Portable::No("it waits for somebody who breaks its connection"),
        ..c("severed", Portable::Yes)
    },
    Program {
        portable: Portable::No("a driver has functions that are not supported through the network"),
        ..c("unsupported", Portable::Yes)
    },
    c("arrays", Portable::Partly(HANDLES)),
    c(
        "images",
        Portable::Partly(
            "handles as above; images that lie about their length; a function that host and device share",
        ),
    ),
    c("large_image", Portable::Yes),
    c("pointers", Portable::Yes),
    c(
        "managed",
        Portable::Partly(
            "what is answered to advice about memory that is not managed, and to sizes beyond all bounds",
        ),
    ),
    c("coherence", Portable::Yes),
    Program {
        arguments: &["10000", "4"],
        ..c("coherence", Portable::Yes)
    },
    Program {
        environment: &[("GTRACE_MANAGED", "signals")],
        ..c("coherence", Portable::Yes)
    },
    Program {
        arguments: &["4000", "4", "allocated"],
        ..c("coherence", Portable::Yes)
    },
    Program {
        arguments: &["4000", "4", "registered"],
        ..c("coherence", Portable::Yes)
    },
    Program {
        arguments: &["4000", "4", "shared"],
        ..c("coherence", Portable::Yes)
    },
    c("mapped", Portable::Yes),
    c("page_locked", Portable::Yes),
    c("page_locked_uses", Portable::Yes),
    Program {
        arguments: &["copies"],
        ..c("page_locked_races", Portable::Yes)
    },
    Program {
        arguments: &["functions"],
        ..c("page_locked_races", Portable::Yes)
    },
    Program {
        arguments: &["graphs"],
        ..c("page_locked_races", Portable::Yes)
    },
    Program {
        arguments: &["heap"],
        ..c("page_locked_races", Portable::Yes)
    },
    Program {
        arguments: &["untouched"],
        ..c("page_locked_races", Portable::Yes)
    },
    Program {
        arguments: &["forks"],
        ..c(
            "page_locked_races",
            Portable::No(
                "what a child has of memory that a driver has pinned is the kernel's choice",
            ),
        )
    },
    Program {
        arguments: &["unmapped"],
        ..c(
            "page_locked_races",
            Portable::No("a driver keeps the pages that the program has given back"),
        )
    },
    c("segments", Portable::Yes),
    c("dispositions", Portable::Yes),
    c(
        "virtual_memory",
        Portable::Partly(
            "addresses where nothing is mapped, whose use ends the context, and mapped ones that are freed; how much \
             memory is free",
        ),
    ),
    c("shared_memory", Portable::Partly(HANDLES)),
    c("ipc", Portable::Partly(HANDLES)),
    c("pools", Portable::Partly(HANDLES)),
    Program {
        portable: Portable::No("it needs two devices"),
        ..c("peers", Portable::Yes)
    },
    c(
        "devices",
        Portable::Partly(
            "attributes of what is not forwarded and a real device may have: sparse arrays, memory pools, fabric and \
             multicast handles for other processes, decompression, Vulkan",
        ),
    ),
    c("forked", Portable::Yes),
    c("blocking", Portable::Yes),
    blocking("blocking"),
    c("sticky", Portable::Yes),
    blocking("sticky"),
    c(
        "memory",
        Portable::Partly(
            "handles as above; addresses beyond an allocation, which may be good on a GPU that reaches the memory \
             of processes; memory that a driver keeps",
        ),
    ),
    Program {
        name: "cudarc",
        kind: Kind::Example,
        arguments: &[],
        environment: &[],
        portable: Portable::Yes,
    },
    Program {
        portable: Portable::No("NVIDIA's runtime is not part of the archive"),
        ..c("runtime", Portable::Yes)
    },
    Program {
        portable: Portable::No("NVIDIA's runtime is not part of the archive"),
        ..c("runtime_kernels", Portable::Yes)
    },
    Program {
        portable: Portable::No("it is made for tracing, not for a remote GPU"),
        ..c("many_calls", Portable::Yes)
    },
    Program {
        portable: Portable::No("it calls a driver that is made for it"),
        ..c("untouched", Portable::Yes)
    },
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
