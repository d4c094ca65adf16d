//! Images that kernels read through textures and reach through surfaces: what the driver reports about them.
//! CUDA C++ Programming Guide, "Texture and Surface Memory" and the appendix "Texture Fetching".

/// Type of a channel of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Channel {
    U8,
    U16,
    U32,
    S8,
    S16,
    S32,
    F16,
    F32,
}

impl Channel {
    /// Bytes.
    #[must_use]
    pub fn size(self) -> u32 {
        match self {
            Self::U8 | Self::S8 => 1,
            Self::U16 | Self::S16 | Self::F16 => 2,
            Self::U32 | Self::S32 | Self::F32 => 4,
        }
    }
}

/// One level of an image, in device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plane {
    /// Device address of the first element.
    pub address: u64,
    /// Elements of a row, rows of a slice, and slices or layers; none is 0.
    pub size: [u32; 3],
    /// Bytes from row to row.
    pub pitch: u64,
    /// Bytes from slice to slice.
    pub slice: u64,
}

/// An image: the levels of an array, from the largest on, or plain memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Type of the channels.
    pub channel: Channel,
    /// How many an element has: 1, 2 or 4.
    pub channels: u32,
    /// At least one.
    pub levels: Vec<Plane>,
    /// Plain memory of one dimension: what is beyond it reads as 0.
    pub linear: bool,
}

impl Image {
    /// Bytes of an element.
    #[must_use]
    pub fn element(&self) -> u32 {
        self.channel.size() * self.channels
    }
}

/// What is read where a coordinate is outside (`CUaddress_mode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMode {
    /// The image goes on with its other end.
    Wrap,
    /// The last element.
    Clamp,
    /// The image goes on mirrored.
    Mirror,
    /// The border colour.
    Border,
}

/// How an image is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    /// What is read.
    pub image: Image,
    /// By dimension.
    pub modes: [AddressMode; 3],
    /// Elements are interpolated, else the nearest is read.
    pub linear: bool,
    /// Integers of 8 and 16 bits stay integers, else they become fractions of 1.
    pub raw: bool,
    /// Coordinates are fractions of the size.
    pub normalised: bool,
    /// Levels are interpolated, else the nearest is read.
    pub between_levels: bool,
    /// Added to the level that the kernel asks for.
    pub bias: f32,
    /// Least and greatest level.
    pub levels: [f32; 2],
    /// Colour of the border.
    pub border: [f32; 4],
}
