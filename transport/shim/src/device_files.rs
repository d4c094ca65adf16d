//! A word to the user where the program looks for files that a driver would have made and this host has not.

// dl_iterate_phdr(3) hands out pointers of the dynamic loader.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::path::Path;

use crate::log;

/// JAX takes a GPU only where one of these exists (jax/_src/hardware_utils.py, 0.10).
const FILES: [&str; 3] = ["/dev/nvidia0", "/dev/nvidiactl", "/dev/dxg"];
/// In the paths of its libraries.
const JAX: &[u8] = b"/jaxlib/";

/// Says what to do if the program is JAX and would go on without a GPU.
pub(crate) fn advise() {
    if FILES.iter().any(|file| Path::new(file).exists()) || !is_loaded(JAX) {
        return;
    }
    log::once(
        "device files",
        "JAX uses a GPU only where /dev/nvidiactl exists, and takes the CPU here. On a host without the driver: \
         sudo ln -s /dev/null /dev/nvidiactl",
    );
}

/// Whether a library of this process has `part` in its path.
fn is_loaded(part: &'static [u8]) -> bool {
    struct Search {
        part: &'static [u8],
        found: bool,
    }

    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _size: libc::size_t,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader's structure, whose name is null or a text, and the search below.
        unsafe {
            let search = &mut *data.cast::<Search>();
            let name = (*info).dlpi_name;
            if !name.is_null() {
                let name = CStr::from_ptr(name).to_bytes();
                search.found = name
                    .windows(search.part.len())
                    .any(|window| window == search.part);
            }
            search.found.into()
        }
    }

    let mut search = Search { part, found: false };
    // SAFETY: the function above, and a structure that outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_of_this_process_is_found() {
        assert!(is_loaded(b"libc.so"));
        assert!(!is_loaded(b"/no such library/"));
    }
}
