//! What is kept of functions and kernels: their parameters and attributes, by handle and by name.

// Asks the server with two places to write to.
#![allow(unsafe_code)]

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::ptr::without_provenance_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use gtrace_cuda::payload::{FunctionInfo, PARAMETERS_MAX, Parameter};
use gtrace_cuda::types::driver::{
    self as cuda, CUdevice, CUfunction, CUfunction_attribute, CUkernel, CUresult,
};
use gtrace_cuda::{Kind, SERVER_MINTED};

use crate::generated::driver::remote;
use crate::log;
use crate::session::Session;
use crate::state::{State, lock};

/// Attributes that have a place of their own; CUDA 13 defines 16.
pub(super) const ATTRIBUTES: usize = 32;
const UNKNOWN: i32 = i32::MIN;

/// Where the parameters of a function lie in their buffer.
pub(crate) struct Layout {
    pub(crate) parameters: Box<[Parameter]>,
    /// Bytes of all of them.
    pub(crate) bytes: usize,
}

impl Layout {
    fn new(parameters: &[Parameter]) -> Self {
        let end = |p: &Parameter| p.offset as usize + p.size as usize;
        Self {
            parameters: parameters.into(),
            bytes: parameters.iter().map(end).max().unwrap_or(0),
        }
    }
}

/// A function or kernel.
pub(crate) struct Record {
    handle: u64,
    /// Module or library.
    pub(crate) owner: u64,
    pub(crate) name: CString,
    layout: OnceLock<Layout>,
    attributes: [AtomicI32; ATTRIBUTES],
}

impl Record {
    pub(crate) fn new(handle: u64, owner: u64, name: CString, info: &FunctionInfo) -> Self {
        let layout = OnceLock::new();
        if let Some(parameters) = &info.parameters {
            let _ = layout.set(Layout::new(parameters));
        }
        let record = Self {
            handle,
            owner,
            name,
            layout,
            attributes: [const { AtomicI32::new(UNKNOWN) }; ATTRIBUTES],
        };
        for (attribute, value) in &info.attributes {
            record.set(attribute.cast_unsigned(), *value);
        }
        record
    }

    /// Where its parameters lie, if the driver reports it. A driver reports nothing of a kernel that is loaded by a
    /// thread without a context, so that it is asked again by the first who wants to know.
    ///
    /// # Errors
    ///
    /// NOT_SUPPORTED if the driver does not report it, or what became of the question.
    #[inline]
    pub(crate) fn layout(&self) -> Result<&Layout, CUresult> {
        match self.layout.get() {
            Some(layout) => Ok(layout),
            None => self.ask_layout(),
        }
    }

    /// As [`Self::layout`], as far as it is known without a question.
    pub(super) fn known_layout(&self) -> Option<&Layout> {
        self.layout.get()
    }

    #[cold]
    fn ask_layout(&self) -> Result<&Layout, CUresult> {
        let Some(parameters) = asked(self.handle)? else {
            log::once(
                "layout",
                "the server's driver does not report the layout of a kernel's parameters, as drivers before CUDA 12.4 \
                 do not: such kernels cannot be launched",
            );
            return Err(cuda::CUDA_ERROR_NOT_SUPPORTED);
        };
        Ok(self.layout.get_or_init(|| Layout::new(&parameters)))
    }

    /// An attribute, if it is known.
    #[inline]
    pub(crate) fn attribute(&self, attribute: CUfunction_attribute) -> Option<i32> {
        let value = self
            .attributes
            .get(attribute as usize)?
            .load(Ordering::Relaxed);
        (value != UNKNOWN).then_some(value)
    }

    pub(super) fn set(&self, attribute: CUfunction_attribute, value: i32) {
        if let Some(place) = self.attributes.get(attribute as usize) {
            place.store(value, Ordering::Relaxed);
        }
    }
}

/// A function or kernel, one of its attributes, and the device for which it was set.
pub(super) type SetAttribute = (u64, CUfunction_attribute, CUdevice);

/// What answers questions that are asked again and again.
#[derive(Default)]
pub(crate) struct Functions {
    /// Functions by module and name, kernels by library and name.
    pub(super) by_name: HashMap<(u64, CString), u64>,
    /// Those that a load reported and the program has not asked for.
    pub(super) reported: HashMap<(u64, CString), FunctionInfo>,
    /// Functions of kernels, by kernel and context.
    pub(super) of_kernels: HashMap<(u64, u64), u64>,
    /// Attributes that were set, by handle, attribute and device.
    pub(super) set: HashMap<SetAttribute, i32>,
    /// Records of handles that the server minted, and of those for which the table is too small.
    foreign: HashMap<u64, &'static Record>,
    /// Stream priorities by context: least and greatest.
    pub(crate) priorities: HashMap<u64, (i32, i32)>,
    /// Answers about occupancy.
    pub(crate) occupancy: HashMap<[u64; 5], u64>,
}

impl Functions {
    /// A context is gone.
    pub(crate) fn forget_context(&mut self, context: u64) {
        self.of_kernels.retain(|(_, of), _| *of != context);
        self.set.clear();
        self.priorities.remove(&context);
    }

    /// Functions of a kernel, one a context.
    pub(super) fn of_kernel(&self, kernel: u64) -> Vec<u64> {
        let of = self.of_kernels.iter().filter(|((of, _), _)| *of == kernel);
        of.map(|(_, function)| *function).collect()
    }

    /// The kernel of which this is a function.
    pub(super) fn kernel_of(&self, function: u64) -> Option<u64> {
        let mut of = self.of_kernels.iter();
        of.find(|(_, of)| **of == function)
            .map(|((kernel, _), _)| *kernel)
    }

    /// Whether an attribute was set to this value, and so need not be sent.
    pub(super) fn is_set(&self, session: &Session, key: SetAttribute, value: i32) -> bool {
        self.set.get(&key) == Some(&value) && !session.settings.strict && session.broken() == 0
    }

    /// An attribute of a function or kernel may have another value than the one that was set.
    pub(super) fn forget_set(&mut self, handle: u64) {
        self.set.retain(|(of, _, _), _| *of != handle);
    }

    /// A module or library is gone, and so are these functions and kernels.
    pub(super) fn forget_owner(&mut self, owner: u64) -> HashSet<u64> {
        self.set.clear();
        let mut gone = HashSet::new();
        self.by_name.retain(|(of, _), handle| {
            let ends = *of == owner;
            if ends {
                gone.insert(*handle);
            }
            !ends
        });
        self.of_kernels.retain(|(kernel, _), function| {
            let ends = gone.contains(kernel);
            if ends {
                gone.insert(*function);
            }
            !ends
        });
        self.occupancy.retain(|key, _| !gone.contains(&key[0]));
        self.reported.retain(|(of, _), _| *of != owner);
        gone
    }

    /// The functions of a new module or library, as its load reported them.
    pub(crate) fn reported(&mut self, owner: u64, functions: Vec<(String, FunctionInfo)>) {
        for (name, info) in functions {
            if let Ok(name) = CString::new(name) {
                self.reported.insert((owner, name), info);
            }
        }
    }

    /// What a function can hold at once depends on its attributes, which have changed.
    pub(super) fn forget_occupancy(&mut self, function: u64) {
        self.occupancy.retain(|key, _| key[0] != function);
    }
}

/// Where a handle that was minted here has its place; the server counts for itself.
#[inline]
fn place_of(handle: u64) -> Option<u64> {
    (handle & SERVER_MINTED == 0).then_some(handle << 8 >> 12)
}

/// Keeps a record for ever.
pub(super) fn keep(state: &State, record: Record) {
    let handle = record.handle;
    let slots = match Kind::Kernel.matches(handle) {
        true => &state.kernel_slots,
        false => &state.function_slots,
    };
    if let Some(record) = slots.set(handle << 8 >> 12, record) {
        let record: &'static Record = Box::leak(Box::new(record));
        lock(&state.functions).foreign.insert(handle, record);
    }
}

/// The record of a function's or a kernel's handle, if it was minted here. Takes the lock of [`Functions`] if the table is too
/// small for it.
#[inline]
pub(crate) fn record(session: &'static Session, handle: u64) -> Option<&'static Record> {
    kept(&session.state, handle)
}

#[inline]
fn kept(state: &State, handle: u64) -> Option<&'static Record> {
    let counter = place_of(handle)?;
    let slots = if Kind::Function.matches(handle) {
        &state.function_slots
    } else if Kind::Kernel.matches(handle) {
        &state.kernel_slots
    } else {
        return None;
    };
    slots.get(counter).or_else(|| beyond(state, handle))
}

/// A record for which the table is too small.
#[cold]
fn beyond(state: &State, handle: u64) -> Option<&'static Record> {
    lock(&state.functions).foreign.get(&handle).copied()
}

/// The record of any function or kernel. The server is asked about one that it minted.
///
/// # Errors
///
/// INVALID_HANDLE.
#[inline]
pub(crate) fn any_record(
    session: &'static Session,
    handle: u64,
) -> Result<&'static Record, CUresult> {
    match record(session, handle) {
        Some(record) => Ok(record),
        None => foreign(session, handle),
    }
}

/// What the server reports of the parameters of a function or kernel; `None` if its driver does not.
///
/// # Errors
///
/// INVALID_HANDLE.
fn asked(handle: u64) -> Result<Option<Vec<Parameter>>, CUresult> {
    let mut parameters = Vec::new();
    let known = loop {
        let (mut offset, mut size) = (0, 0);
        let at = parameters.len();
        // SAFETY: both are writable.
        let code = unsafe {
            match Kind::Kernel.matches(handle) {
                true => {
                    let kernel: CUkernel = without_provenance_mut(handle as usize);
                    remote::cuKernelGetParamInfo(kernel, at, &raw mut offset, &raw mut size)
                }
                false => {
                    let function: CUfunction = without_provenance_mut(handle as usize);
                    remote::cuFuncGetParamInfo(function, at, &raw mut offset, &raw mut size)
                }
            }
        };
        match code {
            cuda::CUDA_SUCCESS => {
                let number = |value: usize| u32::try_from(value);
                let (Ok(offset), Ok(size)) = (number(offset), number(size)) else {
                    break false;
                };
                parameters.push(Parameter { offset, size });
                if parameters.len() > PARAMETERS_MAX {
                    break false;
                }
            }
            // Behind the last one.
            cuda::CUDA_ERROR_INVALID_VALUE => break true,
            cuda::CUDA_ERROR_INVALID_HANDLE => return Err(code),
            _ => break false,
        }
    };
    Ok((known && FunctionInfo::is_layout(&parameters)).then_some(parameters))
}

#[cold]
fn foreign(session: &'static Session, handle: u64) -> Result<&'static Record, CUresult> {
    if !Kind::Function.accepts(handle) || handle & SERVER_MINTED == 0 {
        return Err(cuda::CUDA_ERROR_INVALID_HANDLE);
    }
    if let Some(record) = lock(&session.state.functions).foreign.get(&handle) {
        return Ok(record);
    }
    let info = FunctionInfo {
        parameters: asked(handle)?,
        ..FunctionInfo::default()
    };
    let record: &'static Record =
        Box::leak(Box::new(Record::new(handle, 0, CString::default(), &info)));
    lock(&session.state.functions)
        .foreign
        .insert(handle, record);
    Ok(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_kept_of_a_library_that_is_gone() {
        let mut functions = Functions::default();
        for owner in [1, 2] {
            let (kernel, function) = (owner * 10, owner * 10 + 1);
            functions.by_name.insert((owner, c"add".into()), kernel);
            functions.of_kernels.insert((kernel, 7), function);
            functions.occupancy.insert([kernel, 7, 64, 0, 0], 3);
            functions.occupancy.insert([function, 7, 64, 0, 0], 3);
        }
        assert_eq!(functions.forget_owner(1), HashSet::from([10, 11]));
        assert_eq!(functions.by_name.len(), 1);
        assert_eq!(functions.of_kernels.get(&(20, 7)), Some(&21));
        assert_eq!(functions.of_kernels.len(), 1);
        assert_eq!(functions.occupancy.len(), 2);
    }

    #[test]
    fn handles_of_the_server_have_no_places_of_others() {
        for kind in [Kind::Function, Kind::Kernel] {
            assert_eq!(place_of(kind.handle(5)), Some(5));
            assert_eq!(place_of(kind.server_handle(5)), None);
        }
    }

    #[test]
    fn records_beyond_the_table_are_found_too() {
        let state = State::default();
        for kind in [Kind::Function, Kind::Kernel] {
            let [first, beyond] = [1, 1 << 20].map(|counter| kind.handle(counter));
            for handle in [first, beyond] {
                let name = CString::default();
                keep(
                    &state,
                    Record::new(handle, 1, name, &FunctionInfo::default()),
                );
                assert_eq!(kept(&state, handle).map(|own| own.handle), Some(handle));
            }
            assert!(kept(&state, kind.handle(2)).is_none());
            assert!(kept(&state, kind.server_handle(1)).is_none());
        }
    }

    #[test]
    fn a_record_keeps_what_was_recorded() {
        let info = FunctionInfo {
            parameters: Some(vec![
                Parameter { offset: 0, size: 8 },
                Parameter {
                    offset: 8,
                    size: 12,
                },
            ]),
            attributes: vec![(0, 1024), (8, 49152), (500, 1)],
        };
        let record = Record::new(0, 1, CString::default(), &info);
        assert_eq!(record.layout().map(|layout| layout.bytes), Ok(20));
        assert_eq!(record.attribute(0), Some(1024));
        assert_eq!(record.attribute(1), None);
        assert_eq!(record.attribute(500), None);
        record.set(8, 65536);
        assert_eq!(record.attribute(8), Some(65536));
    }
}
