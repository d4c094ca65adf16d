//! What user space passes to the probes: kernel layout at load time, filters at any time.

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
    /// syscalls:sys_enter_delete_module `name_user`.
    pub delete_module_name: u32,
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
    /// syscalls:sys_enter_ioctl `arg`.
    pub ioctl_arg: u32,
    /// syscalls:sys_exit_ioctl `ret`.
    pub ioctl_ret: u32,
    /// 1 if the descriptor table can be followed (all of task, files, file, inode known).
    pub have_files: u32,
}

/// Byte offsets in the records of the ras and mce tracepoints; 0 for what the running kernel does not have. Constant once
/// loaded.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RasOffsets {
    /// ras:mc_event `error_type`.
    pub mc_error_type: u32,
    /// ras:mc_event `msg`.
    pub mc_msg: u32,
    /// ras:mc_event `label`.
    pub mc_label: u32,
    /// ras:mc_event `error_count`.
    pub mc_error_count: u32,
    /// ras:mc_event `mc_index`.
    pub mc_index: u32,
    /// ras:mc_event `address`.
    pub mc_address: u32,
    /// ras:mc_event `syndrome`.
    pub mc_syndrome: u32,
    /// mce:mce_record `status`.
    pub mce_status: u32,
    /// mce:mce_record `addr`.
    pub mce_addr: u32,
    /// mce:mce_record `cpu`.
    pub mce_cpu: u32,
    /// mce:mce_record `bank`.
    pub mce_bank: u32,
    /// mce:mce_record `ipid`; 0 where the kernel has none.
    pub mce_ipid: u32,
    /// mce:mce_record `cpuvendor`.
    pub mce_vendor: u32,
    /// ras:arm_event `sev`, Linux 6.17.
    pub arm_sev: u32,
    /// ras:arm_event `cpu`, Linux 6.17.
    pub arm_cpu: u32,
    /// ras:non_standard_event `sec_type`.
    pub section_type: u32,
    /// ras:non_standard_event `fru_text`.
    pub section_fru_text: u32,
    /// ras:non_standard_event `sev`.
    pub section_sev: u32,
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

/// NV_STATUS values below this can be asked for one by one; all that nvstatuscodes.h has are.
pub const STATUS_BITS: usize = 256;
/// UVM calls below this number have a place in [`Decode::uvm_status`]. The two with high numbers
/// have theirs at [`uvm_slot`].
pub const UVM_CALLS: usize = 128;
/// Where nothing is known: no status, no code.
pub const UNKNOWN: u16 = u16::MAX;
/// How many sizes of parameters an escape can have with the status in different places.
pub const PLACES: usize = 3;

/// Where NV_STATUS stands in parameters of one size.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Size of the parameters in bytes, or [`Place::ANY_SIZE`].
    pub size: u16,
    /// Offset in bytes, or [`UNKNOWN`].
    pub at: u16,
}

impl Place {
    /// Fits parameters of every size.
    pub const ANY_SIZE: u16 = u16::MAX;
    /// Fits nothing.
    pub const NONE: Self = Self {
        size: 0,
        at: UNKNOWN,
    };
}

/// Where in the parameters of the driver's calls the probes find what they report. Kept by user
/// space, as it depends on the driver's version.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decode {
    /// By escape number (`_IOC_NR`): offset of the operation's own code in the first 16 bytes, or
    /// [`UNKNOWN`].
    pub code: [u16; 256],
    /// By escape number: where NV_STATUS stands.
    pub status: [[Place; PLACES]; 256],
    /// By [`uvm_slot`]: offset of `rmStatus`, or [`UNKNOWN`].
    pub uvm_status: [u16; UVM_CALLS],
}

impl Decode {
    /// Nothing is known.
    pub const NOTHING: Self = Self {
        code: [UNKNOWN; 256],
        status: [[Place::NONE; PLACES]; 256],
        uvm_status: [UNKNOWN; UVM_CALLS],
    };
}

/// Which word of an escape's parameters is the handle of the object that the call is about: the one that it makes or
/// frees, else the one that it is for. The first word is the client, save in NVOS39 (RM_ALLOC_CONTEXT_DMA2).
#[inline(always)]
pub const fn object_word(nr: u32) -> u32 {
    match nr {
        // Their second word is the parent: RM_ALLOC_MEMORY, RM_ALLOC_OBJECT, RM_FREE, RM_ALLOC, RM_DUP_OBJECT and
        // RM_ALLOC_CONTEXT_DMA2 (nv_escape.h).
        0x27 | 0x28 | 0x29 | 0x2b | 0x34 | 0x54 => 2,
        _ => 1,
    }
}

/// Whether the call makes an object, whose handle the driver chooses where the caller passes 0.
#[inline(always)]
pub const fn makes_object(nr: u32) -> bool {
    object_word(nr) == 2 && nr != 0x29
}

/// Index of a UVM call in [`Decode::uvm_status`]: its number, or for UVM_INITIALIZE (0x30000001)
/// and UVM_DEINITIALIZE (0x30000002) the places 126 and 127.
#[inline(always)]
pub const fn uvm_slot(cmd: u32) -> Option<usize> {
    match cmd {
        0x3000_0001 => Some(UVM_CALLS - 2),
        0x3000_0002 => Some(UVM_CALLS - 1),
        cmd if (cmd as usize) < UVM_CALLS - 2 => Some(cmd as usize),
        _ => None,
    }
}

/// Filters and thresholds, changed while the probes run.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Devices whose ioctls are traced and whose users are GPU processes.
    pub devices: [DeviceFilter; MAX_DEVICES],
    /// Calls that take at least this long are reported one by one; 0 reports none.
    pub slow_call_ns: u64,
    /// 1 while the exit probe forgets the threads that end. A thread's place in the table of calls
    /// under way is then kept between its calls, which costs less than making it anew.
    pub exits_seen: u64,
    /// Calls that end with one of these NV_STATUS values are reported one by one: bit s % 64 of
    /// word s / 64.
    pub report_status: [u64; STATUS_BITS / 64],
    /// Calls that ioctl(2) itself fails with one of these error numbers are reported one by one: bit
    /// e % 64 of word e / 64.
    pub report_errno: [u64; 2],
    /// Every call of this process is reported and of no other anything; 0 for all as usual.
    pub trace_tgid: u32,
    /// Offset of `error_code` in nvidia:nvidia_dev_xid; 0 while the tracepoint is not there.
    pub dev_xid_code: u32,
    /// Offset of `dev` in nvidia:nvidia_dev_xid.
    pub dev_xid_dev: u32,
    /// Offset of `msg` in nvidia:nvidia_dev_xid.
    pub dev_xid_msg: u32,
    /// What is known of the driver's parameters.
    pub decode: Decode,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            devices: [DeviceFilter::default(); MAX_DEVICES],
            slow_call_ns: 0,
            exits_seen: 0,
            report_status: [0; _],
            report_errno: [0; _],
            trace_tgid: 0,
            dev_xid_code: 0,
            dev_xid_dev: 0,
            dev_xid_msg: 0,
            decode: Decode::NOTHING,
        }
    }
}

const _: () = assert!(size_of::<Offsets>() == 27 * 4);
const _: () = assert!(size_of::<RasOffsets>() == 18 * 4);
const _: () = assert!(size_of::<Decode>() == 2 * 256 + 4 * PLACES * 256 + 2 * UVM_CALLS);
const _: () =
    assert!(size_of::<Config>() == 8 * MAX_DEVICES + 16 + 32 + 16 + 16 + size_of::<Decode>());

#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for Offsets {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for RasOffsets {}
#[cfg(feature = "user")]
// SAFETY: repr(C), integers only, no padding (asserted above).
unsafe impl aya::Pod for Config {}
