//! Texture and surface objects: what they were made of is kept here, so that questions about it need no answer of
//! the server.

// Reads and writes structures of the program.
#![allow(unsafe_code)]

use std::collections::HashMap;

use gtrace_cuda::Operation;
use gtrace_cuda::payload::{
    Payload as _, Resource, TextureCreate, View, texture_description, texture_words,
};
use gtrace_cuda::types::driver::{
    self as cuda, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC, CUsurfObject,
    CUtexObject,
};
use gtrace_protocol::{OpId, Writer, op_id};

use crate::context::put;
use crate::entry::{Answer, answer_to, check, one_way};
use crate::managed;
use crate::session::{self, Session};
use crate::state::lock;
use crate::stats::local_functions;
use crate::status::fail_if;

/// Objects by their numbers.
#[derive(Default)]
pub(crate) struct Objects {
    textures: HashMap<u64, TextureCreate>,
    surfaces: HashMap<u64, Resource>,
}

/// # Safety
///
/// Null, or a description of the program.
unsafe fn resource(given: *const CUDA_RESOURCE_DESC) -> Answer<Resource> {
    // SAFETY: the caller's promise; the type selects the part of the union.
    unsafe {
        let given = given.as_ref().ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        fail_if(given.flags != 0, cuda::CUDA_ERROR_INVALID_VALUE)?;
        Ok(match given.resType {
            cuda::CU_RESOURCE_TYPE_ARRAY => Resource::Array(given.res.array.hArray.addr() as u64),
            cuda::CU_RESOURCE_TYPE_MIPMAPPED_ARRAY => {
                Resource::Mipmapped(given.res.mipmap.hMipmappedArray.addr() as u64)
            }
            cuda::CU_RESOURCE_TYPE_LINEAR => {
                let linear = given.res.linear;
                Resource::Linear {
                    address: linear.devPtr,
                    format: linear.format,
                    channels: linear.numChannels,
                    bytes: linear.sizeInBytes as u64,
                }
            }
            cuda::CU_RESOURCE_TYPE_PITCH2D => {
                let pitched = given.res.pitch2D;
                Resource::Pitched {
                    address: pitched.devPtr,
                    format: pitched.format,
                    channels: pitched.numChannels,
                    width: pitched.width as u64,
                    height: pitched.height as u64,
                    pitch: pitched.pitchInBytes as u64,
                }
            }
            _ => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
        })
    }
}

/// Has the server make an object; its number.
fn make(op: OpId, write: impl FnMut(&mut Writer)) -> Answer<u64> {
    answer_to(session::cuda()?, op, write, |r| r.u64())
}

pub(crate) unsafe fn cuTexObjectCreate(
    pTexObject: *mut CUtexObject,
    pResDesc: *const CUDA_RESOURCE_DESC,
    pTexDesc: *const CUDA_TEXTURE_DESC,
    pResViewDesc: *const CUDA_RESOURCE_VIEW_DESC,
) -> Answer {
    // SAFETY: null, or structures of the program.
    let (resource, description, view) = unsafe {
        let description = pTexDesc.as_ref().ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        (
            resource(pResDesc)?,
            texture_words(description),
            pResViewDesc.as_ref(),
        )
    };
    fail_if(pTexObject.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let create = TextureCreate {
        resource,
        description,
        view: view.map(|view| View {
            format: view.format,
            size: [view.width as u64, view.height as u64, view.depth as u64],
            parts: [
                view.firstMipmapLevel,
                view.lastMipmapLevel,
                view.firstLayer,
                view.lastLayer,
            ],
        }),
    };
    if let Resource::Linear { address, .. } | Resource::Pitched { address, .. } = create.resource {
        managed::reach(session::cuda()?, std::iter::once(address))?;
    }
    let object = make(op_id("cuTexObjectCreate"), |w| create.write(w))?;
    let session = session::cuda()?;
    lock(&session.state.objects).textures.insert(object, create);
    // SAFETY: a pointer of the program.
    unsafe { put(pTexObject, object) }
}

pub(crate) unsafe fn cuSurfObjectCreate(
    pSurfObject: *mut CUsurfObject,
    pResDesc: *const CUDA_RESOURCE_DESC,
) -> Answer {
    // SAFETY: null, or a structure of the program.
    let resource = unsafe { resource(pResDesc) }?;
    fail_if(pSurfObject.is_null(), cuda::CUDA_ERROR_INVALID_VALUE)?;
    let object = make(op_id("cuSurfObjectCreate"), |w| resource.write(w))?;
    let session = session::cuda()?;
    lock(&session.state.objects)
        .surfaces
        .insert(object, resource);
    // SAFETY: a pointer of the program.
    unsafe { put(pSurfObject, object) }
}

/// Has the server end an object, if `forget` knows it: a wrong number is reported at once.
fn destroy(op: Operation, object: u64, forget: impl FnOnce(&mut Objects) -> bool) -> Answer {
    let known = forget(&mut lock(&session::cuda()?.state.objects));
    fail_if(!known, cuda::CUDA_ERROR_INVALID_VALUE)?;
    check(one_way(op, &mut |w| {
        w.u64(object);
        Ok(())
    }))
}

pub(crate) unsafe fn cuTexObjectDestroy(texObject: CUtexObject) -> Answer {
    destroy(
        const { Operation::named("cuTexObjectDestroy") },
        texObject,
        |objects| objects.textures.remove(&texObject).is_some(),
    )
}

pub(crate) unsafe fn cuSurfObjectDestroy(surfObject: CUsurfObject) -> Answer {
    destroy(
        const { Operation::named("cuSurfObjectDestroy") },
        surfObject,
        |objects| objects.surfaces.remove(&surfObject).is_some(),
    )
}

/// What a texture was made of.
fn known(session: &Session, object: CUtexObject) -> Answer<TextureCreate> {
    let objects = lock(&session.state.objects);
    let found = objects.textures.get(&object).copied();
    found.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)
}

local_functions! {
    fn cuTexObjectGetResourceDesc(
        session, pResDesc: *mut CUDA_RESOURCE_DESC, texObject: CUtexObject,
    ) {
        put(pResDesc, known(session, texObject)?.resource.description())
    }

    fn cuTexObjectGetTextureDesc(
        session, pTexDesc: *mut CUDA_TEXTURE_DESC, texObject: CUtexObject,
    ) {
        put(pTexDesc, texture_description(&known(session, texObject)?.description))
    }

    fn cuTexObjectGetResourceViewDesc(
        session, pResViewDesc: *mut CUDA_RESOURCE_VIEW_DESC, texObject: CUtexObject,
    ) {
        let view = known(session, texObject)?.view.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        put(pResViewDesc, view.description())
    }

    fn cuSurfObjectGetResourceDesc(
        session, pResDesc: *mut CUDA_RESOURCE_DESC, surfObject: CUsurfObject,
    ) {
        let found = lock(&session.state.objects).surfaces.get(&surfObject).copied();
        put(pResDesc, found.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?.description())
    }
}
