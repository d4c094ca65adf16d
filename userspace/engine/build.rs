//! Finds the compiled probes that are embedded.

include!("../../ebpf/find_objects.rs");

fn main() {
    find_objects(&[
        ("GTRACE_BPF_OBJECT", "gtrace-probes.o"),
        ("GTRACE_BPF_OBJECT_LOG", "gtrace-probes-log.o"),
        ("GTRACE_BPF_OBJECT_CORE", "gtrace-core.o"),
    ]);
}
