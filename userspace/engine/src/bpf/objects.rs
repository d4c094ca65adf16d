//! The compiled probes, carried inside the binary.

use gtrace_uprobes::embedded::{Embedded, Object};

static PRODUCTION: Embedded = Embedded {
    packed: include_bytes!(env!("GTRACE_BPF_OBJECT")),
    len: include!(env!("GTRACE_BPF_OBJECT_LEN")),
};
static LOGGING: Embedded = Embedded {
    packed: include_bytes!(env!("GTRACE_BPF_OBJECT_LOG")),
    len: include!(env!("GTRACE_BPF_OBJECT_LOG_LEN")),
};
static CORE: Embedded = Embedded {
    packed: include_bytes!(env!("GTRACE_BPF_OBJECT_CORE")),
    len: include!(env!("GTRACE_BPF_OBJECT_CORE_LEN")),
};

/// The programs in C.
pub(super) fn core_object() -> Object {
    CORE.unpack()
}

/// The object to load; with `log`, the one that carries aya-log.
pub(super) fn object(log: bool) -> Object {
    if log {
        LOGGING.unpack()
    } else {
        PRODUCTION.unpack()
    }
}

#[cfg(test)]
mod tests {
    use super::object;

    #[test]
    fn libbpf_opens_the_production_object_and_sees_every_map_and_program() {
        let open = libbpf_rs::ObjectBuilder::default()
            .open_memory(&object(false))
            .unwrap();
        let maps: Vec<_> = open
            .maps()
            .map(|m| m.name().to_string_lossy().into_owned())
            .collect();
        for name in [
            "EVENTS",
            "CALLS",
            "CONFIG",
            "COUNTERS",
            "STARTS",
            "DRIVER_STARTS",
            "FAILURES",
            "OPENS",
            "HISTS",
            "HISTS_OTHERS",
            "GPU_TASKS",
        ] {
            assert!(
                maps.iter().any(|m| m == name),
                "{name} is not among {maps:?}"
            );
        }
        let programs: Vec<_> = open
            .progs()
            .map(|p| p.name().to_string_lossy().into_owned())
            .collect();
        for hook in crate::bpf::PROBES.iter().flat_map(|p| p.hooks) {
            assert!(programs.iter().any(|p| p == hook.program), "{programs:?}");
        }
    }

    #[test]
    fn root_libbpf_loads_the_production_object() {
        if !crate::host::is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let open = libbpf_rs::ObjectBuilder::default()
            .open_memory(&object(false))
            .unwrap();
        open.load().unwrap();
    }
}
