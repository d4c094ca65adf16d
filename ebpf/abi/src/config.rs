//! What user space tells the probes: kernel layout at load time, filters at any time.

/// How many device filters there can be.
pub const MAX_DEVICES: usize = 8;

/// Byte offsets in kernel structures and tracepoint records of the running kernel, taken from
/// /sys/kernel/btf/vmlinux and tracefs `format` files. Constant once loaded.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offsets {
    /// `task_struct.files`.
    pub task_files: u32,
    /// `task_struct.signal`.
    pub task_signal: u32,
    /// `task_struct.exit_code`.
    pub task_exit_code: u32,
    /// `signal_struct.live` (its counter).
    pub signal_live: u32,
    /// `signal_struct.group_exit_code`.
    pub signal_group_exit_code: u32,
    /// `files_struct.fdt`.
    pub files_fdt: u32,
    /// `fdtable.max_fds`.
    pub fdt_max_fds: u32,
    /// `fdtable.fd`.
    pub fdt_fd: u32,
    /// `fdtable.open_fds`.
    pub fdt_open_fds: u32,
    /// `file.f_inode`.
    pub file_inode: u32,
    /// `inode.i_rdev`.
    pub inode_rdev: u32,
    /// `inode.i_mode`.
    pub inode_mode: u32,
    /// printk:console `msg`.
    pub printk_msg: u32,
    /// oom:mark_victim `pid`.
    pub oom_pid: u32,
    /// module:module_load `name`.
    pub module_load_name: u32,
    /// module:module_free `name`.
    pub module_free_name: u32,
    /// ras:aer_event `dev_name`.
    pub aer_dev_name: u32,
    /// ras:aer_event `status`.
    pub aer_status: u32,
    /// ras:aer_event `severity`.
    pub aer_severity: u32,
    /// ras:aer_event `tlp_header_valid`.
    pub aer_tlp_header_valid: u32,
    /// ras:aer_event `tlp_header`.
    pub aer_tlp_header: u32,
    /// syscalls:sys_enter_ioctl `fd`.
    pub ioctl_fd: u32,
    /// syscalls:sys_enter_ioctl `cmd`.
    pub ioctl_cmd: u32,
    /// syscalls:sys_exit_ioctl `ret`.
    pub ioctl_ret: u32,
    /// 1 if the descriptor table can be followed (all of task, files, file, inode known).
    pub have_files: u32,
}

/// One character device, or all minors of a major.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceFilter {
    /// Major number; 0 ends the list.
    pub major: u32,
    /// Minor number, or [`DeviceFilter::ANY_MINOR`].
    pub minor: u32,
}

impl DeviceFilter {
    /// Matches every minor.
    pub const ANY_MINOR: u32 = u32::MAX;

    /// Whether a device number (major << 20 | minor) is meant.
    #[inline(always)]
    pub const fn matches(&self, rdev: u32) -> bool {
        self.major != 0
            && rdev >> 20 == self.major
            && (self.minor == Self::ANY_MINOR || rdev & 0xf_ffff == self.minor)
    }
}

/// Filters and thresholds, changed while the probes run.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Config {
    /// Devices whose ioctls are traced and whose users are GPU processes.
    pub devices: [DeviceFilter; MAX_DEVICES],
    /// Calls that take at least this long are reported one by one; 0 reports none.
    pub slow_call_ns: u64,
    /// 1 while the exit probe forgets the threads that end. A thread's place in the table of calls
    /// under way is then kept between its calls, which costs less than making it anew.
    pub exits_seen: u64,
}

const _: () = assert!(size_of::<Offsets>() == 25 * 4);
const _: () = assert!(size_of::<Config>() == 8 * MAX_DEVICES + 16);

#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for Offsets {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for Config {}
