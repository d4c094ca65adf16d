//! Texture and surface objects: their descriptions, and what a kernel finds by their handles.

use std::sync::Arc;

use crate::abi::Answer;
use crate::array::{self, Array, Mipmapped};
use crate::attributes::{PITCH_STEP, TEXTURE_ALIGN};
use crate::context::Context;
use crate::error::{INVALID_VALUE, fail_if};
use crate::memory;
use crate::ptx::{AddressMode, Image, Plane, Texture};
use crate::registry::Registry;
use crate::types::{ResourceDesc, TextureDesc, ViewDesc};

const TEXTURE: u8 = 22;
const SURFACE: u8 = 23;

/// `CU_TRSF_*`: integers stay integers; coordinates are fractions.
const READ_AS_INTEGER: u32 = 1;
const NORMALISED: u32 = 2;

/// Elements of plain memory that a texture reads, as of compute capability 9.0.
const LINEAR_MAX: usize = 1 << 28;

pub(crate) static TEXTURES: Registry<TextureObject> = Registry::new();
pub(crate) static SURFACES: Registry<SurfaceObject> = Registry::new();

/// One texture object.
pub(crate) struct TextureObject {
    pub(crate) context: u64,
    pub(crate) resource: ResourceDesc,
    pub(crate) description: TextureDesc,
    pub(crate) view: Option<ViewDesc>,
    pub(crate) texture: Arc<Texture>,
}

/// One surface object.
pub(crate) struct SurfaceObject {
    pub(crate) context: u64,
    pub(crate) resource: ResourceDesc,
    pub(crate) image: Arc<Image>,
}

/// The image that a resource is.
fn image(resource: &ResourceDesc) -> Answer<Image> {
    match resource.kind {
        0 => Ok(Array::of(resource.handle())
            .map_err(|_| INVALID_VALUE)?
            .image()),
        1 => Mipmapped::of(resource.handle())
            .map_err(|_| INVALID_VALUE)?
            .image(),
        2 | 3 => plain(resource),
        _ => Err(INVALID_VALUE),
    }
}

/// Plain memory of one or two dimensions.
fn plain(resource: &ResourceDesc) -> Answer<Image> {
    let flat = resource.kind == 3;
    let memory = resource.memory();
    let channel = array::channel(memory.format)?;
    fail_if(!matches!(memory.channels, 1 | 2 | 4), INVALID_VALUE)?;
    let element = (channel.size() * memory.channels) as usize;
    let (width, height, pitch) = match flat {
        true => (memory.width, memory.height, memory.pitch),
        // In place of the width: bytes.
        false => (memory.width / element, 1, memory.width),
    };
    let fits = (1..=LINEAR_MAX).contains(&width) && (1..=131_072).contains(&height);
    let wide = width.checked_mul(element).is_some_and(|row| row <= pitch);
    let aligned = memory.address.is_multiple_of(TEXTURE_ALIGN);
    let stepped = !flat || pitch.is_multiple_of(32);
    let bytes = pitch.checked_mul(height).ok_or(INVALID_VALUE)? as u64;
    // The last row need not be followed by a gap.
    let used = bytes - (pitch - width.min(pitch / element) * element) as u64;
    if !fits || !wide || !aligned || !stepped || memory::find_range(memory.address, used).is_none()
    {
        return Err(INVALID_VALUE);
    }
    Ok(Image {
        channel,
        channels: memory.channels,
        levels: vec![Plane {
            address: memory.address,
            size: [width as u32, height as u32, 1],
            pitch: pitch as u64,
            slice: bytes,
        }],
        linear: !flat,
    })
}

fn mode(mode: u32) -> Answer<AddressMode> {
    Ok(match mode {
        0 => AddressMode::Wrap,
        1 => AddressMode::Clamp,
        2 => AddressMode::Mirror,
        3 => AddressMode::Border,
        _ => return Err(INVALID_VALUE),
    })
}

/// How an image is read, by its description.
pub(crate) fn texture(image: Image, description: &TextureDesc) -> Answer<Texture> {
    fail_if(
        description.filter > 1 || description.mipmap_filter > 1,
        INVALID_VALUE,
    )?;
    let [x, y, z] = description.modes;
    Ok(Texture {
        image,
        modes: [mode(x)?, mode(y)?, mode(z)?],
        linear: description.filter == 1,
        raw: description.flags & READ_AS_INTEGER != 0,
        normalised: description.flags & NORMALISED != 0,
        between_levels: description.mipmap_filter == 1,
        bias: description.bias,
        levels: [description.least_level, description.greatest_level],
        border: description.border,
    })
}

impl TextureObject {
    /// Makes a texture object and gives its handle.
    pub(crate) fn create(
        context: &Context,
        resource: ResourceDesc,
        description: TextureDesc,
        view: Option<ViewDesc>,
    ) -> Answer<u64> {
        let mut image = image(&resource)?;
        // Plain memory of one dimension is read by whole coordinates alone.
        if let Some(view) = view {
            fail_if(resource.kind > 1, INVALID_VALUE)?;
            look(&mut image, &view)?;
        }
        let object = Self {
            context: context.handle,
            resource,
            description,
            view,
            texture: Arc::new(texture(image, &description)?),
        };
        Ok(TEXTURES.add(TEXTURE, object))
    }
}

/// Restricts an image to the levels and layers of a view. Another format is not offered.
fn look(image: &mut Image, view: &ViewDesc) -> Answer {
    let levels = view.first_level as usize..=view.last_level as usize;
    image.levels = image.levels.get(levels).ok_or(INVALID_VALUE)?.to_vec();
    let first = image.levels.first().ok_or(INVALID_VALUE)?;
    let [width, height, depth] = first.size.map(|size| size as usize);
    let same = |given: usize, there: usize| given == there || (given == 0 && there == 1);
    let whole = same(view.width, width) && same(view.height, height);
    let (one, last) = (view.first_layer, view.last_layer);
    let layered = one > 0 || last > 0;
    let deep =
        same(view.depth, depth) || (layered && (last - one.min(last)) as usize + 1 == view.depth);
    if view.format != 0 || !whole || !deep || one > last || last as usize >= depth {
        return Err(INVALID_VALUE);
    }
    if layered {
        for plane in &mut image.levels {
            plane.address += u64::from(one) * plane.slice;
            plane.size[2] = last - one + 1;
        }
    }
    Ok(())
}

impl SurfaceObject {
    /// Makes a surface object and gives its handle.
    pub(crate) fn create(context: &Context, resource: ResourceDesc) -> Answer<u64> {
        // An array that was made for it.
        const LOAD_STORE: u32 = 2;
        fail_if(resource.kind != 0, INVALID_VALUE)?;
        let array = Array::of(resource.handle()).map_err(|_| INVALID_VALUE)?;
        fail_if(array.descriptor.flags & LOAD_STORE == 0, INVALID_VALUE)?;
        let object = Self {
            context: context.handle,
            resource,
            image: Arc::new(array.image()),
        };
        Ok(SURFACES.add(SURFACE, object))
    }
}

/// A context is destroyed, and its objects with it.
pub(crate) fn unload_context(context: u64) {
    TEXTURES.remove_where(|object| object.context == context);
    SURFACES.remove_where(|object| object.context == context);
}

const _: () = assert!(PITCH_STEP.is_multiple_of(32));
