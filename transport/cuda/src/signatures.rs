//! Signatures of all functions that the bindings know, described or not.

mod driver;
mod nvml;

use crate::{Api, Signature};

/// The driver's functions, sorted by name.
pub const DRIVER: &[Signature] = driver::TABLE;

/// NVML's functions, sorted by name.
pub const NVML: &[Signature] = nvml::TABLE;

/// The functions of a library, sorted by name.
pub const fn table(api: Api) -> &'static [Signature] {
    match api {
        Api::Driver => DRIVER,
        Api::Nvml => NVML,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Shape, find};

    #[test]
    fn tables_are_sorted_so_that_they_can_be_searched() {
        for table in [DRIVER, NVML] {
            assert!(table.is_sorted_by(|a, b| a.name < b.name));
            for signature in table {
                assert_eq!(find(table, signature.name), Some(signature));
            }
            assert_eq!(find(table, "cuNothing"), None);
        }
    }

    #[test]
    fn shapes_are_those_of_resolved_aliases() {
        let launch = find(DRIVER, "cuLaunchKernel").unwrap();
        let shape = |name| {
            let mut parameters = launch.parameters.iter();
            parameters.find(|p| p.name == name).unwrap().shape
        };
        assert_eq!(shape("f"), Shape::Handle);
        assert_eq!(shape("gridDimX"), Shape::Scalar);
        assert_eq!(shape("kernelParams"), Shape::Pointer);
        let callback = find(DRIVER, "cuLaunchHostFunc").unwrap();
        assert_eq!(callback.parameters[1].shape, Shape::Callback);
    }
}
