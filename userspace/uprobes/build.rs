//! Finds the compiled probes that are embedded in the library.

include!("../../ebpf/find_objects.rs");

fn main() {
    find_objects(&[("GTRACE_BPF_OBJECT_CUDA_API", "gtrace-cuda-api.o")]);
}
