//! Memory and events of other processes.

use std::ffi::c_uint;

use crate::abi::{Out, api};
use crate::context::{bound, current};
use crate::error::{INVALID_VALUE, fail_if};
use crate::event::{EVENTS, Event};
use crate::exported;
use crate::state::state;
use crate::types::{DevicePtr, Handle, IpcHandle};

/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`: the only flag, and one that has to be given.
const LAZY_ENABLE_PEER_ACCESS: c_uint = 1;

api! { TABLE:
    /// A handle for memory, which other processes of this user can open.
    fn cuIpcGetMemHandle(handle: Out<IpcHandle>, address: DevicePtr) {
        let (state, _) = (state()?, current()?);
        fail_if(handle.is_null(), INVALID_VALUE)?;
        handle.put(exported::export(&state.devices, address)?)
    }

    /// Opens memory of another process.
    fn cuIpcOpenMemHandle_v2(address: Out<DevicePtr>, handle: IpcHandle, flags: c_uint) {
        let (state, context) = (state()?, current()?);
        fail_if(address.is_null() || flags != LAZY_ENABLE_PEER_ACCESS, INVALID_VALUE)?;
        address.put(exported::open(&handle, &state.devices, context.handle)?)
    }

    /// Closes memory of another process once the work of the context is done.
    fn cuIpcCloseMemHandle(address: DevicePtr) {
        let context = bound()?;
        exported::close(address, || context.drain())
    }

    /// A handle for an event that was made for other processes.
    fn cuIpcGetEventHandle(handle: Out<IpcHandle>, event: Handle) {
        state()?;
        fail_if(handle.is_null(), INVALID_VALUE)?;
        handle.put(Event::of(event)?.export()?)
    }

    /// Opens an event of another process.
    fn cuIpcOpenEventHandle(event: Out<Handle>, handle: IpcHandle) {
        let context = current()?;
        fail_if(event.is_null(), INVALID_VALUE)?;
        event.put(EVENTS.add(super::event::KIND, Event::open(context.handle, &handle)?))
    }
}
