//! The driver's parameter structures once more, laid out by the compiler.
//!
//! Fields as in `nvos.h`, `nv-ioctl.h` and `uvm_ioctl.h` of open-gpu-kernel-modules: handles and
//! `NvV32` are `u32`, `NvP64` and `NvU64` are 8 bytes aligned to 8, a UUID is 16 bytes.
#![allow(dead_code)]

use gtrace_nvrm::*;
use std::mem::{offset_of, size_of};

type Uuid = [u8; 16];

/// `UvmGpuMappingAttributes`: a UUID and five enumerations.
#[repr(C)]
struct MappingAttributes {
    gpu_uuid: Uuid,
    kinds: [u32; 5],
}

macro_rules! structures {
    ($($name:ident { $($field:ident: $kind:ty),* $(,)? })*) => {
        $(#[repr(C)] struct $name { $($field: $kind),* })*
    };
}

structures! {
    Nvos00 { root: u32, parent: u32, old: u32, status: u32 }
    Nvos02 { root: u32, parent: u32, new: u32, class: u32, flags: u32, memory: u64, limit: u64, status: u32 }
    Nvos02WithFd { parameters: Nvos02, fd: i32 }
    Nvos05 { root: u32, parent: u32, new: u32, class: u32, status: u32 }
    Nvos21At515 { root: u32, parent: u32, new: u32, class: u32, parameters: u64, status: u32 }
    Nvos21At535 { root: u32, parent: u32, new: u32, class: u32, parameters: u64, size: u32, status: u32 }
    Nvos64At515 { root: u32, parent: u32, new: u32, class: u32, parameters: u64, rights: u64, status: u32 }
    Nvos64At525 { root: u32, parent: u32, new: u32, class: u32, parameters: u64, rights: u64, flags: u32, status: u32 }
    Nvos64At535 { root: u32, parent: u32, new: u32, class: u32, parameters: u64, rights: u64, size: u32, flags: u32, status: u32 }
    Nvos30 { client: u32, device: u32, channel: u32, count: u32, clients: u64, devices: u64, channels: u64, flags: u32, timeout: u32, status: u32 }
    Nvos32Head { root: u32, parent: u32, function: u32, space: u32, ivc_heap: i16, status: u32, total: u64, free: u64 }
    Nvos33 { client: u32, device: u32, memory: u32, offset: u64, length: u64, address: u64, status: u32, flags: u32 }
    Nvos33WithFd { parameters: Nvos33, fd: i32 }
    Nvos34 { client: u32, device: u32, memory: u32, address: u64, status: u32, flags: u32 }
    Nvos38 { client: u32, object: u32, access: u32, node_length: u32, node: u64, name_length: u32, name: u64, data_length: u32, data: u64, value: u32, entry: u32, status: u32 }
    Nvos39 { parent: u32, subdevice: u32, new: u32, class: u32, flags: u32, selector: u32, memory: u32, offset: u64, limit: u64, status: u32 }
    Nvos41 { event: u64, more: u32, status: u32 }
    Nvos46At515 { client: u32, device: u32, dma: u32, memory: u32, offset: u64, length: u64, flags: u32, dma_offset: u64, status: u32 }
    Nvos46At580 { client: u32, device: u32, dma: u32, memory: u32, offset: u64, length: u64, flags: u32, flags2: u32, kind: u32, dma_offset: u64, status: u32 }
    Nvos47At515 { client: u32, device: u32, dma: u32, memory: u32, flags: u32, dma_offset: u64, status: u32 }
    Nvos47At550 { client: u32, device: u32, dma: u32, memory: u32, flags: u32, dma_offset: u64, size: u64, status: u32 }
    Nvos49 { client: u32, channel: u32, dma: u32, status: u32 }
    Nvos54 { client: u32, object: u32, cmd: u32, flags: u32, parameters: u64, size: u32, status: u32 }
    Nvos55 { client: u32, parent: u32, object: u32, source_client: u32, source: u32, flags: u32, status: u32 }
    Nvos56 { client: u32, device: u32, memory: u32, old: u64, new: u64, status: u32 }
    SharePolicy { target: u32, mask: u32, kind: u16, action: u8 }
    Nvos57 { client: u32, object: u32, policy: SharePolicy, status: u32 }
    I2cAccess { client: u32, device: u32, size: u32, parameters: u64, status: u32 }
    OsEvent { client: u32, device: u32, fd: u32, status: u32 }
    DmaBufAt535 { fd: i32, client: u32, total: u32, count: u32, index: u32, total_size: u64, handles: [u32; 128], offsets: [u64; 128], sizes: [u64; 128], status: u32 }
    DmaBufAt570 { fd: i32, client: u32, total: u32, count: u32, index: u32, total_size: u64, mapping: u8, handles: [u32; 128], offsets: [u64; 128], sizes: [u64; 128], status: u32 }
}

/// Checks the size and the status of a structure, and its code if it has one.
macro_rules! escape {
    ($nr:expr, $major:expr, $structure:ident, $($status:tt)+) => {
        assert_eq!(
            status_offset($nr, size_of::<$structure>() as u32, $major),
            Some(offset_of!($structure, $($status)+) as u32),
            stringify!($structure)
        );
    };
}

#[test]
fn escapes() {
    escape!(NR_RM_FREE, None, Nvos00, status);
    escape!(NR_RM_ALLOC_MEMORY, None, Nvos02WithFd, parameters.status);
    escape!(NR_RM_ALLOC_OBJECT, None, Nvos05, status);
    for major in [515, 525] {
        escape!(NR_RM_ALLOC, Some(major), Nvos21At515, status);
    }
    escape!(NR_RM_ALLOC, Some(515), Nvos64At515, status);
    escape!(NR_RM_ALLOC, Some(525), Nvos64At525, status);
    for major in [535, 550, 570, 580, 595] {
        escape!(NR_RM_ALLOC, Some(major), Nvos21At535, status);
        escape!(NR_RM_ALLOC, Some(major), Nvos64At535, status);
    }
    escape!(NR_RM_IDLE_CHANNELS, None, Nvos30, status);
    escape!(NR_RM_VID_HEAP_CONTROL, None, Nvos32Head, status);
    escape!(NR_RM_MAP_MEMORY, None, Nvos33WithFd, parameters.status);
    escape!(NR_RM_UNMAP_MEMORY, None, Nvos34, status);
    escape!(NR_RM_ACCESS_REGISTRY, None, Nvos38, status);
    escape!(NR_RM_ALLOC_CONTEXT_DMA2, None, Nvos39, status);
    escape!(NR_RM_GET_EVENT_DATA, None, Nvos41, status);
    escape!(NR_RM_MAP_MEMORY_DMA, None, Nvos46At515, status);
    escape!(NR_RM_MAP_MEMORY_DMA, None, Nvos46At580, status);
    escape!(NR_RM_UNMAP_MEMORY_DMA, None, Nvos47At515, status);
    escape!(NR_RM_UNMAP_MEMORY_DMA, None, Nvos47At550, status);
    escape!(NR_RM_BIND_CONTEXT_DMA, None, Nvos49, status);
    escape!(NR_RM_CONTROL, None, Nvos54, status);
    escape!(NR_RM_DUP_OBJECT, None, Nvos55, status);
    escape!(NR_RM_UPDATE_DEVICE_MAPPING_INFO, None, Nvos56, status);
    escape!(NR_RM_SHARE, None, Nvos57, status);
    escape!(NR_RM_I2C_ACCESS, None, I2cAccess, status);
    escape!(NR_ALLOC_OS_EVENT, None, OsEvent, status);
    escape!(NR_FREE_OS_EVENT, None, OsEvent, status);
    escape!(NR_EXPORT_TO_DMABUF_FD, None, DmaBufAt535, status);
    escape!(NR_EXPORT_TO_DMABUF_FD, None, DmaBufAt570, status);
}

#[test]
fn codes() {
    for (nr, offset) in [
        (NR_RM_CONTROL, offset_of!(Nvos54, cmd)),
        (NR_RM_ALLOC, offset_of!(Nvos21At515, class)),
        (NR_RM_ALLOC, offset_of!(Nvos64At535, class)),
        (
            NR_RM_ALLOC_MEMORY,
            offset_of!(Nvos02WithFd, parameters.class),
        ),
        (NR_RM_ALLOC_OBJECT, offset_of!(Nvos05, class)),
        (NR_RM_ALLOC_CONTEXT_DMA2, offset_of!(Nvos39, class)),
        (NR_RM_VID_HEAP_CONTROL, offset_of!(Nvos32Head, function)),
    ] {
        assert_eq!(code_offset(nr), Some(offset as u32), "{nr:#x}");
    }
    assert_eq!(code_offset(NR_RM_FREE), None);
}

structures! {
    Range { base: u64, length: u64, status: u32 }
    RangeAndUuid { base: u64, length: u64, uuid: Uuid, status: u32 }
    Word { value: u64, status: u32 }
    Half { value: u32, status: u32 }
    Bool { value: bool, status: u32 }
    OnlyUuid { uuid: Uuid, status: u32 }
    TwoUuids { a: Uuid, b: Uuid, status: u32 }
    OnlyStatus { status: u32 }
    RegisterGpuVaSpace { uuid: Uuid, fd: i32, client: u32, space: u32, status: u32 }
    RegisterChannel { uuid: Uuid, fd: i32, client: u32, channel: u32, base: u64, length: u64, status: u32 }
    UnregisterChannelAt515 { uuid: Uuid, client: u32, channel: u32, status: u32 }
    UnregisterChannelAt590 { client: u32, channel: u32, status: u32 }
    SetRangeGroup { group: u64, base: u64, length: u64, status: u32 }
    MapExternalAt515 { base: u64, length: u64, offset: u64, gpus: [MappingAttributes; 32], count: u64, fd: i32, client: u32, memory: u32, status: u32 }
    MapExternalAt550 { base: u64, length: u64, offset: u64, gpus: [MappingAttributes; 256], count: u64, fd: i32, client: u32, memory: u32, status: u32 }
    SemaphorePoolAt515 { base: u64, length: u64, gpus: [MappingAttributes; 32], count: u64, status: u32 }
    SemaphorePoolAt550 { base: u64, length: u64, gpus: [MappingAttributes; 256], count: u64, status: u32 }
    RegisterGpu { uuid: Uuid, numa: bool, node: i32, fd: i32, client: u32, partition: u32, status: u32 }
    RangeGroups { groups: [u64; 32], count: u64, status: u32 }
    PreferredLocationAt550 { base: u64, length: u64, uuid: Uuid, node: i32, status: u32 }
    Migrate { base: u64, length: u64, uuid: Uuid, flags: u32, semaphore: u64, payload: u32, node: i32, start: u64, rest: u64, status: u32 }
    MigrateRangeGroup { group: u64, uuid: Uuid, status: u32 }
    InitEventTracker { queue: u64, size: u64, control: u64, uuid: Uuid, all: u32, fd: u32, status: u32 }
    ProcessMemory { buffer: u64, size: u64, target: u64, done: u64, status: u32 }
    UuidTableAt515 { table: u64, count: u32, status: u32 }
    PageableOnGpu { uuid: Uuid, pageable: bool, status: u32 }
    PopulatePageable { base: u64, length: u64, flags: u32, status: u32 }
    AllocDeviceP2p { base: u64, length: u64, offset: u64, uuid: Uuid, fd: i32, client: u32, memory: u32, status: u32 }
    Discard { base: u64, length: u64, flags: u64, status: u32 }
    QueryResidency { base: u64, length: u64, stride: u64, managed: bool, samples: u64, pages: u64, statuses: u64, residency: Uuid, node: i32, status: u32 }
}

#[test]
fn uvm_requests_that_never_changed() {
    let expected: &[(&[u32], usize)] = &[
        (
            &[23, 24, 58, 59, 60, 61, 0x3000_0001],
            offset_of!(Word, status),
        ),
        (&[25], offset_of!(RegisterGpuVaSpace, status)),
        (&[26, 38, 54, 55], offset_of!(OnlyUuid, status)),
        (&[27], offset_of!(RegisterChannel, status)),
        (&[29, 30], offset_of!(TwoUuids, status)),
        (&[31], offset_of!(SetRangeGroup, status)),
        (&[37], offset_of!(RegisterGpu, status)),
        (&[39], offset_of!(Bool, status)),
        (&[40, 41], offset_of!(RangeGroups, status)),
        (&[43, 44, 45, 72, 73], offset_of!(Range, status)),
        (&[46, 47, 65, 66, 74], offset_of!(RangeAndUuid, status)),
        (&[51], offset_of!(Migrate, status)),
        (&[53], offset_of!(MigrateRangeGroup, status)),
        (&[56, 76], offset_of!(InitEventTracker, status)),
        (&[57, 75], offset_of!(Half, status)),
        (&[62, 63], offset_of!(ProcessMemory, status)),
        (&[67, 69, 79], offset_of!(OnlyStatus, status)),
        (&[70], offset_of!(PageableOnGpu, status)),
        (&[71], offset_of!(PopulatePageable, status)),
        (&[78], offset_of!(AllocDeviceP2p, status)),
        (&[80], offset_of!(Discard, status)),
        (&[81], offset_of!(QueryResidency, status)),
    ];
    let mut checked = 0;
    for (requests, offset) in expected {
        for request in *requests {
            let name = uvm_name(*request);
            assert_eq!(
                uvm_status_offset(*request),
                Some(*offset as u32),
                "{name:?}"
            );
            checked += 1;
        }
    }
    let known = (0..4096)
        .chain(0x3000_0000..0x3000_0010)
        .filter(|cmd| uvm_status_offset(*cmd).is_some())
        .count();
    assert_eq!(
        checked, known,
        "a request has an offset and no structure here"
    );
}

#[test]
fn uvm_requests_that_changed() {
    for (request, major, minor, offset) in [
        (28, 580, 65, offset_of!(UnregisterChannelAt515, status)),
        (28, 590, 48, offset_of!(UnregisterChannelAt590, status)),
        (33, 535, 261, offset_of!(MapExternalAt515, status)),
        (33, 550, 54, offset_of!(MapExternalAt550, status)),
        (34, 580, 65, offset_of!(Range, status)),
        (34, 590, 48, offset_of!(Word, status)),
        (42, 545, 23, offset_of!(RangeAndUuid, status)),
        (42, 550, 40, offset_of!(PreferredLocationAt550, status)),
        (64, 550, 54, offset_of!(UuidTableAt515, status)),
        (64, 570, 124, offset_of!(Word, status)),
        (68, 535, 261, offset_of!(SemaphorePoolAt515, status)),
        (68, 550, 54, offset_of!(SemaphorePoolAt550, status)),
    ] {
        assert_eq!(
            uvm_status_offset_in(request, major, minor),
            Some(offset as u32),
            "{:?} in {major}.{minor}",
            uvm_name(request)
        );
    }
}
