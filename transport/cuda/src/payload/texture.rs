//! Texture and surface objects: unions that lead to handles, distinguished by what they are.

#![allow(non_snake_case, reason = "members of the driver's structures")]
// Makes structures of zeros.
#![allow(unsafe_code)]

use core::ptr::without_provenance_mut;

use gtrace_protocol::{kinds, members};

use crate::types::driver::{
    CU_RESOURCE_TYPE_ARRAY, CU_RESOURCE_TYPE_LINEAR, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
    CU_RESOURCE_TYPE_PITCH2D, CUDA_RESOURCE_DESC, CUDA_RESOURCE_VIEW_DESC, CUDA_TEXTURE_DESC,
};
use crate::wire;

/// What a texture or surface is of (`CUDA_RESOURCE_DESC`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// An array, by its handle.
    Array(u64),
    /// A mipmapped array, by its handle.
    Mipmapped(u64),
    /// Device memory of one dimension.
    Linear {
        /// Device address.
        address: u64,
        /// `CUarray_format`.
        format: u32,
        /// Channels of an element.
        channels: u32,
        /// Bytes.
        bytes: u64,
    },
    /// Device memory of two dimensions.
    Pitched {
        /// Device address.
        address: u64,
        /// `CUarray_format`.
        format: u32,
        /// Channels of an element.
        channels: u32,
        /// Elements of a row.
        width: u64,
        /// Rows.
        height: u64,
        /// Bytes from row to row.
        pitch: u64,
    },
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// `CUresourceViewFormat`.
    pub format: u32,
    /// Width, height and depth.
    pub size: [u64; 3],
    /// First and last level, first and last layer.
    pub parts: [u32; 4],
}

impl Resource {
    /// The driver's description, in which a handle stands for the array.
    pub fn description(&self) -> CUDA_RESOURCE_DESC {
        // SAFETY: a structure of the driver.
        let mut description: CUDA_RESOURCE_DESC = unsafe { wire::zeroed() };
        match *self {
            Self::Array(handle) => {
                description.resType = CU_RESOURCE_TYPE_ARRAY;
                description.res.array.hArray = without_provenance_mut(handle as usize);
            }
            Self::Mipmapped(handle) => {
                description.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
                description.res.mipmap.hMipmappedArray = without_provenance_mut(handle as usize);
            }
            Self::Linear {
                address,
                format,
                channels,
                bytes,
            } => {
                description.resType = CU_RESOURCE_TYPE_LINEAR;
                description.res.linear.devPtr = address;
                description.res.linear.format = format;
                description.res.linear.numChannels = channels;
                description.res.linear.sizeInBytes = bytes as usize;
            }
            Self::Pitched {
                address,
                format,
                channels,
                width,
                height,
                pitch,
            } => {
                description.resType = CU_RESOURCE_TYPE_PITCH2D;
                description.res.pitch2D.devPtr = address;
                description.res.pitch2D.format = format;
                description.res.pitch2D.numChannels = channels;
                description.res.pitch2D.width = width as usize;
                description.res.pitch2D.height = height as usize;
                description.res.pitch2D.pitchInBytes = pitch as usize;
            }
        }
        description
    }
}

impl View {
    /// The driver's description.
    pub fn description(&self) -> CUDA_RESOURCE_VIEW_DESC {
        // SAFETY: a structure of the driver.
        let mut description: CUDA_RESOURCE_VIEW_DESC = unsafe { wire::zeroed() };
        description.format = self.format;
        [description.width, description.height, description.depth] =
            self.size.map(|size| size as usize);
        [
            description.firstMipmapLevel,
            description.lastMipmapLevel,
            description.firstLayer,
            description.lastLayer,
        ] = self.parts;
        description
    }
}

/// Words of a `CUDA_TEXTURE_DESC` before those that are reserved: address modes (3), filter, flags, anisotropy, filter
/// of levels, bias, least and greatest level, border colour (4); numbers with a point as their bits.
pub const TEXTURE_WORDS: usize = 14;

/// The words of a description.
pub fn texture_words(given: &CUDA_TEXTURE_DESC) -> [u32; TEXTURE_WORDS] {
    let [x, y, z] = given.addressMode;
    let [red, green, blue, alpha] = given.borderColor.map(f32::to_bits);
    [
        x,
        y,
        z,
        given.filterMode,
        given.flags,
        given.maxAnisotropy,
        given.mipmapFilterMode,
        given.mipmapLevelBias.to_bits(),
        given.minMipmapLevelClamp.to_bits(),
        given.maxMipmapLevelClamp.to_bits(),
        red,
        green,
        blue,
        alpha,
    ]
}

/// The description that [`texture_words`] were made from.
pub fn texture_description(words: &[u32; TEXTURE_WORDS]) -> CUDA_TEXTURE_DESC {
    let [
        x,
        y,
        z,
        filterMode,
        flags,
        maxAnisotropy,
        mipmapFilterMode,
        bias,
        least,
        greatest,
        border @ ..,
    ] = *words;
    CUDA_TEXTURE_DESC {
        addressMode: [x, y, z],
        filterMode,
        flags,
        maxAnisotropy,
        mipmapFilterMode,
        mipmapLevelBias: f32::from_bits(bias),
        minMipmapLevelClamp: f32::from_bits(least),
        maxMipmapLevelClamp: f32::from_bits(greatest),
        borderColor: border.map(f32::from_bits),
        reserved: [0; 12],
    }
}

/// `cuTexObjectCreate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextureCreate {
    /// What is read.
    pub resource: Resource,
    /// How.
    pub description: [u32; TEXTURE_WORDS],
    /// Which part.
    pub view: Option<View>,
}

kinds!(Resource, "what a texture is of":
    0 => Array(handle),
    1 => Mipmapped(handle),
    2 => Linear { address, format, channels, bytes },
    3 => Pitched { address, format, channels, width, height, pitch },
);
members!(View: format, size, parts);
members!(TextureCreate: resource, description, view);

#[cfg(test)]
mod tests {
    use super::super::tests::comes_back;
    use super::*;

    #[test]
    fn descriptions_come_back() {
        let words = std::array::from_fn(|at| 3 + at as u32);
        assert_eq!(texture_words(&texture_description(&words)), words);
    }

    #[test]
    fn textures_come_back() {
        let memory = Resource::Pitched {
            address: 0x7000_0000_0000,
            format: 0x20,
            channels: 4,
            width: 64,
            height: 32,
            pitch: 1024,
        };
        let plain = Resource::Linear {
            address: 1,
            format: 2,
            channels: 1,
            bytes: 3,
        };
        for resource in [Resource::Array(1), Resource::Mipmapped(2), plain, memory] {
            comes_back(&resource, &mut Vec::new());
            for view in [
                None,
                Some(View {
                    format: 0,
                    size: [1, 2, 3],
                    parts: [4, 5, 6, 7],
                }),
            ] {
                let create = TextureCreate {
                    resource,
                    description: std::array::from_fn(|at| at as u32),
                    view,
                };
                comes_back(&create, &mut Vec::new());
            }
        }
    }
}
