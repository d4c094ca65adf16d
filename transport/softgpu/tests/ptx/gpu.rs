//! Memory and launches for the tests of the PTX executor.
#![allow(unsafe_code)] // Hands buffers of the tests to the executor.
#![allow(dead_code, unused_macros)] // No test uses all of it.

use std::cell::UnsafeCell;
use std::sync::Mutex;

use gtrace_softgpu::ptx::{
    Cancel, Fault, Launch, Loaded, Memory, Module, PtxError, Region, Stats, launch,
};

/// A buffer of device memory; 16 bytes aligned.
struct Buffer {
    words: Box<[UnsafeCell<u128>]>,
    len: usize,
    writable: bool,
}

/// A device: buffers at their addresses in this process.
#[derive(Default)]
pub(crate) struct Gpu {
    buffers: Mutex<Vec<Buffer>>,
}

// SAFETY: the buffers are only touched by launches (atomically) and, between them, by the test.
unsafe impl Send for Gpu {}
// SAFETY: as above.
unsafe impl Sync for Gpu {}

// SAFETY: buffers live as long as the device, and are aligned to 16 bytes.
unsafe impl Memory for Gpu {
    fn region(&self, address: u64) -> Option<Region> {
        let buffers = self.buffers.lock().unwrap();
        buffers
            .iter()
            .map(Buffer::region)
            .find(|r| address.wrapping_sub(r.start) < r.len)
    }
}

impl Buffer {
    fn region(&self) -> Region {
        let start = self.words.as_ptr() as u64;
        let host = self.words.as_ptr() as *mut u8;
        Region {
            start,
            len: self.len as u64,
            host,
            writable: self.writable,
        }
    }
}

/// Numbers as bytes.
pub(crate) trait Plain: Copy {
    fn bytes(self) -> Vec<u8>;
    fn of(bytes: &[u8]) -> Self;
}
macro_rules! plain {
    ($($ty:ty),*) => {$(impl Plain for $ty {
        fn bytes(self) -> Vec<u8> { self.to_le_bytes().to_vec() }
        fn of(bytes: &[u8]) -> Self { Self::from_le_bytes(bytes.try_into().unwrap()) }
    })*};
}
plain!(u8, u16, u32, u64, i32, i64, f32, f64);

/// Arguments of a kernel, each with its own bytes.
// Used as `args!(pointer, 3_u32)`.
macro_rules! args {
    ($($value:expr),* $(,)?) => {
        &[$($crate::gpu::Plain::bytes($value)),*]
    };
}

impl Gpu {
    pub(crate) fn upload<T: Plain>(&self, values: &[T]) -> u64 {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.bytes()).collect();
        self.place(&bytes, true)
    }

    pub(crate) fn place(&self, bytes: &[u8], writable: bool) -> u64 {
        let words = (0..bytes.len().div_ceil(16).max(1)).map(|at| {
            let mut word = [0; 16];
            let part = &bytes[at * 16..bytes.len().min(at * 16 + 16)];
            word[..part.len()].copy_from_slice(part);
            UnsafeCell::new(u128::from_le_bytes(word))
        });
        let buffer = Buffer {
            words: words.collect(),
            len: bytes.len(),
            writable,
        };
        let address = buffer.region().start;
        self.buffers.lock().unwrap().push(buffer);
        address
    }

    pub(crate) fn download<T: Plain>(&self, address: u64, count: usize) -> Vec<T> {
        let region = self.region(address).unwrap();
        let size = size_of::<T>();
        assert!(region.len >= (address - region.start) + (count * size) as u64);
        // SAFETY: within the buffer, no launch is running.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, count * size) };
        bytes.chunks(size).map(T::of).collect()
    }

    pub(crate) fn load(&self, text: &str) -> Result<Loaded, PtxError> {
        self.load_module(&Module::parse(text)?)
    }

    pub(crate) fn load_module(&self, module: &Module) -> Result<Loaded, PtxError> {
        // Initial values hold addresses: first the buffers, then the bytes.
        let globals = module.globals();
        let addresses: Vec<u64> = globals
            .iter()
            .map(|global| self.place(&vec![0; global.size], true))
            .collect();
        let loaded = Loaded::new(module, &addresses)?;
        for (address, bytes) in addresses.iter().zip(loaded.images()) {
            for (at, byte) in bytes.iter().enumerate() {
                // SAFETY: within the buffer just placed, no launch is running.
                unsafe { *(*address as *mut u8).add(at) = *byte };
            }
        }
        Ok(loaded)
    }

    pub(crate) fn run(
        &self,
        loaded: &Loaded,
        kernel: &str,
        shape: Launch<'_>,
        args: &[Vec<u8>],
    ) -> Result<Stats, Fault> {
        self.run_until(loaded, kernel, shape, args, &Cancel::new())
    }

    pub(crate) fn run_until(
        &self,
        loaded: &Loaded,
        kernel: &str,
        shape: Launch<'_>,
        args: &[Vec<u8>],
        cancel: &Cancel,
    ) -> Result<Stats, Fault> {
        let entry = loaded.entry(kernel).expect("the module has this kernel");
        assert_eq!(entry.params.len(), args.len(), "arguments of {kernel}");
        let mut params = vec![0; entry.param_size];
        for (param, bytes) in entry.params.iter().zip(args) {
            assert_eq!(param.size, bytes.len());
            params[param.offset..param.offset + param.size].copy_from_slice(bytes);
        }
        launch(
            loaded,
            kernel,
            &Launch {
                params: &params,
                ..shape
            },
            self,
            cancel,
        )
    }
}

/// A launch of so many blocks and threads, x only.
pub(crate) fn shape(blocks: u32, threads: u32) -> Launch<'static> {
    Launch {
        grid: [blocks, 1, 1],
        block: [threads, 1, 1],
        workers: 2,
        ..Launch::default()
    }
}
