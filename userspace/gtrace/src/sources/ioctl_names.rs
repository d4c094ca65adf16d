//! Public names of the NVIDIA driver's ioctls.
//!
//! Source: the open kernel modules' `nv_escape.h`, `nv-ioctl-numbers.h` and `uvm_ioctl.h`.

/// The operation behind request number `cmd`; `None` where no public header names it.
pub fn name(cmd: u32) -> Option<&'static str> {
    const MAGIC: u32 = b'F' as u32;
    if (cmd >> 8) & 0xff == MAGIC && cmd >> 30 != 0 {
        escape(cmd & 0xff)
    } else {
        uvm(cmd)
    }
}

fn escape(nr: u32) -> Option<&'static str> {
    Some(match nr {
        0x27 => "RM_ALLOC_MEMORY",
        0x28 => "RM_ALLOC_OBJECT",
        0x29 => "RM_FREE",
        0x2a => "RM_CONTROL",
        0x2b => "RM_ALLOC",
        0x34 => "RM_DUP_OBJECT",
        0x35 => "RM_SHARE",
        0x41 => "RM_IDLE_CHANNELS",
        0x4a => "RM_VID_HEAP_CONTROL",
        0x4d => "RM_ACCESS_REGISTRY",
        0x4e => "RM_MAP_MEMORY",
        0x4f => "RM_UNMAP_MEMORY",
        0x52 => "RM_GET_EVENT_DATA",
        0x54 => "RM_ALLOC_CONTEXT_DMA2",
        0x57 => "RM_MAP_MEMORY_DMA",
        0x58 => "RM_UNMAP_MEMORY_DMA",
        0x5c => "RM_EXPORT_OBJECT_TO_FD",
        0x5d => "RM_IMPORT_OBJECT_FROM_FD",
        0x5e => "RM_UPDATE_DEVICE_MAPPING_INFO",
        0x5f => "RM_LOCKLESS_DIAGNOSTIC",
        200 => "CARD_INFO",
        201 => "REGISTER_FD",
        206 => "ALLOC_OS_EVENT",
        207 => "FREE_OS_EVENT",
        209 => "STATUS_CODE",
        210 => "CHECK_VERSION_STR",
        211 => "IOCTL_XFER_CMD",
        212 => "ATTACH_GPUS_TO_FD",
        213 => "QUERY_DEVICE_INTR",
        214 => "SYS_PARAMS",
        217 => "EXPORT_TO_DMABUF_FD",
        218 => "WAIT_OPEN_COMPLETE",
        _ => return None,
    })
}

fn uvm(cmd: u32) -> Option<&'static str> {
    Some(match cmd {
        0x3000_0001 => "UVM_INITIALIZE",
        0x3000_0002 => "UVM_DEINITIALIZE",
        25 => "UVM_REGISTER_GPU_VASPACE",
        27 => "UVM_REGISTER_CHANNEL",
        33 => "UVM_MAP_EXTERNAL_ALLOCATION",
        34 => "UVM_FREE",
        37 => "UVM_REGISTER_GPU",
        42 => "UVM_SET_PREFERRED_LOCATION",
        51 => "UVM_MIGRATE",
        66 => "UVM_UNMAP_EXTERNAL",
        72 => "UVM_VALIDATE_VA_RANGE",
        73 => "UVM_CREATE_EXTERNAL_RANGE",
        75 => "UVM_MM_INITIALIZE",
        80 => "UVM_DISCARD",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn names_follow_type_and_number() {
        assert_eq!(name(0xc020_462a), Some("RM_CONTROL"));
        assert_eq!(name(0xc030_462b), Some("RM_ALLOC"));
        assert_eq!(name(0x3000_0001), Some("UVM_INITIALIZE"));
        assert_eq!(name(0x5401), None);
    }
}
