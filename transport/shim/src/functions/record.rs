//! What is kept of functions and kernels: their parameters and attributes, by handle and by name.

// Asks the server with two places to write to.
#![allow(unsafe_code)]

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::ops::Deref;
use std::ptr::without_provenance_mut;
use std::rc::Rc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use gtrace_cuda::payload::{FunctionInfo, PARAMETERS_MAX, Parameter};
use gtrace_cuda::types::driver::{
    self as cuda, CUdevice, CUfunction, CUfunction_attribute, CUkernel,
};
use gtrace_cuda::{Kind, SERVER_MINTED};

use crate::entry::{Answer, holding_back};
use crate::generated::driver::remote;
use crate::log;
use crate::session::{self, Session};
use crate::state::{State, lock};

/// Attributes that have a place of their own; CUDA 13 defines 16.
pub(super) const ATTRIBUTES: usize = 32;
const UNKNOWN: i32 = i32::MIN;
/// In place of the module or library of what the server minted, and of the functions of such kernels.
pub(super) const NO_OWNER: u64 = 0;

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
    /// Module or library, or [`NO_OWNER`].
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
    pub(crate) fn layout(&self) -> Answer<&Layout> {
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
    fn ask_layout(&self) -> Answer<&Layout> {
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
    /// Records by handle.
    records: HashMap<u64, Arc<Record>>,
    /// Stream priorities by context: least and greatest.
    pub(crate) priorities: HashMap<u64, (i32, i32)>,
    /// Answers about occupancy.
    pub(crate) occupancy: HashMap<[u64; 5], u64>,
}

impl Functions {
    /// A context is gone, and so are these functions of kernels.
    pub(crate) fn forget_context(&mut self, context: u64) -> HashSet<u64> {
        let of_context = self.of_kernels.extract_if(|(_, of), _| *of == context);
        let gone: HashSet<u64> = of_context.map(|(_, function)| function).collect();
        self.records.retain(|handle, _| !gone.contains(handle));
        FORGOTTEN.fetch_add(1, Ordering::Release);
        self.set.clear();
        self.priorities.remove(&context);
        gone
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

    /// A module or library is gone, and so are these functions and kernels. Nothing here says whose those are that the server
    /// minted: it is asked again about all that are still there.
    pub(super) fn forget_owner(&mut self, owner: u64) -> HashSet<u64> {
        self.set.clear();
        let mut gone = HashSet::new();
        self.records.retain(|handle, record| {
            let ends = record.owner == owner;
            if ends {
                gone.insert(*handle);
            }
            !ends && handle & SERVER_MINTED == 0
        });
        FORGOTTEN.fetch_add(1, Ordering::Release);
        self.by_name.retain(|(of, _), _| *of != owner);
        self.of_kernels
            .retain(|(kernel, _), function| !gone.contains(kernel) && !gone.contains(function));
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

/// Keeps a record until its module or library is gone.
pub(super) fn keep(state: &State, record: Record) {
    let mut functions = lock(&state.functions);
    functions.records.insert(record.handle, Arc::new(record));
}

/// Times that records were taken away.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

/// Most records that a thread holds: more kernels than most programs launch again and again.
const HELD_MAX: usize = 1024;

/// A record in the hands of a thread. It is good while that has it, also if its module is unloaded meanwhile.
#[derive(Clone)]
pub(crate) struct HeldRecord(Rc<Shared>);

/// Counted by the threads that hold it; each counts for itself who uses it there.
struct Shared(Arc<Record>);

impl Deref for HeldRecord {
    type Target = Record;

    fn deref(&self) -> &Record {
        &self.0.0
    }
}

/// Records that a thread has used, so that its launches take no lock.
struct HeldRecords {
    /// [`FORGOTTEN`] when they were found.
    forgotten: u64,
    /// Empty, or [`HELD_MAX`] places by handle.
    places: Vec<Option<HeldRecord>>,
}

thread_local! {
    static HELD: RefCell<HeldRecords> = const {
        RefCell::new(HeldRecords {
            forgotten: 0,
            places: Vec::new(),
        })
    };
}

impl HeldRecords {
    /// Handles of a kind are counters behind four bits, below the byte of their kind.
    #[inline]
    fn place(handle: u64) -> usize {
        (handle >> 4 ^ handle >> 48) as usize % HELD_MAX
    }

    #[inline]
    fn find(&mut self, handle: u64, forgotten: u64) -> Option<HeldRecord> {
        if self.forgotten != forgotten {
            // Some may be gone.
            self.forgotten = forgotten;
            self.places.clear();
        }
        let held = self.places.get(Self::place(handle))?.as_ref()?;
        (held.handle == handle).then(|| held.clone())
    }

    fn hold(&mut self, record: HeldRecord) {
        if self.places.is_empty() {
            self.places.resize(HELD_MAX, None);
        }
        if let Some(place) = self.places.get_mut(Self::place(record.handle)) {
            *place = Some(record);
        }
    }
}

/// The record of a function's or a kernel's handle, if it was minted here. Takes the lock of [`Functions`] if this thread does
/// not hold it.
#[inline]
pub(crate) fn record(session: &'static Session, handle: u64) -> Option<HeldRecord> {
    match handle & SERVER_MINTED {
        0 => kept(&session.state, handle),
        _ => None,
    }
}

#[inline]
fn kept(state: &State, handle: u64) -> Option<HeldRecord> {
    let forgotten = FORGOTTEN.load(Ordering::Acquire);
    let held = HELD.try_with(|held| held.try_borrow_mut().ok()?.find(handle, forgotten));
    match held {
        Ok(Some(record)) => Some(record),
        // Also of a thread that is ending.
        _ => look_up(state, handle),
    }
}

#[cold]
fn look_up(state: &State, handle: u64) -> Option<HeldRecord> {
    let record = Arc::clone(lock(&state.functions).records.get(&handle)?);
    let record = HeldRecord(Rc::new(Shared(record)));
    let _ = HELD.try_with(|held| {
        if let Ok(mut held) = held.try_borrow_mut() {
            held.hold(record.clone());
        }
    });
    Some(record)
}

/// The record of any function or kernel. The server is asked about one that it minted.
///
/// # Errors
///
/// INVALID_HANDLE.
#[inline]
pub(crate) fn any_record(session: &'static Session, handle: u64) -> Answer<HeldRecord> {
    match kept(&session.state, handle) {
        Some(record) => Ok(record),
        None => foreign(session, handle),
    }
}

/// What the server reports of the parameters of a function or kernel; `None` if its driver does not.
///
/// # Errors
///
/// INVALID_HANDLE.
fn asked(handle: u64) -> Answer<Option<Vec<Parameter>>> {
    let session = session::cuda()?;
    let mut parameters = Vec::new();
    let known = loop {
        let (mut offset, mut size) = (0, 0);
        let at = parameters.len();
        // SAFETY: both are writable.
        let code = holding_back(session, || unsafe {
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
        });
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
fn foreign(session: &'static Session, handle: u64) -> Answer<HeldRecord> {
    if !Kind::Function.accepts(handle) || handle & SERVER_MINTED == 0 {
        return Err(cuda::CUDA_ERROR_INVALID_HANDLE);
    }
    let info = FunctionInfo {
        parameters: asked(handle)?,
        ..FunctionInfo::default()
    };
    let record = Record::new(handle, NO_OWNER, CString::default(), &info);
    keep(&session.state, record);
    kept(&session.state, handle).ok_or(cuda::CUDA_ERROR_INVALID_HANDLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(handle: u64, owner: u64) -> Record {
        Record::new(handle, owner, CString::default(), &FunctionInfo::default())
    }

    #[test]
    fn nothing_is_kept_of_a_library_that_is_gone() {
        let state = State::default();
        let of = |owner| (Kind::Kernel.handle(owner), Kind::Function.handle(owner));
        for owner in [1, 2] {
            let (kernel, function) = of(owner);
            keep(&state, recorded(kernel, owner));
            keep(&state, recorded(function, owner));
            let mut all = lock(&state.functions);
            all.by_name.insert((owner, c"add".into()), kernel);
            all.of_kernels.insert((kernel, 7), function);
            all.occupancy.insert([kernel, 7, 64, 0, 0], 3);
            all.occupancy.insert([function, 7, 64, 0, 0], 3);
        }
        // Two threads have asked for one kernel at the same time.
        let second = Kind::Kernel.handle(3);
        keep(&state, recorded(second, 1));
        let mut all = lock(&state.functions);
        assert_eq!(
            all.forget_owner(1),
            HashSet::from([of(1).0, of(1).1, second])
        );
        assert_eq!(all.records.len(), 2);
        assert_eq!(all.by_name.len(), 1);
        assert_eq!(all.of_kernels.get(&(of(2).0, 7)), Some(&of(2).1));
        assert_eq!(all.of_kernels.len(), 1);
        assert_eq!(all.occupancy.len(), 2);
    }

    #[test]
    fn functions_of_kernels_go_with_their_context() {
        let state = State::default();
        let kernel = Kind::Kernel.handle(1);
        let [first, second] = [1, 2].map(|counter| Kind::Function.handle(counter));
        for handle in [kernel, first, second] {
            keep(&state, recorded(handle, 1));
        }
        let mut all = lock(&state.functions);
        all.of_kernels.insert((kernel, 7), first);
        all.of_kernels.insert((kernel, 8), second);
        assert_eq!(all.forget_context(7), HashSet::from([first]));
        assert_eq!(all.records.len(), 2);
        assert_eq!(all.of_kernels.get(&(kernel, 8)), Some(&second));
    }

    #[test]
    fn a_program_that_loads_and_unloads_for_ever_keeps_nothing() {
        let state = State::default();
        let mut gone = Vec::new();
        for counter in 1..=3 * HELD_MAX as u64 {
            let (function, module) = (Kind::Function.handle(counter), counter);
            keep(&state, recorded(function, module));
            let held = kept(&state, function).unwrap();
            let forgotten = lock(&state.functions).forget_owner(module);
            assert_eq!(forgotten, HashSet::from([function]));
            assert!(kept(&state, function).is_none());
            // Who has it still may use it.
            assert_eq!(held.handle, function);
            gone.push(Arc::downgrade(&held.0.0));
        }
        assert!(gone.iter().all(|record| record.upgrade().is_none()));
        assert!(lock(&state.functions).records.is_empty());
    }

    #[test]
    fn a_thread_holds_records_until_some_are_gone() {
        let mut held = HeldRecords {
            forgotten: 5,
            places: Vec::new(),
        };
        let handle = Kind::Function.handle(7);
        assert!(held.find(handle, 5).is_none());
        held.hold(HeldRecord(Rc::new(Shared(Arc::new(recorded(handle, 1))))));
        let found = held.find(handle, 5).unwrap();
        assert_eq!(found.handle, handle);
        assert!(held.find(Kind::Kernel.handle(7), 5).is_none());
        assert!(held.find(handle, 6).is_none());
        assert!(held.find(handle, 5).is_none());
        assert_eq!(Rc::strong_count(&found.0), 1);
    }

    #[test]
    fn handles_that_share_a_place_are_distinguished() {
        let state = State::default();
        let mut handles = Vec::new();
        for kind in [Kind::Function, Kind::Kernel] {
            for counter in [1, 1 + HELD_MAX as u64, 1 << 40] {
                handles.extend([kind.handle(counter), kind.server_handle(counter)]);
            }
        }
        for handle in &handles {
            keep(&state, recorded(*handle, 1));
        }
        for handle in handles.iter().chain(&handles) {
            assert_eq!(kept(&state, *handle).map(|own| own.handle), Some(*handle));
        }
        assert!(kept(&state, Kind::Function.handle(2)).is_none());
    }

    #[test]
    fn the_server_is_asked_again_about_its_functions_once_a_module_is_gone() {
        let state = State::default();
        let [own, of_server] = [Kind::Function.handle(5), Kind::Function.server_handle(5)];
        keep(&state, recorded(own, 2));
        keep(&state, recorded(of_server, NO_OWNER));
        assert!(kept(&state, of_server).is_some());
        lock(&state.functions).forget_owner(1);
        assert!(kept(&state, of_server).is_none());
        assert!(kept(&state, own).is_some());
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
