//! Ring records. Each begins with a [`Header`]; [`Header::kind`] says what follows.

/// Longest log text that a record carries. The kernel's own limit is 1024 bytes.
pub const LOG_TEXT_MAX: usize = 1024;
/// Bytes of a [`Header`].
pub const HEADER_LEN: usize = size_of::<Header>();

/// What a record is.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// [`LogRecord`].
    Log = 1,
    /// [`AerRecord`].
    Aer = 2,
    /// [`OomRecord`].
    Oom = 3,
    /// [`ExitRecord`].
    Exit = 4,
    /// [`ModuleRecord`].
    Module = 5,
    /// [`CallRecord`].
    Call = 6,
    /// [`XidRecord`].
    Xid = 7,
    /// [`crate::ApiRecord`].
    Api = 8,
    /// [`crate::ApiCall`].
    ApiCall = 9,
    /// [`MemoryRecord`].
    Memory = 10,
    /// [`MachineCheckRecord`].
    MachineCheck = 11,
    /// [`FirmwareErrorRecord`].
    FirmwareError = 12,
}

/// Begins every record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// A [`RecordType`].
    pub kind: u32,
    /// CPU that the record was made on.
    pub cpu: u32,
    /// CLOCK_BOOTTIME, nanoseconds.
    pub boottime_ns: u64,
    /// Process id (thread group) of the running task, in the initial pid namespace.
    pub tgid: u32,
    /// Thread id of the running task.
    pub tid: u32,
}

/// A kernel log record or a piece of one, from printk:console. Sent without the unused tail of
/// `text`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct LogRecord {
    /// Header.
    pub header: Header,
    /// Bytes of `text` that count.
    pub len: u32,
    /// 1 if the text was longer than [`LOG_TEXT_MAX`].
    pub cut: u32,
    /// The text, without prefix and final newline.
    pub text: [u8; LOG_TEXT_MAX],
}

/// ras:aer_event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct AerRecord {
    /// Header.
    pub header: Header,
    /// Correctable or uncorrectable error status register.
    pub status: u32,
    /// 0 non-fatal, 1 fatal, 2 corrected (include/ras/ras_event.h and include/linux/aer.h).
    pub severity: u32,
    /// 1 if `tlp_header` says something.
    pub tlp_header_valid: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// TLP header.
    pub tlp_header: [u32; 4],
    /// Device name, NUL-terminated.
    pub dev_name: [u8; 32],
}

/// ras:mc_event.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryRecord {
    /// Header.
    pub header: Header,
    /// HW_EVENT_ERR_*: 0 corrected, 1 uncorrected, 2 deferred, 3 fatal, 4 information (include/linux/edac.h).
    pub error_type: u32,
    /// How many errors.
    pub error_count: u32,
    /// Number of the memory controller.
    pub controller: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// Physical address; 0 where it is not known.
    pub address: u64,
    /// Syndrome of the error.
    pub syndrome: u64,
    /// What is wrong, in the driver's words, NUL-terminated.
    pub error: [u8; 64],
    /// Label of the memory module, NUL-terminated, cut where it is longer.
    pub label: [u8; 128],
}

impl Default for MemoryRecord {
    fn default() -> Self {
        Self {
            header: Header::default(),
            error_type: 0,
            error_count: 0,
            controller: 0,
            reserved: 0,
            address: 0,
            syndrome: 0,
            error: [0; 64],
            label: [0; 128],
        }
    }
}

/// mce:mce_record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct MachineCheckRecord {
    /// Header.
    pub header: Header,
    /// IA32_MCi_STATUS.
    pub status: u64,
    /// IA32_MCi_ADDR.
    pub address: u64,
    /// MCA_IPID of AMD: which unit it is; 0 where there is none.
    pub ipid: u64,
    /// The CPU that it happened on.
    pub cpu: u32,
    /// The bank.
    pub bank: u32,
    /// X86_VENDOR_*: 0 Intel, 2 AMD, 9 Hygon.
    pub vendor: u32,
    /// Unused, zero.
    pub reserved: u32,
}

/// ras:arm_event or ras:non_standard_event.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct FirmwareErrorRecord {
    /// Header.
    pub header: Header,
    /// GHES_SEV_*: 0 none, 1 corrected, 2 recoverable, 3 panic (include/acpi/ghes.h); [`Self::UNKNOWN`].
    pub severity: u32,
    /// 1 for ras:arm_event.
    pub is_arm: u32,
    /// The CPU; [`Self::UNKNOWN`].
    pub cpu: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// GUID of the section's type.
    pub section: [u8; 16],
    /// Text about the part (FRU), NUL-terminated.
    pub part: [u8; 32],
}

impl FirmwareErrorRecord {
    /// The kernel does not say it.
    pub const UNKNOWN: u32 = u32::MAX;
}

/// oom:mark_victim.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct OomRecord {
    /// Header (the task that needed memory, not the victim).
    pub header: Header,
    /// The victim.
    pub victim: u32,
    /// Unused, zero.
    pub reserved: u32,
}

/// A process that had a watched device open ended.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ExitRecord {
    /// Header (the last thread of the process).
    pub header: Header,
    /// As wait(2) gives it: exit status << 8, or signal | 0x80 if core was dumped.
    pub exit_code: u32,
    /// Device number of one device that it had open (major << 20 | minor).
    pub rdev: u32,
    /// Its control group in the v2 hierarchy: the inode number of the group's directory.
    pub cgroup_id: u64,
    /// Name of the thread that ended last, NUL-terminated.
    pub comm: [u8; 16],
}

/// What [`ModuleRecord`] is about.
#[repr(u32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModuleChange {
    /// module:module_free: a module is gone.
    Freed = 0,
    /// module:module_load: a module is there and begins to initialise.
    Loaded = 1,
    /// delete_module(2) was called.
    Delete = 2,
    /// A program that loads and unloads modules was started; the name is the program's.
    Tool = 3,
}

/// Modules come, go, or are about to.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ModuleRecord {
    /// Header.
    pub header: Header,
    /// A [`ModuleChange`].
    pub change: u32,
    /// Unused, zero.
    pub reserved: u32,
    /// Module name, NUL-terminated.
    pub name: [u8; 64],
}

/// One call: a slow or failed one, or any of a process that is traced.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct CallRecord {
    /// Header, at the end of the call.
    pub header: Header,
    /// How long it took, nanoseconds.
    pub latency_ns: u64,
    /// What ioctl(2) returned.
    pub ret: i64,
    /// Request number.
    pub cmd: u32,
    /// Device number (major << 20 | minor).
    pub rdev: u32,
    /// As in [`crate::CallKey`].
    pub code: u32,
    /// NV_STATUS, or [`NO_STATUS`] where the call has none or it could not be read.
    pub status: u32,
    /// The first two words of the parameters: RM_CONTROL has the client's and the object's handle
    /// there.
    pub handles: [u32; 2],
    /// Thread name, NUL-terminated.
    pub comm: [u8; 16],
}

/// No NV_STATUS is known of a call.
pub const NO_STATUS: u32 = u32::MAX;

/// `nv_report_error`, or nvidia:nvidia_dev_xid: an Xid, without its text in the first case.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct XidRecord {
    /// Header: the task in which the driver reported it, which need not be the one at fault.
    pub header: Header,
    /// Xid code.
    pub code: u32,
    /// 1 if it comes from the tracepoint, 0 from the probe on `nv_report_error`.
    pub tracepoint: u32,
    /// PCI address of the GPU (`0000:3b:00.0`), NUL-terminated.
    pub device: [u8; 32],
    /// Name of the running thread, NUL-terminated.
    pub comm: [u8; 16],
    /// The driver's text, NUL-terminated; empty from the probe.
    pub text: [u8; 256],
}

const _: () = assert!(size_of::<Header>() == 24);
const _: () = assert!(size_of::<LogRecord>() == 24 + 8 + LOG_TEXT_MAX);
const _: () = assert!(size_of::<AerRecord>() == 24 + 32 + 32);
const _: () = assert!(size_of::<MemoryRecord>() == 24 + 32 + 64 + 128);
const _: () = assert!(size_of::<MachineCheckRecord>() == 24 + 40);
const _: () = assert!(size_of::<FirmwareErrorRecord>() == 24 + 16 + 16 + 32);
const _: () = assert!(size_of::<OomRecord>() == 32);
const _: () = assert!(size_of::<ExitRecord>() == 56);
const _: () = assert!(size_of::<ModuleRecord>() == 96);
const _: () = assert!(size_of::<CallRecord>() == 80);
const _: () = assert!(size_of::<XidRecord>() == 24 + 8 + 32 + 16 + 256);

#[cfg(feature = "user")]
mod pod {
    use super::{
        AerRecord, CallRecord, ExitRecord, FirmwareErrorRecord, Header, MachineCheckRecord,
        MemoryRecord, ModuleRecord, OomRecord, XidRecord,
    };

    // SAFETY: each is repr(C), made of integers and byte arrays, without padding (sizes asserted).
    unsafe impl aya::Pod for Header {}
    // SAFETY: as above.
    unsafe impl aya::Pod for AerRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for MemoryRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for MachineCheckRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for FirmwareErrorRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for OomRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for ExitRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for ModuleRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for CallRecord {}
    // SAFETY: as above.
    unsafe impl aya::Pod for XidRecord {}
}
