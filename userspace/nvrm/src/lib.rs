//! What is publicly known of the NVIDIA driver's ioctl interface. No I/O, no dependencies.
//!
//! The driver has two families of device nodes. `/dev/nvidiactl` and `/dev/nvidia0`… take requests
//! of type `'F'`: the low byte names an *escape* such as `RM_CONTROL`, and the parameters name a
//! control command or an object class. `/dev/nvidia-uvm` takes bare numbers. In both, ioctl(2)
//! returns 0 even if the driver refused: its answer, an `NV_STATUS`, stands in the parameters.
//!
//! * Names: [`ioctl_name`], [`escape_name`], [`uvm_name`], [`control_name`], [`class_name`],
//!   [`heap_function_name`]; a whole call in words: [`describe`], [`describe_escape`],
//!   [`describe_control`].
//! * Statuses: [`status_name`], [`status_text`], [`status_by_name`], [`is_failure`].
//! * Layout: [`status_offset`], [`status_offsets`], [`uvm_status_offset`],
//!   [`uvm_status_offset_in`], [`code_offset`], [`transfer`].
//!
//! Offsets are in bytes from the start of the parameters, for x86-64 and aarch64 alike, and are
//! given only where a public header makes them certain: `None` is an answer, a guess is not.
//!
//! Source: names and numbers of NVIDIA's open-gpu-kernel-modules (tags 515.43.04 to 610), as facts;
//! the wording of [`status_text`] is this project's own. Where a name is unknown the number is
//! shown, as closed parts of the driver have commands that no header lists.
//!
//! ```
//! assert_eq!(
//!     gtrace_nvrm::describe(0xc020_462a, 0x2080_0102),
//!     "RM_CONTROL NV2080_CTRL_CMD_GPU_GET_INFO_V2"
//! );
//! assert_eq!(gtrace_nvrm::status_name(0x51), Some("NV_ERR_NO_MEMORY"));
//! assert_eq!(gtrace_nvrm::status_offset(gtrace_nvrm::NR_RM_CONTROL, 32, None), Some(28));
//! ```
#![forbid(unsafe_code)]

mod class;
mod control;
mod describe;
mod escape;
mod layout;
mod status;
mod table;
mod uvm;

pub use class::{class_count, class_name};
pub use control::{control_category, control_class, control_count, control_index, control_name};
pub use describe::{describe, describe_control, describe_escape};
pub use escape::*;
pub use layout::{Transfer, code_offset, status_offset, status_offsets, transfer};
pub use status::{is_failure, status_by_name, status_count, status_name, status_text};
pub use uvm::{uvm_count, uvm_name, uvm_status_offset, uvm_status_offset_in};

/// The operation behind request number `cmd`, as ioctl(2) got it on one of the driver's nodes;
/// `None` where no public header names it.
///
/// A type-`'F'` request with a direction is an escape, anything else a UVM number.
pub fn ioctl_name(cmd: u32) -> Option<&'static str> {
    match escape_number(cmd) {
        Some(nr) => escape_name(nr),
        None => uvm_name(cmd),
    }
}

#[cfg(test)]
mod tests {
    use super::ioctl_name;

    #[test]
    fn names_follow_type_and_number() {
        assert_eq!(ioctl_name(0xc020_462a), Some("RM_CONTROL"));
        assert_eq!(ioctl_name(0xc030_462b), Some("RM_ALLOC"));
        assert_eq!(ioctl_name(0x3000_0001), Some("UVM_INITIALIZE"));
        assert_eq!(ioctl_name(51), Some("UVM_MIGRATE"));
        assert_eq!(ioctl_name(0x5401), None);
        // 'F' without a direction is none of the driver's requests.
        assert_eq!(ioctl_name(0x462a), None);
    }
}
