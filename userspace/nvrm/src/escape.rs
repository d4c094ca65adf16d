//! Escapes: requests of type `'F'` on `/dev/nvidiactl` and `/dev/nvidia0`….
//!
//! Source: `src/nvidia/arch/nvalloc/unix/include/nv_escape.h`,
//! `kernel-open/common/inc/nv-ioctl-numbers.h` and `nv-ioctl-numa.h` of open-gpu-kernel-modules;
//! the numbers are the same from 515 to 610.

/// Type byte of the requests (`NV_IOCTL_MAGIC`).
pub const IOCTL_TYPE: u32 = b'F' as u32;

/// `NV_ESC_RM_ALLOC_MEMORY`.
pub const NR_RM_ALLOC_MEMORY: u32 = 0x27;
/// `NV_ESC_RM_ALLOC_OBJECT`.
pub const NR_RM_ALLOC_OBJECT: u32 = 0x28;
/// `NV_ESC_RM_FREE`.
pub const NR_RM_FREE: u32 = 0x29;
/// `NV_ESC_RM_CONTROL`.
pub const NR_RM_CONTROL: u32 = 0x2a;
/// `NV_ESC_RM_ALLOC`.
pub const NR_RM_ALLOC: u32 = 0x2b;
/// `NV_ESC_RM_DUP_OBJECT`.
pub const NR_RM_DUP_OBJECT: u32 = 0x34;
/// `NV_ESC_RM_SHARE`.
pub const NR_RM_SHARE: u32 = 0x35;
/// `NV_ESC_RM_I2C_ACCESS`.
pub const NR_RM_I2C_ACCESS: u32 = 0x39;
/// `NV_ESC_RM_IDLE_CHANNELS`.
pub const NR_RM_IDLE_CHANNELS: u32 = 0x41;
/// `NV_ESC_RM_VID_HEAP_CONTROL`.
pub const NR_RM_VID_HEAP_CONTROL: u32 = 0x4a;
/// `NV_ESC_RM_ACCESS_REGISTRY`.
pub const NR_RM_ACCESS_REGISTRY: u32 = 0x4d;
/// `NV_ESC_RM_MAP_MEMORY`.
pub const NR_RM_MAP_MEMORY: u32 = 0x4e;
/// `NV_ESC_RM_UNMAP_MEMORY`.
pub const NR_RM_UNMAP_MEMORY: u32 = 0x4f;
/// `NV_ESC_RM_GET_EVENT_DATA`.
pub const NR_RM_GET_EVENT_DATA: u32 = 0x52;
/// `NV_ESC_RM_ALLOC_CONTEXT_DMA2`.
pub const NR_RM_ALLOC_CONTEXT_DMA2: u32 = 0x54;
/// `NV_ESC_RM_MAP_MEMORY_DMA`.
pub const NR_RM_MAP_MEMORY_DMA: u32 = 0x57;
/// `NV_ESC_RM_UNMAP_MEMORY_DMA`.
pub const NR_RM_UNMAP_MEMORY_DMA: u32 = 0x58;
/// `NV_ESC_RM_BIND_CONTEXT_DMA`.
pub const NR_RM_BIND_CONTEXT_DMA: u32 = 0x59;
/// `NV_ESC_RM_UPDATE_DEVICE_MAPPING_INFO`.
pub const NR_RM_UPDATE_DEVICE_MAPPING_INFO: u32 = 0x5e;
/// `NV_ESC_ALLOC_OS_EVENT`.
pub const NR_ALLOC_OS_EVENT: u32 = 206;
/// `NV_ESC_FREE_OS_EVENT`.
pub const NR_FREE_OS_EVENT: u32 = 207;
/// `NV_ESC_IOCTL_XFER_CMD`: carries another escape, see [`transfer`](crate::transfer).
pub const NR_XFER: u32 = 211;
/// `NV_ESC_EXPORT_TO_DMABUF_FD`.
pub const NR_EXPORT_TO_DMABUF_FD: u32 = 217;

/// The escape's number if `cmd`, as given to ioctl(2), is an escape.
pub fn escape_number(cmd: u32) -> Option<u32> {
    ((cmd >> 8) & 0xff == IOCTL_TYPE && cmd >> 30 != 0).then_some(cmd & 0xff)
}

/// Name of escape `nr`, without `NV_ESC_`.
///
/// 0x5f is `RM_LOCKLESS_DIAGNOSTIC` here; up to 535 it was `RM_NVLOG_CTRL`, of the same use.
pub fn escape_name(nr: u32) -> Option<&'static str> {
    Some(match nr {
        NR_RM_ALLOC_MEMORY => "RM_ALLOC_MEMORY",
        NR_RM_ALLOC_OBJECT => "RM_ALLOC_OBJECT",
        NR_RM_FREE => "RM_FREE",
        NR_RM_CONTROL => "RM_CONTROL",
        NR_RM_ALLOC => "RM_ALLOC",
        0x32 => "RM_CONFIG_GET",
        0x33 => "RM_CONFIG_SET",
        NR_RM_DUP_OBJECT => "RM_DUP_OBJECT",
        NR_RM_SHARE => "RM_SHARE",
        0x37 => "RM_CONFIG_GET_EX",
        0x38 => "RM_CONFIG_SET_EX",
        NR_RM_I2C_ACCESS => "RM_I2C_ACCESS",
        NR_RM_IDLE_CHANNELS => "RM_IDLE_CHANNELS",
        NR_RM_VID_HEAP_CONTROL => "RM_VID_HEAP_CONTROL",
        NR_RM_ACCESS_REGISTRY => "RM_ACCESS_REGISTRY",
        NR_RM_MAP_MEMORY => "RM_MAP_MEMORY",
        NR_RM_UNMAP_MEMORY => "RM_UNMAP_MEMORY",
        NR_RM_GET_EVENT_DATA => "RM_GET_EVENT_DATA",
        NR_RM_ALLOC_CONTEXT_DMA2 => "RM_ALLOC_CONTEXT_DMA2",
        0x56 => "RM_ADD_VBLANK_CALLBACK",
        NR_RM_MAP_MEMORY_DMA => "RM_MAP_MEMORY_DMA",
        NR_RM_UNMAP_MEMORY_DMA => "RM_UNMAP_MEMORY_DMA",
        NR_RM_BIND_CONTEXT_DMA => "RM_BIND_CONTEXT_DMA",
        0x5c => "RM_EXPORT_OBJECT_TO_FD",
        0x5d => "RM_IMPORT_OBJECT_FROM_FD",
        NR_RM_UPDATE_DEVICE_MAPPING_INFO => "RM_UPDATE_DEVICE_MAPPING_INFO",
        0x5f => "RM_LOCKLESS_DIAGNOSTIC",
        200 => "CARD_INFO",
        201 => "REGISTER_FD",
        NR_ALLOC_OS_EVENT => "ALLOC_OS_EVENT",
        NR_FREE_OS_EVENT => "FREE_OS_EVENT",
        209 => "STATUS_CODE",
        210 => "CHECK_VERSION_STR",
        NR_XFER => "IOCTL_XFER_CMD",
        212 => "ATTACH_GPUS_TO_FD",
        213 => "QUERY_DEVICE_INTR",
        214 => "SYS_PARAMS",
        215 => "NUMA_INFO",
        216 => "SET_NUMA_STATUS",
        NR_EXPORT_TO_DMABUF_FD => "EXPORT_TO_DMABUF_FD",
        218 => "WAIT_OPEN_COMPLETE",
        _ => return None,
    })
}

/// What an `RM_VID_HEAP_CONTROL` does, by its `function` field, without `NVOS32_FUNCTION_`.
///
/// Source: `nvos.h`, 515 to 610.
pub fn heap_function_name(function: u32) -> Option<&'static str> {
    Some(match function {
        1 => "ALLOC_DEPTH_WIDTH_HEIGHT",
        2 => "ALLOC_SIZE",
        3 => "FREE",
        5 => "INFO",
        6 => "ALLOC_TILED_PITCH_HEIGHT",
        11 => "DUMP",
        14 => "ALLOC_SIZE_RANGE",
        15 => "REACQUIRE_COMPR",
        16 => "RELEASE_COMPR",
        18 => "GET_MEM_ALIGNMENT",
        19 => "HW_ALLOC",
        20 => "HW_FREE",
        27 => "ALLOC_OS_DESCRIPTOR",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_number_is_taken_apart() {
        assert_eq!(escape_number(0xc020_462a), Some(NR_RM_CONTROL));
        assert_eq!(escape_number(0x3000_0001), None);
        assert_eq!(escape_number(51), None);
    }

    #[test]
    fn names_are_those_of_the_header() {
        for (nr, name) in [
            (0x27, "RM_ALLOC_MEMORY"),
            (0x29, "RM_FREE"),
            (0x4a, "RM_VID_HEAP_CONTROL"),
            (0x57, "RM_MAP_MEMORY_DMA"),
            (0x5f, "RM_LOCKLESS_DIAGNOSTIC"),
            (200, "CARD_INFO"),
            (211, "IOCTL_XFER_CMD"),
            (215, "NUMA_INFO"),
            (218, "WAIT_OPEN_COMPLETE"),
        ] {
            assert_eq!(escape_name(nr), Some(name));
        }
        assert_eq!(escape_name(0), None);
        assert_eq!(escape_name(255), None);
        let mut names: Vec<_> = (0..=255).filter_map(escape_name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), all), (41, 41));
    }
}
