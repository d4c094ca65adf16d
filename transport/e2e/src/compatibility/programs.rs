//! The programs of the table.

use super::{Kind, Program, all};
use crate::mask;
use crate::mask::{of_devices, without_times};

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

macro_rules! programs {
    ($($id:literal $name:literal [$($package:literal),*] $does:literal, $kind:ident($($given:expr),*) $(, $field:ident: $value:expr)*;)*) => {
        /// All of them, in the order of the table.
        pub const PROGRAMS: &[Program] = &[$(Program {
            id: $id,
            name: $name,
            packages: &[$($package),*],
            does: $does,
            kind: Kind::$kind($($given),*),
            $($field: $value,)*
            ..PLAIN
        }),*];
    };
}

// Id, name, packages of PyPI, what it does here, how it is run; and what differs from [`PLAIN`].
programs! {
    "torch_memory" "PyTorch" ["torch"] "memory, page-locked memory, streams, events",
        Framework(&["torch_memory.py"]);
    "torch_training" "PyTorch, training" ["torch"] "an MLP with cuBLAS and SGD",
        Framework(&["torch_steps.py", "training", "3"]), server: &[SKIP];
    "torch_compile" "torch.compile (Inductor, Triton)" ["torch", "triton"] "a model, forward and backward",
        Framework(&["torch_compile.py"]), server: &[SKIP];
    "torch_loader" "PyTorch DataLoader" ["torch"] "`pin_memory=True`, worker processes",
        Framework(&["torch_loader.py"]);
    "torch_profiler" "torch.profiler (Kineto, CUPTI)" ["torch"] "the CPU's side, and by `gtrace exec --cupti` the GPU's kernels and copies",
        Framework(&["torch_profiler.py"]), server: &[SKIP], client: &["--cupti"];
    "torch_segments" "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`" ["torch"] "memory that grows, and is shared with another process",
        Framework(&["torch_segments.py"]), options: &["--sandbox", "off"];
    "torch_distributed" "torch.distributed, NCCL, in processes" ["torch", "nvidia-nccl-cu13"] "two ranks on two devices",
        Framework(&["torch_distributed.py", "processes"]), server: &[SKIP, TWO], options: &["--sandbox", "off"];
    "torch_nccl_threads" "NCCL in one process, DataParallel" ["torch", "nvidia-nccl-cu13"] "two devices",
        Framework(&["torch_distributed.py", "threads"]), server: &[SKIP, TWO];
    "jax" "JAX" ["jax", "jax-cuda13-plugin"] "the GPU by default, `jit`, `grad`",
        Framework(&["jax_steps.py"]), server: &[SKIP];
    "jax_profiler" "jax.profiler (XLA, CUPTI)" ["jax", "jax-cuda13-plugin"] "the GPU's kernels, by `gtrace exec --cupti`",
        Framework(&["jax_steps.py", "profiled"]), server: &[SKIP], client: &["--cupti"];
    "onnxruntime" "onnxruntime-gpu" ["onnxruntime-gpu"] "a session with CUDAExecutionProvider, OrtValue",
        Framework(&["onnx_session.py"]), server: &[SKIP];
    "cupy" "CuPy" ["cupy-cuda13x"] "arrays, kernels, reductions, graphs", Framework(&["cupy_arrays.py"]);
    "cupy_tests" "CuPy's own tests" ["cupy-cuda13x"] "of memory, streams, graphs, devices, textures",
        Framework(&["cupy_tests.py", "@cupy-tests"]), server: &[TWO];
    "numba" "Numba (numba-cuda)" ["numba", "numba-cuda"] "kernels, atomics, warps, mapped memory",
        Framework(&["numba_arrays.py"]);
    "numba_tests" "numba-cuda's own tests" ["numba-cuda"] "of its driver", Framework(&["numba_tests.py"]);
    "numba_training" "A transformer in Numba" ["numba-cuda"] "50 steps with Adam, executed; losses equal to the bit",
        Framework(&["numba_training.py"]);
    "cuda_core" "cuda.core" ["cuda-core"] "kernels, linking, graphs", Framework(&["core_objects.py"]);
    "pycuda" "pycuda" ["pycuda"] "memory, a kernel, page-locked memory", Framework(&["pycuda_arrays.py"]);
    "cuda_python" "cuda-python" ["cuda-python"] "a vector addition", Tool(&["vector_add.py"]);
    "cudarc" "cudarc (Rust)" [] "memory, kernels, streams", Example("cudarc");
    "nvidia_smi_535" "nvidia-smi" [] "`-q`", NvidiaSmi("535", &["-q"]), server: &[TWO], mask: without_times;
    "nvidia_smi_550" "nvidia-smi" [] "`-q -x`",
        NvidiaSmi("550", &["-q", "-x"]), server: &[TWO], mask: without_times;
    "nvidia_ml_py" "nvidia-ml-py" ["nvidia-ml-py"] "every reading that it has",
        Tool(&["nvml.py"]), server: &[TWO], mask: mask::changing;
    "py3nvml" "py3nvml" ["py3nvml"] "readings by the first versions of functions",
        Framework(&["py3nvml_readings.py"]);
    "nvitop" "nvitop" ["nvitop"] "`-1`", Command(&["nvitop", "-1", "--ascii"]), mask: of_devices;
    "gpustat" "gpustat" ["gpustat"] "its table",
        Command(&["gpustat", "--no-color", "--no-header"]), mask: of_devices;
}
