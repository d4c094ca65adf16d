//! The tables of NVIDIA's runtime, for this client: see the crate `gtrace-tables`.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{null_mut, without_provenance_mut};
use std::sync::OnceLock;

use gtrace_cuda::types::driver as cuda;
use gtrace_tables::{Device, Driver, Tables};

use crate::entry::Answer;
use crate::session;
use crate::{context, device, module};

/// This library.
struct Shim;

impl Driver for Shim {
    fn tables() -> &'static Tables {
        static TABLES: OnceLock<Tables> = OnceLock::new();
        TABLES.get_or_init(Tables::new::<Shim>)
    }

    #[allow(unsafe_code)]
    fn primary(device: c_int) -> Answer<*mut c_void> {
        let mut context = null_mut();
        // SAFETY: a place for the context.
        unsafe { context::cuDevicePrimaryCtxRetain(&raw mut context, device) }?;
        Ok(context.cast())
    }

    #[allow(unsafe_code)]
    fn load(image: *const c_void) -> Answer<*mut c_void> {
        let mut module = null_mut();
        // SAFETY: a place for the module, and what the program has registered.
        unsafe { module::cuModuleLoadData(&raw mut module, image) }?;
        Ok(module.cast())
    }

    fn current() -> *mut c_void {
        without_provenance_mut(context::top().handle as usize)
    }

    fn version() -> Answer<u32> {
        let version = session::cuda()?.driver_version;
        u32::try_from(version).map_err(|_| cuda::CUDA_ERROR_UNKNOWN)
    }

    fn devices() -> Answer<Vec<Device>> {
        let snapshot = session::cuda()?.snapshot.get();
        let snapshot = snapshot.ok_or(cuda::CUDA_ERROR_NOT_INITIALIZED)?;
        let devices = snapshot.devices.iter().map(|found| {
            let number = |attribute: c_uint| device::attribute(found, attribute).unwrap_or(0);
            Device {
                uuid: found.uuid_v2,
                pci_domain: number(cuda::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                pci_bus: number(cuda::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
                pci_device: number(cuda::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID),
            }
        });
        Ok(devices.collect())
    }
}

/// The table of this name, if it is handed out.
pub(crate) fn find(name: &[u8; 16]) -> Option<*const c_void> {
    Shim::tables().find(name)
}

/// A context ends.
pub(crate) fn context_ended(context: u64) {
    Shim::tables().context_ended(without_provenance_mut(context as usize));
}
