//! Loading modules and libraries. An image is asked for by its hash first, and sent only to a
//! server that does not have it.

// Reads the program's images and options.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{IMAGE, ImagePiece, JitOptions, Load, LoadKind, Loaded, Payload as _};
use gtrace_cuda::types::driver::{
    self as cuda, CUjit_option, CUlibrary, CUlibraryOption, CUmodule, CUmoduleLoadingMode, CUresult,
};
use gtrace_protocol::{Features, Flags, OpId, op_id};
use sha2::{Digest as _, Sha256};

use crate::context::put;
use crate::copy::{chunk, push};
use crate::entry::{Answer, Call, check, mint, written};
use crate::jit::{self, Wanted};
use crate::lane::Lane;
use crate::session::{self, with_lane};
use crate::state::lock;
use crate::stats::local_functions;
use crate::status::fail_if;
use crate::{clock, image, managed};

/// Images of so many bytes go with the request: asking first would cost more than they.
const INLINE: usize = 32 << 10;

const MODULE: OpId = op_id("cuModuleLoadData");
const LIBRARY: OpId = op_id("cuLibraryLoadData");

/// What is to be loaded, and where what the compiler says goes.
struct Job<'a> {
    kind: LoadKind,
    image: &'a [u8],
    jit: JitOptions,
    wanted: Wanted,
    library: Vec<(u32, u64)>,
}

impl Job<'_> {
    /// Loads, and answers with the handle.
    fn run(self) -> Answer<u64> {
        let session = session::cuda()?;
        let (op, handle) = match self.kind {
            LoadKind::Module => (MODULE, mint(Kind::Module)),
            LoadKind::Library => (LIBRARY, mint(Kind::Library)),
        };
        let load = Load {
            kind: self.kind,
            handle,
            hash: Sha256::digest(self.image).into(),
            size: self.image.len() as u64,
            jit: self.jit,
            library: self.library,
        };
        with_lane(session, |lane| {
            let inline = self.image.len() <= INLINE;
            let first = match inline {
                true => ask(lane, op, &load, self.image)?,
                false if session.features.has(Features::IMAGE_CACHE) => ask(lane, op, &load, &[])?,
                false => (cuda::CUDA_SUCCESS, wanted()),
            };
            let (status, loaded) = match first.1.wanted {
                false => first,
                true => {
                    send(lane, &load, self.image)?;
                    ask(lane, op, &load, &[])?
                }
            };
            // SAFETY: the program's buffers are there until its call returns.
            unsafe { self.wanted.give(&loaded.logs) };
            check(status)?;
            match loaded.wanted {
                false => {
                    lock(&session.state.functions).reported(handle, loaded.functions);
                    Ok(handle)
                }
                // It was sent, and the server lost it.
                true => Err(cuda::CUDA_ERROR_OUT_OF_MEMORY),
            }
        })
    }
}

fn wanted() -> Loaded {
    Loaded {
        wanted: true,
        ..Loaded::default()
    }
}

fn ask(lane: &mut Lane, op: OpId, load: &Load, image: &[u8]) -> Answer<(CUresult, Loaded)> {
    let began = clock::now();
    let mut call = written(
        lane,
        |w| load.write(w),
        |lane, small| Call::new(op, Flags::default(), began).send(lane, small, image),
    )?;
    // A server that does not know the operation sends a status alone.
    let loaded = call.always(lane, |r| match r.left() {
        0 => Ok(Loaded::default()),
        _ => Loaded::read(r),
    })?;
    let outcome = match loaded.wanted {
        // Reported with the answer that counts.
        true => {
            lane.note_sticky(call.header.context);
            call.header.status
        }
        false => call.outcome(lane),
    };
    call.end();
    Ok((outcome, loaded))
}

fn send(lane: &mut Lane, load: &Load, image: &[u8]) -> Answer {
    let chunk = chunk(lane);
    let mut offset = 0;
    // Whoever waits for a page of managed memory must not have half a frame in the lane.
    let own = match managed::contains(image.as_ptr().addr() as u64) {
        true => image.to_vec(),
        false => Vec::new(),
    };
    let image = if own.is_empty() { image } else { &own };
    for bytes in image.chunks(chunk) {
        let piece = ImagePiece {
            hash: load.hash,
            size: load.size,
            offset: offset as u64,
        };
        offset += bytes.len();
        let more = match offset < image.len() {
            true => Flags::MORE,
            false => Flags::default(),
        };
        written(
            lane,
            |w| piece.write(w),
            |lane, small| push(lane, IMAGE, more, small, bytes),
        )?;
    }
    Ok(())
}

/// The image that the program points to.
unsafe fn found<'a>(image: *const c_void) -> Answer<&'a [u8]> {
    fail_if(image.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    // SAFETY: the program's promise that an image is there.
    unsafe { image::find(image.cast()) }.ok_or(cuda::CUDA_ERROR_INVALID_IMAGE)
}

/// Where a handle goes.
unsafe fn store<T>(to: *mut *mut T, job: Job<'_>) -> Answer {
    fail_if(to.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let handle = job.run()?;
    // SAFETY: a pointer of the program.
    unsafe { put(to, without_provenance_mut(handle as usize)) }
}

pub(crate) unsafe fn cuModuleLoadDataEx(
    module: *mut CUmodule,
    image: *const c_void,
    numOptions: c_uint,
    options: *mut CUjit_option,
    optionValues: *mut *mut c_void,
) -> Answer {
    // SAFETY: the program's pointers.
    unsafe {
        let (jit, wanted) = jit::options(numOptions, options, optionValues)?;
        let job = Job {
            kind: LoadKind::Module,
            image: found(image)?,
            jit,
            wanted,
            library: Vec::new(),
        };
        store(module, job)
    }
}

pub(crate) unsafe fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void) -> Answer {
    // SAFETY: the program's pointers.
    unsafe { cuModuleLoadDataEx(module, image, 0, null_mut(), null_mut()) }
}

pub(crate) unsafe fn cuModuleLoadFatBinary(
    module: *mut CUmodule,
    fatCubin: *const c_void,
) -> Answer {
    // SAFETY: the program's pointers.
    unsafe { cuModuleLoadData(module, fatCubin) }
}

/// A file's bytes, as an image in memory: PTX with a NUL.
unsafe fn from_file(path: *const c_char) -> Answer<Vec<u8>> {
    // SAFETY: the program's pointer.
    let mut bytes = unsafe { jit::file(path) }?;
    bytes.push(0);
    Ok(bytes)
}

pub(crate) unsafe fn cuModuleLoad(module: *mut CUmodule, fname: *const c_char) -> Answer {
    // SAFETY: the program's pointers, and an image that lives long enough.
    unsafe {
        let bytes = from_file(fname)?;
        cuModuleLoadData(module, bytes.as_ptr().cast())
    }
}

pub(crate) unsafe fn cuLibraryLoadData(
    library: *mut CUlibrary,
    code: *const c_void,
    jitOptions: *mut CUjit_option,
    jitOptionsValues: *mut *mut c_void,
    numJitOptions: c_uint,
    libraryOptions: *mut CUlibraryOption,
    libraryOptionValues: *mut *mut c_void,
    numLibraryOptions: c_uint,
) -> Answer {
    // SAFETY: the program's pointers.
    unsafe {
        let (jit, wanted) = jit::options(numJitOptions, jitOptions, jitOptionsValues)?;
        let job = Job {
            kind: LoadKind::Library,
            image: found(code)?,
            jit,
            wanted,
            library: options(numLibraryOptions, libraryOptions, libraryOptionValues)?,
        };
        store(library, job)
    }
}

/// Options of a library, without those about the program's own memory.
///
/// # Safety
///
/// Two arrays of `count` elements; the values may be null.
unsafe fn options(
    count: c_uint,
    names: *const CUlibraryOption,
    values: *const *mut c_void,
) -> Answer<Vec<(u32, u64)>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    fail_if(names.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let mut options = Vec::new();
    for at in 0..count as usize {
        // SAFETY: the caller's promise.
        let (name, value) = unsafe {
            let value = if values.is_null() {
                null_mut()
            } else {
                values.add(at).read()
            };
            (names.add(at).read(), value)
        };
        match name {
            cuda::CU_LIBRARY_BINARY_IS_PRESERVED => {}
            cuda::CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE => {
                return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
            }
            name => options.push((name, value.addr() as u64)),
        }
    }
    Ok(options)
}

pub(crate) unsafe fn cuLibraryLoadFromFile(
    library: *mut CUlibrary,
    fileName: *const c_char,
    jitOptions: *mut CUjit_option,
    jitOptionsValues: *mut *mut c_void,
    numJitOptions: c_uint,
    libraryOptions: *mut CUlibraryOption,
    libraryOptionValues: *mut *mut c_void,
    numLibraryOptions: c_uint,
) -> Answer {
    // SAFETY: the program's pointers, and an image that lives long enough.
    unsafe {
        let bytes = from_file(fileName)?;
        cuLibraryLoadData(
            library,
            bytes.as_ptr().cast(),
            jitOptions,
            jitOptionsValues,
            numJitOptions,
            libraryOptions,
            libraryOptionValues,
            numLibraryOptions,
        )
    }
}

local_functions! {
    /// The server's driver decides when it loads what; the program sees it in no result.
    fn cuLibraryGetUnifiedFunction(
        _session, fptr: *mut *mut c_void, library: CUlibrary, symbol: *const c_char,
    ) {
        let is_library = Kind::Library.matches(library.addr() as u64);
        fail_if(!is_library, cuda::CUDA_ERROR_INVALID_HANDLE)?;
        fail_if(fptr.is_null() || symbol.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
        Err(cuda::CUDA_ERROR_NOT_FOUND)
    }

    fn cuModuleGetLoadingMode(_session, mode: *mut CUmoduleLoadingMode) {
        // The driver's default, unless the program's environment asks for the other.
        let asked = match std::env::var_os("CUDA_MODULE_LOADING") {
            Some(asked) if asked == "EAGER" => cuda::CU_MODULE_EAGER_LOADING,
            _ => cuda::CU_MODULE_LAZY_LOADING,
        };
        put(mode, asked)
    }
}
