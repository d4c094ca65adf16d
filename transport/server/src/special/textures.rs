//! Texture and surface objects. Their numbers are the driver's, as kernels take them; so which there are is kept here, and
//! no other number reaches the driver.

#![allow(non_snake_case, reason = "the driver's names")]
#![allow(unsafe_code)]

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{Payload as _, Resource, TextureCreate, View, texture_description};
use gtrace_cuda::types::driver::CUDA_RESOURCE_DESC;
use gtrace_protocol::{Reader, Writer};

use super::{INVALID_VALUE, NOT_SUPPORTED, SUCCESS};
use crate::exec::{Called, Code, Exec};
use crate::worker::handles::{HANDLES_MAX, OUT_OF_MEMORY};
use crate::worker::objects::Object;

fn resource(exec: &Exec, given: &Resource) -> Result<CUDA_RESOURCE_DESC, Code> {
    let mut description = given.description();
    // What is not an array's handle is an invalid value here, not an invalid handle.
    let real = |kind, handle| exec.handles.real(kind, handle).map_err(|_| INVALID_VALUE);
    match *given {
        Resource::Array(handle) => {
            description.res.array.hArray = real(Kind::Array, handle)?.cast();
        }
        Resource::Mipmapped(handle) => {
            description.res.mipmap.hMipmappedArray = real(Kind::MipmappedArray, handle)?.cast();
        }
        Resource::Linear { .. } | Resource::Pitched { .. } => {}
    }
    Ok(description)
}

fn create_texture(exec: &Exec, create: &TextureCreate) -> Result<u64, Code> {
    let call = exec.driver.cuTexObjectCreate.ok_or(NOT_SUPPORTED)?;
    let resource = resource(exec, &create.resource)?;
    let texture = texture_description(&create.description);
    let view = create.view.as_ref().map(View::description);
    let view = view.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let mut object = 0;
    // SAFETY: a place for the number, two structures, and one or null.
    super::checked(unsafe {
        call(
            &raw mut object,
            &raw const resource,
            &raw const texture,
            view,
        )
    })?;
    Ok(object)
}

fn create_surface(exec: &Exec, given: &Resource) -> Result<u64, Code> {
    let call = exec.driver.cuSurfObjectCreate.ok_or(NOT_SUPPORTED)?;
    let resource = resource(exec, given)?;
    let mut object = 0;
    // SAFETY: a place for the number, and a structure.
    super::checked(unsafe { call(&raw mut object, &raw const resource) })?;
    Ok(object)
}

/// Keeps an object that was made, and answers with its number.
fn made(exec: &Exec, w: &mut Writer, kind: Object, object: u64) -> Called {
    let context = exec.request.context;
    exec.session
        .objects
        .lock()
        .add(kind, object, context.into());
    w.u64(object);
    Ok(SUCCESS)
}

/// Makes a texture.
pub(crate) fn cuTexObjectCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let create = TextureCreate::whole(r)?;
    if exec.session.objects.lock().len() >= HANDLES_MAX {
        return Ok(OUT_OF_MEMORY);
    }
    let object = create_texture(exec, &create)?;
    made(exec, w, Object::Texture, object)
}

/// Makes a surface.
pub(crate) fn cuSurfObjectCreate(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let given = Resource::whole(r)?;
    if exec.session.objects.lock().len() >= HANDLES_MAX {
        return Ok(OUT_OF_MEMORY);
    }
    let object = create_surface(exec, &given)?;
    made(exec, w, Object::Surface, object)
}

fn destroy(exec: &Exec, r: &mut Reader<'_>, kind: Object) -> Called {
    let object = u64::whole(r)?;
    let call = match kind {
        Object::Surface => exec.driver.cuSurfObjectDestroy,
        _ => exec.driver.cuTexObjectDestroy,
    };
    let call = call.ok_or(NOT_SUPPORTED)?;
    // Nobody else ends it meanwhile.
    let mut objects = exec.session.objects.lock();
    if !objects.has(kind, object) {
        return Ok(INVALID_VALUE);
    }
    // SAFETY: an object that the driver has made, and that nobody has destroyed.
    let code = unsafe { call(object) }.cast_signed();
    if code == SUCCESS {
        objects.take(kind, object);
    }
    Ok(code)
}

/// Ends a texture.
pub(crate) fn cuTexObjectDestroy(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    destroy(exec, r, Object::Texture)
}

/// Ends a surface.
pub(crate) fn cuSurfObjectDestroy(exec: &mut Exec, r: &mut Reader<'_>, _: &mut Writer) -> Called {
    destroy(exec, r, Object::Surface)
}
