//! What is done after calls that give functions: addresses are wrapped, names of kernels are recorded.

// Pointers of the program and of the driver.
#![allow(unsafe_code, non_snake_case)]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

use gtrace_cuda::names::{self, Lookup};
use gtrace_cuda::types::driver::{
    CUfunction, CUkernel, CUlibrary, CUmodule, CUresult, CUuuid, cuuint64_t,
};
use gtrace_recording::NAMES;
use gtrace_recording::message::Message;

use crate::generated::driver::WRAPPERS;
use crate::lock::Lock;
use crate::{report, session, target};

/// Most kernels of one module whose names are reported at once.
const MAX_KERNELS: usize = 1 << 16;
/// The newest version of CUDA whose names are known.
const KNOWN: c_int = 13_000;

/// What is done after calls that succeeded. Nothing unwinds into the program.
macro_rules! hooks {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $type:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        ///
        /// # Safety
        ///
        /// Arguments of a call that answered `code`.
        pub(crate) unsafe fn $name($($argument: $type,)* code: CUresult) {
            let _ = catch_unwind(AssertUnwindSafe(|| {
                if code == 0 {
                    // SAFETY: what the call was given and has written, as CUDA says of it.
                    unsafe { $body }
                }
            }));
        }
    )*};
}

hooks! {
    /// The address is replaced.
    fn cuGetProcAddress(
        symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t,
    ) {
        replace(symbol, pfn, cudaVersion, flags);
    }

    /// The address is replaced.
    fn cuGetProcAddress_v2(
        symbol: *const c_char, pfn: *mut *mut c_void, cudaVersion: c_int, flags: cuuint64_t,
        _status: *mut c_uint,
    ) {
        replace(symbol, pfn, cudaVersion, flags);
    }

    /// A table of functions without names is handed out as it is, and each time reported. Trampolines in its place are not safe:
    /// NVIDIA's runtime checks its address, nobody but the driver knows how long it is, and its words need not be functions.
    fn cuGetExportTable(_table: *mut *const c_void, id: *const CUuuid) {
        if !id.is_null() && session::is_recorded() {
            report::report(&Message::Table {
                process: session::process(),
                id: u128::from_be_bytes(id.cast::<[u8; 16]>().read()),
            });
        }
    }

    /// The kernel's name is reported.
    fn cuModuleGetFunction(hfunc: *mut CUfunction, _module: CUmodule, name: *const c_char) {
        if !hfunc.is_null() && !name.is_null() {
            kernel(hfunc.read() as u64, CStr::from_ptr(name));
        }
    }

    /// The kernel's name is reported.
    fn cuLibraryGetKernel(pKernel: *mut CUkernel, _library: CUlibrary, name: *const c_char) {
        if !pKernel.is_null() && !name.is_null() {
            kernel(pKernel.read() as u64, CStr::from_ptr(name));
        }
    }

    /// The kernel's name is asked for.
    fn cuKernelGetFunction(pFunc: *mut CUfunction, _kernel: CUkernel) {
        if !pFunc.is_null() {
            ask("cuFuncGetName", pFunc.read() as u64);
        }
    }

    /// The names are asked for.
    fn cuModuleEnumerateFunctions(
        functions: *mut CUfunction, numFunctions: c_uint, module: CUmodule,
    ) {
        if !functions.is_null() {
            let there = count("cuModuleGetFunctionCount", module as u64).min(numFunctions);
            for at in 0..(there as usize).min(MAX_KERNELS) {
                ask("cuFuncGetName", functions.add(at).read() as u64);
            }
        }
    }

    /// The names are asked for.
    fn cuLibraryEnumerateKernels(kernels: *mut CUkernel, numKernels: c_uint, library: CUlibrary) {
        if !kernels.is_null() {
            let there = count("cuLibraryGetKernelCount", library as u64).min(numKernels);
            for at in 0..(there as usize).min(MAX_KERNELS) {
                ask("cuKernelGetName", kernels.add(at).read() as u64);
            }
        }
    }
}

/// Gives the program a wrapper in place of the address that the driver gave for a name.
///
/// # Safety
///
/// Arguments of a call that succeeded: null, or a string, and a place that it has written to.
unsafe fn replace(symbol: *const c_char, pfn: *mut *mut c_void, version: c_int, flags: cuuint64_t) {
    if symbol.is_null() || pfn.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let (name, address) = unsafe { (CStr::from_ptr(symbol), pfn.read()) };
    if address.is_null() {
        return;
    }
    match wrapper(&name.to_string_lossy(), address, version, flags) {
        // SAFETY: as above.
        Some(wrapper) => unsafe { pfn.write(wrapper.cast_mut()) },
        None => untouched(&name.to_string_lossy()),
    }
}

/// The wrapper of the driver's function at `address`, which it gave for the name `base`.
///
/// A wrapper passes on as many arguments as its function has, so it must be that of this very function. It is
/// if the driver exports the same address under that name. Where it exports none, what
/// names mean up to CUDA 13.0 is known.
fn wrapper(base: &str, address: *mut c_void, version: c_int, flags: u64) -> Option<*const c_void> {
    // A driver whose own symbols can be interposed gives these.
    let ours = WRAPPERS.iter().find(|ours| ours.0 == address);
    if let Some(ours) = ours {
        return Some(ours.0);
    }
    let meant = match u32::try_from(version) {
        Ok(version) if version as c_int <= KNOWN => match names::lookup(base, version, flags) {
            Lookup::Symbol(symbol) => number(&symbol),
            _ => None,
        },
        _ => None,
    };
    let same = |number: &u16| target::has(*number) == Some(address.cast_const());
    let found = meant.filter(same).or_else(|| {
        let from = NAMES.partition_point(|name| *name < base);
        let family = NAMES[from..]
            .iter()
            .take_while(|name| name.starts_with(base));
        let numbers = (from..).zip(family);
        let numbers = numbers.filter(|(_, name)| is_version_of(name, base));
        numbers
            .filter_map(|(at, _)| u16::try_from(at).ok())
            .find(same)
    });
    let found = found.or_else(|| {
        let meant = meant.filter(|number| target::has(*number).is_none())?;
        target::set(meant, address);
        Some(meant)
    });
    Some(WRAPPERS.get(usize::from(found?))?.0)
}

fn number(symbol: &str) -> Option<u16> {
    let at = NAMES.binary_search(&symbol).ok()?;
    u16::try_from(at).ok()
}

/// Whether `symbol` is `base` with a version, a suffix for the thread's stream, or both.
fn is_version_of(symbol: &str, base: &str) -> bool {
    let Some(rest) = symbol.strip_prefix(base) else {
        return false;
    };
    let rest = rest
        .strip_suffix("_ptsz")
        .or_else(|| rest.strip_suffix("_ptds"))
        .unwrap_or(rest);
    let digits = rest.strip_prefix("_v").unwrap_or("");
    rest.is_empty() || !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Names that were reported, sorted.
static REPORTED: Lock<Vec<String>> = Lock::new(Vec::new());

/// The program got a driver function unwrapped: reported once by name.
pub(crate) fn untouched(name: &str) {
    let new =
        REPORTED.with(
            |reported| match reported.binary_search_by(|one| one.as_str().cmp(name)) {
                Ok(_) => false,
                Err(at) => {
                    reported.insert(at, name.to_owned());
                    true
                }
            },
        );
    if new && session::is_recorded() {
        report::report(&Message::Untouched {
            process: session::process(),
            name: name.as_bytes(),
        });
    }
}

/// The child of fork(2) reports for itself.
pub(crate) fn in_child() {
    REPORTED.open_in_child();
    // Not dropped: the parent's allocator may have been in use by a thread that is not here.
    REPORTED.with(|reported| std::mem::forget(std::mem::take(reported)));
}

/// Asks the driver, by a function that takes a place for a count and a handle.
fn count(function: &str, handle: u64) -> c_uint {
    let mut count = 0;
    if let Some(address) = number(function).and_then(target::has) {
        // SAFETY: the function of this name takes these arguments.
        let code = unsafe {
            let function: unsafe extern "C" fn(*mut c_uint, u64) -> CUresult =
                std::mem::transmute(address);
            function(&raw mut count, handle)
        };
        if code == 0 {
            return count;
        }
    }
    0
}

/// Asks the driver for a kernel's name, by a function that takes a place for a string and a handle.
fn ask(function: &str, handle: u64) {
    if !wanted() {
        return;
    }
    let Some(address) = number(function).and_then(target::has) else {
        return;
    };
    let mut name: *const c_char = std::ptr::null();
    // SAFETY: the function of this name takes these arguments; the name is the driver's.
    unsafe {
        let function: unsafe extern "C" fn(*mut *const c_char, u64) -> CUresult =
            std::mem::transmute(address);
        if function(&raw mut name, handle) == 0 && !name.is_null() {
            kernel(handle, CStr::from_ptr(name));
        }
    }
}

/// Names of kernels stand in events only.
fn wanted() -> bool {
    session::variables().events != 0 && session::is_recorded()
}

fn kernel(handle: u64, name: &CStr) {
    if wanted() {
        report::report(&Message::Kernel {
            process: session::process(),
            ticks: session::variables().scale.ticks(),
            handle,
            name: name.to_bytes(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_distinguished_from_other_functions() {
        for name in [
            "cuMemAlloc",
            "cuMemAlloc_v2",
            "cuMemAlloc_v2_ptds",
            "cuMemAlloc_ptsz",
        ] {
            assert!(is_version_of(name, "cuMemAlloc"), "{name}");
        }
        for name in [
            "cuMemAllocPitch_v2",
            "cuMemAlloc_vx",
            "cuMem",
            "cuMemAlloc_v",
        ] {
            assert!(!is_version_of(name, "cuMemAlloc"), "{name}");
        }
    }
}
