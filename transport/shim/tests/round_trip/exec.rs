//! Replaces the server's execution: handles in a map, functions of the tests.

use core::ffi::c_void;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use gtrace_cuda::Kind;
use gtrace_protocol::DecodeError;

use crate::server::driver::Driver;
use crate::server::nvml::Nvml;

pub(crate) type Code = i32;

#[derive(Debug)]
pub(crate) struct CallError(#[allow(dead_code, reason = "shown when a test fails")] DecodeError);

impl From<DecodeError> for CallError {
    fn from(error: DecodeError) -> Self {
        Self(error)
    }
}

pub(crate) struct Exec {
    pub(crate) driver: Driver,
    pub(crate) nvml: Nvml,
    pub(crate) handles: Handles,
}

impl Exec {
    /// Any library that has none of the functions will do: tests put theirs in.
    pub(crate) fn without_functions() -> Self {
        let library = Path::new("libc.so.6");
        Self {
            driver: Driver::load(library).unwrap(),
            nvml: Nvml::load(library).unwrap(),
            handles: Handles::default(),
        }
    }
}

#[derive(Default)]
pub(crate) struct Handles {
    real: RefCell<HashMap<u64, usize>>,
}

impl Handles {
    pub(crate) fn real(&self, kind: Kind, handle: u64) -> Result<*mut c_void, Code> {
        let real = self.real.borrow();
        match real.get(&handle) {
            Some(real) if kind.accepts(handle) => Ok(*real as *mut c_void),
            _ if kind == Kind::Stream && handle <= 2 => Ok(handle as *mut c_void),
            _ => Err(400),
        }
    }

    pub(crate) fn check_minted(&self, kind: Kind, minted: u64) -> Result<(), Code> {
        match kind.matches(minted) && !self.real.borrow().contains_key(&minted) {
            true => Ok(()),
            false => Err(1),
        }
    }

    pub(crate) fn insert(&self, _: Kind, minted: u64, real: *mut c_void) {
        self.real.borrow_mut().insert(minted, real as usize);
    }

    pub(crate) fn insert_child(&self, kind: Kind, minted: u64, real: *mut c_void, _: u64) {
        self.insert(kind, minted, real);
    }

    pub(crate) fn known_child(&self, kind: Kind, real: *mut c_void, _: u64) -> u64 {
        self.known(kind, real)
    }

    pub(crate) fn known(&self, kind: Kind, real: *mut c_void) -> u64 {
        let handle = kind.server_handle(real as u64);
        self.real.borrow_mut().insert(handle, real as usize);
        handle
    }

    pub(crate) fn remove(&self, _: Kind, handle: u64) {
        self.real.borrow_mut().remove(&handle);
    }
}
