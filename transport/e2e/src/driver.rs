//! The driver API as a program that opens `libcuda.so.1` at run time has it. Which library that is
//! (a real driver, the CPU emulator, the shim) is the loader's affair: `LD_LIBRARY_PATH`.
#![allow(unsafe_code)] // calls into a C library

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::ptr::null_mut;

/// A result that is not CUDA_SUCCESS, with the call that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaError {
    /// The driver's symbol.
    pub call: &'static str,
    /// CUresult.
    pub code: c_int,
}

impl fmt::Display for CudaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} gave error {}", self.call, self.code)
    }
}

impl std::error::Error for CudaError {}

/// A device address.
pub type Address = u64;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(*mut c_void);

        // SAFETY: a handle is a number to this process; the driver may be called from any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}
    )*};
}

opaque! {
    /// CUcontext.
    Context
    /// CUstream.
    Stream
    /// CUevent.
    Event
    /// CUmodule.
    Module
    /// CUfunction.
    Function
}

impl Stream {
    /// The legacy default stream.
    pub const DEFAULT: Self = Self(null_mut());
}

/// CU_STREAM_NON_BLOCKING.
const NON_BLOCKING: c_uint = 1;
/// CUDA_ERROR_NOT_READY.
const NOT_READY: c_int = 600;

macro_rules! functions {
    ($($field:ident = $symbol:ident ($($argument:ty),*);)*) => {
        /// The functions of an opened driver.
        #[derive(Debug)]
        pub struct Driver {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
            // Last, so that it outlives nothing that points into it; never closed in practice.
            _library: libloading::Library,
        }

        impl Driver {
            /// Opens `libcuda.so.1` as the loader finds it.
            pub fn open() -> Result<Self, libloading::Error> {
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
    device_count = cuDeviceGetCount(*mut c_int);
    context_create = cuCtxCreate_v2(*mut Context, c_uint, c_int);
    context_destroy = cuCtxDestroy_v2(Context);
    context_set = cuCtxSetCurrent(Context);
    context_synchronize = cuCtxSynchronize();
    memory_info = cuMemGetInfo_v2(*mut usize, *mut usize);
    allocate = cuMemAlloc_v2(*mut Address, usize);
    allocate_host = cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
    allocate_async = cuMemAllocAsync(*mut Address, usize, Stream);
    free = cuMemFree_v2(Address);
    free_async = cuMemFreeAsync(Address, Stream);
    to_device = cuMemcpyHtoD_v2(Address, *const c_void, usize);
    to_device_async = cuMemcpyHtoDAsync_v2(Address, *const c_void, usize, Stream);
    to_host = cuMemcpyDtoH_v2(*mut c_void, Address, usize);
    to_host_async = cuMemcpyDtoHAsync_v2(*mut c_void, Address, usize, Stream);
    on_device_async = cuMemcpyDtoDAsync_v2(Address, Address, usize, Stream);
    fill_u8_async = cuMemsetD8Async(Address, u8, usize, Stream);
    fill_u16_async = cuMemsetD16Async(Address, u16, usize, Stream);
    fill_u32_async = cuMemsetD32Async(Address, c_uint, usize, Stream);
    stream_create = cuStreamCreate(*mut Stream, c_uint);
    stream_destroy = cuStreamDestroy_v2(Stream);
    stream_synchronize = cuStreamSynchronize(Stream);
    stream_query = cuStreamQuery(Stream);
    stream_wait = cuStreamWaitEvent(Stream, Event, c_uint);
    event_create = cuEventCreate(*mut Event, c_uint);
    event_destroy = cuEventDestroy_v2(Event);
    event_record = cuEventRecord(Event, Stream);
    event_query = cuEventQuery(Event);
    event_synchronize = cuEventSynchronize(Event);
    module_load = cuModuleLoadData(*mut Module, *const c_char);
    module_unload = cuModuleUnload(Module);
    module_function = cuModuleGetFunction(*mut Function, Module, *const c_char);
    launch = cuLaunchKernel(Function, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Stream,
        *mut *mut c_void, *mut *mut c_void);
}

/// Calls a function of the driver and makes its result a `Result`.
macro_rules! call {
    ($self:ident.$field:ident($($argument:expr),*)) => {{
        // SAFETY: pointers are of live variables or slices whose lengths are passed; the driver writes
        // no further. Handles and addresses are checked by the driver.
        let code = unsafe { ($self.$field)($($argument),*) };
        if code == 0 { Ok(()) } else { Err(CudaError { call: stringify!($field), code }) }
    }};
}

type Called<T> = Result<T, CudaError>;

/// Functions that only pass their arguments on.
macro_rules! passed_on {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),*) = $field:ident;)*) => {
        impl Driver {
            $(
                $(#[$doc])*
                pub fn $name(&self, $($argument: $type),*) -> Called<()> {
                    call!(self.$field($($argument),*))
                }
            )*
        }
    };
}

passed_on! {
    /// cuCtxDestroy.
    destroy_context(context: Context) = context_destroy;
    /// cuCtxSetCurrent.
    set_current(context: Context) = context_set;
    /// cuCtxSynchronize.
    synchronize() = context_synchronize;
    /// cuMemFree.
    free(address: Address) = free;
    /// cuMemFreeAsync.
    free_async(address: Address, stream: Stream) = free_async;
    /// cuMemcpyDtoDAsync.
    on_device_async(to: Address, from: Address, bytes: usize, stream: Stream) = on_device_async;
    /// cuMemsetD8Async.
    fill_u8(at: Address, value: u8, count: usize, stream: Stream) = fill_u8_async;
    /// cuMemsetD16Async.
    fill_u16(at: Address, value: u16, count: usize, stream: Stream) = fill_u16_async;
    /// cuMemsetD32Async.
    fill_u32(at: Address, value: u32, count: usize, stream: Stream) = fill_u32_async;
    /// cuStreamDestroy.
    destroy_stream(stream: Stream) = stream_destroy;
    /// cuStreamSynchronize.
    stream_synchronize(stream: Stream) = stream_synchronize;
    /// cuEventDestroy.
    destroy_event(event: Event) = event_destroy;
    /// cuEventRecord.
    record(event: Event, stream: Stream) = event_record;
    /// cuEventSynchronize.
    event_synchronize(event: Event) = event_synchronize;
    /// cuModuleUnload.
    unload_module(module: Module) = module_unload;
}

impl Driver {
    /// cuInit.
    pub fn init(&self) -> Called<()> {
        call!(self.init(0))
    }

    /// cuDeviceGetCount.
    pub fn device_count(&self) -> Called<i32> {
        let mut count = 0;
        call!(self.device_count(&raw mut count)).map(|()| count)
    }

    /// cuCtxCreate on device 0; the context is current then.
    pub fn create_context(&self) -> Called<Context> {
        let mut context = Context(null_mut());
        call!(self.context_create(&raw mut context, 0, 0)).map(|()| context)
    }

    /// cuMemGetInfo: free and total bytes.
    pub fn memory_info(&self) -> Called<(usize, usize)> {
        let (mut free, mut total) = (0, 0);
        call!(self.memory_info(&raw mut free, &raw mut total)).map(|()| (free, total))
    }

    /// cuMemAlloc.
    pub fn allocate(&self, bytes: usize) -> Called<Address> {
        let mut address = 0;
        call!(self.allocate(&raw mut address, bytes)).map(|()| address)
    }

    /// cuMemHostAlloc without flags: page-locked memory of the host, which lives as long as the context.
    pub fn allocate_host(&self, bytes: usize) -> Called<*mut c_void> {
        let mut at = null_mut();
        call!(self.allocate_host(&raw mut at, bytes, 0)).map(|()| at)
    }

    /// cuMemAllocAsync.
    pub fn allocate_async(&self, bytes: usize, stream: Stream) -> Called<Address> {
        let mut address = 0;
        call!(self.allocate_async(&raw mut address, bytes, stream)).map(|()| address)
    }

    /// cuMemcpyHtoD.
    pub fn to_device(&self, to: Address, from: &[u8]) -> Called<()> {
        call!(self.to_device(to, from.as_ptr().cast(), from.len()))
    }

    /// cuMemcpyHtoDAsync; memory from this allocator is pageable, so `from` has been read when it is back.
    pub fn to_device_async(&self, to: Address, from: &[u8], stream: Stream) -> Called<()> {
        call!(self.to_device_async(to, from.as_ptr().cast(), from.len(), stream))
    }

    /// cuMemcpyDtoH.
    pub fn to_host(&self, to: &mut [u8], from: Address) -> Called<()> {
        call!(self.to_host(to.as_mut_ptr().cast(), from, to.len()))
    }

    /// cuMemcpyDtoHAsync and cuStreamSynchronize, so that `to` is complete and no longer borrowed.
    pub fn to_host_in(&self, to: &mut [u8], from: Address, stream: Stream) -> Called<()> {
        call!(self.to_host_async(to.as_mut_ptr().cast(), from, to.len(), stream))?;
        self.stream_synchronize(stream)
    }

    /// cuStreamCreate, non-blocking.
    pub fn create_stream(&self) -> Called<Stream> {
        let mut stream = Stream::DEFAULT;
        call!(self.stream_create(&raw mut stream, NON_BLOCKING)).map(|()| stream)
    }

    /// cuStreamQuery: whether all of it is done.
    pub fn stream_query(&self, stream: Stream) -> Called<bool> {
        ready(call!(self.stream_query(stream)))
    }

    /// cuStreamWaitEvent.
    pub fn stream_wait(&self, stream: Stream, event: Event) -> Called<()> {
        call!(self.stream_wait(stream, event, 0))
    }

    /// cuEventCreate.
    pub fn create_event(&self) -> Called<Event> {
        let mut event = Event(null_mut());
        call!(self.event_create(&raw mut event, 0)).map(|()| event)
    }

    /// cuEventQuery: whether it has happened.
    pub fn event_query(&self, event: Event) -> Called<bool> {
        ready(call!(self.event_query(event)))
    }

    /// cuModuleLoadData of PTX.
    pub fn load_module(&self, ptx: &CStr) -> Called<Module> {
        let mut module = Module(null_mut());
        call!(self.module_load(&raw mut module, ptx.as_ptr())).map(|()| module)
    }

    /// cuModuleGetFunction.
    pub fn function(&self, module: Module, name: &str) -> Called<Function> {
        let mut function = Function(null_mut());
        let name = CString::new(name).unwrap_or_default();
        call!(self.module_function(&raw mut function, module, name.as_ptr())).map(|()| function)
    }

    /// cuLaunchKernel in one dimension. The caller answers for `parameters` being those of the kernel:
    /// each the bytes of one.
    pub fn launch(
        &self,
        function: Function,
        (blocks, threads): (u32, u32),
        stream: Stream,
        parameters: &mut [&mut [u8]],
    ) -> Called<()> {
        let mut pointers: [*mut c_void; 8] = [null_mut(); 8];
        for (pointer, parameter) in pointers.iter_mut().zip(parameters) {
            *pointer = parameter.as_mut_ptr().cast();
        }
        call!(self.launch(
            function,
            blocks,
            1,
            1,
            threads,
            1,
            1,
            0,
            stream,
            pointers.as_mut_ptr(),
            null_mut()
        ))
    }
}

fn ready(result: Called<()>) -> Called<bool> {
    match result {
        Ok(()) => Ok(true),
        Err(error) if error.code == NOT_READY => Ok(false),
        Err(error) => Err(error),
    }
}
