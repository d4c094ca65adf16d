//! BPF programs of gtrace, one file a hook. Loaded by aya; every map is a BTF map, so that
//! libbpf can open the object too.
#![no_std]
#![no_main]
// BPF has no stable inline assembly yet; atomic instructions need it.
#![feature(asm_experimental_arch)]

mod aer;
mod atomic;
mod call;
mod dev_xid;
mod device;
mod driver;
mod exit;
mod firmware;
mod ioctl;
mod maps;
mod mc;
mod mce;
mod module;
mod oom;
mod printk;
mod ring;
mod unload;

#[cfg(feature = "log")]
#[macro_export]
/// A line for whoever debugs a probe; nothing in the production object.
macro_rules! probe_debug {
    ($ctx:expr, $($arg:tt)*) => { aya_log_ebpf::debug!($ctx, $($arg)*) };
}
#[cfg(not(feature = "log"))]
#[macro_export]
/// A line for whoever debugs a probe; nothing in the production object.
macro_rules! probe_debug {
    ($ctx:expr, $($arg:tt)*) => {};
}

#[cfg(target_arch = "bpf")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Helpers such as bpf_ringbuf_query need a GPL-compatible program; the source is dual-licensed
/// MIT OR Apache-2.0, and "Dual MIT/GPL" is the kernel's name for such code.
#[unsafe(link_section = "license")]
#[unsafe(no_mangle)]
static LICENSE: [u8; 13] = *b"Dual MIT/GPL\0";
