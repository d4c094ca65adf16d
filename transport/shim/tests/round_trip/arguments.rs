//! Each way in which an argument of the driver travels.

use core::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ptr::{null, null_mut};

use gtrace_cuda::Kind;
use gtrace_cuda::types::driver::*;

use crate::client::driver as client;
use crate::entry::{trips, with_server};

const REAL: usize = 0x7700;

#[test]
fn values_and_outputs() {
    unsafe extern "C" fn alloc(dptr: *mut CUdeviceptr, bytes: usize) -> CUresult {
        unsafe { dptr.write(0x7000_0000_0000 + bytes as u64) };
        0
    }
    with_server(|exec| exec.driver.cuMemAlloc_v2 = Some(alloc));
    let mut address = 0;
    assert_eq!(unsafe { client::cuMemAlloc_v2(&mut address, 4096) }, 0);
    assert_eq!(address, 0x7000_0000_1000);
}

#[test]
fn a_failure_writes_nothing() {
    unsafe extern "C" fn alloc(dptr: *mut CUdeviceptr, _: usize) -> CUresult {
        unsafe { dptr.write(7) };
        CUDA_ERROR_OUT_OF_MEMORY
    }
    with_server(|exec| exec.driver.cuMemAlloc_v2 = Some(alloc));
    let mut address = 99;
    let status = unsafe { client::cuMemAlloc_v2(&mut address, 4096) };
    assert_eq!((status, address), (CUDA_ERROR_OUT_OF_MEMORY, 99));
}

#[test]
fn null_where_it_is_not_allowed_makes_no_trip() {
    let before = trips();
    let status = unsafe { client::cuMemAlloc_v2(null_mut(), 4096) };
    assert_eq!(status, CUDA_ERROR_INVALID_VALUE);
    let status =
        unsafe { client::cuModuleGetGlobal_v2(null_mut(), null_mut(), null_mut(), null()) };
    assert_eq!(status, CUDA_ERROR_INVALID_VALUE);
    assert_eq!(trips(), before);
}

#[test]
fn a_function_that_the_driver_does_not_have_is_not_supported() {
    let status = unsafe { client::cuCtxSynchronize() };
    assert_eq!(status, CUDA_ERROR_NOT_SUPPORTED);
}

#[test]
fn strings_come_back_cut_to_the_room() {
    unsafe extern "C" fn name(name: *mut c_char, len: c_int, dev: CUdevice) -> CUresult {
        let text = if dev == 1 { c"softgpu" } else { c"?" };
        let len = usize::try_from(len).unwrap().min(text.count_bytes() + 1);
        unsafe { name.copy_from_nonoverlapping(text.as_ptr(), len) };
        unsafe { name.add(len - 1).write(0) };
        0
    }
    with_server(|exec| exec.driver.cuDeviceGetName = Some(name));
    let mut room = [1 as c_char; 8];
    assert_eq!(
        unsafe { client::cuDeviceGetName(room.as_mut_ptr(), 8, 1) },
        0
    );
    assert_eq!(unsafe { CStr::from_ptr(room.as_ptr()) }, c"softgpu");
    assert_eq!(
        unsafe { client::cuDeviceGetName(room.as_mut_ptr(), 5, 1) },
        0
    );
    assert_eq!(unsafe { CStr::from_ptr(room.as_ptr()) }, c"soft");
}

#[test]
fn a_minted_handle_stands_for_what_the_driver_made_until_it_is_destroyed() {
    unsafe extern "C" fn create(event: *mut CUevent, flags: c_uint) -> CUresult {
        assert_eq!(flags, 2);
        unsafe { event.write(REAL as CUevent) };
        0
    }
    unsafe extern "C" fn record(event: CUevent, stream: CUstream) -> CUresult {
        assert_eq!((event as usize, stream as usize), (REAL, 2));
        0
    }
    unsafe extern "C" fn destroy(event: CUevent) -> CUresult {
        assert_eq!(event as usize, REAL);
        0
    }
    with_server(|exec| {
        exec.driver.cuEventCreate = Some(create);
        exec.driver.cuEventRecord = Some(record);
        exec.driver.cuEventDestroy_v2 = Some(destroy);
    });
    let mut event: CUevent = null_mut();
    assert_eq!(unsafe { client::cuEventCreate(&mut event, 2) }, 0);
    assert!(Kind::Event.matches(event as u64));
    let per_thread = 2 as CUstream;
    assert_eq!(unsafe { client::cuEventRecord(event, per_thread) }, 0);
    let status = unsafe { client::cuEventRecord(event, event.cast()) };
    assert_eq!(status, CUDA_ERROR_INVALID_HANDLE, "an event is no stream");
    assert_eq!(unsafe { client::cuEventDestroy_v2(event) }, 0);
    let status = unsafe { client::cuEventRecord(event, per_thread) };
    assert_eq!(status, CUDA_ERROR_INVALID_HANDLE, "it is gone");
}

#[test]
fn nothing_is_minted_by_a_creation_that_fails() {
    unsafe extern "C" fn create(_: *mut CUmemoryPool, props: *const CUmemPoolProps) -> CUresult {
        assert_eq!(unsafe { (*props).maxSize }, 77);
        CUDA_ERROR_NOT_PERMITTED
    }
    with_server(|exec| exec.driver.cuMemPoolCreate = Some(create));
    let mut props: CUmemPoolProps = unsafe { std::mem::zeroed() };
    props.maxSize = 77;
    let mut pool = 5 as CUmemoryPool;
    let status = unsafe { client::cuMemPoolCreate(&mut pool, &props) };
    assert_eq!((status, pool as usize), (CUDA_ERROR_NOT_PERMITTED, 5));
}

#[test]
fn pointers_that_may_be_null_are_null_on_the_other_side_too() {
    unsafe extern "C" fn global(
        dptr: *mut CUdeviceptr,
        bytes: *mut usize,
        _: CUmodule,
        name: *const c_char,
    ) -> CUresult {
        assert!(dptr.is_null());
        assert_eq!(unsafe { CStr::from_ptr(name) }, c"counter");
        unsafe { bytes.write(12) };
        0
    }
    let module = Kind::Module.handle(900);
    with_server(|exec| {
        exec.driver.cuModuleGetGlobal_v2 = Some(global);
        exec.handles
            .insert(Kind::Module, module, REAL as *mut c_void);
    });
    let mut bytes = 0;
    let name = c"counter".as_ptr();
    let status =
        unsafe { client::cuModuleGetGlobal_v2(null_mut(), &mut bytes, module as CUmodule, name) };
    assert_eq!((status, bytes), (0, 12));
}

#[test]
fn arrays_and_structures_by_value_go_there() {
    unsafe extern "C" fn access(
        ptr: CUdeviceptr,
        size: usize,
        desc: *const CUmemAccessDesc,
        count: usize,
    ) -> CUresult {
        assert_eq!((ptr, size, count), (0x1000, 64, 2));
        let location = unsafe { (*desc.add(1)).location };
        assert_eq!(unsafe { location.__bindgen_anon_1.id }, 8);
        0
    }
    unsafe extern "C" fn advise(
        _: CUdeviceptr,
        _: usize,
        advice: CUmem_advise,
        location: CUmemLocation,
    ) -> CUresult {
        assert_eq!((advice, unsafe { location.__bindgen_anon_1.id }), (3, 8));
        0
    }
    with_server(|exec| {
        exec.driver.cuMemSetAccess = Some(access);
        exec.driver.cuMemAdvise_v2 = Some(advise);
    });
    let mut desc: [CUmemAccessDesc; 2] = unsafe { std::mem::zeroed() };
    desc[1].location.__bindgen_anon_1.id = 8;
    assert_eq!(
        unsafe { client::cuMemSetAccess(0x1000, 64, desc.as_ptr(), 2) },
        0
    );
    assert_eq!(
        unsafe { client::cuMemAdvise_v2(0x1000, 64, 3, desc[1].location) },
        0
    );
    let too_long = usize::MAX / 2;
    let status = unsafe { client::cuMemSetAccess(0x1000, 64, desc.as_ptr(), too_long) };
    assert_eq!(status, CUDA_ERROR_INVALID_VALUE);
}

#[test]
fn bytes_are_aligned_for_whatever_they_are() {
    unsafe extern "C" fn get(
        _: CUmemoryPool,
        attr: CUmemPool_attribute,
        value: *mut c_void,
    ) -> CUresult {
        assert!(value.cast::<u64>().is_aligned());
        unsafe { value.cast::<u64>().write(u64::from(attr) << 40) };
        0
    }
    let pool = Kind::MemPool.handle(900);
    with_server(|exec| {
        exec.driver.cuMemPoolGetAttribute = Some(get);
        exec.handles
            .insert(Kind::MemPool, pool, REAL as *mut c_void);
    });
    let mut value = 0u64;
    let to = (&raw mut value).cast();
    assert_eq!(
        unsafe { client::cuMemPoolGetAttribute(pool as CUmemoryPool, 4, to) },
        0
    );
    assert_eq!(value, 4 << 40);
}

#[test]
fn arrays_of_handles_go_both_ways() {
    unsafe extern "C" fn nodes(_: CUgraph, nodes: *mut CUgraphNode, count: *mut usize) -> CUresult {
        let room = unsafe { count.read() };
        unsafe { count.write(2) };
        for at in 0..room.min(2) * usize::from(!nodes.is_null()) {
            unsafe { nodes.add(at).write((REAL + at) as CUgraphNode) };
        }
        0
    }
    unsafe extern "C" fn add(
        node: *mut CUgraphNode,
        _: CUgraph,
        dependencies: *const CUgraphNode,
        count: usize,
    ) -> CUresult {
        let real = [REAL as CUgraphNode, (REAL + 1) as CUgraphNode];
        assert_eq!(
            unsafe { std::slice::from_raw_parts(dependencies, count) },
            real
        );
        unsafe { node.write((REAL + 2) as CUgraphNode) };
        0
    }
    let graph = Kind::Graph.handle(900);
    with_server(|exec| {
        exec.driver.cuGraphGetNodes = Some(nodes);
        exec.driver.cuGraphAddEmptyNode = Some(add);
        exec.handles.insert(Kind::Graph, graph, REAL as *mut c_void);
    });
    let graph = graph as CUgraph;
    let mut count = 0;
    assert_eq!(
        unsafe { client::cuGraphGetNodes(graph, null_mut(), &mut count) },
        0
    );
    assert_eq!(count, 2);
    let mut found = [REAL as CUgraphNode; 3];
    count = 3;
    assert_eq!(
        unsafe { client::cuGraphGetNodes(graph, found.as_mut_ptr(), &mut count) },
        0
    );
    assert_eq!(count, 2);
    assert!(found[2].is_null());
    assert!(Kind::GraphNode.matches(found[1] as u64));
    let mut node = null_mut();
    let status = unsafe { client::cuGraphAddEmptyNode(&mut node, graph, found.as_ptr(), 2) };
    assert_eq!(status, 0);
    let status = unsafe { client::cuGraphAddEmptyNode(&mut node, graph, found.as_ptr(), 3) };
    assert_eq!(status, CUDA_ERROR_INVALID_HANDLE, "null is no node");
}

#[test]
fn a_tensor_maps_arrays_have_the_lengths_of_its_rank() {
    unsafe extern "C" fn encode(
        map: *mut CUtensorMap,
        _: CUtensorMapDataType,
        rank: cuuint32_t,
        address: *mut c_void,
        dim: *const cuuint64_t,
        strides: *const cuuint64_t,
        shape: *const cuuint32_t,
        _: *const cuuint32_t,
        _: CUtensorMapInterleave,
        _: CUtensorMapSwizzle,
        _: CUtensorMapL2promotion,
        fill: CUtensorMapFloatOOBfill,
    ) -> CUresult {
        assert_eq!((rank, address as u64, fill), (2, 0x7000_0000_0000, 1));
        unsafe { (*map).opaque[0] = *dim.add(1) + *strides + u64::from(*shape.add(1)) };
        0
    }
    with_server(|exec| exec.driver.cuTensorMapEncodeTiled = Some(encode));
    let mut map: CUtensorMap = unsafe { std::mem::zeroed() };
    let address = 0x7000_0000_0000usize as *mut c_void;
    let (dim, strides, shape) = ([64u64, 32], [128u64], [8u32, 4]);
    let (dim, strides, shape) = (dim.as_ptr(), strides.as_ptr(), shape.as_ptr());
    let status = unsafe {
        client::cuTensorMapEncodeTiled(
            &mut map, 0, 2, address, dim, strides, shape, shape, 0, 0, 0, 1,
        )
    };
    assert_eq!((status, map.opaque[0]), (0, 32 + 128 + 4));
}

#[test]
fn a_kernel_may_stand_for_a_function() {
    unsafe extern "C" fn get(pi: *mut c_int, _: CUfunction_attribute, f: CUfunction) -> CUresult {
        unsafe { pi.write(f as c_int) };
        0
    }
    let kernel = Kind::Kernel.handle(900);
    with_server(|exec| {
        exec.driver.cuFuncGetAttribute = Some(get);
        exec.handles
            .insert(Kind::Kernel, kernel, REAL as *mut c_void);
    });
    let mut value = 0;
    let status = unsafe { client::cuFuncGetAttribute(&mut value, 0, kernel as CUfunction) };
    assert_eq!((status, value), (0, REAL as c_int));
}

#[test]
fn what_the_server_knows_has_a_number_of_the_server() {
    unsafe extern "C" fn pool(pool: *mut CUmemoryPool, _: CUdevice) -> CUresult {
        unsafe { pool.write(REAL as CUmemoryPool) };
        0
    }
    unsafe extern "C" fn trim(pool: CUmemoryPool, keep: usize) -> CUresult {
        assert_eq!((pool as usize, keep), (REAL, 9));
        0
    }
    with_server(|exec| {
        exec.driver.cuDeviceGetDefaultMemPool = Some(pool);
        exec.driver.cuMemPoolTrimTo = Some(trim);
    });
    let mut found = null_mut();
    assert_eq!(
        unsafe { client::cuDeviceGetDefaultMemPool(&mut found, 0) },
        0
    );
    assert_ne!(found as u64 & gtrace_cuda::SERVER_MINTED, 0);
    assert_eq!(unsafe { client::cuMemPoolTrimTo(found, 9) }, 0);
}

#[test]
fn an_inout_argument_goes_both_ways() {
    unsafe extern "C" fn exchange(mode: *mut CUstreamCaptureMode) -> CUresult {
        unsafe { mode.write(mode.read() + 1) };
        0
    }
    with_server(|exec| exec.driver.cuThreadExchangeStreamCaptureMode = Some(exchange));
    let mut mode = 1;
    assert_eq!(
        unsafe { client::cuThreadExchangeStreamCaptureMode(&mut mode) },
        0
    );
    assert_eq!(mode, 2);
}

#[test]
fn wide_values_keep_all_their_bits() {
    unsafe extern "C" fn create(
        handle: *mut CUmemGenericAllocationHandle,
        size: usize,
        _: *const CUmemAllocationProp,
        flags: c_ulonglong,
    ) -> CUresult {
        unsafe { handle.write(size as u64 ^ flags) };
        0
    }
    with_server(|exec| exec.driver.cuMemCreate = Some(create));
    let prop: CUmemAllocationProp = unsafe { std::mem::zeroed() };
    let mut handle = 0;
    let flags = 1 << 63;
    let status = unsafe { client::cuMemCreate(&mut handle, usize::MAX >> 1, &prop, flags) };
    assert_eq!((status, handle), (0, u64::MAX));
}
