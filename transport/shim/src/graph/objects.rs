//! User objects: memory of the program that lives as long as the graphs that hold it. The client
//! counts, as it knows when graphs end.

// Calls functions of the program.
#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::{c_uint, c_void};
use std::ptr::without_provenance_mut;
use std::sync::{Arc, Mutex};

use gtrace_cuda::Kind;
use gtrace_cuda::types::driver::{self as cuda, CUgraph, CUhostFn, CUuserObject};

use super::{number, within};
use crate::context::put;
use crate::entry::{Answer, mint};
use crate::session;
use crate::state::lock;
use crate::status::fail_if;

/// `CU_USER_OBJECT_NO_DESTRUCTOR_SYNC`, which has to be set.
const NO_SYNC: c_uint = 1;

struct UserObject {
    handle: u64,
    destroy: unsafe extern "C" fn(*mut c_void),
    user: usize,
    count: Mutex<u64>,
}

/// Those that live.
static OBJECTS: Mutex<BTreeMap<u64, Arc<UserObject>>> = Mutex::new(BTreeMap::new());

fn find(object: CUuserObject) -> Answer<Arc<UserObject>> {
    let found = lock(&OBJECTS).get(&number(object)).cloned();
    found.ok_or(cuda::CUDA_ERROR_INVALID_HANDLE)
}

impl UserObject {
    fn retain(&self, count: u64) {
        *lock(&self.count) += count;
    }

    fn release(&self, count: u64) -> Answer {
        let left = {
            let mut own = lock(&self.count);
            *own = own
                .checked_sub(count)
                .ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
            *own
        };
        if left == 0 && lock(&OBJECTS).remove(&self.handle).is_some() {
            let user = std::ptr::with_exposed_provenance_mut(self.user);
            // SAFETY: the program gave function and argument to be called so, once.
            unsafe { (self.destroy)(user) };
        }
        Ok(())
    }
}

/// References of a graph.
struct Reference {
    object: Arc<UserObject>,
    count: u64,
}

/// What a graph holds. A copy has references of its own.
#[derive(Default)]
pub(super) struct References(Vec<Reference>);

impl References {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn add(&mut self, object: &Arc<UserObject>, count: u64) {
        match self
            .0
            .iter_mut()
            .find(|own| Arc::ptr_eq(&own.object, object))
        {
            Some(own) => own.count += count,
            None => self.0.push(Reference {
                object: Arc::clone(object),
                count,
            }),
        }
    }

    fn remove(&mut self, object: &Arc<UserObject>, count: u64) -> Answer {
        let own = self
            .0
            .iter_mut()
            .find(|own| Arc::ptr_eq(&own.object, object));
        let own = own.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        own.count = own
            .count
            .checked_sub(count)
            .ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
        self.0.retain(|own| own.count > 0);
        Ok(())
    }

    pub(super) fn extend(&mut self, other: &Self) {
        for Reference { object, count } in &other.0 {
            object.retain(*count);
            self.add(object, *count);
        }
    }
}

impl Clone for References {
    fn clone(&self) -> Self {
        let mut copy = Self::default();
        copy.extend(self);
        copy
    }
}

impl Drop for References {
    fn drop(&mut self) {
        for Reference { object, count } in self.0.drain(..) {
            // There are as many.
            let _ = object.release(count);
        }
    }
}

fn check_count(count: c_uint) -> Answer<u64> {
    match count {
        1..=0x7fff_ffff => Ok(count.into()),
        _ => Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
}

pub(crate) unsafe fn cuUserObjectCreate(
    object_out: *mut CUuserObject,
    ptr: *mut c_void,
    destroy: CUhostFn,
    initialRefcount: c_uint,
    flags: c_uint,
) -> Answer {
    session::cuda()?;
    let destroy = destroy.ok_or(cuda::CUDA_ERROR_INVALID_VALUE)?;
    let count = check_count(initialRefcount)?;
    fail_if(
        object_out.is_null() || flags != NO_SYNC,
        cuda::CUDA_ERROR_INVALID_VALUE,
    )?;
    let handle = mint(Kind::UserObject);
    let object = UserObject {
        handle,
        destroy,
        user: ptr.expose_provenance(),
        count: Mutex::new(count),
    };
    lock(&OBJECTS).insert(handle, Arc::new(object));
    // SAFETY: a pointer of the program.
    unsafe { put(object_out, without_provenance_mut(handle as usize)) }
}

pub(crate) unsafe fn cuUserObjectRetain(object: CUuserObject, count: c_uint) -> Answer {
    find(object)?.retain(check_count(count)?);
    Ok(())
}

pub(crate) unsafe fn cuUserObjectRelease(object: CUuserObject, count: c_uint) -> Answer {
    find(object)?.release(check_count(count)?)
}

pub(crate) unsafe fn cuGraphRetainUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
    flags: c_uint,
) -> Answer {
    let session = session::cuda()?;
    let (object, count) = (find(object)?, check_count(count)?);
    match flags {
        0 => object.retain(count),
        cuda::CU_GRAPH_USER_OBJECT_MOVE => {}
        _ => return Err(cuda::CUDA_ERROR_INVALID_VALUE),
    }
    let holder = within::holder(session, number(graph));
    let graphs = &session.state.graphs;
    graphs.change(holder, |own| own.objects.add(&object, count));
    Ok(())
}

pub(crate) unsafe fn cuGraphReleaseUserObject(
    graph: CUgraph,
    object: CUuserObject,
    count: c_uint,
) -> Answer {
    let session = session::cuda()?;
    let (object, count) = (find(object)?, check_count(count)?);
    let mut removed = Ok(());
    let holder = within::holder(session, number(graph));
    session.state.graphs.change(holder, |own| {
        removed = own.objects.remove(&object, count);
    });
    removed?;
    object.release(count)
}
