//! The tables of NVIDIA's runtime, for the CPU emulator: see the crate `gtrace-tables`.

use std::ffi::{c_int, c_void};
use std::ptr::without_provenance_mut;
use std::sync::OnceLock;

use gtrace_tables::{Device, Driver, Tables};

use crate::abi::Out;
use crate::api::module::cuModuleLoadData;
use crate::device::PCI_DOMAIN;
use crate::error::CuError;
use crate::state::state;
use crate::{attributes, context};

struct Softgpu;

impl Driver for Softgpu {
    fn tables() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Tables::new::<Softgpu>)
    }

    fn primary(device: c_int) -> Result<*mut c_void, u32> {
        let retained = state().and_then(|state| {
            let device = state.device(device)?;
            context::retain_primary(state, device)
        });
        match retained {
            Ok(handle) => Ok(without_provenance_mut(handle as usize)),
            Err(error) => Err(error.code()),
        }
    }

    #[allow(unsafe_code)]
    fn load(image: *const c_void) -> Result<*mut c_void, u32> {
        let mut module = 0;
        // SAFETY: a place for the module, and what the program has registered.
        let status = unsafe { cuModuleLoadData(Out::new(&raw mut module), image) };
        match status {
            0 => Ok(without_provenance_mut(module as usize)),
            status => Err(status),
        }
    }

    fn current() -> *mut c_void {
        without_provenance_mut(context::top().map_or(0, |top| top.handle) as usize)
    }

    fn version() -> Result<u32, u32> {
        Ok(attributes::driver_version().unsigned_abs())
    }

    fn devices() -> Result<Vec<Device>, u32> {
        let state = state().map_err(CuError::code)?;
        let visible = state.visible.iter();
        let devices = visible.filter_map(|index| state.devices.get(*index));
        let devices = devices.map(|device| Device {
            uuid: device.uuid,
            pci_domain: PCI_DOMAIN.cast_signed(),
            pci_bus: device.bus().cast_signed(),
            pci_device: 0,
        });
        Ok(devices.collect())
    }
}

/// The table of this name, if it is handed out.
pub(crate) fn find(name: &[u8; 16]) -> Option<*const c_void> {
    Softgpu::tables().find(name)
}

/// A context ends.
pub(crate) fn context_ended(context: u64) {
    Softgpu::tables().context_ended(without_provenance_mut(context as usize));
}
