//! The client's library of the remote GPU in this process.

// Functions of another library, by address.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use gtrace_recording::observe::{OBSERVE, Observe, Observer, SETTLE, Settle, VERSION};

use crate::{activity, callbacks};

struct Client {
    observe: Observe,
    settle: Settle,
    device: DeviceOf,
}

/// `cuCtxGetDevice_v2`
type DeviceOf = unsafe extern "C" fn(*mut u32, *mut c_void) -> u32;

/// It reports to this.
static OBSERVER: Observer = Observer {
    version: VERSION,
    begin: callbacks::begin,
    end: activity::end,
    work: activity::work_reported,
};

static OBSERVES: AtomicBool = AtomicBool::new(false);

/// The library that the program's driver is; `None` if that is another one, as of a GPU of this host.
fn client() -> Option<&'static Client> {
    static CLIENT: OnceLock<Option<Client>> = OnceLock::new();
    CLIENT
        .get_or_init(|| {
            // SAFETY: a string; the library that the program loads as its driver, which is never unloaded.
            let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_LAZY) };
            if library.is_null() {
                return None;
            }
            let symbol = |name: &std::ffi::CStr| {
                // SAFETY: the library's handle and a string.
                let found = unsafe { libc::dlsym(library, name.as_ptr()) };
                (!found.is_null()).then_some(found)
            };
            let (observe, settle) = (symbol(OBSERVE)?, symbol(SETTLE)?);
            let device = symbol(c"cuCtxGetDevice_v2")?;
            // SAFETY: the functions of these names are of these types.
            unsafe {
                Some(Client {
                    observe: transmute::<*mut c_void, Observe>(observe),
                    settle: transmute::<*mut c_void, Settle>(settle),
                    device: transmute::<*mut c_void, DeviceOf>(device),
                })
            }
        })
        .as_ref()
}

/// Whether the process's driver is the client's library.
pub(crate) fn is_there() -> bool {
    client().is_some()
}

/// Has the process's calls reported, or no longer. Whether that is possible.
pub(crate) fn observe(wanted: bool) -> bool {
    if !wanted && !OBSERVES.load(Ordering::Relaxed) {
        return true;
    }
    let Some(client) = client() else {
        return false;
    };
    let observer = match wanted {
        true => &raw const OBSERVER,
        false => std::ptr::null(),
    };
    // SAFETY: a static, or null.
    let fits = unsafe { (client.observe)(observer) } == VERSION;
    OBSERVES.store(fits && wanted, Ordering::Relaxed);
    fits
}

/// Has the server report what the GPU did until now.
pub(crate) fn settle() {
    if let Some(client) = client() {
        (client.settle)();
    }
}

/// The device of a context.
pub(crate) fn device_of(context: *mut c_void) -> Option<u32> {
    let client = client()?;
    let mut device = 0;
    // SAFETY: a place for the number, and a context, of which the driver says whether it is one.
    let code = unsafe { (client.device)(&raw mut device, context) };
    (code == 0).then_some(device)
}

/// The child of fork(2) is not observed.
pub(crate) fn in_child() {
    OBSERVES.store(false, Ordering::Relaxed);
}
