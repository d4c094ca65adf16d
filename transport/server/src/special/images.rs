//! Modules and libraries: images by their content, and the functions in them.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{
    FunctionInfo, GetFunction, ImagePiece, Load, LoadKind, Loaded, Parameter, Payload as _,
};
use gtrace_cuda::types::driver::{CUdevice, CUfunction, CUkernel, CUlibrary, CUmodule};
use gtrace_protocol::{Reader, Writer};

use super::linker::Jit;
use super::{INVALID_IMAGE, INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked};
use crate::exec::{Bad, Code, Exec};
use crate::generated::driver::Driver;

/// `CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE`: addresses of the client, of no use here.
const HOST_TABLE: u32 = 0;
/// `CU_FUNC_ATTRIBUTE_MAX` of CUDA 13.
const FUNCTION_ATTRIBUTES: c_int = 16;
/// Most parameters of a kernel: each has a byte at least.
const PARAMETERS: usize = gtrace_cuda::payload::PARAMETERS_MAX;

/// Takes the frame's bulk part whole. Memory is taken for what is there, at most a frame's.
pub(super) fn take_bulk(exec: &mut Exec) -> Result<Vec<u8>, Bad> {
    let mut bytes = Vec::with_capacity(exec.bulk_left);
    let taken = exec.bulk_in(|piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    debug_assert!(taken.is_ok());
    Ok(bytes)
}

/// A piece of an image.
pub(crate) fn image(exec: &mut Exec, r: &mut Reader<'_>) -> Result<Code, Bad> {
    let piece = ImagePiece::read(r)?;
    r.end()?;
    let bytes = take_bulk(exec)?;
    Ok(match exec.session.images.piece(&piece, &bytes) {
        Ok(()) => SUCCESS,
        Err(error) => {
            tracing::debug!("{error}");
            INVALID_VALUE
        }
    })
}

/// An image, if it is here.
type Found = Option<Arc<Vec<u8>>>;

/// The image of a load: sent with it, before it, or by another client.
fn image_of(exec: &mut Exec, load: &Load) -> Result<Result<Found, Code>, Bad> {
    let bytes = take_bulk(exec)?;
    let images = &exec.session.images;
    if !bytes.is_empty() && images.keep(load.hash, bytes).is_err() {
        return Ok(Err(INVALID_VALUE));
    }
    let Some(image) = images.get(load.hash) else {
        return Ok(Ok(None));
    };
    // Headers inside say where an image ends, and PTX ends with its NUL.
    let fits = image.len() as u64 == load.size && !image.is_empty();
    let binary = image.starts_with(b"\x7fELF") || image.starts_with(&[0x50, 0xed, 0x55, 0xba]);
    if !fits || !(binary || image.last() == Some(&0)) {
        return Ok(Err(INVALID_IMAGE));
    }
    Ok(Ok(Some(image)))
}

fn load(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Result<Code, Bad> {
    let load = Load::read(r)?;
    r.end()?;
    let kind = match load.kind {
        LoadKind::Module => Kind::Module,
        LoadKind::Library => Kind::Library,
    };
    let mut answer = Loaded::default();
    let code = match image_of(exec, &load)? {
        Err(code) => code,
        Ok(None) => {
            answer.wanted = true;
            SUCCESS
        }
        Ok(Some(image)) => match exec.handles.check_minted(kind, load.handle) {
            Err(code) => code,
            Ok(()) => {
                let (code, logs) = load_image(exec, &load, kind, &image);
                answer.logs = logs;
                code
            }
        },
    };
    answer.write(w);
    Ok(code)
}

fn load_image(
    exec: &Exec,
    load: &Load,
    kind: Kind,
    image: &[u8],
) -> (Code, gtrace_cuda::payload::Logs) {
    let mut jit = match Jit::new(&load.jit) {
        Ok(jit) => jit,
        Err(code) => return (code, Default::default()),
    };
    let loaded = match load.kind {
        LoadKind::Module => load_module(exec.driver, &mut jit, image),
        LoadKind::Library => load_library(exec.driver, &mut jit, load, image),
    };
    let code = match loaded {
        Ok(real) => {
            exec.handles.insert(kind, load.handle, real);
            SUCCESS
        }
        Err(code) => code,
    };
    (code, jit.logs())
}

fn load_module(driver: &Driver, jit: &mut Jit, image: &[u8]) -> Result<*mut c_void, Code> {
    let mut module: CUmodule = ptr::null_mut();
    let image = image.as_ptr().cast::<c_void>();
    let status = match jit.len() {
        // Not the same for a driver: with options it compiles even where it has a binary.
        0 => {
            let call = driver.cuModuleLoadData.ok_or(NOT_SUPPORTED)?;
            // SAFETY: the image is as long as its headers say, or ends with a NUL.
            unsafe { call(&raw mut module, image) }
        }
        len => {
            let call = driver.cuModuleLoadDataEx.ok_or(NOT_SUPPORTED)?;
            let (options, values) = jit.arrays();
            // SAFETY: as above; both arrays have `len` values, and the buffers that they name live
            // in `jit`.
            unsafe { call(&raw mut module, image, len, options, values) }
        }
    };
    checked(status)?;
    Ok(module.cast())
}

fn load_library(
    driver: &Driver,
    jit: &mut Jit,
    load: &Load,
    image: &[u8],
) -> Result<*mut c_void, Code> {
    if load.library.iter().any(|(option, _)| *option != HOST_TABLE) {
        return Err(INVALID_VALUE);
    }
    let call = driver.cuLibraryLoadData.ok_or(NOT_SUPPORTED)?;
    let mut library: CUlibrary = ptr::null_mut();
    let len = jit.len();
    let (options, values) = jit.arrays();
    let none = ptr::null_mut();
    let image = image.as_ptr().cast::<c_void>();
    // SAFETY: as for a module; there are no options of the library.
    let status = unsafe {
        call(
            &raw mut library,
            image,
            options,
            values,
            len,
            none,
            ptr::null_mut(),
            0,
        )
    };
    checked(status)?;
    Ok(library.cast())
}

/// A module from an image.
pub(crate) fn cuModuleLoadData(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    load(exec, r, w)
}

/// A library from an image.
pub(crate) fn cuLibraryLoadData(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    load(exec, r, w)
}

/// (offset, size) of each parameter, as `ask` tells for its number until there is none.
fn parameters(
    ask: Option<impl Fn(usize, *mut usize, *mut usize) -> u32>,
) -> Option<Vec<Parameter>> {
    let ask = ask?;
    let mut parameters = Vec::new();
    for number in 0..PARAMETERS {
        let (mut offset, mut size) = (0, 0);
        match ask(number, &raw mut offset, &raw mut size) {
            0 => parameters.push(Parameter {
                offset: u32::try_from(offset).ok()?,
                size: u32::try_from(size).ok()?,
            }),
            // INVALID_VALUE: no parameter of this number.
            1 => return Some(parameters),
            _ => return None,
        }
    }
    None
}

fn attributes(ask: Option<impl Fn(*mut c_int, c_int) -> u32>) -> Vec<(i32, i32)> {
    let mut attributes = Vec::new();
    for attribute in 0..FUNCTION_ATTRIBUTES {
        let mut value = 0;
        if ask.as_ref().map(|ask| ask(&raw mut value, attribute)) == Some(0) {
            attributes.push((attribute, value));
        }
    }
    attributes
}

fn function_info(driver: &Driver, function: CUfunction) -> FunctionInfo {
    FunctionInfo {
        parameters: parameters(driver.cuFuncGetParamInfo.map(|call| {
            move |number, offset, size| {
                // SAFETY: a function of the driver, and two sizes to write to.
                unsafe { call(function, number, offset, size) }
            }
        })),
        attributes: attributes(driver.cuFuncGetAttribute.map(|call| {
            move |value, attribute: c_int| {
                // SAFETY: a function of the driver, and an int to write to.
                unsafe { call(value, attribute.cast_unsigned(), function) }
            }
        })),
    }
}

/// The device of the current context, else the first.
fn current_device(driver: &Driver) -> CUdevice {
    let mut device: CUdevice = 0;
    let status = driver
        .cuCtxGetDevice
        // SAFETY: an int to write to.
        .map(|call| unsafe { call(&raw mut device) });
    match status {
        Some(0) => device,
        _ => 0,
    }
}

fn kernel_info(driver: &Driver, kernel: CUkernel) -> FunctionInfo {
    let device = current_device(driver);
    FunctionInfo {
        parameters: parameters(driver.cuKernelGetParamInfo.map(|call| {
            move |number, offset, size| {
                // SAFETY: a kernel of the driver, and two sizes to write to.
                unsafe { call(kernel, number, offset, size) }
            }
        })),
        attributes: attributes(driver.cuKernelGetAttribute.map(|call| {
            move |value, attribute: c_int| {
                // SAFETY: a kernel of the driver, and an int to write to.
                unsafe { call(value, attribute.cast_unsigned(), kernel, device) }
            }
        })),
    }
}

/// What a lookup needs: the parent's real name, and the name as C has it.
fn asked(
    exec: &Exec,
    get: &GetFunction<'_>,
    of: Kind,
    what: Kind,
) -> Result<(*mut c_void, CString), Code> {
    let parent = exec.handles.real(of, get.of)?;
    exec.handles.check_minted(what, get.handle)?;
    let name = CString::new(get.name).map_err(|_| INVALID_VALUE)?;
    Ok((parent, name))
}

/// A function of a module, with all that a launch of it needs.
pub(crate) fn cuModuleGetFunction(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let get = GetFunction::read(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuModuleGetFunction else {
        return Ok(NOT_SUPPORTED);
    };
    let (module, name) = match asked(exec, &get, Kind::Module, Kind::Function) {
        Ok(asked) => asked,
        Err(code) => return Ok(code),
    };
    let mut function: CUfunction = ptr::null_mut();
    // SAFETY: a module of the driver, a C string, and a handle to write to.
    let status = unsafe { call(&raw mut function, module.cast(), name.as_ptr()) };
    if status == 0 {
        exec.handles
            .insert_child(Kind::Function, get.handle, function.cast(), get.of);
        function_info(exec.driver, function).write(w);
    }
    Ok(status.cast_signed())
}

/// A kernel of a library, with all that a launch of it needs.
pub(crate) fn cuLibraryGetKernel(
    exec: &mut Exec,
    r: &mut Reader<'_>,
    w: &mut Writer,
) -> Result<Code, Bad> {
    let get = GetFunction::read(r)?;
    r.end()?;
    let Some(call) = exec.driver.cuLibraryGetKernel else {
        return Ok(NOT_SUPPORTED);
    };
    let (library, name) = match asked(exec, &get, Kind::Library, Kind::Kernel) {
        Ok(asked) => asked,
        Err(code) => return Ok(code),
    };
    let mut kernel: CUkernel = ptr::null_mut();
    // SAFETY: a library of the driver, a C string, and a handle to write to.
    let status = unsafe { call(&raw mut kernel, library.cast(), name.as_ptr()) };
    if status == 0 {
        exec.handles
            .insert_child(Kind::Kernel, get.handle, kernel.cast(), get.of);
        kernel_info(exec.driver, kernel).write(w);
    }
    Ok(status.cast_signed())
}
