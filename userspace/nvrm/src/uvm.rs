//! Requests of `/dev/nvidia-uvm`: bare numbers, without type, direction or size.
//!
//! Source: `kernel-open/nvidia-uvm/uvm_ioctl.h` and `uvm_linux_ioctl.h` of open-gpu-kernel-modules,
//! the structures read in whole or in part at 515.43.04, 535.261.03, 550.40.07, 550.54.14, 570,
//! 580, 590.48.01 and 610; 82 to 85 are of 615. Which numbers the driver serves: `uvm.c`. The
//! numbers of its built-in tests (200 and up) are left out.

/// Where the status of a request (`rmStatus`) stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Status {
    /// At this offset in every version that serves the request.
    At(u32),
    /// At another offset in some branches, see [`varying`].
    Varies,
    /// The request is not served, has no parameters, or has not been read.
    Unknown,
}

use Status::{At, Unknown, Varies};

#[rustfmt::skip]
static REQUESTS: &[(u32, &str, Status)] = &[
    (1, "UVM_RESERVE_VA", Unknown),
    (2, "UVM_RELEASE_VA", Unknown),
    (3, "UVM_REGION_COMMIT", Unknown),
    (4, "UVM_REGION_DECOMMIT", Unknown),
    (5, "UVM_REGION_SET_STREAM", Unknown),
    (6, "UVM_SET_STREAM_RUNNING", Unknown),
    (7, "UVM_SET_STREAM_STOPPED", Unknown),
    (9, "UVM_RUN_TEST", Unknown),
    (10, "UVM_ADD_SESSION", Unknown),
    (11, "UVM_REMOVE_SESSION", Unknown),
    (12, "UVM_ENABLE_COUNTERS", Unknown),
    (13, "UVM_MAP_COUNTER", Unknown),
    (14, "UVM_CREATE_EVENT_QUEUE", Unknown),
    (15, "UVM_REMOVE_EVENT_QUEUE", Unknown),
    (16, "UVM_MAP_EVENT_QUEUE", Unknown),
    (17, "UVM_EVENT_CTRL", Unknown),
    (18, "UVM_REGISTER_MPS_SERVER", Unknown),
    (19, "UVM_REGISTER_MPS_CLIENT", Unknown),
    (20, "UVM_GET_GPU_UUID_TABLE", Unknown),
    (21, "UVM_REGION_SET_BACKING", Unknown),
    (22, "UVM_REGION_UNSET_BACKING", Unknown),
    (23, "UVM_CREATE_RANGE_GROUP", At(8)),
    (24, "UVM_DESTROY_RANGE_GROUP", At(8)),
    (25, "UVM_REGISTER_GPU_VASPACE", At(28)),
    (26, "UVM_UNREGISTER_GPU_VASPACE", At(16)),
    (27, "UVM_REGISTER_CHANNEL", At(48)),
    (28, "UVM_UNREGISTER_CHANNEL", Varies),
    (29, "UVM_ENABLE_PEER_ACCESS", At(32)),
    (30, "UVM_DISABLE_PEER_ACCESS", At(32)),
    (31, "UVM_SET_RANGE_GROUP", At(24)),
    (33, "UVM_MAP_EXTERNAL_ALLOCATION", Varies),
    (34, "UVM_FREE", Varies),
    (35, "UVM_MEM_MAP", Unknown),
    (36, "UVM_DEBUG_ACCESS_MEMORY", Unknown),
    (37, "UVM_REGISTER_GPU", At(36)),
    (38, "UVM_UNREGISTER_GPU", At(16)),
    (39, "UVM_PAGEABLE_MEM_ACCESS", At(4)),
    (40, "UVM_PREVENT_MIGRATION_RANGE_GROUPS", At(264)),
    (41, "UVM_ALLOW_MIGRATION_RANGE_GROUPS", At(264)),
    (42, "UVM_SET_PREFERRED_LOCATION", Varies),
    (43, "UVM_UNSET_PREFERRED_LOCATION", At(16)),
    (44, "UVM_ENABLE_READ_DUPLICATION", At(16)),
    (45, "UVM_DISABLE_READ_DUPLICATION", At(16)),
    (46, "UVM_SET_ACCESSED_BY", At(32)),
    (47, "UVM_UNSET_ACCESSED_BY", At(32)),
    (51, "UVM_MIGRATE", At(72)),
    (53, "UVM_MIGRATE_RANGE_GROUP", At(24)),
    (54, "UVM_ENABLE_SYSTEM_WIDE_ATOMICS", At(16)),
    (55, "UVM_DISABLE_SYSTEM_WIDE_ATOMICS", At(16)),
    (56, "UVM_TOOLS_INIT_EVENT_TRACKER", At(48)),
    (57, "UVM_TOOLS_SET_NOTIFICATION_THRESHOLD", At(4)),
    (58, "UVM_TOOLS_EVENT_QUEUE_ENABLE_EVENTS", At(8)),
    (59, "UVM_TOOLS_EVENT_QUEUE_DISABLE_EVENTS", At(8)),
    (60, "UVM_TOOLS_ENABLE_COUNTERS", At(8)),
    (61, "UVM_TOOLS_DISABLE_COUNTERS", At(8)),
    (62, "UVM_TOOLS_READ_PROCESS_MEMORY", At(32)),
    (63, "UVM_TOOLS_WRITE_PROCESS_MEMORY", At(32)),
    (64, "UVM_TOOLS_GET_PROCESSOR_UUID_TABLE", Varies),
    (65, "UVM_MAP_DYNAMIC_PARALLELISM_REGION", At(32)),
    (66, "UVM_UNMAP_EXTERNAL", At(32)),
    (67, "UVM_TOOLS_FLUSH_EVENTS", At(0)),
    (68, "UVM_ALLOC_SEMAPHORE_POOL", Varies),
    (69, "UVM_CLEAN_UP_ZOMBIE_RESOURCES", At(0)),
    (70, "UVM_PAGEABLE_MEM_ACCESS_ON_GPU", At(20)),
    (71, "UVM_POPULATE_PAGEABLE", At(20)),
    (72, "UVM_VALIDATE_VA_RANGE", At(16)),
    (73, "UVM_CREATE_EXTERNAL_RANGE", At(16)),
    (74, "UVM_MAP_EXTERNAL_SPARSE", At(32)),
    (75, "UVM_MM_INITIALIZE", At(4)),
    (76, "UVM_TOOLS_INIT_EVENT_TRACKER_V2", At(48)),
    (77, "UVM_TOOLS_GET_PROCESSOR_UUID_TABLE_V2", Varies),
    (78, "UVM_ALLOC_DEVICE_P2P", At(52)),
    (79, "UVM_CLEAR_ALL_ACCESS_COUNTERS", At(0)),
    (80, "UVM_DISCARD", At(24)),
    (81, "UVM_QUERY_RESIDENCY", At(76)),
    (82, "UVM_IS_DMA_BUF_IMPORT_SUPPORTED", Unknown),
    (83, "UVM_IMPORT_DMA_BUF", Unknown),
    (84, "UVM_MAP_DMA_BUF", Unknown),
    (85, "UVM_UNMAP_DMA_BUF", Unknown),
    (2047, "UVM_IS_8_SUPPORTED", Unknown),
    (0x3000_0001, "UVM_INITIALIZE", At(8)),
    (0x3000_0002, "UVM_DEINITIALIZE", Unknown),
];

fn request(cmd: u32) -> Option<&'static (u32, &'static str, Status)> {
    let at = REQUESTS.binary_search_by_key(&cmd, |row| row.0).ok()?;
    REQUESTS.get(at)
}

/// Name of UVM request `cmd`: `UVM_MIGRATE` for 51.
pub fn uvm_name(cmd: u32) -> Option<&'static str> {
    Some(request(cmd)?.1)
}

/// Offset of the status in the parameters of UVM request `cmd`, where every branch from 515 to 610
/// that serves the request has it at the same place.
///
/// `None` for the seven requests that were laid out anew (`MAP_EXTERNAL_ALLOCATION`, `FREE`, …):
/// [`uvm_status_offset_in`] knows them.
pub fn uvm_status_offset(cmd: u32) -> Option<u32> {
    match request(cmd)?.2 {
        At(offset) => Some(offset),
        Varies | Unknown => None,
    }
}

/// As [`uvm_status_offset`], for one version of the driver: 550 and 54 of 550.54.14.
///
/// `None` before 515. A version after 610 is taken to be as 610.
pub fn uvm_status_offset_in(cmd: u32, driver_major: u32, driver_minor: u32) -> Option<u32> {
    if driver_major < 515 {
        return None;
    }
    match request(cmd)?.2 {
        At(offset) => Some(offset),
        Varies => varying(cmd, driver_major, driver_minor),
        Unknown => None,
    }
}

fn varying(cmd: u32, major: u32, minor: u32) -> Option<u32> {
    // 550.54 made room for 256 GPU instances (was 32), 36 bytes each.
    let many_instances = major > 550 || (major == 550 && minor >= 54);
    Some(match cmd {
        // 590 dropped the UUID.
        28 => if_before(major, 590, 24, 8),
        33 if many_instances => 9260,
        33 => 1196,
        // 590 dropped the length.
        34 => if_before(major, 590, 16, 8),
        // 550 added a NUMA node.
        42 => if_before(major, 550, 32, 36),
        // Between, the table lost its count; which branch did it has not been read.
        64 | 77 if (556..570).contains(&major) => return None,
        64 => if_before(major, 570, 12, 8),
        77 if major >= 570 => 8,
        68 if many_instances => 9240,
        68 => 1176,
        _ => return None,
    })
}

fn if_before(major: u32, branch: u32, before: u32, since: u32) -> u32 {
    if major < branch { before } else { since }
}

/// Number of UVM requests that have a name here.
pub fn uvm_count() -> usize {
    REQUESTS.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_in_order_and_named_once() {
        for pair in REQUESTS.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{pair:?}");
        }
        let mut names: Vec<_> = REQUESTS.iter().map(|row| row.1).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), uvm_count());
    }

    #[test]
    fn names_are_those_of_the_header() {
        for (cmd, name) in [
            (25, "UVM_REGISTER_GPU_VASPACE"),
            (27, "UVM_REGISTER_CHANNEL"),
            (33, "UVM_MAP_EXTERNAL_ALLOCATION"),
            (34, "UVM_FREE"),
            (37, "UVM_REGISTER_GPU"),
            (42, "UVM_SET_PREFERRED_LOCATION"),
            (51, "UVM_MIGRATE"),
            (66, "UVM_UNMAP_EXTERNAL"),
            (72, "UVM_VALIDATE_VA_RANGE"),
            (73, "UVM_CREATE_EXTERNAL_RANGE"),
            (75, "UVM_MM_INITIALIZE"),
            (80, "UVM_DISCARD"),
            (0x3000_0002, "UVM_DEINITIALIZE"),
        ] {
            assert_eq!(uvm_name(cmd), Some(name));
        }
        assert_eq!(uvm_name(0), None);
        assert_eq!(uvm_name(8), None);
    }

    #[test]
    fn what_holds_everywhere_holds_in_each_version() {
        for &(cmd, name, status) in REQUESTS {
            for (major, minor) in [(515, 43), (535, 261), (550, 54), (570, 124), (610, 1)] {
                let offset = uvm_status_offset_in(cmd, major, minor);
                match status {
                    At(at) => assert_eq!((offset, uvm_status_offset(cmd)), (Some(at), Some(at))),
                    Varies => assert_eq!(uvm_status_offset(cmd), None),
                    Unknown => assert_eq!((offset, uvm_status_offset(cmd)), (None, None)),
                }
                assert!(offset.is_none_or(|at| at % 4 == 0), "{name}");
            }
            assert_eq!(uvm_status_offset_in(cmd, 470, 256), None);
        }
    }

    #[test]
    fn versions_between_are_not_guessed() {
        assert_eq!(uvm_status_offset_in(33, 550, 40), Some(1196));
        assert_eq!(uvm_status_offset_in(33, 550, 54), Some(9260));
        assert_eq!(uvm_status_offset_in(64, 555, 58), Some(12));
        assert_eq!(uvm_status_offset_in(64, 560, 35), None);
        assert_eq!(uvm_status_offset_in(64, 570, 124), Some(8));
        assert_eq!(uvm_status_offset_in(77, 550, 54), None);
        assert_eq!(uvm_status_offset_in(77, 580, 65), Some(8));
    }
}
