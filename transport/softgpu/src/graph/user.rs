//! User objects: memory of the program that lives as long as the graphs that hold it.
#![allow(unsafe_code)]

use std::sync::{Arc, Mutex};

use crate::abi::Answer;
use crate::command::UserData;
use crate::error::INVALID_VALUE;
use crate::registry::{Registry, mint};
use crate::sync::lock;

const KIND: u8 = 17;

static OBJECTS: Registry<UserObject> = Registry::new();

type Destroy = unsafe extern "C" fn(*mut std::ffi::c_void);

/// One user object.
pub(crate) struct UserObject {
    handle: u64,
    count: Mutex<u64>,
    destroy: Destroy,
    data: UserData,
}

impl UserObject {
    /// Registers an object with `count` references of the program.
    pub(crate) fn create(destroy: Destroy, data: UserData, count: u32) -> u64 {
        let handle = mint(KIND);
        let object = Self {
            handle,
            count: Mutex::new(count.into()),
            destroy,
            data,
        };
        OBJECTS.insert(handle, Arc::new(object));
        handle
    }

    /// The live object of a handle.
    pub(crate) fn of(handle: u64) -> Answer<Arc<Self>> {
        OBJECTS.find(handle)
    }

    /// Adds references.
    pub(crate) fn retain(&self, count: u32) {
        *lock(&self.count) += u64::from(count);
    }

    /// Takes references away; with the last one goes the object, and the program's function is called.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if there are fewer.
    pub(crate) fn release(&self, count: u32) -> Answer {
        let mut own = lock(&self.count);
        *own = own.checked_sub(count.into()).ok_or(INVALID_VALUE)?;
        let gone = *own == 0;
        drop(own);
        if gone && OBJECTS.remove(self.handle).is_some() {
            // SAFETY: the program gave the function for this purpose, with its data.
            unsafe { (self.destroy)(self.data.0) };
        }
        Ok(())
    }
}

/// What a graph, or what was instantiated from it, holds: objects with a number of references each.
#[derive(Default)]
pub(crate) struct Held(Mutex<Vec<(Arc<UserObject>, u32)>>);

impl Held {
    /// Takes note of references that were added, or moved here from the program.
    pub(crate) fn add(&self, object: &Arc<UserObject>, count: u32) {
        let mut own = lock(&self.0);
        match own.iter_mut().find(|(other, _)| Arc::ptr_eq(other, object)) {
            Some((_, held)) => *held += count,
            None => own.push((Arc::clone(object), count)),
        }
    }

    /// Gives references back.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` if it holds fewer.
    pub(crate) fn release(&self, object: &Arc<UserObject>, count: u32) -> Answer {
        {
            let mut own = lock(&self.0);
            let held = own
                .iter_mut()
                .find(|(other, _)| Arc::ptr_eq(other, object))
                .ok_or(INVALID_VALUE)?;
            held.1 = held.1.checked_sub(count).ok_or(INVALID_VALUE)?;
            own.retain(|(_, count)| *count > 0);
        }
        object.release(count)
    }

    /// Has `other` hold the same, with references of its own.
    pub(crate) fn share(&self, other: &Self) {
        for (object, count) in lock(&self.0).iter() {
            object.retain(*count);
            other.add(object, *count);
        }
    }

    /// Gives all back.
    pub(crate) fn release_all(&self) {
        let all = std::mem::take(&mut *lock(&self.0));
        for (object, count) in all {
            let _ = object.release(count);
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.release_all();
    }
}
