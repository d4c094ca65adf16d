//! The programs of the table.

use super::{Kind, Program, all, without_times};
use crate::mask;
use crate::mask::of_devices;

const SKIP: (&str, &str) = ("GTRACE_SOFTGPU_LAUNCH", "skip");
const TWO: (&str, &str) = ("GTRACE_SOFTGPU_DEVICES", "2");

/// Programs that people look for and that are not run here, and why.
pub const NOT_RUN: &[(&str, &str)] = &[
    (
        "TensorFlow",
        "its wheels bring some 4 GB of CUDA 12 of their own, which the tests do not fetch",
    ),
    (
        "llama.cpp, ollama",
        "PyPI and crates.io have no build of its CUDA backend, which nvcc compiles for more than an hour",
    ),
    (
        "candle, burn (Rust)",
        "they call the driver by cudarc, which is run, and compile their kernels with nvcc for minutes",
    ),
    (
        "nvtop",
        "it draws on a terminal; it reads NVML, whose functions nvidia-smi and nvidia-ml-py ask for",
    ),
];

const PLAIN: Program = Program {
    id: "",
    name: "",
    packages: &[],
    does: "",
    kind: Kind::Tool(&[]),
    server: &[],
    options: &[],
    client: &[],
    mask: all,
};

/// All of them, in the order of the table.
pub const PROGRAMS: &[Program] = &[
    Program {
        id: "torch_memory",
        name: "PyTorch",
        packages: &["torch"],
        does: "memory, page-locked memory, streams, events",
        kind: Kind::Framework(&["torch_memory.py"]),
        ..PLAIN
    },
    Program {
        id: "torch_training",
        name: "PyTorch, training",
        packages: &["torch"],
        does: "an MLP with cuBLAS and SGD",
        kind: Kind::Framework(&["torch_steps.py", "training", "3"]),
        server: &[SKIP],
        ..PLAIN
    },
    Program {
        id: "torch_compile",
        name: "torch.compile (Inductor, Triton)",
        packages: &["torch", "triton"],
        does: "a model, forward and backward",
        kind: Kind::Framework(&["torch_compile.py"]),
        server: &[SKIP],
        ..PLAIN
    },
    Program {
        id: "torch_loader",
        name: "PyTorch DataLoader",
        packages: &["torch"],
        does: "`pin_memory=True`, worker processes",
        kind: Kind::Framework(&["torch_loader.py"]),
        ..PLAIN
    },
    Program {
        id: "torch_profiler",
        name: "torch.profiler (Kineto, CUPTI)",
        packages: &["torch"],
        does: "the CPU's side, and by `gtrace exec --cupti` the GPU's kernels and copies",
        kind: Kind::Framework(&["torch_profiler.py"]),
        server: &[SKIP],
        client: &["--cupti"],
        ..PLAIN
    },
    Program {
        id: "torch_segments",
        name: "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`",
        packages: &["torch"],
        does: "memory that grows, and is shared with another process",
        kind: Kind::Framework(&["torch_segments.py"]),
        options: &["--sandbox", "off"],
        ..PLAIN
    },
    Program {
        id: "torch_distributed",
        name: "torch.distributed, NCCL, in processes",
        packages: &["torch", "nvidia-nccl-cu13"],
        does: "two ranks on two devices",
        kind: Kind::Framework(&["torch_distributed.py", "processes"]),
        server: &[SKIP, TWO],
        options: &["--sandbox", "off"],
        ..PLAIN
    },
    Program {
        id: "torch_nccl_threads",
        name: "NCCL in one process, DataParallel",
        packages: &["torch", "nvidia-nccl-cu13"],
        does: "two devices",
        kind: Kind::Framework(&["torch_distributed.py", "threads"]),
        server: &[SKIP, TWO],
        ..PLAIN
    },
    Program {
        id: "jax",
        name: "JAX",
        packages: &["jax", "jax-cuda13-plugin"],
        does: "the GPU by default, `jit`, `grad`",
        kind: Kind::Framework(&["jax_steps.py"]),
        server: &[SKIP],
        ..PLAIN
    },
    Program {
        id: "jax_profiler",
        name: "jax.profiler (XLA, CUPTI)",
        packages: &["jax", "jax-cuda13-plugin"],
        does: "the GPU's kernels, by `gtrace exec --cupti`",
        kind: Kind::Framework(&["jax_steps.py", "profiled"]),
        server: &[SKIP],
        client: &["--cupti"],
        ..PLAIN
    },
    Program {
        id: "onnxruntime",
        name: "onnxruntime-gpu",
        packages: &["onnxruntime-gpu"],
        does: "a session with CUDAExecutionProvider, OrtValue",
        kind: Kind::Framework(&["onnx_session.py"]),
        server: &[SKIP],
        ..PLAIN
    },
    Program {
        id: "cupy",
        name: "CuPy",
        packages: &["cupy-cuda13x"],
        does: "arrays, kernels, reductions, graphs",
        kind: Kind::Framework(&["cupy_arrays.py"]),
        ..PLAIN
    },
    Program {
        id: "cupy_tests",
        name: "CuPy's own tests",
        packages: &["cupy-cuda13x"],
        does: "of memory, streams, graphs, devices, textures",
        kind: Kind::Framework(&["cupy_tests.py", "@cupy-tests"]),
        server: &[TWO],
        ..PLAIN
    },
    Program {
        id: "numba",
        name: "Numba (numba-cuda)",
        packages: &["numba", "numba-cuda"],
        does: "kernels, atomics, warps, mapped memory",
        kind: Kind::Framework(&["numba_arrays.py"]),
        ..PLAIN
    },
    Program {
        id: "numba_tests",
        name: "numba-cuda's own tests",
        packages: &["numba-cuda"],
        does: "of its driver",
        kind: Kind::Framework(&["numba_tests.py"]),
        ..PLAIN
    },
    Program {
        id: "numba_training",
        name: "A transformer in Numba",
        packages: &["numba-cuda"],
        does: "50 steps with Adam, executed; losses equal to the bit",
        kind: Kind::Framework(&["numba_training.py"]),
        ..PLAIN
    },
    Program {
        id: "cuda_core",
        name: "cuda.core",
        packages: &["cuda-core"],
        does: "kernels, linking, graphs",
        kind: Kind::Framework(&["core_objects.py"]),
        ..PLAIN
    },
    Program {
        id: "pycuda",
        name: "pycuda",
        packages: &["pycuda"],
        does: "memory, a kernel, page-locked memory",
        kind: Kind::Framework(&["pycuda_arrays.py"]),
        ..PLAIN
    },
    Program {
        id: "cuda_python",
        name: "cuda-python",
        packages: &["cuda-python"],
        does: "a vector addition",
        kind: Kind::Tool(&["vector_add.py"]),
        ..PLAIN
    },
    Program {
        id: "cudarc",
        name: "cudarc (Rust)",
        does: "memory, kernels, streams",
        kind: Kind::Example("cudarc"),
        ..PLAIN
    },
    Program {
        id: "nvidia_smi_535",
        name: "nvidia-smi",
        does: "`-q`",
        kind: Kind::NvidiaSmi("535", &["-q"]),
        server: &[TWO],
        mask: without_times,
        ..PLAIN
    },
    Program {
        id: "nvidia_smi_550",
        name: "nvidia-smi",
        does: "`-q -x`",
        kind: Kind::NvidiaSmi("550", &["-q", "-x"]),
        server: &[TWO],
        mask: without_times,
        ..PLAIN
    },
    Program {
        id: "nvidia_ml_py",
        name: "nvidia-ml-py",
        packages: &["nvidia-ml-py"],
        does: "every reading that it has",
        kind: Kind::Tool(&["nvml.py"]),
        server: &[TWO],
        mask: mask::changing,
        ..PLAIN
    },
    Program {
        id: "py3nvml",
        name: "py3nvml",
        packages: &["py3nvml"],
        does: "readings by the first versions of functions",
        kind: Kind::Framework(&["py3nvml_readings.py"]),
        ..PLAIN
    },
    Program {
        id: "nvitop",
        name: "nvitop",
        packages: &["nvitop"],
        does: "`-1`",
        kind: Kind::Command(&["nvitop", "-1", "--ascii"]),
        mask: of_devices,
        ..PLAIN
    },
    Program {
        id: "gpustat",
        name: "gpustat",
        packages: &["gpustat"],
        does: "its table",
        kind: Kind::Command(&["gpustat", "--no-color", "--no-header"]),
        mask: of_devices,
        ..PLAIN
    },
];
