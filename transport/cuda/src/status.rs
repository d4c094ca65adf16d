//! Results of the driver and of NVML: which stay, and that all have their names and texts.

use crate::types::driver::{self, CUresult};

/// Whether CUDA keeps reporting an error until the context, or the process, is gone (CUDA driver API,
/// `CUresult`: "leaves the process in an inconsistent state").
pub const fn is_sticky(code: CUresult) -> bool {
    matches!(
        code,
        driver::CUDA_ERROR_ECC_UNCORRECTABLE
            | driver::CUDA_ERROR_NVLINK_UNCORRECTABLE
            | driver::CUDA_ERROR_EXTERNAL_DEVICE
            | driver::CUDA_ERROR_CONTAINED
            | driver::CUDA_ERROR_ILLEGAL_ADDRESS
            | driver::CUDA_ERROR_LAUNCH_TIMEOUT
            | driver::CUDA_ERROR_ASSERT
            | driver::CUDA_ERROR_HARDWARE_STACK_ERROR
            | driver::CUDA_ERROR_ILLEGAL_INSTRUCTION
            | driver::CUDA_ERROR_MISALIGNED_ADDRESS
            | driver::CUDA_ERROR_INVALID_ADDRESS_SPACE
            | driver::CUDA_ERROR_INVALID_PC
            | driver::CUDA_ERROR_LAUNCH_FAILED
            | driver::CUDA_ERROR_TENSOR_MEMORY_LEAK
    )
}

#[cfg(test)]
mod tests {
    use gtrace_tables::results::{DRIVER, NVML, driver, nvml};

    /// Constants of a type in the generated types: name and value.
    fn constants<'a>(types: &'a str, ty: &str) -> Vec<(&'a str, u32)> {
        let (_, behind) = types.split_once(&format!(" {ty}: c_uint {{")).unwrap();
        let (list, _) = behind.split_once('}').unwrap();
        let constants = list.split(',').filter_map(|constant| {
            let (name, value) = constant.trim().split_once(" = ")?;
            Some((name, value.trim_end().parse().ok()?))
        });
        constants.collect()
    }

    #[test]
    fn every_result_has_its_name_and_a_text() {
        let results = constants(include_str!("types/driver.rs"), "CUresult");
        assert!(results.len() > 100);
        for (constant, code) in &results {
            let (name, text) = driver(*code).unwrap();
            assert_eq!(name.to_str().unwrap(), *constant);
            assert!(!text.is_empty());
        }
        assert_eq!(DRIVER.len(), results.len());
        assert!(DRIVER.is_sorted_by_key(|(code, ..)| *code));
        assert_eq!(driver(998), None);
        let (_, text) = driver(700).unwrap();
        assert_eq!(text, c"an illegal memory access was encountered");
    }

    #[test]
    fn every_result_of_nvml_has_a_text() {
        let results = constants(include_str!("types/nvml.rs"), "nvmlReturn_t");
        assert!(results.len() > 30);
        for (constant, code) in &results {
            assert!(NVML.iter().any(|(known, _)| known == code), "{constant}");
        }
        assert!(NVML.is_sorted_by_key(|(code, _)| *code));
        assert_eq!(nvml(3), c"Not Supported");
        assert_eq!(nvml(998), c"Unknown Error");
    }
}
