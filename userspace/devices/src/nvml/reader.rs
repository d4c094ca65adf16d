//! Calls of NVML about one GPU: what fails is kept, and a GPU that is lost is asked no more.

use nvml_wrapper::Device;
use nvml_wrapper::error::NvmlError;

pub(super) fn is_lost(error: &NvmlError) -> bool {
    matches!(error, NvmlError::GpuLost | NvmlError::ResetRequired)
}

/// Not an error: this GPU, driver or user simply does not have the reading.
pub(super) fn is_unsupported(error: &NvmlError) -> bool {
    matches!(
        error,
        NvmlError::NotSupported
            | NvmlError::NoPermission
            | NvmlError::FunctionNotFound
            | NvmlError::FailedToLoadSymbol(_)
            | NvmlError::NoData
            | NvmlError::NotFound
            | NvmlError::InvalidArg
            // Codes newer than the wrapper: deprecated (26), not ready (27) and their like.
            | NvmlError::UnexpectedVariant(_)
    )
}

/// Reads one GPU, and stops asking once it is lost: every further call could hang.
pub(super) struct Reader<'a, 'nvml> {
    pub(super) device: &'a Device<'nvml>,
    pub(super) lost: bool,
    pub(super) errors: Vec<String>,
}

impl<'a, 'nvml> Reader<'a, 'nvml> {
    pub(super) fn new(device: &'a Device<'nvml>) -> Self {
        Self {
            device,
            lost: false,
            errors: Vec::new(),
        }
    }

    /// What a call reads; that this GPU has no such thing is no error.
    pub(super) fn get<T>(
        &mut self,
        what: &str,
        call: impl FnOnce(&Device<'nvml>) -> Result<T, NvmlError>,
    ) -> Option<T> {
        self.ask(what, call, is_unsupported)
    }

    /// What a call reads that this GPU should have: every failure is an error.
    pub(super) fn must<T>(
        &mut self,
        what: &str,
        call: impl FnOnce(&Device<'nvml>) -> Result<T, NvmlError>,
    ) -> Option<T> {
        self.ask(what, call, |_| false)
    }

    /// What a call reads that may fail; only that the GPU is lost is an error.
    pub(super) fn may<T>(
        &mut self,
        call: impl FnOnce(&Device<'nvml>) -> Result<T, NvmlError>,
    ) -> Option<T> {
        self.ask("", call, |_| true)
    }

    fn ask<T>(
        &mut self,
        what: &str,
        call: impl FnOnce(&Device<'nvml>) -> Result<T, NvmlError>,
        is_no_error: impl FnOnce(&NvmlError) -> bool,
    ) -> Option<T> {
        if self.lost {
            return None;
        }
        match call(self.device) {
            Ok(value) => Some(value),
            Err(error) => {
                self.lost = is_lost(&error);
                if self.lost {
                    self.errors.push(error.to_string());
                } else if !is_no_error(&error) {
                    self.errors.push(format!("{what}: {error}"));
                }
                None
            }
        }
    }
}
