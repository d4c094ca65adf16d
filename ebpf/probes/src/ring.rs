//! Sending records.

use aya_ebpf::EbpfContext as _;
use aya_ebpf::bindings::{BPF_RB_AVAIL_DATA, BPF_RB_FORCE_WAKEUP, BPF_RB_NO_WAKEUP};
use aya_ebpf::btf_maps::RingBuf;
use aya_ebpf::helpers::generated::{
    bpf_ktime_get_boot_ns, bpf_probe_read_kernel_str, bpf_ringbuf_output, bpf_ringbuf_query,
};
use aya_ebpf::helpers::{bpf_get_current_pid_tgid, bpf_get_smp_processor_id};
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::{Counter, Header, RecordType};

use crate::maps::{EVENTS, count};

/// A header for the running task, now.
#[inline(always)]
pub fn header(kind: RecordType) -> Header {
    let pid_tgid = bpf_get_current_pid_tgid();
    Header {
        kind: kind as u32,
        // SAFETY: takes no argument, cannot fail.
        cpu: unsafe { bpf_get_smp_processor_id() },
        // SAFETY: takes no argument, cannot fail.
        boottime_ns: unsafe { bpf_ktime_get_boot_ns() },
        tgid: (pid_tgid >> 32) as u32,
        tid: pid_tgid as u32,
    }
}

/// Copies `len` bytes at `data` into `ring`; false if there is no room.
///
/// The reader is woken for the first record after it has caught up, so that a lone record is not
/// delayed, and not for those that follow: while it is busy it looks at the ring by itself.
#[inline(always)]
pub fn send<const N: usize>(ring: &RingBuf<[u8; 0], N>, data: *const u8, len: u64) -> bool {
    let map = core::ptr::from_ref(ring).cast_mut().cast();
    // SAFETY: `map` is the address of a ring buffer map, which the loader replaces.
    let waiting = unsafe { bpf_ringbuf_query(map, BPF_RB_AVAIL_DATA as u64) };
    let flags = if waiting == 0 {
        BPF_RB_FORCE_WAKEUP
    } else {
        BPF_RB_NO_WAKEUP
    };
    // SAFETY: the caller's `data` is good for `len` bytes, which the verifier proves.
    let ret = unsafe { bpf_ringbuf_output(map, data.cast_mut().cast(), len, flags as u64) };
    ret == 0
}

/// The text that a `__data_loc` field at offset `field` of the tracepoint's record points to, cut where `into` ends.
///
/// # Safety
///
/// `field` is the offset of such a field, from the tracepoint's format file.
#[inline(always)]
pub unsafe fn read_text<const N: usize>(
    ctx: &TracePointContext,
    field: u32,
    into: &mut [u8; N],
) -> Result<(), i32> {
    // SAFETY: the caller's `field` is within the record, and so is what it points to.
    let ret = unsafe {
        let data_loc = ctx.read_at::<u32>(field as usize)?;
        bpf_probe_read_kernel_str(
            into.as_mut_ptr().cast(),
            N as u32,
            ctx.as_ptr().add((data_loc & 0xffff) as usize),
        )
    };
    match ret {
        ret if ret < 0 => Err(ret as i32),
        _ => Ok(()),
    }
}

/// Sends a whole record to [`EVENTS`], and counts it where there is no room.
#[inline(always)]
pub fn send_event<T>(record: &T) {
    if !send_record(&EVENTS, record) {
        count(Counter::EventRingFull);
    }
}

/// Sends a whole record.
#[inline(always)]
pub fn send_record<T, const N: usize>(ring: &RingBuf<[u8; 0], N>, record: &T) -> bool {
    send(
        ring,
        core::ptr::from_ref(record).cast(),
        size_of::<T>() as u64,
    )
}
