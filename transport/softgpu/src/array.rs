//! CUDA arrays and mipmapped arrays. A device lays them out as it likes; here they are packed rows in
//! device memory.

use std::sync::Arc;

use crate::abi::Answer;
use crate::context::Context;
use crate::error::{INVALID_HANDLE, INVALID_VALUE, fail_if};
use crate::memory::{self, Kind};
use crate::ptx::{Channel, Image, Plane};
use crate::registry::Registry;
use crate::state::{shared, state};
use crate::types::ArrayDescriptor;

const ARRAY: u8 = 20;
const MIPMAPPED: u8 = 21;

/// Flags of an array (`CUDA_ARRAY3D_*`).
pub(crate) const LAYERED: u32 = 1;
const CUBEMAP: u32 = 4;
/// Layered, surfaces, texture gather. Cube maps, depth textures, colour attachments, sparse and deferred arrays
/// are not offered.
const FLAGS: u32 = LAYERED | 2 | 8;

/// Largest array: width, height, depth and layers, as of compute capability 9.0.
const MOST: [u64; 4] = [131_072, 131_072, 16_384, 2048];

pub(crate) static ARRAYS: Registry<Array> = Registry::new();
pub(crate) static MIPMAPPEDS: Registry<Mipmapped> = Registry::new();

/// One array.
pub(crate) struct Array {
    pub(crate) descriptor: ArrayDescriptor,
    pub(crate) context: u64,
    pub(crate) channel: Channel,
    pub(crate) plane: Plane,
    /// It is a level of a mipmapped array, which has the memory.
    is_level: bool,
}

/// One mipmapped array.
pub(crate) struct Mipmapped {
    pub(crate) context: u64,
    /// Handles of its levels, the largest first.
    pub(crate) levels: Vec<u64>,
}

/// The type of a channel of this format (`CUarray_format`).
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for formats that are not offered, those of blocks and planes.
pub(crate) fn channel(format: u32) -> Answer<Channel> {
    Ok(match format {
        0x01 => Channel::U8,
        0x02 => Channel::U16,
        0x03 => Channel::U32,
        0x08 => Channel::S8,
        0x09 => Channel::S16,
        0x0a => Channel::S32,
        0x10 => Channel::F16,
        0x20 => Channel::F32,
        _ => return Err(INVALID_VALUE),
    })
}

/// The description with no size of 0: an array of fewer dimensions has one row, one slice.
fn sizes(descriptor: &ArrayDescriptor) -> [u64; 3] {
    [descriptor.width, descriptor.height, descriptor.depth].map(|size| (size as u64).max(1))
}

fn check(descriptor: &ArrayDescriptor) -> Answer<Channel> {
    let channel = channel(descriptor.format)?;
    let layered = descriptor.flags & LAYERED != 0;
    let [width, height, depth] = sizes(descriptor);
    let most = if layered { MOST[3] } else { MOST[2] };
    let fits = descriptor.width > 0 && width <= MOST[0] && height <= MOST[1] && depth <= most;
    // Three dimensions need all of them; layers need a number.
    let deep = descriptor.depth > 0 && descriptor.height == 0 && !layered;
    let known = descriptor.flags & !FLAGS == 0 && descriptor.flags & CUBEMAP == 0;
    let channels = matches!(descriptor.channels, 1 | 2 | 4);
    match fits && !deep && known && channels && !(layered && descriptor.depth == 0) {
        true => Ok(channel),
        false => Err(INVALID_VALUE),
    }
}

fn plane(address: u64, size: [u64; 3], element: u64) -> Plane {
    let pitch = size[0] * element;
    Plane {
        address,
        size: size.map(|size| size as u32),
        pitch,
        slice: pitch * size[1],
    }
}

impl Array {
    /// Makes an array and gives its handle.
    pub(crate) fn create(context: &Context, descriptor: ArrayDescriptor) -> Answer<u64> {
        let channel = check(&descriptor)?;
        let element = u64::from(channel.size() * descriptor.channels);
        let size = sizes(&descriptor);
        let bytes = size.iter().product::<u64>() * element;
        let base = memory::allocate(context.device, bytes, Kind::Array, context.handle)?;
        let array = Self {
            descriptor,
            context: context.handle,
            channel,
            plane: plane(base, size, element),
            is_level: false,
        };
        Ok(ARRAYS.add(ARRAY, array))
    }

    /// The live array of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        ARRAYS.find(handle)
    }

    /// Ends an array, once the work of its context is done. A level ends with its mipmapped array.
    pub(crate) fn destroy(handle: u64) -> Answer {
        let array = Self::of(handle)?;
        fail_if(array.is_level, INVALID_HANDLE)?;
        if let Ok(context) = Context::of(array.context) {
            context.drain();
        }
        ARRAYS.remove(handle);
        free(array.plane.address);
        Ok(())
    }

    /// As an image of one level.
    pub(crate) fn image(&self) -> Image {
        Image {
            channel: self.channel,
            channels: self.descriptor.channels,
            levels: vec![self.plane],
            linear: false,
        }
    }
}

fn free(base: u64) {
    if let Some(state) = shared() {
        // That of a destroyed context is gone already.
        let _ = memory::free(&state.devices, base, |found| found.kind == Kind::Array);
    }
}

impl Mipmapped {
    /// Makes a mipmapped array with at most `levels` levels and gives its handle.
    pub(crate) fn create(
        context: &Context,
        descriptor: ArrayDescriptor,
        levels: u32,
    ) -> Answer<u64> {
        let channel = check(&descriptor)?;
        let element = u64::from(channel.size() * descriptor.channels);
        let layered = descriptor.flags & LAYERED != 0;
        let whole = sizes(&descriptor);
        let longest = whole[0]
            .max(whole[1])
            .max(if layered { 1 } else { whole[2] });
        fail_if(levels == 0, INVALID_VALUE)?;
        let count = levels.min(longest.ilog2() + 1);
        let halved = |size: u64, level: u32| (size >> level).max(1);
        let planes: Vec<[u64; 3]> = (0..count)
            .map(|level| {
                let depth = if layered {
                    whole[2]
                } else {
                    halved(whole[2], level)
                };
                [halved(whole[0], level), halved(whole[1], level), depth]
            })
            .collect();
        let bytes_of = |size: &[u64; 3]| size.iter().product::<u64>() * element;
        // Levels begin where elements of any size may.
        let bytes = planes
            .iter()
            .map(|size| bytes_of(size).next_multiple_of(16));
        let base = memory::allocate(context.device, bytes.sum(), Kind::Array, context.handle)?;
        let mut at = base;
        let mut handles = Vec::new();
        for size in planes {
            let shown = |full: usize, size: u64| if full == 0 { 0 } else { size as usize };
            let level = Array {
                descriptor: ArrayDescriptor {
                    width: size[0] as usize,
                    height: shown(descriptor.height, size[1]),
                    depth: shown(descriptor.depth, size[2]),
                    ..descriptor
                },
                context: context.handle,
                channel,
                plane: plane(at, size, element),
                is_level: true,
            };
            at += bytes_of(&size).next_multiple_of(16);
            handles.push(ARRAYS.add(ARRAY, level));
        }
        let made = Self {
            context: context.handle,
            levels: handles,
        };
        Ok(MIPMAPPEDS.add(MIPMAPPED, made))
    }

    /// The live mipmapped array of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        MIPMAPPEDS.find(handle)
    }

    /// Ends a mipmapped array with its levels, once the work of its context is done.
    pub(crate) fn destroy(handle: u64) -> Answer {
        let found = Self::of(handle)?;
        if let Ok(context) = Context::of(found.context) {
            context.drain();
        }
        MIPMAPPEDS.remove(handle);
        for (number, level) in found.levels.iter().enumerate() {
            if let Some(level) = ARRAYS.remove(*level)
                && number == 0
            {
                free(level.plane.address);
            }
        }
        Ok(())
    }

    /// As an image.
    pub(crate) fn image(&self) -> Answer<Image> {
        let levels: Answer<Vec<_>> = self.levels.iter().map(|level| Array::of(*level)).collect();
        let levels = levels?;
        let first = levels.first().ok_or(INVALID_HANDLE)?;
        Ok(Image {
            levels: levels.iter().map(|level| level.plane).collect(),
            ..first.image()
        })
    }
}

/// A context is destroyed: its arrays end, whose memory goes with it.
pub(crate) fn unload_context(context: u64) {
    ARRAYS.remove_where(|array| array.context == context);
    MIPMAPPEDS.remove_where(|array| array.context == context);
}

/// For calls about arrays: CUDA is initialised.
pub(crate) fn ready() -> Answer {
    state().map(|_| ())
}
