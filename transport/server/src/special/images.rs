//! Modules and libraries: images by their content.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{ImagePiece, Load, LoadKind, Loaded, Payload as _};
use gtrace_cuda::types::driver::{CUlibrary, CUmodule};
use gtrace_protocol::{Reader, Writer};

use super::functions;
use super::linker::Jit;
use super::{INVALID_IMAGE, INVALID_VALUE, NOT_SUPPORTED, SUCCESS, checked};
use crate::exec::{CallError, Called, Code, Exec};
use crate::generated::driver::Driver;

/// `CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE`: addresses of the client, of no use here.
const HOST_TABLE: u32 = 0;

/// Takes the frame's bulk part whole. Memory is taken for what is there, at most a frame's.
pub(super) fn take_bulk(exec: &mut Exec) -> Result<Vec<u8>, CallError> {
    let mut bytes = Vec::with_capacity(exec.bulk_left);
    let taken = exec.bulk_in(|piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    debug_assert!(taken.is_ok());
    Ok(bytes)
}

/// A piece of an image.
pub(crate) fn image(exec: &mut Exec, r: &mut Reader<'_>) -> Called {
    let piece = ImagePiece::whole(r)?;
    let bytes = take_bulk(exec)?;
    Ok(
        match exec.session.images.piece(exec.number, &piece, &bytes) {
            Ok(()) => SUCCESS,
            Err(error) => {
                tracing::debug!("{error}");
                INVALID_VALUE
            }
        },
    )
}

/// An image, if it is here.
type Found = Option<Arc<Vec<u8>>>;

/// The image of a load: sent with it, before it, or by another client.
fn image_of(exec: &mut Exec, load: &Load) -> Result<Result<Found, Code>, CallError> {
    let bytes = take_bulk(exec)?;
    let images = &exec.session.images;
    if !bytes.is_empty() && images.keep(exec.number, load.hash, bytes).is_err() {
        return Ok(Err(INVALID_VALUE));
    }
    let Some(image) = images.get(exec.number, load.hash) else {
        return Ok(Ok(None));
    };
    // Headers inside say where an image ends, and PTX ends with its NUL.
    let fits = image.len() as u64 == load.size && !image.is_empty();
    let binary = image.starts_with(b"\x7fELF") || image.starts_with(&[0x50, 0xed, 0x55, 0xba]);
    if !fits || !(binary || image.last() == Some(&0)) || !gtrace_image::is_whole(&image) {
        return Ok(Err(INVALID_IMAGE));
    }
    Ok(Ok(Some(image)))
}

fn load(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let load = Load::whole(r)?;
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
                let code = load_image(exec, &load, kind, &image, &mut answer);
                if code == SUCCESS {
                    exec.expect_output(gtrace_image::Output::of(&image))?;
                    answer.functions = functions::of_image(exec, kind, load.handle, &image);
                }
                code
            }
        },
    };
    answer.write(w);
    Ok(code)
}

fn load_image(exec: &Exec, load: &Load, kind: Kind, image: &[u8], answer: &mut Loaded) -> Code {
    let mut jit = match Jit::new(&load.jit) {
        Ok(jit) => jit,
        Err(code) => return code,
    };
    let loaded = match load.kind {
        LoadKind::Module => load_module(exec.driver, &mut jit, image),
        LoadKind::Library => load_library(exec.driver, &mut jit, load, image),
    };
    answer.logs = jit.logs();
    match loaded {
        Ok(real) => {
            exec.handles.insert(kind, load.handle, real);
            SUCCESS
        }
        Err(code) => code,
    }
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
pub(crate) fn cuModuleLoadData(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    load(exec, r, w)
}

/// A library from an image.
pub(crate) fn cuLibraryLoadData(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    load(exec, r, w)
}
