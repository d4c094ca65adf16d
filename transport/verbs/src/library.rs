//! libibverbs.so.1, loaded when it is first asked for.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;

use crate::error::VerbsError;
use crate::ffi::{
    ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_mr, ibv_pd, ibv_port_attr, ibv_qp,
    ibv_qp_attr, ibv_qp_init_attr,
};

/// The name that rdma-core keeps for this interface.
const NAME: &str = "libibverbs.so.1";

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) -> $result:ty;)*) => {
        /// The functions that the library exports. Those of the data path are reached through the
        /// context instead, as in C.
        pub(crate) struct Functions {
            $(pub(crate) $name: unsafe extern "C" fn($($argument),*) -> $result,)*
        }

        impl Functions {
            fn load(library: &Library) -> Result<Self, VerbsError> {
                Ok(Self {
                    $($name: {
                        let symbol = concat!(stringify!($name), "\0");
                        // SAFETY: the type is that of the function in IBVERBS_1.1.
                        let found = unsafe { library.get(symbol.as_bytes()) };
                        *found.map_err(|_| VerbsError::OldLibrary(stringify!($name)))?
                    },)*
                })
            }
        }
    };
}

functions! {
    ibv_get_device_list: fn(*mut c_int) -> *mut *mut ibv_device;
    ibv_free_device_list: fn(*mut *mut ibv_device) -> ();
    ibv_get_device_name: fn(*mut ibv_device) -> *const c_char;
    ibv_open_device: fn(*mut ibv_device) -> *mut ibv_context;
    ibv_close_device: fn(*mut ibv_context) -> c_int;
    ibv_query_port: fn(*mut ibv_context, u8, *mut ibv_port_attr) -> c_int;
    ibv_alloc_pd: fn(*mut ibv_context) -> *mut ibv_pd;
    ibv_dealloc_pd: fn(*mut ibv_pd) -> c_int;
    ibv_reg_mr: fn(*mut ibv_pd, *mut c_void, usize, c_int) -> *mut ibv_mr;
    ibv_dereg_mr: fn(*mut ibv_mr) -> c_int;
    ibv_create_comp_channel: fn(*mut ibv_context) -> *mut ibv_comp_channel;
    ibv_destroy_comp_channel: fn(*mut ibv_comp_channel) -> c_int;
    ibv_create_cq: fn(*mut ibv_context, c_int, *mut c_void, *mut ibv_comp_channel, c_int) -> *mut ibv_cq;
    ibv_destroy_cq: fn(*mut ibv_cq) -> c_int;
    ibv_get_cq_event: fn(*mut ibv_comp_channel, *mut *mut ibv_cq, *mut *mut c_void) -> c_int;
    ibv_ack_cq_events: fn(*mut ibv_cq, u32) -> ();
    ibv_create_qp: fn(*mut ibv_pd, *mut ibv_qp_init_attr) -> *mut ibv_qp;
    ibv_modify_qp: fn(*mut ibv_qp, *mut ibv_qp_attr, c_int) -> c_int;
    ibv_destroy_qp: fn(*mut ibv_qp) -> c_int;
}

/// The library's functions, loaded once in the life of the process.
///
/// # Errors
///
/// [`VerbsError::NoLibrary`], [`VerbsError::OldLibrary`].
pub(crate) fn functions() -> Result<&'static Functions, VerbsError> {
    static LOADED: OnceLock<Result<Functions, Failure>> = OnceLock::new();
    match LOADED.get_or_init(|| load(NAME)) {
        Ok(functions) => Ok(functions),
        Err(Failure::Missing(text)) => Err(VerbsError::NoLibrary(text.clone())),
        Err(Failure::Old(name)) => Err(VerbsError::OldLibrary(name)),
    }
}

/// What is kept of an error.
#[derive(Debug)]
enum Failure {
    Missing(String),
    Old(&'static str),
}

fn load(name: &str) -> Result<Functions, Failure> {
    // SAFETY: the constructors of libibverbs only read the environment.
    let library = unsafe { Library::new(name) };
    let library = library.map_err(|error| {
        // What dlopen said is the source of the error, not its text.
        let source = std::error::Error::source(&error).map(ToString::to_string);
        Failure::Missing(source.unwrap_or_else(|| error.to_string()))
    })?;
    let functions = Functions::load(&library).map_err(|error| match error {
        VerbsError::OldLibrary(name) => Failure::Old(name),
        other => Failure::Missing(other.to_string()),
    })?;
    // Its functions are called to the end of the process.
    std::mem::forget(library);
    Ok(functions)
}

/// Whether libibverbs can be loaded here.
///
/// # Errors
///
/// [`VerbsError::NoLibrary`], [`VerbsError::OldLibrary`]: with the remedy.
pub fn available() -> Result<(), VerbsError> {
    functions().map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_and_one_that_is_another_are_distinguished() {
        assert!(matches!(
            load("libgtrace-no-such-library.so.1"),
            Err(Failure::Missing(text)) if text.contains("no-such-library")
        ));
        assert!(matches!(
            load("libc.so.6"),
            Err(Failure::Old("ibv_get_device_list"))
        ));
    }
}
