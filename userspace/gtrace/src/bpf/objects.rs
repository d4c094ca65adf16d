//! The compiled probes, carried inside the binary.

/// Aligned, because the ELF parser reads the bytes in place.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);

static PRODUCTION: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("GTRACE_BPF_OBJECT")));
static LOGGING: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("GTRACE_BPF_OBJECT_LOG")));

/// The object to load; with `log`, the one that carries aya-log.
pub(super) fn object(log: bool) -> &'static [u8] {
    if log { &LOGGING.0 } else { &PRODUCTION.0 }
}
