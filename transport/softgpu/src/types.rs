//! Structures and names of the driver API's C types, as far as this CPU emulator takes them.
//!
//! Layouts follow the public bindings of CUDA 13. Handles travel as integers: the numbers that
//! the registry mints.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

use crate::abi::{In, Out};

/// Any opaque handle (`CUcontext`, `CUstream`, `CUmodule`, ...).
pub type Handle = u64;
/// `CUdeviceptr`.
pub type DevicePtr = u64;
/// `CUdevice`: an ordinal.
pub type Device = c_int;

/// `CUuuid`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uuid {
    /// In the order in which they are printed.
    pub bytes: [u8; 16],
}

/// `CUdevprop`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct DeviceProperties {
    pub max_threads_per_block: c_int,
    pub max_threads_dim: [c_int; 3],
    pub max_grid_size: [c_int; 3],
    pub shared_mem_per_block: c_int,
    pub total_constant_memory: c_int,
    pub simd_width: c_int,
    pub mem_pitch: c_int,
    pub regs_per_block: c_int,
    pub clock_rate: c_int,
    pub texture_align: c_int,
}

/// `CUmemLocation`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemLocation {
    /// 1: device.
    pub kind: c_uint,
    /// Ordinal of the device.
    pub id: c_int,
}

/// `CUmemcpyAttributes`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MemcpyAttributes {
    /// 1 in the order of the stream, 2 during the call, 3 whenever.
    pub source_order: c_uint,
    /// Where the source is expected.
    pub source: MemLocation,
    /// Where the destination is expected.
    pub target: MemLocation,
    /// 1: beside kernels, if possible.
    pub flags: c_uint,
}

/// `CUstreamBatchMemOpParams`, a union, by the places that its operations share.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct StreamMemOp {
    /// `CU_STREAM_MEM_OP_*`.
    pub operation: c_uint,
    /// Flags of the operations that have no address.
    pub flags_of_none: c_uint,
    /// Of the word.
    pub address: DevicePtr,
    /// To be written or compared with.
    pub value: u64,
    /// Of the operation.
    pub flags: c_uint,
    /// Not used.
    pub alias: DevicePtr,
    /// Up to the size of the union.
    pub pad: u64,
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MemAccess {
    /// Whose access.
    pub location: MemLocation,
    /// 0 none, 1 read, 3 read and write.
    pub flags: c_uint,
}

/// `CUipcMemHandle` and `CUipcEventHandle`: 64 bytes of the driver's.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IpcHandle {
    /// As the driver likes.
    pub words: [u64; 8],
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct MemAllocationProp {
    pub kind: c_uint,
    pub handle_types: c_uint,
    pub location: MemLocation,
    pub win32_handle_meta_data: u64,
    pub compression: c_uchar,
    pub gpu_direct_rdma_capable: c_uchar,
    pub usage: c_ushort,
    pub reserved: [c_uchar; 4],
}

/// `CUctxCreateParams`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct CtxCreateParams {
    pub affinity: u64,
    pub affinity_count: c_int,
    pub cig: u64,
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct MemPoolProps {
    pub alloc_type: c_uint,
    pub handle_types: c_uint,
    pub location: MemLocation,
    pub win32_security_attributes: *mut c_void,
    pub max_size: usize,
    pub usage: c_ushort,
    pub gpu_direct_rdma_capable: c_uchar,
    pub reserved: [c_uchar; 53],
}

/// `CUDA_MEMCPY2D`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct Memcpy2D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_type: c_uint,
    pub src_host: u64,
    pub src_device: DevicePtr,
    pub src_array: Handle,
    pub src_pitch: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_type: c_uint,
    pub dst_host: u64,
    pub dst_device: DevicePtr,
    pub dst_array: Handle,
    pub dst_pitch: usize,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_MEMCPY3D`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct Memcpy3D {
    pub src_x: usize,
    pub src_y: usize,
    pub src_z: usize,
    pub src_lod: usize,
    pub src_type: c_uint,
    pub src_host: u64,
    pub src_device: DevicePtr,
    pub src_array: Handle,
    pub src_reserved: u64,
    pub src_pitch: usize,
    pub src_height: usize,
    pub dst_x: usize,
    pub dst_y: usize,
    pub dst_z: usize,
    pub dst_lod: usize,
    pub dst_type: c_uint,
    pub dst_host: u64,
    pub dst_device: DevicePtr,
    pub dst_array: Handle,
    pub dst_reserved: u64,
    pub dst_pitch: usize,
    pub dst_height: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

impl From<Memcpy2D> for Memcpy3D {
    fn from(flat: Memcpy2D) -> Self {
        Self {
            src_x: flat.src_x,
            src_y: flat.src_y,
            src_type: flat.src_type,
            src_host: flat.src_host,
            src_device: flat.src_device,
            src_array: flat.src_array,
            src_pitch: flat.src_pitch,
            dst_x: flat.dst_x,
            dst_y: flat.dst_y,
            dst_type: flat.dst_type,
            dst_host: flat.dst_host,
            dst_device: flat.dst_device,
            dst_array: flat.dst_array,
            dst_pitch: flat.dst_pitch,
            width: flat.width,
            height: flat.height,
            depth: 1,
            ..Self::default()
        }
    }
}

/// `CUDA_ARRAY_DESCRIPTOR`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct FlatDescriptor {
    pub width: usize,
    pub height: usize,
    pub format: c_uint,
    pub channels: c_uint,
}

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

impl From<FlatDescriptor> for ArrayDescriptor {
    fn from(flat: FlatDescriptor) -> Self {
        Self {
            width: flat.width,
            height: flat.height,
            depth: 0,
            format: flat.format,
            channels: flat.channels,
            flags: 0,
        }
    }
}

/// `CUDA_RESOURCE_DESC`: what the union holds is reported by the kind.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ResourceDesc {
    /// 0 array, 1 mipmapped array, 2 plain memory, 3 plain memory of two dimensions.
    pub kind: c_uint,
    /// The union: a handle, or an address, a format, channels, and sizes.
    pub union: [u64; 16],
    /// 0.
    pub flags: c_uint,
}

/// Plain memory of a [`ResourceDesc`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResourceMemory {
    pub(crate) address: DevicePtr,
    pub(crate) format: c_uint,
    pub(crate) channels: c_uint,
    /// Elements of a row, or bytes of plain memory of one dimension.
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Bytes from row to row.
    pub(crate) pitch: usize,
}

impl ResourceDesc {
    /// The handle of an array or a mipmapped array.
    pub(crate) fn handle(&self) -> Handle {
        self.union[0]
    }

    /// The plain memory.
    pub(crate) fn memory(&self) -> ResourceMemory {
        let [address, format, width, height, pitch, ..] = self.union;
        ResourceMemory {
            address,
            format: format as c_uint,
            channels: (format >> 32) as c_uint,
            width: width as usize,
            height: height as usize,
            pitch: pitch as usize,
        }
    }
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct TextureDesc {
    pub modes: [c_uint; 3],
    pub filter: c_uint,
    pub flags: c_uint,
    pub max_anisotropy: c_uint,
    pub mipmap_filter: c_uint,
    pub bias: f32,
    pub least_level: f32,
    pub greatest_level: f32,
    pub border: [f32; 4],
    pub reserved: [c_int; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct ViewDesc {
    pub format: c_uint,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub first_level: c_uint,
    pub last_level: c_uint,
    pub first_layer: c_uint,
    pub last_layer: c_uint,
    pub reserved: [c_uint; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct LaunchConfig {
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub stream: Handle,
    pub attributes: In<LaunchAttribute>,
    pub attribute_count: c_uint,
}

/// `CUlaunchAttribute`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct LaunchAttribute {
    pub id: c_uint,
    pub pad: [c_char; 4],
    pub value: [u64; 8],
}

/// `CUhostFn`.
pub type HostFn = Option<unsafe extern "C" fn(*mut c_void)>;
/// `CUstreamCallback`.
pub type StreamCallback = Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>;
/// `CUoccupancyB2DSize`.
pub type BlockSizeToShared = Option<unsafe extern "C" fn(c_int) -> usize>;
/// `kernelParams` and `extra` of a launch.
pub type PointerArray = In<u64>;
/// A pointer whose type another argument gives.
pub type Untyped = Out<c_void>;

/// `CUgraphEdgeData`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct EdgeData {
    pub from_port: u8,
    pub to_port: u8,
    pub kind: u8,
    pub reserved: [u8; 5],
}

/// `CUDA_KERNEL_NODE_PARAMS`, as cuGraphAddKernelNode took it before CUDA 12.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct KernelNodeParamsV1 {
    pub function: Handle,
    pub grid: [c_uint; 3],
    pub block: [c_uint; 3],
    pub shared_bytes: c_uint,
    pub values: PointerArray,
    pub extra: PointerArray,
}

/// `CUDA_KERNEL_NODE_PARAMS_v2`, and `_v3`, which has the same members.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct KernelNodeParams {
    pub first: KernelNodeParamsV1,
    pub kernel: Handle,
    pub context: Handle,
}

/// `CUDA_MEMCPY_NODE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct MemcpyNodeParams {
    pub flags: c_int,
    pub reserved: c_int,
    pub context: Handle,
    pub copy: Memcpy3D,
}

/// `CUDA_MEMSET_NODE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct MemsetNodeParams {
    pub to: DevicePtr,
    pub pitch: usize,
    pub value: c_uint,
    pub element_size: c_uint,
    pub width: usize,
    pub height: usize,
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct MemsetNodeParamsV2 {
    pub first: MemsetNodeParams,
    pub context: Handle,
}

/// `CUDA_HOST_NODE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct HostNodeParams {
    pub function: HostFn,
    pub data: *mut c_void,
}

/// `CUDA_MEM_ALLOC_NODE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct MemAllocNodeParams {
    pub pool: MemPoolProps,
    pub accesses: *const MemAccess,
    pub access_count: usize,
    pub size: usize,
    pub address: DevicePtr,
}

/// `CUDA_CHILD_GRAPH_NODE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ChildNodeParams {
    /// The graph.
    pub graph: Handle,
    /// 0: the node has a clone; 1: the node takes the graph.
    pub ownership: c_int,
}

/// `CUDA_CONDITIONAL_NODE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct ConditionalNodeParams {
    pub handle: u64,
    pub kind: c_uint,
    pub size: c_uint,
    pub graphs: *const Handle,
    pub context: Handle,
}

/// `CUgraphNodeParams`: a kind and the parameters of that kind.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct NodeParams {
    pub kind: c_uint,
    pub reserved: [c_int; 3],
    pub body: [u64; 29],
    pub more: u64,
}

/// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct InstantiateParams {
    pub flags: u64,
    pub upload_stream: Handle,
    pub error_node: Handle,
    pub result: c_uint,
}

/// `CUgraphExecUpdateResultInfo`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the driver API")]
pub struct UpdateInfo {
    pub result: c_uint,
    pub error_node: Handle,
    pub error_from: Handle,
}
