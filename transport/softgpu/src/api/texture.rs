//! Texture and surface objects.

use crate::abi::{In, Out, api};
use crate::array::ready;
use crate::context::current;
use crate::error::INVALID_VALUE;
use crate::texture::{SURFACES, SurfaceObject, TEXTURES, TextureObject};
use crate::types::{Handle, ResourceDesc, TextureDesc, ViewDesc};

api! { TABLE:
    /// Makes a texture object.
    fn cuTexObjectCreate(
        texture: Out<Handle>, resource: In<ResourceDesc>, description: In<TextureDesc>,
        view: In<ViewDesc>,
    ) {
        let context = current()?;
        if texture.is_null() {
            return Err(INVALID_VALUE);
        }
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
        ready()?;
        resource.put(TEXTURES.get(texture).ok_or(INVALID_VALUE)?.resource)
    }

    /// How a texture object reads.
    fn cuTexObjectGetTextureDesc(description: Out<TextureDesc>, texture: Handle) {
        ready()?;
        description.put(TEXTURES.get(texture).ok_or(INVALID_VALUE)?.description)
    }

    /// Which part a texture object reads.
    fn cuTexObjectGetResourceViewDesc(view: Out<ViewDesc>, texture: Handle) {
        ready()?;
        let found = TEXTURES.get(texture).ok_or(INVALID_VALUE)?;
        view.put(found.view.ok_or(INVALID_VALUE)?)
    }

    /// Makes a surface object.
    fn cuSurfObjectCreate(surface: Out<Handle>, resource: In<ResourceDesc>) {
        let context = current()?;
        if surface.is_null() {
            return Err(INVALID_VALUE);
        }
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
