//! Types of the CUDA driver API and of NVML, with the names and layouts of their headers.

/// Integers with the constants that they may be.
macro_rules! enumerations {
    ($($name:ident: $integer:ident { $($constant:ident = $value:expr),* $(,)? })*) => {
        $(pub type $name = $integer; $(pub const $constant: $name = $value;)*)*
    };
}

/// Structures and unions, laid out as in C.
macro_rules! layouts {
    ($($(#[$meta:meta])* $kind:ident $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {
        $($(#[$meta])* #[repr(C)] #[derive(Clone, Copy)] pub $kind $name { $(pub $field: $ty),* })*
    };
}

/// Structures that are only pointed to.
macro_rules! opaque {
    ($($name:ident),* $(,)?) => {
        $(#[repr(C)] #[derive(Debug)] pub struct $name { _unused: [u8; 0] })*
    };
}

/// The driver's types.
#[allow(clippy::all)]
pub mod driver;
/// NVML's types.
#[allow(clippy::all)]
pub mod nvml;

#[cfg(test)]
mod tests {
    use super::{driver, nvml};

    /// Sizes that a program compiled against any version of the headers has: the headers keep them
    /// by padding, and structures travel as their bytes.
    #[test]
    fn structures_have_the_sizes_of_the_headers() {
        let sizes = [
            ("CUuuid", size_of::<driver::CUuuid>(), 16),
            ("CUdevprop", size_of::<driver::CUdevprop>(), 56),
            ("CUmemLocation", size_of::<driver::CUmemLocation>(), 8),
            ("CUmemAccessDesc", size_of::<driver::CUmemAccessDesc>(), 12),
            (
                "CUmemAllocationProp",
                size_of::<driver::CUmemAllocationProp>(),
                32,
            ),
            ("CUmemPoolProps", size_of::<driver::CUmemPoolProps>(), 88),
            ("CUlaunchConfig", size_of::<driver::CUlaunchConfig>(), 56),
            (
                "CUlaunchAttribute",
                size_of::<driver::CUlaunchAttribute>(),
                72,
            ),
            (
                "CUstreamAttrValue",
                size_of::<driver::CUstreamAttrValue>(),
                64,
            ),
            (
                "CUstreamBatchMemOpParams",
                size_of::<driver::CUstreamBatchMemOpParams>(),
                48,
            ),
            ("CUDA_MEMCPY2D", size_of::<driver::CUDA_MEMCPY2D>(), 128),
            ("CUDA_MEMCPY3D", size_of::<driver::CUDA_MEMCPY3D>(), 200),
            ("CUtensorMap", size_of::<driver::CUtensorMap>(), 128),
            ("nvmlPciInfo_t", size_of::<nvml::nvmlPciInfo_t>(), 68),
            (
                "nvmlProcessInfo_t",
                size_of::<nvml::nvmlProcessInfo_t>(),
                24,
            ),
            (
                "nvmlProcessInfo_v1_t",
                size_of::<nvml::nvmlProcessInfo_v1_t>(),
                16,
            ),
            ("nvmlMemory_t", size_of::<nvml::nvmlMemory_t>(), 24),
            ("nvmlMemory_v2_t", size_of::<nvml::nvmlMemory_v2_t>(), 40),
            ("nvmlUtilization_t", size_of::<nvml::nvmlUtilization_t>(), 8),
            ("nvmlFieldValue_t", size_of::<nvml::nvmlFieldValue_t>(), 40),
        ];
        for (name, size, header) in sizes {
            assert_eq!(size, header, "{name}");
        }
    }
}
