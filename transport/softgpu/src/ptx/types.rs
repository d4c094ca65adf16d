//! Types and state spaces. PTX ISA 8.x, section 5.

macro_rules! types {
    ($($name:ident $word:literal,)*) => {
        /// A fundamental type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum Type { $($name,)* }

        impl Type {
            pub(crate) fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

types! {
    B8 "b8", B16 "b16", B32 "b32", B64 "b64", B128 "b128",
    U8 "u8", U16 "u16", U32 "u32", U64 "u64",
    S8 "s8", S16 "s16", S32 "s32", S64 "s64",
    F16 "f16", F16x2 "f16x2", BF16 "bf16", BF16x2 "bf16x2", F32 "f32", F64 "f64",
    Pred "pred",
    // Opaque types of variables: the handle of a texture or a surface.
    TexRef "texref", SurfRef "surfref",
}

impl Type {
    /// Bytes in memory.
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::B8 | Self::U8 | Self::S8 | Self::Pred => 1,
            Self::B16 | Self::U16 | Self::S16 | Self::F16 | Self::BF16 => 2,
            Self::B32 | Self::U32 | Self::S32 | Self::F32 | Self::F16x2 | Self::BF16x2 => 4,
            Self::B64 | Self::U64 | Self::S64 | Self::F64 | Self::TexRef | Self::SurfRef => 8,
            Self::B128 => 16,
        }
    }

    /// The untyped form of the same width is read alike: as unsigned.
    pub(crate) fn unsigned(self) -> Self {
        match self {
            Self::B8 => Self::U8,
            Self::B16 => Self::U16,
            Self::B32 => Self::U32,
            Self::B64 => Self::U64,
            other => other,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(
            self,
            Self::F16 | Self::F16x2 | Self::BF16 | Self::BF16x2 | Self::F32 | Self::F64
        )
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// The class of the registers that hold it.
    pub(crate) fn class(self) -> Class {
        match self {
            Self::Pred => Class::Pred,
            _ if self.size() >= 8 => Class::Wide,
            _ => Class::Narrow,
        }
    }
}

/// How the executor keeps the registers of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Class {
    /// A bit a lane, all in one word.
    Pred,
    /// 32 bits a lane; what is shorter is extended to 32 bits as its type says.
    Narrow,
    /// 64 bits a lane.
    Wide,
}

impl Class {
    /// Units of a register file that a register takes.
    pub(crate) fn units(self) -> u32 {
        match self {
            Self::Pred | Self::Narrow => 1,
            Self::Wide => 2,
        }
    }
}

/// A state space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Space {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    Param,
}

impl Space {
    /// From a modifier; `shared::cta` and the like count as their space.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "global" => Self::Global,
            "const" => Self::Const,
            "shared" | "shared::cta" | "shared::cluster" => Self::Shared,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Param,
            _ => return None,
        })
    }
}

/// Generic addresses: global ones are themselves; the other spaces are windows above what user
/// space can map, so that a host address never falls into one.
pub(crate) mod window {
    /// Shared memory of the block.
    pub(crate) const SHARED: u64 = 1 << 56;
    /// Local memory of the thread.
    pub(crate) const LOCAL: u64 = 2 << 56;
    /// Parameters of the kernel.
    pub(crate) const PARAM: u64 = 3 << 56;
    /// Functions: the number of the function times 16.
    pub(crate) const CODE: u64 = 4 << 56;
    /// The bits that distinguish the windows.
    pub(crate) const MASK: u64 = 0xff << 56;
}
