//! Memory and events of other clients of the same server.

// Results are written through pointers of the program.
#![allow(unsafe_code)]

use std::ffi::{c_uint, c_void};

use gtrace_cuda::types::driver::{
    CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle, CUmemAllocationHandleType,
    CUmemGenericAllocationHandle, CUresult,
};

use crate::allocations::Place;
use crate::context::put;
use crate::entry::{self, check, done};
use crate::events;
use crate::generated::driver::remote;
use crate::memory::note;
use crate::session;
use crate::state::write;
use crate::stats::local;

pub(crate) unsafe fn cuIpcOpenMemHandle_v2(
    pdptr: *mut CUdeviceptr,
    handle: CUipcMemHandle,
    Flags: c_uint,
) -> CUresult {
    done(|| {
        let (mut base, mut start, mut size) = (0, 0, 0);
        // SAFETY: the pointer is writable.
        check(unsafe { remote::cuIpcOpenMemHandle_v2(&raw mut base, handle, Flags) })?;
        // How much there is only the driver knows.
        // SAFETY: the pointers are writable.
        check(unsafe { remote::cuMemGetAddressRange_v2(&raw mut start, &raw mut size, base) })?;
        note(session::cuda()?, start, size as u64, Place::Opened, 0);
        // SAFETY: a pointer of the program.
        unsafe { put(pdptr, base) }
    })
}

pub(crate) unsafe fn cuIpcCloseMemHandle(dptr: CUdeviceptr) -> CUresult {
    done(|| {
        let session = session::cuda()?;
        // SAFETY: no pointer of the client.
        check(unsafe { remote::cuIpcCloseMemHandle(dptr) })?;
        let mut start = 0;
        // It may have been opened more than once.
        // SAFETY: the pointer is writable, and the other result is not wanted.
        let still =
            unsafe { remote::cuMemGetAddressRange_v2(&raw mut start, std::ptr::null_mut(), dptr) };
        if check(still).is_err() {
            write(&session.state.allocations).remove(dptr);
        }
        Ok(())
    })
}

pub(crate) unsafe fn cuIpcOpenEventHandle(
    phEvent: *mut CUevent,
    handle: CUipcEventHandle,
) -> CUresult {
    done(|| {
        // SAFETY: a pointer of the program, passed on.
        check(unsafe { remote::cuIpcOpenEventHandle(phEvent, handle) })?;
        // SAFETY: the call that succeeded has written there.
        events::share(session::cuda()?, unsafe { phEvent.read() });
        Ok(())
    })
}

/// Not supported, as the device's attributes say; but PyTorch wants it to be there.
pub(crate) unsafe fn cuMemExportToShareableHandle(
    _: *mut c_void,
    _: CUmemGenericAllocationHandle,
    _: CUmemAllocationHandleType,
    _: u64,
) -> CUresult {
    local!("cuMemExportToShareableHandle");
    entry::absent(
        "cuMemExportToShareableHandle",
        "a descriptor would be one of the server's process",
    )
}

/// Likewise.
pub(crate) unsafe fn cuMemImportFromShareableHandle(
    _: *mut CUmemGenericAllocationHandle,
    _: *mut c_void,
    _: CUmemAllocationHandleType,
) -> CUresult {
    local!("cuMemImportFromShareableHandle");
    entry::absent(
        "cuMemImportFromShareableHandle",
        "a descriptor would be one of this process",
    )
}
