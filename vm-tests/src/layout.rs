//! Paths in the guest, and the parameters of PID 1 on the kernel's command line.

/// The gtrace that users install.
pub const GTRACE: &str = "/usr/bin/gtrace";

/// busybox, used as shell and small tools.
pub const BUSYBOX: &str = "/bin/busybox";

/// Modules of the distribution's kernel, decompressed: `NAME.ko`.
pub const MODULES: &str = "/lib/gtrace-modules";

/// One line a module of [`MODULES`]: its name, then the names of all modules to load before it,
/// in order.
pub const MODULE_INDEX: &str = "/lib/gtrace-modules/index";

/// The stub of the NVIDIA driver, in the form of driver 545 and later.
pub const STUB_CURRENT: &str = "/stub/current";

/// The stub of the NVIDIA driver, in the form of drivers 515 to 535.
pub const STUB_FRONTEND: &str = "/stub/frontend";

/// The fake of NVML.
pub const FAKE_NVML: &str = "/stub/libnvidia-ml.so.1";

/// Modules of NVIDIA's driver, and `fakegpu.ko`.
pub const REAL_MODULES: &str = "/real";

/// The version of NVIDIA's driver, as its modules and libraries are called.
pub const REAL_VERSION: &str = "/real/version";

/// The same of the driver in [`REAL_OTHER`].
pub const REAL_OTHER_VERSION: &str = "/real/other/version";

/// The modules and the version of a second series of NVIDIA's driver, as in [`REAL_MODULES`], where the image has one.
pub const REAL_OTHER: &str = "/real/other";

/// The version of NVIDIA's driver that `fakegpu.ko` answers.
pub const REAL_LAYOUT: &str = "/real/layout";

/// NVIDIA's libraries, as `libcuda.so.1` and `libnvidia-ml.so.1`.
pub const REAL_LIBRARIES: &str = "/real/lib";

/// NVIDIA's `nvidia-smi`.
pub const REAL_SMI: &str = "/real/nvidia-smi";

/// Loaded before other libraries it writes down each ioctl on a node of the driver, `vm-tests/judge/judge.c`.
pub const REAL_JUDGE: &str = "/real/judge.so";

/// Calls the driver, well and badly, `vm-tests/judge/caller.c`.
pub const REAL_CALLER: &str = "/real/caller";

/// Makes each call of nvidia-uvm with wrong arguments and writes it down, `vm-tests/judge/uvm.c`.
pub const REAL_UVM: &str = "/real/uvm";

/// What the cases about RDMA run: programs in C, their driver, the tests of links.
pub const RDMA: &str = "/rdma";

/// Programs in C of GPU-over-IP that run in the guest: those that transport/e2e/tests/programs.rs runs in each
/// way and with nothing of their own around them.
pub const RDMA_PROGRAMS: [&str; 35] = [
    "vector_add",
    "copies",
    "streams",
    "events",
    "threads",
    "graphs",
    "steadfast",
    "saxpy",
    "reduction",
    "matmul",
    "histogram",
    "kernels",
    "sticky",
    "launch_errors",
    "memory",
    "managed",
    "managed_graphs",
    "mapped",
    "virtual_memory",
    "ipc",
    "pools",
    "launches",
    "modules",
    "link",
    "callbacks",
    "late",
    "batches",
    "pointers",
    "forked",
    "contexts",
    "loaded",
    "capture",
    "per_thread",
    "arrays",
    "images",
];

/// How many of these, from the first, run with `--strict` too.
pub const RDMA_STRICT: usize = 7;

/// The program in C that the cases about the server's workers run, beside those.
pub const LIMITS: &str = "limits";

/// The program that compares memory that host and device share with a model of it.
pub const COHERENCE: &str = "coherence";

/// The CPU emulator under the name of the CUDA driver's library.
pub const CUDA_LIBRARY: &str = "/cuda/libcuda.so.1";

/// Calls it and counts what it did, `userspace/uprobes/tests/support/caller.c`.
pub const CUDA_CALLER: &str = "/cuda/caller";

/// On the kernel's command line: the [`Scenario`](crate::scenario::Scenario)'s name follows.
pub const SCENARIO_ARG: &str = "gtrace.scenario=";

/// On the kernel's command line of the second machine of a scenario that has two
/// ([`Scenario::has_peer`](crate::scenario::Scenario::has_peer)).
pub const PEER_ARG: &str = "gtrace.peer=1";

/// On the kernel's command line: repeat a hundred times what is else repeated a few times.
pub const LONG_ARG: &str = "gtrace.long=1";

/// Size of the ring that holds the kernel's log, for `log_buf_len=`. It is set so that PID 1 knows
/// how much pushes the records of a case out before the next one.
pub const LOG_BYTES: usize = 1 << 18;

/// A module's name as the kernel shows it: `virtio-rng.ko` is `virtio_rng`.
pub fn module_name(text: &str) -> String {
    text.replace('-', "_")
}
