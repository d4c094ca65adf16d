//! Texture and surface references: variables of a module to which a program binds what kernels read by
//! their names. The variable holds the handle of an object like those of [`crate::texture`].

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::Answer;
use crate::array::{Array, Mipmapped};
use crate::command::Copy;
use crate::context::Context;
use crate::error::{INVALID_HANDLE, INVALID_VALUE};
use crate::registry::Registry;
use crate::sync::lock;
use crate::texture::{SURFACES, SurfaceObject, TEXTURES, TextureObject};
use crate::types::{ResourceDesc, TextureDesc};

const TEXTURE: u8 = 24;
const SURFACE: u8 = 25;

pub(crate) static TEXTURE_REFERENCES: Registry<TextureReference> = Registry::new();
pub(crate) static SURFACE_REFERENCES: Registry<SurfaceReference> = Registry::new();

/// One texture reference.
pub(crate) struct TextureReference {
    pub(crate) module: u64,
    context: u64,
    /// Address of its variable; 0 for one that no module has.
    variable: u64,
    state: Mutex<Bound>,
}

/// What a program has set of a texture reference.
#[derive(Clone, Copy)]
pub(crate) struct Bound {
    pub(crate) description: TextureDesc,
    /// Format and channels of plain memory.
    pub(crate) format: (u32, u32),
    pub(crate) resource: Option<ResourceDesc>,
    /// The object that its variable names, or 0.
    object: u64,
}

/// One surface reference.
pub(crate) struct SurfaceReference {
    pub(crate) module: u64,
    context: u64,
    variable: u64,
    /// The array that is bound, and the object that its variable names; 0 for none.
    bound: Mutex<(u64, u64)>,
}

/// A description that no program has changed.
fn untouched() -> TextureDesc {
    TextureDesc {
        modes: [1; 3],
        filter: 0,
        flags: 0,
        max_anisotropy: 0,
        mipmap_filter: 0,
        bias: 0.0,
        least_level: 0.0,
        greatest_level: 0.0,
        border: [0.0; 4],
        reserved: [0; 12],
    }
}

/// Writes a handle into a variable, once the launches before have read it.
fn point(context: &Context, variable: u64, object: u64) {
    context.drain();
    if variable != 0 {
        Copy::plain(variable, (&raw const object) as u64, size_of::<u64>()).run();
    }
}

impl TextureReference {
    /// Makes one for the variable at an address, and gives its handle.
    pub(crate) fn create(context: u64, module: u64, variable: u64) -> u64 {
        let reference = Self {
            module,
            context,
            variable,
            state: Mutex::new(Bound {
                description: untouched(),
                format: (0x20, 1),
                resource: None,
                object: 0,
            }),
        };
        TEXTURE_REFERENCES.add(TEXTURE, reference)
    }

    /// The live reference of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        TEXTURE_REFERENCES.find(handle)
    }

    /// What was set.
    pub(crate) fn state(&self) -> MutexGuard<'_, Bound> {
        lock(&self.state)
    }

    /// Changes what is set; launches from now on see it. What cannot be changes nothing.
    pub(crate) fn set(&self, change: impl FnOnce(&mut Bound) -> Answer) -> Answer {
        let context = Context::of(self.context)?;
        let mut bound = self.state();
        let mut changed = *bound;
        change(&mut changed)?;
        if let Some(resource) = changed.resource {
            let object = TextureObject::create(&context, resource, changed.description, None)?;
            point(&context, self.variable, object);
            TEXTURES.remove(bound.object);
            changed.object = object;
        }
        *bound = changed;
        Ok(())
    }

    /// The same for how it is read.
    pub(crate) fn describe(&self, change: impl FnOnce(&mut TextureDesc)) -> Answer {
        self.set(|bound| {
            change(&mut bound.description);
            Ok(())
        })
    }
}

impl Drop for TextureReference {
    fn drop(&mut self) {
        let bound = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        TEXTURES.remove(bound.object);
    }
}

impl Bound {
    /// Binds an array, whose format is taken.
    pub(crate) fn array(&mut self, handle: u64) -> Answer {
        let array = Array::of(handle)?;
        self.format = (array.descriptor.format, array.descriptor.channels);
        self.resource = Some(of_handle(0, handle));
        Ok(())
    }

    /// Binds a mipmapped array, whose format is taken.
    pub(crate) fn mipmapped(&mut self, handle: u64) -> Answer {
        let first = Mipmapped::of(handle)?.levels.first().copied();
        let level = Array::of(first.ok_or(INVALID_HANDLE)?)?;
        self.format = (level.descriptor.format, level.descriptor.channels);
        self.resource = Some(of_handle(1, handle));
        Ok(())
    }
}

/// A resource that is an array (0) or a mipmapped array (1).
fn of_handle(kind: u32, handle: u64) -> ResourceDesc {
    let mut union = [0; 16];
    union[0] = handle;
    ResourceDesc {
        kind,
        union,
        flags: 0,
    }
}

impl SurfaceReference {
    /// Makes one for the variable at an address, and gives its handle.
    pub(crate) fn create(context: u64, module: u64, variable: u64) -> u64 {
        let reference = Self {
            module,
            context,
            variable,
            bound: Mutex::default(),
        };
        SURFACE_REFERENCES.add(SURFACE, reference)
    }

    /// The live reference of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        SURFACE_REFERENCES.find(handle)
    }

    /// Binds an array.
    pub(crate) fn set(&self, array: u64) -> Answer {
        let context = Context::of(self.context)?;
        Array::of(array)?;
        let object = SurfaceObject::create(&context, of_handle(0, array))?;
        let mut bound = lock(&self.bound);
        point(&context, self.variable, object);
        SURFACES.remove(bound.1);
        *bound = (array, object);
        Ok(())
    }

    /// The array that is bound.
    pub(crate) fn array(&self) -> Answer<u64> {
        let (array, _) = *lock(&self.bound);
        match array {
            0 => Err(INVALID_VALUE),
            array => Ok(array),
        }
    }
}

impl Drop for SurfaceReference {
    fn drop(&mut self) {
        let bound = self.bound.get_mut().unwrap_or_else(PoisonError::into_inner);
        SURFACES.remove(bound.1);
    }
}

/// A module ends, and its references.
pub(crate) fn unload_module(module: u64) {
    TEXTURE_REFERENCES.remove_where(|reference| reference.module == module);
    SURFACE_REFERENCES.remove_where(|reference| reference.module == module);
}

/// A context is destroyed, and the references of its modules.
pub(crate) fn unload_context(context: u64) {
    TEXTURE_REFERENCES.remove_where(|reference| reference.context == context);
    SURFACE_REFERENCES.remove_where(|reference| reference.context == context);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{initialise, state};
    use crate::types::ArrayDescriptor;

    fn context() -> Arc<Context> {
        initialise().expect("a driver");
        let state = state().expect("a driver");
        let device = state.device(0).expect("a device");
        Context::create(state, device, 0, None).expect("a context")
    }

    #[test]
    fn what_cannot_be_bound_leaves_a_texture_reference_as_it_was() {
        let context = context();
        let handle = TextureReference::create(context.handle, 0, 0);
        let reference = TextureReference::of(handle).expect("a reference");
        let refused = reference.set(|bound| {
            bound.resource = Some(of_handle(0, 12345));
            Ok(())
        });
        assert_eq!(refused, Err(INVALID_VALUE));
        assert!(reference.state().resource.is_none());
        let filter = |bound: &mut Bound| {
            bound.description.filter = 1;
            Ok(())
        };
        assert_eq!(reference.set(filter), Ok(()));
        assert_eq!(reference.state().description.filter, 1);
        TEXTURE_REFERENCES.remove(handle);
        context.destroy(state().expect("a driver"));
    }

    #[test]
    fn a_surface_reference_has_one_object_at_a_time() {
        let context = context();
        let descriptor = ArrayDescriptor {
            width: 4,
            height: 4,
            depth: 0,
            format: 0x20,
            channels: 1,
            flags: 2,
        };
        let array = Array::create(&context, descriptor).expect("an array");
        let handle = SurfaceReference::create(context.handle, 0, 0);
        for _ in 0..3 {
            let reference = SurfaceReference::of(handle).expect("a reference");
            reference.set(array).expect("bound");
        }
        assert_eq!(SURFACES.all().len(), 1);
        SURFACE_REFERENCES.remove(handle);
        assert!(SURFACES.all().is_empty());
        context.destroy(state().expect("a driver"));
    }
}
