//! The functions of the CUDA driver that are measured, as a program has them that opens `libcuda.so.1` at run time.
#![allow(unsafe_code)] // calls into a C library

use std::ffi::{CStr, c_char, c_int, c_uint, c_ulonglong, c_void};
use std::ops::{Deref, DerefMut};
use std::ptr::{NonNull, null_mut};

use crate::MeasureError;

/// A handle of the driver.
type Handle = *mut c_void;

/// CU_STREAM_NON_BLOCKING.
const NON_BLOCKING: c_uint = 1;
/// CU_STREAM_CAPTURE_MODE_THREAD_LOCAL.
const CAPTURE_THREAD_LOCAL: c_int = 1;
/// Bytes of a device's name.
const NAME: usize = 256;

const EMPTY: &CStr = c".version 6.3\n.target sm_70\n.address_size 64\n\
    .visible .entry gtrace_measure_empty()\n{\n\tret;\n}\n";

macro_rules! functions {
    ($($field:ident = $symbol:ident ($($argument:ty),*);)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            // Never closed while a function may be called.
            _library: libloading::Library,
        }

        impl Functions {
            fn open() -> Result<Self, libloading::Error> {
                // SAFETY: opening the driver runs its constructors, as it does in every CUDA program.
                let library = unsafe { libloading::Library::new("libcuda.so.1")? };
                Ok(Self {
                    // SAFETY: the types are those of the API's public documentation.
                    $($field: *unsafe { library.get(concat!(stringify!($symbol), "\0").as_bytes())? },)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    init = cuInit(c_uint);
    version = cuDriverGetVersion(*mut c_int);
    device = cuDeviceGet(*mut c_int, c_int);
    device_name = cuDeviceGetName(*mut c_char, c_int, c_int);
    context_create = cuCtxCreate_v2(*mut Handle, c_uint, c_int);
    context_synchronize = cuCtxSynchronize();
    memory_info = cuMemGetInfo_v2(*mut usize, *mut usize);
    allocate = cuMemAlloc_v2(*mut u64, usize);
    to_device = cuMemcpyHtoD_v2(u64, *const c_void, usize);
    to_host = cuMemcpyDtoH_v2(*mut c_void, u64, usize);
    free = cuMemFree_v2(u64);
    host_allocate = cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    host_free = cuMemFreeHost(*mut c_void);
    to_device_async = cuMemcpyHtoDAsync_v2(u64, *const c_void, usize, Handle);
    to_host_async = cuMemcpyDtoHAsync_v2(*mut c_void, u64, usize, Handle);
    on_device_async = cuMemcpyDtoDAsync_v2(u64, u64, usize, Handle);
    fill_async = cuMemsetD8Async(u64, u8, usize, Handle);
    stream_query = cuStreamQuery(Handle);
    event_create = cuEventCreate(*mut Handle, c_uint);
    event_record = cuEventRecord(Handle, Handle);
    event_synchronize = cuEventSynchronize(Handle);
    event_query = cuEventQuery(Handle);
    module_load = cuModuleLoadData(*mut Handle, *const c_char);
    module_function = cuModuleGetFunction(*mut Handle, Handle, *const c_char);
    launch = cuLaunchKernel(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle,
        *mut *mut c_void, *mut *mut c_void);
    stream_create = cuStreamCreate(*mut Handle, c_uint);
    stream_synchronize = cuStreamSynchronize(Handle);
    capture_begin = cuStreamBeginCapture_v2(Handle, c_int);
    capture_end = cuStreamEndCapture(Handle, *mut Handle);
    graph_instantiate = cuGraphInstantiateWithFlags(*mut Handle, Handle, c_ulonglong);
    graph_launch = cuGraphLaunch(Handle, Handle);
}

macro_rules! call {
    ($self:ident.$field:ident($($argument:expr),*)) => {{
        // SAFETY: pointers are of live variables or of slices whose lengths are passed, and the driver writes no
        // further; handles are its own.
        let code = unsafe { ($self.functions.$field)($($argument),*) };
        match code {
            0 => Ok(()),
            code => Err(MeasureError::Cuda { call: stringify!($field), code }),
        }
    }};
}

/// An event.
#[derive(Clone, Copy)]
pub(crate) struct Event(Handle);

/// CUDA_ERROR_INVALID_VALUE.
const INVALID_VALUE: c_int = 1;
/// CUDA_ERROR_NOT_READY: an answer, and no failure.
const NOT_READY: c_int = 600;

fn ready_or_not(result: Called<()>) -> Called<()> {
    match result {
        Err(MeasureError::Cuda {
            code: NOT_READY, ..
        }) => Ok(()),
        result => result,
    }
}

/// The driver with a context on its first device.
pub(crate) struct Driver {
    functions: Functions,
}

/// A kernel that does nothing.
#[derive(Clone, Copy)]
pub(crate) struct Empty(Handle);

/// A graph that can be launched, and the stream for it.
#[derive(Clone, Copy)]
pub(crate) struct Graph {
    executable: Handle,
    stream: Handle,
}

type Called<T> = Result<T, MeasureError>;

/// Page-locked memory. Copies from and to it are waited for before it is read again.
pub(crate) struct Locked<'a> {
    driver: &'a Driver,
    start: NonNull<u8>,
    len: usize,
}

impl Deref for Locked<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the driver's, of that length, until it is given back; all of it was written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl DerefMut for Locked<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and nobody else has a reference.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let driver = self.driver;
        // An error here is of no use to anyone.
        let _: Called<()> = call!(driver.host_free(self.start.as_ptr().cast()));
    }
}

impl Driver {
    /// Opens `libcuda.so.1` as the loader finds it, and makes a context.
    pub(crate) fn start() -> Called<Self> {
        let this = Self {
            functions: Functions::open()?,
        };
        call!(this.init(0))?;
        let mut context = null_mut();
        call!(this.context_create(&raw mut context, 0, 0))?;
        Ok(this)
    }

    /// cuDriverGetVersion: 1000 x major + 10 x minor.
    pub(crate) fn version(&self) -> Called<i32> {
        let mut version = 0;
        call!(self.version(&raw mut version)).map(|()| version)
    }

    /// The first device's name.
    pub(crate) fn device_name(&self) -> Called<String> {
        let mut device = 0;
        call!(self.device(&raw mut device, 0))?;
        let mut name = [0u8; NAME];
        call!(self.device_name(name.as_mut_ptr().cast(), NAME as c_int, device))?;
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(NAME);
        Ok(String::from_utf8_lossy(&name[..end]).into_owned())
    }

    /// Free bytes of the device.
    pub(crate) fn free_bytes(&self) -> Called<u64> {
        let (mut free, mut total) = (0usize, 0usize);
        call!(self.memory_info(&raw mut free, &raw mut total)).map(|()| free as u64)
    }

    pub(crate) fn synchronize(&self) -> Called<()> {
        call!(self.context_synchronize())
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Called<u64> {
        let mut address = 0;
        call!(self.allocate(&raw mut address, bytes)).map(|()| address)
    }

    /// `bytes` of page-locked memory, all zero.
    pub(crate) fn locked(&self, bytes: usize) -> Called<Locked<'_>> {
        let mut start = null_mut();
        call!(self.host_allocate(&raw mut start, bytes, 0))?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(MeasureError::Cuda {
            call: "host_allocate",
            code: INVALID_VALUE,
        })?;
        // SAFETY: the driver's, of that length.
        unsafe { start.write_bytes(0, bytes) };
        Ok(Locked {
            driver: self,
            start,
            len: bytes,
        })
    }

    pub(crate) fn wait_for_default_stream(&self) -> Called<()> {
        call!(self.stream_synchronize(null_mut()))
    }

    pub(crate) fn to_device(&self, to: u64, from: &[u8]) -> Called<()> {
        call!(self.to_device(to, from.as_ptr().cast(), from.len()))
    }

    pub(crate) fn to_host(&self, to: &mut [u8], from: u64) -> Called<()> {
        call!(self.to_host(to.as_mut_ptr().cast(), from, to.len()))
    }

    /// Loads the kernel that does nothing.
    pub(crate) fn empty(&self) -> Called<Empty> {
        let (mut module, mut function) = (null_mut(), null_mut());
        call!(self.module_load(&raw mut module, EMPTY.as_ptr()))?;
        let name = c"gtrace_measure_empty";
        call!(self.module_function(&raw mut function, module, name.as_ptr()))?;
        Ok(Empty(function))
    }

    /// One thread of it, in the default stream.
    pub(crate) fn launch(&self, kernel: Empty) -> Called<()> {
        self.launch_in(kernel, null_mut())
    }

    fn launch_in(&self, kernel: Empty, stream: Handle) -> Called<()> {
        call!(self.launch(
            kernel.0,
            1,
            1,
            1,
            1,
            1,
            1,
            0,
            stream,
            null_mut(),
            null_mut()
        ))
    }

    /// A graph of `nodes` of them, one behind the other.
    pub(crate) fn graph(&self, kernel: Empty, nodes: usize) -> Called<Graph> {
        let (mut stream, mut graph, mut executable) = (null_mut(), null_mut(), null_mut());
        call!(self.stream_create(&raw mut stream, NON_BLOCKING))?;
        call!(self.capture_begin(stream, CAPTURE_THREAD_LOCAL))?;
        for _ in 0..nodes {
            self.launch_in(kernel, stream)?;
        }
        call!(self.capture_end(stream, &raw mut graph))?;
        call!(self.graph_instantiate(&raw mut executable, graph, 0))?;
        Ok(Graph { executable, stream })
    }

    /// Launches the graph and waits for it.
    pub(crate) fn replay(&self, graph: Graph) -> Called<()> {
        self.launch_graph(graph)?;
        call!(self.stream_synchronize(graph.stream))
    }

    pub(crate) fn launch_graph(&self, graph: Graph) -> Called<()> {
        call!(self.graph_launch(graph.executable, graph.stream))
    }

    // What follows is in the default stream.

    pub(crate) fn free(&self, address: u64) -> Called<()> {
        call!(self.free(address))
    }

    /// If `from` is pageable, it has been read when this is back.
    pub(crate) fn to_device_async(&self, to: u64, from: &[u8]) -> Called<()> {
        call!(self.to_device_async(to, from.as_ptr().cast(), from.len(), null_mut()))
    }

    /// If `to` is pageable, it has been written when this is back (CUDA driver API, "API synchronization behavior").
    pub(crate) fn to_host_async(&self, to: &mut [u8], from: u64) -> Called<()> {
        call!(self.to_host_async(to.as_mut_ptr().cast(), from, to.len(), null_mut()))
    }

    pub(crate) fn on_device(&self, to: u64, from: u64, bytes: usize) -> Called<()> {
        call!(self.on_device_async(to, from, bytes, null_mut()))
    }

    pub(crate) fn fill(&self, at: u64, bytes: usize) -> Called<()> {
        call!(self.fill_async(at, 0, bytes, null_mut()))
    }

    pub(crate) fn synchronize_stream(&self) -> Called<()> {
        call!(self.stream_synchronize(null_mut()))
    }

    pub(crate) fn query_stream(&self) -> Called<()> {
        ready_or_not(call!(self.stream_query(null_mut())))
    }

    pub(crate) fn event(&self) -> Called<Event> {
        let mut event = null_mut();
        call!(self.event_create(&raw mut event, 0)).map(|()| Event(event))
    }

    pub(crate) fn record(&self, event: Event) -> Called<()> {
        call!(self.event_record(event.0, null_mut()))
    }

    pub(crate) fn synchronize_event(&self, event: Event) -> Called<()> {
        call!(self.event_synchronize(event.0))
    }

    pub(crate) fn query_event(&self, event: Event) -> Called<()> {
        ready_or_not(call!(self.event_query(event.0)))
    }
}
