//! Structures and names of the driver API's C types, as far as this CPU emulator takes them.
//!
//! Layouts follow the public bindings of CUDA 13. Handles travel as integers: the numbers that
//! the registry mints.

use std::ffi::{c_char, c_int, c_uchar, c_uint, c_ushort, c_void};

use crate::abi::{In, Out, layouts};

/// Any opaque handle (`CUcontext`, `CUstream`, `CUmodule`, ...).
pub type Handle = u64;
/// `CUdeviceptr`.
pub type DevicePtr = u64;
/// `CUdevice`: an ordinal.
pub type Device = c_int;

layouts! {
    /// `CUuuid`.
    #[derive(PartialEq, Eq)]
    Uuid {
        /// In the order in which they are printed.
        bytes: [u8; 16],
    }

    /// `CUdevprop`.
    DeviceProperties {
        max_threads_per_block: c_int,
        max_threads_dim: [c_int; 3],
        max_grid_size: [c_int; 3],
        shared_mem_per_block: c_int,
        total_constant_memory: c_int,
        simd_width: c_int,
        mem_pitch: c_int,
        regs_per_block: c_int,
        clock_rate: c_int,
        texture_align: c_int,
    }

    /// `CUmemLocation`.
    #[derive(PartialEq, Eq)]
    MemLocation {
        /// 1: device.
        kind: c_uint,
        /// Ordinal of the device.
        id: c_int,
    }

    /// `CUmemcpyAttributes`.
    MemcpyAttributes {
        /// 1 in the order of the stream, 2 during the call, 3 whenever.
        source_order: c_uint,
        /// Where the source is expected.
        source: MemLocation,
        /// Where the destination is expected.
        target: MemLocation,
        /// 1: beside kernels, if possible.
        flags: c_uint,
    }

    /// `CUstreamBatchMemOpParams`, a union, by the places that its operations share.
    StreamMemOp {
        /// `CU_STREAM_MEM_OP_*`.
        operation: c_uint,
        /// Flags of the operations that have no address.
        flags_of_none: c_uint,
        /// Of the word.
        address: DevicePtr,
        /// To be written or compared with.
        value: u64,
        /// Of the operation.
        flags: c_uint,
        /// Not used.
        alias: DevicePtr,
        /// Up to the size of the union.
        pad: u64,
    }

    /// `CUmemAccessDesc`.
    MemAccess {
        /// Whose access.
        location: MemLocation,
        /// 0 none, 1 read, 3 read and write.
        flags: c_uint,
    }

    /// `CUipcMemHandle` and `CUipcEventHandle`: 64 bytes of the driver's.
    #[derive(PartialEq, Eq)]
    IpcHandle {
        /// As the driver likes.
        words: [u64; 8],
    }

    /// `CUmemAllocationProp`.
    MemAllocationProp {
        kind: c_uint,
        handle_types: c_uint,
        location: MemLocation,
        win32_handle_meta_data: u64,
        compression: c_uchar,
        gpu_direct_rdma_capable: c_uchar,
        usage: c_ushort,
        reserved: [c_uchar; 4],
    }

    /// `CUctxCreateParams`.
    CtxCreateParams {
        affinity: u64,
        affinity_count: c_int,
        cig: u64,
    }

    /// `CUmemPoolProps`.
    MemPoolProps {
        alloc_type: c_uint,
        handle_types: c_uint,
        location: MemLocation,
        win32_security_attributes: *mut c_void,
        max_size: usize,
        usage: c_ushort,
        gpu_direct_rdma_capable: c_uchar,
        reserved: [c_uchar; 53],
    }

    /// `CUDA_MEMCPY2D`.
    Memcpy2D {
        src_x: usize,
        src_y: usize,
        src_type: c_uint,
        src_host: u64,
        src_device: DevicePtr,
        src_array: Handle,
        src_pitch: usize,
        dst_x: usize,
        dst_y: usize,
        dst_type: c_uint,
        dst_host: u64,
        dst_device: DevicePtr,
        dst_array: Handle,
        dst_pitch: usize,
        width: usize,
        height: usize,
    }

    /// `CUDA_MEMCPY3D`.
    #[derive(Default)]
    Memcpy3D {
        src_x: usize,
        src_y: usize,
        src_z: usize,
        src_lod: usize,
        src_type: c_uint,
        src_host: u64,
        src_device: DevicePtr,
        src_array: Handle,
        src_reserved: u64,
        src_pitch: usize,
        src_height: usize,
        dst_x: usize,
        dst_y: usize,
        dst_z: usize,
        dst_lod: usize,
        dst_type: c_uint,
        dst_host: u64,
        dst_device: DevicePtr,
        dst_array: Handle,
        dst_reserved: u64,
        dst_pitch: usize,
        dst_height: usize,
        width: usize,
        height: usize,
        depth: usize,
    }
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

layouts! {
    /// `CUDA_ARRAY_DESCRIPTOR`.
    FlatDescriptor {
        width: usize,
        height: usize,
        format: c_uint,
        channels: c_uint,
    }

    /// `CUDA_ARRAY3D_DESCRIPTOR`.
    ArrayDescriptor {
        width: usize,
        height: usize,
        depth: usize,
        format: c_uint,
        channels: c_uint,
        flags: c_uint,
    }
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

layouts! {
    /// `CUDA_TEXTURE_DESC`.
    TextureDesc {
        modes: [c_uint; 3],
        filter: c_uint,
        flags: c_uint,
        max_anisotropy: c_uint,
        mipmap_filter: c_uint,
        bias: f32,
        least_level: f32,
        greatest_level: f32,
        border: [f32; 4],
        reserved: [c_int; 12],
    }

    /// `CUDA_RESOURCE_VIEW_DESC`.
    ViewDesc {
        format: c_uint,
        width: usize,
        height: usize,
        depth: usize,
        first_level: c_uint,
        last_level: c_uint,
        first_layer: c_uint,
        last_layer: c_uint,
        reserved: [c_uint; 16],
    }

    /// `CUlaunchConfig`.
    LaunchConfig {
        grid: [c_uint; 3],
        block: [c_uint; 3],
        shared_bytes: c_uint,
        stream: Handle,
        attributes: In<LaunchAttribute>,
        attribute_count: c_uint,
    }

    /// `CUlaunchAttribute`.
    LaunchAttribute {
        id: c_uint,
        pad: [c_char; 4],
        value: [u64; 8],
    }
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

layouts! {
    /// `CUgraphEdgeData`.
    #[derive(Default, PartialEq, Eq)]
    EdgeData {
        from_port: u8,
        to_port: u8,
        kind: u8,
        reserved: [u8; 5],
    }

    /// `CUDA_KERNEL_NODE_PARAMS`, as cuGraphAddKernelNode took it before CUDA 12.
    KernelNodeParamsV1 {
        function: Handle,
        grid: [c_uint; 3],
        block: [c_uint; 3],
        shared_bytes: c_uint,
        values: PointerArray,
        extra: PointerArray,
    }

    /// `CUDA_KERNEL_NODE_PARAMS_v2`, and `_v3`, which has the same members.
    KernelNodeParams {
        first: KernelNodeParamsV1,
        kernel: Handle,
        context: Handle,
    }

    /// `CUDA_MEMCPY_NODE_PARAMS`.
    MemcpyNodeParams {
        flags: c_int,
        reserved: c_int,
        context: Handle,
        copy: Memcpy3D,
    }

    /// `CUDA_MEMSET_NODE_PARAMS`.
    #[derive(PartialEq, Eq)]
    MemsetNodeParams {
        to: DevicePtr,
        pitch: usize,
        value: c_uint,
        element_size: c_uint,
        width: usize,
        height: usize,
    }

    /// `CUDA_MEMSET_NODE_PARAMS_v2`.
    MemsetNodeParamsV2 {
        first: MemsetNodeParams,
        context: Handle,
    }

    /// `CUDA_HOST_NODE_PARAMS`.
    HostNodeParams {
        function: HostFn,
        data: *mut c_void,
    }

    /// `CUDA_MEM_ALLOC_NODE_PARAMS`.
    MemAllocNodeParams {
        pool: MemPoolProps,
        accesses: *const MemAccess,
        access_count: usize,
        size: usize,
        address: DevicePtr,
    }

    /// `CUDA_CHILD_GRAPH_NODE_PARAMS`.
    ChildNodeParams {
        /// The graph.
        graph: Handle,
        /// 0: the node has a clone; 1: the node takes the graph.
        ownership: c_int,
    }

    /// `CUDA_CONDITIONAL_NODE_PARAMS`.
    ConditionalNodeParams {
        handle: u64,
        kind: c_uint,
        size: c_uint,
        graphs: *const Handle,
        context: Handle,
    }

    /// `CUgraphNodeParams`: a kind and the parameters of that kind.
    NodeParams {
        kind: c_uint,
        reserved: [c_int; 3],
        body: [u64; 29],
        more: u64,
    }

    /// `CUDA_GRAPH_INSTANTIATE_PARAMS`.
    InstantiateParams {
        flags: u64,
        upload_stream: Handle,
        error_node: Handle,
        result: c_uint,
    }

    /// `CUgraphExecUpdateResultInfo`.
    #[derive(PartialEq, Eq)]
    UpdateInfo {
        result: c_uint,
        error_node: Handle,
        error_from: Handle,
    }
}
