//! ioctls as user space makes them on the NVIDIA driver's device nodes.
//!
//! Layouts: `nvos.h`, `nv-ioctl.h`, `uvm_ioctl.h` and `uvm_linux_ioctl.h` of NVIDIA's open kernel
//! modules, 515 to 580. Each offset that matters is written down here by itself, not taken from
//! gtrace: a mistake there must not be repeated here.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::plain;
use crate::sys::{self, Plain};

/// `NV_OK`.
pub(crate) const NV_OK: u32 = 0;
/// `NV_ERR_NO_MEMORY`.
pub(crate) const NV_ERR_NO_MEMORY: u32 = 0x51;
/// `NV01_MEMORY_LOCAL_USER`: video memory.
pub(crate) const NV01_MEMORY_LOCAL_USER: u32 = 0x40;

/// `NV2080_CTRL_CMD_GPU_GET_INFO_V2`, a control command.
pub(crate) const GET_INFO: u32 = 0x2080_0102;

/// `NV_ESC_RM_FREE`.
pub(crate) const RM_FREE: u8 = 0x29;
/// `NV_ESC_RM_CONTROL`.
pub(crate) const RM_CONTROL: u8 = 0x2a;
/// `NV_ESC_RM_ALLOC`.
pub(crate) const RM_ALLOC: u8 = 0x2b;
/// `NV_ESC_CHECK_VERSION_STR`.
const CHECK_VERSION_STR: u8 = 210;
/// `NV_ESC_IOCTL_XFER_CMD`: another call, wrapped.
pub(crate) const XFER: u8 = 211;

/// `NVOS54_PARAMETERS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// hClient, at 0.
    pub(crate) client: u32,
    /// hObject, at 4.
    pub(crate) object: u32,
    /// The control command, at 8.
    pub(crate) cmd: u32,
    /// At 12.
    pub(crate) flags: u32,
    /// Pointer to the command's parameters, at 16.
    pub(crate) params: u64,
    /// Their size, at 24.
    pub(crate) params_size: u32,
    /// NV_STATUS, written by the driver, at 28.
    pub(crate) status: u32,
}

/// `NVOS00_PARAMETERS`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Free {
    /// hRoot, at 0.
    pub(crate) root: u32,
    /// hObjectParent, at 4.
    pub(crate) parent: u32,
    /// hObjectOld, at 8.
    pub(crate) object: u32,
    /// NV_STATUS, written by the driver, at 12.
    pub(crate) status: u32,
}

/// What `NVOS21_PARAMETERS` and `NVOS64_PARAMETERS` begin with.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AllocHead {
    /// hRoot, at 0: the client; 0 where the new object is one.
    pub(crate) root: u32,
    /// hObjectParent, at 4.
    pub(crate) parent: u32,
    /// hObjectNew, at 8; 0 has the driver choose that of a client.
    pub(crate) object: u32,
    /// hClass, at 12.
    pub(crate) class: u32,
    /// pAllocParms, at 16.
    pub(crate) params: u64,
}

/// `NVOS21_PARAMETERS`: two words at 24.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Alloc32 {
    head: AllocHead,
    last: [u32; 2],
}

/// `NVOS64_PARAMETERS` of 515 and 525: pRightsRequested at 24, two words at 32.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Alloc40 {
    head: AllocHead,
    rights: u64,
    last: [u32; 2],
}

/// `NVOS64_PARAMETERS` of 535 and later: paramsSize at 32, flags at 36, status at 40.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Alloc48 {
    head: AllocHead,
    rights: u64,
    last: [u32; 4],
}

/// `nv_ioctl_xfer_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Xfer {
    /// The number of the wrapped call, at 0.
    cmd: u32,
    /// The size of its structure, at 4.
    size: u32,
    /// The pointer to it, at 8.
    ptr: u64,
}

/// `nv_ioctl_rm_api_version_t`: the version is text, at 8.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct CheckVersion([u8; 72]);

/// Room for the structure of any UVM call made here; the driver takes what it needs.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct UvmParams(
    /// The bytes.
    pub(crate) [u8; 128],
);

plain!(Control: 32, Free: 16, Alloc32: 32, Alloc40: 40, Alloc48: 48, Xfer: 16, CheckVersion: 72, UvmParams: 128);

/// Which structure an RM_ALLOC comes with. A driver knows two: the short one and the long one of
/// its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AllocForm {
    /// NVOS21 of 515 and 525: 32 bytes, status at 24.
    Short515,
    /// NVOS21 of 535 and later: 32 bytes, status at 28.
    Short535,
    /// NVOS64 of 515: 40 bytes, status at 32.
    Long515,
    /// NVOS64 of 525: 40 bytes, status at 36.
    Long525,
    /// NVOS64 of 535 and later: 48 bytes, status at 40.
    Long535,
}

/// `NV_MEMORY_ALLOCATION_PARAMS`, the parameters of [`NV01_MEMORY_LOCAL_USER`]: `size` is at 64.
pub(crate) fn memory_params(bytes: u64) -> [u8; 128] {
    let mut params = [0; 128];
    params[64..72].copy_from_slice(&bytes.to_ne_bytes());
    params
}

/// An open device node.
#[derive(Debug)]
pub(crate) struct NvDevice {
    node: File,
    wrapped: bool,
}

impl NvDevice {
    /// Opens /dev/nvidiactl, /dev/nvidia0 or the like.
    pub(crate) fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let node = File::options()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| format!("cannot open {}", path.display()))?;
        Ok(Self {
            node,
            wrapped: false,
        })
    }

    /// Makes every further call through NV_ESC_IOCTL_XFER_CMD.
    pub(crate) fn wrapped(mut self) -> Self {
        self.wrapped = true;
        self
    }

    /// The descriptor.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.node.as_fd()
    }

    /// RM_CONTROL with `cmd` and no parameters; the status in its structure.
    ///
    /// # Errors
    ///
    /// What ioctl(2) returned; a status that is a failure is none.
    pub(crate) fn control(&self, cmd: u32) -> io::Result<u32> {
        let mut control = Control {
            cmd,
            ..Control::default()
        };
        self.call(RM_CONTROL, &mut control)?;
        Ok(control.status)
    }

    /// RM_CONTROL of an object with parameters, which come back changed.
    ///
    /// # Errors
    ///
    /// What ioctl(2) returned, or a status that is a failure.
    pub(crate) fn control_of(
        &self,
        client: u32,
        object: u32,
        cmd: u32,
        params: &mut [u8],
    ) -> Result<()> {
        let mut control = Control {
            client,
            object,
            cmd,
            params: params.as_mut_ptr() as u64,
            params_size: params.len() as u32,
            ..Control::default()
        };
        self.call(RM_CONTROL, &mut control)
            .with_context(|| format!("RM_CONTROL {cmd:#x}"))?;
        ensure!(
            control.status == NV_OK,
            "RM_CONTROL {cmd:#x}: status {:#x}",
            control.status
        );
        Ok(())
    }

    /// RM_ALLOC of an object `object` of `class`; the status in its structure.
    pub(crate) fn alloc(
        &self,
        form: AllocForm,
        class: u32,
        object: u32,
        params: Option<&mut [u8]>,
    ) -> io::Result<u32> {
        let size = params.as_ref().map_or(0, |p| p.len()) as u32;
        let head = AllocHead {
            object,
            class,
            params: params.map_or(0, |p| p.as_mut_ptr() as u64),
            ..AllocHead::default()
        };
        match form {
            AllocForm::Short515 | AllocForm::Short535 => {
                let at = usize::from(form == AllocForm::Short535);
                let mut alloc = Alloc32 { head, last: [0; 2] };
                if at == 1 {
                    alloc.last[0] = size;
                }
                self.call(RM_ALLOC, &mut alloc)?;
                Ok(alloc.last[at])
            }
            AllocForm::Long515 | AllocForm::Long525 => {
                let at = usize::from(form == AllocForm::Long525);
                let mut alloc = Alloc40 {
                    head,
                    ..Alloc40::default()
                };
                if at == 1 {
                    alloc.last[0] = size;
                }
                self.call(RM_ALLOC, &mut alloc)?;
                Ok(alloc.last[at])
            }
            AllocForm::Long535 => {
                let mut alloc = Alloc48 {
                    head,
                    last: [size, 0, 0, 0],
                    ..Alloc48::default()
                };
                self.call(RM_ALLOC, &mut alloc)?;
                Ok(alloc.last[2])
            }
        }
    }

    /// RM_ALLOC as [`AllocForm::Long535`] of an object; its handle. The driver knows the size of the class's parameters, for
    /// which `params` has room.
    ///
    /// # Errors
    ///
    /// What ioctl(2) returned, or a status that is a failure.
    pub(crate) fn alloc_below(&self, new: AllocHead, params: &mut [u8]) -> Result<u32> {
        let mut alloc = Alloc48 {
            head: AllocHead {
                params: params.as_mut_ptr() as u64,
                ..new
            },
            ..Alloc48::default()
        };
        self.call(RM_ALLOC, &mut alloc)
            .with_context(|| format!("RM_ALLOC of class {:#x}", new.class))?;
        ensure!(
            alloc.last[2] == NV_OK,
            "RM_ALLOC of class {:#x}: status {:#x}",
            new.class,
            alloc.last[2]
        );
        Ok(alloc.head.object)
    }

    /// RM_FREE of an object; the status in its structure.
    pub(crate) fn free(&self, object: u32) -> io::Result<u32> {
        let mut free = Free {
            object,
            ..Free::default()
        };
        self.call(RM_FREE, &mut free)?;
        Ok(free.status)
    }

    /// CHECK_VERSION_STR for a library of that version.
    ///
    /// # Errors
    ///
    /// As [`Self::control`]: the driver is of another version.
    pub(crate) fn check_version(&self, version: &str) -> io::Result<()> {
        let mut check = CheckVersion([0; 72]);
        check.0[8..8 + version.len()].copy_from_slice(version.as_bytes());
        self.call(CHECK_VERSION_STR, &mut check).map(drop)
    }

    /// A UVM call, on /dev/nvidia-uvm; the status in its structure.
    pub(crate) fn uvm(&self, call: Uvm) -> io::Result<u32> {
        let mut params = UvmParams([0; 128]);
        sys::ioctl(self.fd(), call.number(), &mut params)?;
        let at = call.status_at();
        let mut status = [0; 4];
        status.copy_from_slice(&params.0[at..at + 4]);
        Ok(u32::from_ne_bytes(status))
    }

    /// Any call of type `F` with its structure.
    ///
    /// # Errors
    ///
    /// What ioctl(2) returned.
    pub(crate) fn call<T: Plain>(&self, number: u8, params: &mut T) -> io::Result<i32> {
        if !self.wrapped {
            return sys::ioctl(self.fd(), request(number, size_of::<T>()), params);
        }
        let mut xfer = Xfer {
            cmd: number.into(),
            size: size_of::<T>() as u32,
            ptr: std::ptr::from_mut(params) as u64,
        };
        sys::ioctl(self.fd(), request(XFER, size_of::<Xfer>()), &mut xfer)
    }
}

/// `_IOWR('F', number, size)`.
fn request(number: u8, size: usize) -> u64 {
    const READ_WRITE: u64 = 3 << 30;
    READ_WRITE | (size as u64) << 16 | u64::from(b'F') << 8 | u64::from(number)
}

/// A call of /dev/nvidia-uvm; its number is the whole ioctl request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Uvm {
    /// UVM_INITIALIZE, the first one on each descriptor.
    Initialize,
    /// UVM_REGISTER_GPU_VASPACE.
    RegisterGpuVaSpace,
    /// UVM_FREE.
    Free,
    /// UVM_REGISTER_GPU.
    RegisterGpu,
    /// UVM_MIGRATE.
    Migrate,
    /// UVM_MM_INITIALIZE.
    MmInitialize,
}

impl Uvm {
    /// The number.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Initialize => 0x3000_0001,
            Self::RegisterGpuVaSpace => 25,
            Self::Free => 34,
            Self::RegisterGpu => 37,
            Self::Migrate => 51,
            Self::MmInitialize => 75,
        }
    }

    /// Where `rmStatus` is in its structure.
    fn status_at(self) -> usize {
        match self {
            Self::Initialize => 8,
            Self::RegisterGpuVaSpace => 28,
            Self::Free => 16,
            Self::RegisterGpu => 36,
            Self::Migrate => 72,
            Self::MmInitialize => 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_of_the_driver() {
        assert_eq!(request(RM_CONTROL, size_of::<Control>()), 0xc020_462a);
        assert_eq!(request(RM_ALLOC, size_of::<Alloc48>()), 0xc030_462b);
        assert_eq!(request(RM_FREE, size_of::<Free>()), 0xc010_4629);
        assert_eq!(request(XFER, size_of::<Xfer>()), 0xc010_46d3);
    }
}
