//! Where in the parameters of an escape the status and the operation's own code stand.
//!
//! Source: `nvos.h`, `nv-ioctl.h` and `nv-unix-nvos-params-wrappers.h` of open-gpu-kernel-modules,
//! read at 515.43.04, 535.261.03, 570, 580 and 610, the allocations also at 525.60.11 (which
//! structure an escape takes: `escape.c`).
//! `tests/layout.rs` has the structures again and lets the compiler lay them out.
//!
//! The driver refuses parameters of any other size than its own structure's before it writes a
//! status, so a size that no read version has gets `None`.

use std::ops::RangeInclusive;

use crate::escape::*;

/// Escapes, sizes of their parameters, offset of the status in these.
///
/// Escapes that have no status of their own are left out: `CARD_INFO`, `REGISTER_FD`, … report by ioctl(2)'s result, and the status
/// in `STATUS_CODE` and `WAIT_OPEN_COMPLETE` is what was asked for, not how the call went.
const STATUSES: [(u32, RangeInclusive<u32>, u32); 24] = [
    (NR_RM_CONTROL, 32..=32, 28),                    // NVOS54
    (NR_RM_FREE, 16..=16, 12),                       // NVOS00
    (NR_RM_ALLOC_MEMORY, 56..=56, 40),               // NVOS02 and a descriptor
    (NR_RM_ALLOC_OBJECT, 20..=20, 16),               // NVOS05
    (NR_RM_DUP_OBJECT, 28..=28, 24),                 // NVOS55
    (NR_RM_SHARE, 24..=24, 20),                      // NVOS57
    (NR_RM_I2C_ACCESS, 32..=32, 24),                 // NVOS_I2C_ACCESS
    (NR_RM_IDLE_CHANNELS, 56..=56, 48),              // NVOS30
    (NR_RM_ACCESS_REGISTRY, 72..=72, 64),            // NVOS38
    (NR_RM_MAP_MEMORY, 56..=56, 40),                 // NVOS33 and a descriptor
    (NR_RM_UNMAP_MEMORY, 32..=32, 24),               // NVOS34
    (NR_RM_GET_EVENT_DATA, 16..=16, 12),             // NVOS41
    (NR_RM_ALLOC_CONTEXT_DMA2, 56..=56, 48),         // NVOS39
    (NR_RM_MAP_MEMORY_DMA, 56..=56, 48),             // NVOS46 before 580
    (NR_RM_MAP_MEMORY_DMA, 64..=64, 56),             // NVOS46 since 580
    (NR_RM_UNMAP_MEMORY_DMA, 40..=40, 32),           // NVOS47 before 550
    (NR_RM_UNMAP_MEMORY_DMA, 48..=48, 40),           // NVOS47 since 550
    (NR_RM_BIND_CONTEXT_DMA, 16..=16, 12),           // NVOS49
    (NR_RM_UPDATE_DEVICE_MAPPING_INFO, 40..=40, 32), // NVOS56
    // NVOS32: the status stands before the union that decides the size.
    (NR_RM_VID_HEAP_CONTROL, 40..=u32::MAX, 20),
    (NR_ALLOC_OS_EVENT, 16..=16, 12),
    (NR_FREE_OS_EVENT, 16..=16, 12),
    (NR_EXPORT_TO_DMABUF_FD, 2600..=2600, 2592), // at 535
    (NR_EXPORT_TO_DMABUF_FD, 2608..=2608, 2600), // at 570 and later
];

/// Of `RM_ALLOC`: size, branches of the driver, offset.
///
/// The one escape whose size does not show its layout: `NVOS21_PARAMETERS` kept its 32 bytes and
/// `NVOS64_PARAMETERS` its 40 when fields were added before the status. Branches whose layout has not been read are left out
/// (before 515; 40 bytes in 520; 32 and 40 bytes in 526 to 534).
const ALLOC_STATUSES: [(u32, RangeInclusive<u32>, u32); 5] = [
    (32, 515..=525, 24),
    (32, 535..=u32::MAX, 28),
    (40, 515..=515, 32),
    (40, 525..=525, 36),
    (ALLOC_OF_ONE_LAYOUT, 535..=u32::MAX, 40),
];

/// No branch before 535 has this size, so that it shows the layout by itself.
const ALLOC_OF_ONE_LAYOUT: u32 = 48;

/// Where the status stands in the parameters of escape `nr`: by their sizes in bytes (what the request number or the transfer
/// wrapper states), its offset. Empty for an escape that has none.
///
/// `driver_major` is the branch, 535 in 535.261.03. It matters for `RM_ALLOC` alone: without it, sizes whose layout depends on it
/// are left out.
pub fn status_offsets(
    nr: u32,
    driver_major: Option<u32>,
) -> impl Iterator<Item = (RangeInclusive<u32>, u32)> {
    let of_alloc = ALLOC_STATUSES
        .into_iter()
        .filter(move |(size, branches, _)| match driver_major {
            _ if nr != NR_RM_ALLOC => false,
            Some(major) => branches.contains(&major),
            None => *size == ALLOC_OF_ONE_LAYOUT,
        })
        .map(|(size, _, at)| (size..=size, at));
    let others = STATUSES
        .into_iter()
        .filter(move |(escape, ..)| *escape == nr);
    of_alloc.chain(others.map(|(_, sizes, at)| (sizes, at)))
}

/// As [`status_offsets`], for parameters of `size` bytes.
pub fn status_offset(nr: u32, size: u32, driver_major: Option<u32>) -> Option<u32> {
    status_offsets(nr, driver_major).find_map(|(sizes, at)| sizes.contains(&size).then_some(at))
}

/// Offset of what an escape is about: the control command of `RM_CONTROL`, the object class of the
/// allocations, the function of `RM_VID_HEAP_CONTROL`. The same in every branch from 515 on.
pub fn code_offset(nr: u32) -> Option<u32> {
    match nr {
        NR_RM_CONTROL | NR_RM_VID_HEAP_CONTROL => Some(8),
        NR_RM_ALLOC | NR_RM_ALLOC_MEMORY | NR_RM_ALLOC_OBJECT | NR_RM_ALLOC_CONTEXT_DMA2 => {
            Some(12)
        }
        _ => None,
    }
}

/// The escape that an `IOCTL_XFER_CMD` carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Number of the escape.
    pub nr: u32,
    /// Size of its parameters in bytes.
    pub size: u32,
    /// Address of its parameters in the caller.
    pub address: u64,
}

/// Reads the parameters of an `IOCTL_XFER_CMD` (`nv_ioctl_xfer_t`; little-endian, as all hosts of
/// the driver are).
///
/// ioctl request numbers have 14 bits for a size; libraries wrap parameters that may be larger.
pub fn transfer(parameters: [u8; 16]) -> Transfer {
    let number = u128::from_le_bytes(parameters);
    Transfer {
        nr: number as u32,
        size: (number >> 32) as u32,
        address: (number >> 64) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_need_the_branch_where_the_size_does_not_tell() {
        let alloc = |size, major| status_offset(NR_RM_ALLOC, size, major);
        assert_eq!(alloc(32, Some(515)), Some(24));
        assert_eq!(alloc(32, Some(525)), Some(24));
        assert_eq!(alloc(32, Some(535)), Some(28));
        assert_eq!(alloc(32, None), None);
        assert_eq!(alloc(32, Some(530)), None);
        assert_eq!(alloc(40, Some(515)), Some(32));
        assert_eq!(alloc(40, Some(520)), None);
        assert_eq!(alloc(40, Some(525)), Some(36));
        assert_eq!(alloc(40, Some(535)), None);
        assert_eq!(alloc(48, None), Some(40));
        assert_eq!(alloc(48, Some(595)), Some(40));
        assert_eq!(alloc(48, Some(525)), None);
        assert_eq!(alloc(48, Some(470)), None);
    }

    #[test]
    fn a_status_lies_within_its_parameters_and_behind_the_code() {
        let mut found = 0;
        for nr in 0..=255 {
            for size in 0..4096 {
                for major in [None, Some(515), Some(525), Some(535), Some(580)] {
                    let Some(status) = status_offset(nr, size, major) else {
                        continue;
                    };
                    found += 1;
                    assert_eq!(status % 4, 0, "{nr:#x}");
                    assert!(status + 4 <= size, "{nr:#x}");
                    if let Some(code) = code_offset(nr) {
                        assert!(code < status, "{nr:#x}");
                    }
                }
            }
        }
        assert!(found > 0);
    }

    #[test]
    fn sizes_of_no_version_have_no_status() {
        assert_eq!(status_offset(NR_RM_CONTROL, 31, None), None);
        assert_eq!(status_offset(NR_RM_CONTROL, 40, None), None);
        assert_eq!(status_offset(NR_RM_VID_HEAP_CONTROL, 24, None), None);
        assert_eq!(status_offset(NR_RM_VID_HEAP_CONTROL, 184, None), Some(20));
        assert_eq!(status_offset(200, 72, None), None);
    }

    #[test]
    fn a_transfer_is_read() {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&NR_RM_CONTROL.to_le_bytes());
        bytes[4..8].copy_from_slice(&32u32.to_le_bytes());
        bytes[8..].copy_from_slice(&0x7fff_0000_1000u64.to_le_bytes());
        assert_eq!(
            transfer(bytes),
            Transfer {
                nr: NR_RM_CONTROL,
                size: 32,
                address: 0x7fff_0000_1000
            }
        );
    }
}
