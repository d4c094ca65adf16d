//! syscalls:sys_enter_ioctl and sys_exit_ioctl: driver calls, where the driver itself cannot be
//! probed. Only calls on watched devices are timed.

use aya_ebpf::EbpfContext as _;
use aya_ebpf::macros::tracepoint;
use aya_ebpf::programs::TracePointContext;
use gtrace_abi::Counter;

use crate::call;
use crate::device::{config, fd_table, read, watched_rdev};
use crate::maps::{OFFSETS, STARTS, count};

/// Where the arguments stand in the records of all syscall tracepoints, on every 64-bit kernel so
/// far: as constants they are loaded directly, which the verifier allows for no other offset.
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;
const THIRD_ARGUMENT: u32 = 32;

/// A field of the tracepoint's record, `AT` being where it usually is.
#[inline(always)]
fn field<T: Copy, const AT: u32>(ctx: &TracePointContext, offset: u32) -> Option<T> {
    if offset == AT {
        // SAFETY: the record is at least as long as the format file said, which `offset` is from.
        return Some(unsafe {
            ctx.as_ptr()
                .cast::<u8>()
                .add(AT as usize)
                .cast::<T>()
                .read_volatile()
        });
    }
    // SAFETY: the helper checks the address and fails on a bad one.
    unsafe { ctx.read_at(offset as usize) }.ok()
}

#[tracepoint]
pub fn ioctl_enter(ctx: TracePointContext) -> u32 {
    let offsets = OFFSETS.load();
    let Some(config) = config() else { return 0 };
    if config.devices[0].major == 0 {
        return 0;
    }
    let Some(fd) = field::<u32, FIRST_ARGUMENT>(&ctx, offsets.ioctl_fd) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    let Some(table) = fd_table() else { return 0 };
    if fd >= table.max_fds {
        return 0;
    }
    let file: u64 = match read(table.files + 8 * fd as u64, 0) {
        Some(0) => return 0,
        Some(file) => file,
        None => {
            count(Counter::DeviceReadFailed);
            return 0;
        }
    };
    let Some(rdev) = watched_rdev(config, file) else {
        count(Counter::DeviceReadFailed);
        return 0;
    };
    if rdev == 0 {
        return 0;
    }
    let cmd = field::<u32, SECOND_ARGUMENT>(&ctx, offsets.ioctl_cmd);
    let arg = field::<u64, THIRD_ARGUMENT>(&ctx, offsets.ioctl_arg);
    let (Some(cmd), Some(arg)) = (cmd, arg) else {
        count(Counter::FieldReadFailed);
        return 0;
    };
    call::begin(&STARTS, config, cmd, arg, |_| {
        Some(call::Device {
            rdev,
            file: 0,
            closed: 0,
        })
    });
    0
}

#[tracepoint]
pub fn ioctl_exit(ctx: TracePointContext) -> u32 {
    call::end(&STARTS, || {
        field::<i64, FIRST_ARGUMENT>(&ctx, OFFSETS.load().ioctl_ret)
    });
    0
}
