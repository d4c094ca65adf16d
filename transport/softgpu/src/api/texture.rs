//! Texture and surface objects.

use std::sync::Arc;

use crate::abi::{Answer, In, Out, api};
use crate::array::ready;
use crate::context::current;
use crate::error::{INVALID_VALUE, fail_if};
use crate::texture::{SURFACES, SurfaceObject, TEXTURES, TextureObject};
use crate::types::{Handle, ResourceDesc, TextureDesc, ViewDesc};

fn known(texture: Handle) -> Answer<Arc<TextureObject>> {
    ready()?;
    TEXTURES.get(texture).ok_or(INVALID_VALUE)
}

api! { TABLE:
    /// Makes a texture object.
    fn cuTexObjectCreate(
        texture: Out<Handle>, resource: In<ResourceDesc>, description: In<TextureDesc>,
        view: In<ViewDesc>,
    ) {
        let context = current()?;
        fail_if(texture.is_null(), INVALID_VALUE)?;
        let view = if view.is_null() { None } else { Some(view.get()?) };
        let made = TextureObject::create(&context, resource.get()?, description.get()?, view)?;
        texture.put(made)
    }

    /// Ends a texture object.
    fn cuTexObjectDestroy(texture: Handle) {
        current()?;
        TEXTURES.remove(texture).map(|_| ()).ok_or(INVALID_VALUE)
    }

    /// What a texture object reads.
    fn cuTexObjectGetResourceDesc(resource: Out<ResourceDesc>, texture: Handle) {
        resource.put(known(texture)?.resource)
    }

    /// How a texture object reads.
    fn cuTexObjectGetTextureDesc(description: Out<TextureDesc>, texture: Handle) {
        description.put(known(texture)?.description)
    }

    /// Which part a texture object reads.
    fn cuTexObjectGetResourceViewDesc(view: Out<ViewDesc>, texture: Handle) {
        view.put(known(texture)?.view.ok_or(INVALID_VALUE)?)
    }

    /// Makes a surface object.
    fn cuSurfObjectCreate(surface: Out<Handle>, resource: In<ResourceDesc>) {
        let context = current()?;
        fail_if(surface.is_null(), INVALID_VALUE)?;
        surface.put(SurfaceObject::create(&context, resource.get()?)?)
    }

    /// Ends a surface object.
    fn cuSurfObjectDestroy(surface: Handle) {
        current()?;
        SURFACES.remove(surface).map(|_| ()).ok_or(INVALID_VALUE)
    }

    /// What a surface object reaches.
    fn cuSurfObjectGetResourceDesc(resource: Out<ResourceDesc>, surface: Handle) {
        ready()?;
        resource.put(SURFACES.get(surface).ok_or(INVALID_VALUE)?.resource)
    }
}
