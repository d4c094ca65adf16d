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

    fn of<T>() -> (&'static str, usize) {
        (std::any::type_name::<T>(), size_of::<T>())
    }

    /// Sizes that a program compiled against any version of the headers has: the headers keep them
    /// by padding, and structures travel as their bytes.
    #[test]
    fn structures_have_the_sizes_of_the_headers() {
        let sizes = [
            (of::<driver::CUuuid>(), 16),
            (of::<driver::CUdevprop>(), 56),
            (of::<driver::CUmemLocation>(), 8),
            (of::<driver::CUmemAccessDesc>(), 12),
            (of::<driver::CUmemAllocationProp>(), 32),
            (of::<driver::CUmemPoolProps>(), 88),
            (of::<driver::CUlaunchConfig>(), 56),
            (of::<driver::CUlaunchAttribute>(), 72),
            (of::<driver::CUstreamAttrValue>(), 64),
            (of::<driver::CUstreamBatchMemOpParams>(), 48),
            (of::<driver::CUDA_MEMCPY2D>(), 128),
            (of::<driver::CUDA_MEMCPY3D>(), 200),
            (of::<driver::CUtensorMap>(), 128),
            (of::<nvml::nvmlPciInfo_t>(), 68),
            (of::<nvml::nvmlProcessInfo_t>(), 24),
            (of::<nvml::nvmlProcessInfo_v1_t>(), 16),
            (of::<nvml::nvmlMemory_t>(), 24),
            (of::<nvml::nvmlMemory_v2_t>(), 40),
            (of::<nvml::nvmlUtilization_t>(), 8),
            (of::<nvml::nvmlFieldValue_t>(), 40),
        ];
        for ((name, size), header) in sizes {
            assert_eq!(size, header, "{name}");
        }
    }
}
