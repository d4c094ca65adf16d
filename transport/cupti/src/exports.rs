//! The functions of CUPTI that are served.

// The symbols' names, and pointers of the program, which each function trusts as CUPTI's documentation lets it.
#![allow(clippy::missing_safety_doc, clippy::not_unsafe_ptr_arg_deref)]
#![allow(missing_docs, non_snake_case, unreachable_pub, unsafe_code)]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};

use crate::activity::THREAD_ID_TYPE;
use crate::buffers::{Buffers, Complete, Request};
use crate::callbacks::{Callback, domain};
use crate::clock::Moment;
use crate::records::{SERVED, length};
use crate::result::{
    CUptiResult, INVALID_CONTEXT, INVALID_KIND, INVALID_OPERATION, INVALID_PARAMETER,
    MAX_LIMIT_REACHED, MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, NOT_INITIALIZED, NOT_SUPPORTED,
    PARAMETER_SIZE_NOT_SUFFICIENT, QUEUE_EMPTY, SUCCESS, fail_if, guard, name,
};
use crate::state::{self, Times};
use crate::{activity, buffers, callbacks, client, clock, records};

/// `CUPTI_API_VERSION` of CUDA 13.0, whose functions are all there.
const VERSION: u32 = 130_001;
/// `CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`
const FORCED: u32 = 1;
/// Kinds of CUPTI 13.2: which are none is answered as it does.
const KINDS: u32 = 60;
/// Kinds of external correlation.
const EXTERNAL: std::ops::Range<u32> = 1..6;

thread_local! {
    static LAST: Cell<CUptiResult> = const { Cell::new(SUCCESS) };
}

/// [`guard`], which remembers what failed.
fn done(action: impl FnOnce() -> Result<(), CUptiResult>) -> CUptiResult {
    let result = guard(action);
    if result != SUCCESS {
        LAST.set(result);
    }
    result
}

/// Where the program wants a result: null, or a place that is its own, as CUPTI's documentation says.
#[repr(transparent)]
pub struct Place<T>(*mut T);

impl<T> Place<T> {
    fn put(self, value: T) -> Result<(), CUptiResult> {
        fail_if(self.0.is_null(), INVALID_PARAMETER)?;
        // SAFETY: not null, so the program's place.
        unsafe { self.0.write(value) };
        Ok(())
    }
}

/// Exports functions. What fails in a body is the result, and the thread's last one.
macro_rules! exports {
    ($($(#[$meta:meta])* fn $name:ident($($argument:ident: $ty:ty),* $(,)?) $body:block)*) => {$(
        $(#[$meta])*
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $ty),*) -> CUptiResult {
            done(move || -> Result<(), CUptiResult> { $body })
        }
    )*};
}

fn enable(context: Option<*mut c_void>, kind: u32, wanted: bool) -> Result<(), CUptiResult> {
    fail_if(
        kind == 0 || kind >= KINDS || SERVED & 1 << kind == 0,
        INVALID_KIND,
    )?;
    fail_if(
        context.is_some_and(<*mut c_void>::is_null),
        INVALID_PARAMETER,
    )?;
    let context = context.map(|context| context.addr());
    state::get().want(|all| all.set(context, kind, wanted))
}

fn flush(flag: u32) -> Result<(), CUptiResult> {
    let state = state::get();
    fail_if(state.lock().buffers.is_none(), INVALID_OPERATION)?;
    client::settle();
    if flag & FORCED != 0 {
        let mut inner = state.lock();
        for held in std::mem::take(&mut inner.pending).into_values() {
            // Without times, which nobody knows yet.
            inner.done(held.record, Times::Known);
        }
    }
    buffers::deliver(state);
    Ok(())
}

/// What attributes were set to, by their numbers. Nothing depends on them.
static ATTRIBUTES: Mutex<BTreeMap<u32, Vec<u8>>> = Mutex::new(BTreeMap::new());
/// `CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS`, the last one.
const LAST_ATTRIBUTE: u32 = 10;

/// Names that were asked for: they stay.
static NAMES: Mutex<BTreeMap<u32, CString>> = Mutex::new(BTreeMap::new());

fn text_of(result: CUptiResult, text: Place<*const c_char>) -> Result<(), CUptiResult> {
    text.put(name(result).ok_or(INVALID_PARAMETER)?.as_ptr())
}

fn subscribe(
    subscriber: Place<*mut c_void>,
    callback: Option<Callback>,
    user: *mut c_void,
) -> Result<(), CUptiResult> {
    let callback = callback.ok_or(INVALID_PARAMETER)?;
    fail_if(subscriber.0.is_null(), INVALID_PARAMETER)?;
    fail_if(!client::is_there(), NOT_INITIALIZED)?;
    fail_if(
        !callbacks::subscribe(callback, user),
        MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
    )?;
    state::update();
    subscriber.put(callbacks::handle())
}

fn subscribed(subscriber: *mut c_void) -> Result<(), CUptiResult> {
    fail_if(subscriber != callbacks::handle(), INVALID_PARAMETER)
}

fn domain(domain: u32) -> Result<(), CUptiResult> {
    fail_if(
        !(domain::DRIVER..=domain::STATE).contains(&domain),
        INVALID_PARAMETER,
    )
}

fn enable_domain(enable: u32, subscriber: *mut c_void, of: u32) -> Result<(), CUptiResult> {
    subscribed(subscriber)?;
    domain(of)?;
    if of == domain::DRIVER {
        callbacks::enable_all(enable != 0);
        state::update();
    }
    Ok(())
}

fn stream_id(stream: *mut c_void, per_thread: u8, number: Place<u32>) -> Result<(), CUptiResult> {
    let handle = match (stream.addr() as u64, per_thread) {
        (0, 1) => 2,
        (handle, _) => handle,
    };
    number.put(gtrace_recording::observe::stream_number(handle))
}

/// The records' number of a graph, or of an instance: no graph has the same.
fn graph_id(graph: *mut c_void, number: Place<u32>) -> Result<(), CUptiResult> {
    fail_if(graph.is_null(), INVALID_PARAMETER)?;
    number.put(records::graph(graph.addr() as u64))
}

exports! {
    fn cuptiActivityEnable(kind: u32) {
        enable(None, kind, true)
    }

    fn cuptiActivityDisable(kind: u32) {
        enable(None, kind, false)
    }

    fn cuptiActivityEnableContext(context: *mut c_void, kind: u32) {
        enable(Some(context), kind, true)
    }

    fn cuptiActivityDisableContext(context: *mut c_void, kind: u32) {
        enable(Some(context), kind, false)
    }

    fn cuptiActivityEnableDriverApi(cbid: u32, enable: u8) {
        callbacks::name(cbid).ok_or(INVALID_PARAMETER)?;
        state::get().want(|all| all.set_call(cbid, enable != 0))
    }

    /// Calls of the runtime are not seen: there are no records of them.
    fn cuptiActivityEnableRuntimeApi(_cbid: u32, _enable: u8) {
        Ok(())
    }

    // What these would add to records is not there.

    fn cuptiActivityEnableAllSyncRecords(_enable: u8) {
        Ok(())
    }

    fn cuptiActivityEnableCudaEventDeviceTimestamps(_enable: u8) {
        Ok(())
    }

    fn cuptiActivityEnableLatencyTimestamps(_enable: u8) {
        Ok(())
    }

    fn cuptiActivityEnableLaunchAttributes(_enable: u8) {
        Ok(())
    }

    /// It is about full buffers, which are handed on at once.
    fn cuptiActivityFlushPeriod(_milliseconds: u32) {
        Ok(())
    }

    fn cuptiActivityRegisterCallbacks(request: Option<Request>, complete: Option<Complete>) {
        let (Some(request), Some(complete)) = (request, complete) else {
            return Err(INVALID_PARAMETER);
        };
        state::get().lock().buffers = Some(Buffers { request, complete });
        Ok(())
    }

    fn cuptiActivityRegisterTimestampCallback(callback: Option<clock::Callback>) {
        let mut inner = state::get().lock();
        clock::set(callback);
        if inner.since.is_some() {
            inner.since = Some(Moment::now());
        }
        Ok(())
    }

    fn cuptiActivityFlushAll(flag: u32) {
        flush(flag)
    }

    fn cuptiActivityFlush(_context: *mut c_void, _stream: u32, flag: u32) {
        flush(flag)
    }

    fn cuptiActivityGetNumDroppedRecords(
        _context: *mut c_void, _stream: u32, dropped: Place<usize>,
    ) {
        fail_if(dropped.0.is_null(), INVALID_PARAMETER)?;
        dropped.put(std::mem::take(&mut state::get().lock().dropped))
    }

    fn cuptiActivityGetNextRecord(buffer: *mut u8, valid: usize, record: Place<*mut u8>) {
        fail_if(buffer.is_null() || record.0.is_null(), INVALID_PARAMETER)?;
        // SAFETY: the program's place, and its buffer, of so many bytes, with records that are whole.
        let (at, kind) = unsafe {
            let before = record.0.read();
            let kind = |at: usize| buffer.add(at).cast::<u32>().read_unaligned();
            let at = match before.is_null() {
                true => 0,
                false => {
                    let at = before.addr().checked_sub(buffer.addr());
                    let at = at.filter(|at| *at + 4 <= valid).ok_or(INVALID_PARAMETER)?;
                    at + length(kind(at)).ok_or(INVALID_KIND)?
                }
            };
            fail_if(at + 4 > valid, MAX_LIMIT_REACHED)?;
            (at, kind(at))
        };
        fail_if(length(kind).ok_or(INVALID_KIND)? > valid - at, MAX_LIMIT_REACHED)?;
        // SAFETY: within the buffer.
        record.put(unsafe { buffer.add(at) })
    }

    fn cuptiActivityPushExternalCorrelationId(kind: u32, id: u64) {
        fail_if(!EXTERNAL.contains(&kind), INVALID_PARAMETER)?;
        activity::push_external(kind, id);
        Ok(())
    }

    fn cuptiActivityPopExternalCorrelationId(kind: u32, last: Place<u64>) {
        fail_if(!EXTERNAL.contains(&kind), INVALID_PARAMETER)?;
        let id = activity::pop_external(kind).ok_or(QUEUE_EMPTY)?;
        // The program may not want it.
        let _ = last.put(id);
        Ok(())
    }

    fn cuptiActivitySetAttribute(attribute: u32, size: *mut usize, value: *const u8) {
        fail_if(
            size.is_null() || value.is_null() || attribute > LAST_ATTRIBUTE,
            INVALID_PARAMETER,
        )?;
        // SAFETY: the program's.
        let bytes = unsafe { std::slice::from_raw_parts(value, size.read().min(8)) };
        let mut all = ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(attribute, bytes.to_vec());
        Ok(())
    }

    fn cuptiActivityGetAttribute(attribute: u32, size: *mut usize, value: *mut u8) {
        fail_if(
            size.is_null() || value.is_null() || attribute > LAST_ATTRIBUTE,
            INVALID_PARAMETER,
        )?;
        let all = ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(&attribute).cloned().unwrap_or(vec![0; 8]);
        // SAFETY: the program's.
        unsafe {
            let room = size.read();
            fail_if(room < known.len().min(room.max(1)), PARAMETER_SIZE_NOT_SUFFICIENT)?;
            let len = known.len().min(room);
            value.copy_from_nonoverlapping(known.as_ptr(), len);
            size.write(len);
        }
        Ok(())
    }

    fn cuptiGetTimestamp(timestamp: Place<u64>) {
        timestamp.put(clock::now())
    }

    fn cuptiGetVersion(version: Place<u32>) {
        version.put(VERSION)
    }

    fn cuptiGetResultString(result: CUptiResult, text: Place<*const c_char>) {
        text_of(result, text)
    }

    fn cuptiGetErrorMessage(result: CUptiResult, text: Place<*const c_char>) {
        text_of(result, text)
    }

    /// Ends everything; the process may begin anew.
    fn cuptiFinalize() {
        callbacks::unsubscribe();
        let state = state::get();
        state.want(|all| *all = state::Wanted::default())?;
        {
            let mut inner = state.lock();
            inner.done.clear();
            inner.pending.clear();
        }
        buffers::release(state);
        Ok(())
    }

    fn cuptiSubscribe(
        subscriber: Place<*mut c_void>, callback: Option<Callback>, user: *mut c_void,
    ) {
        subscribe(subscriber, callback, user)
    }

    fn cuptiSubscribe_v2(
        subscriber: Place<*mut c_void>, callback: Option<Callback>, user: *mut c_void,
        _parameters: *mut c_void,
    ) {
        subscribe(subscriber, callback, user)
    }

    fn cuptiUnsubscribe(subscriber: *mut c_void) {
        subscribed(subscriber)?;
        callbacks::unsubscribe();
        Ok(())
    }

    /// Of other domains than the driver's calls nothing ever comes.
    fn cuptiEnableCallback(enable: u32, subscriber: *mut c_void, of: u32, cbid: u32) {
        subscribed(subscriber)?;
        domain(of)?;
        if of == domain::DRIVER {
            callbacks::name(cbid).ok_or(INVALID_PARAMETER)?;
            callbacks::enable(cbid, enable != 0);
            state::update();
        }
        Ok(())
    }

    fn cuptiEnableDomain(enable: u32, subscriber: *mut c_void, of: u32) {
        enable_domain(enable, subscriber, of)
    }

    fn cuptiEnableAllDomains(enable: u32, subscriber: *mut c_void) {
        enable_domain(enable, subscriber, domain::DRIVER)
    }

    fn cuptiGetCallbackState(
        enabled: Place<u32>, subscriber: *mut c_void, of: u32, cbid: u32,
    ) {
        subscribed(subscriber)?;
        domain(of)?;
        enabled.put((of == domain::DRIVER && callbacks::is_enabled(cbid)).into())
    }

    fn cuptiGetCallbackName(of: u32, cbid: u32, text: Place<*const c_char>) {
        domain(of)?;
        fail_if(of != domain::DRIVER, NOT_SUPPORTED)?;
        let name = callbacks::name(cbid).ok_or(INVALID_PARAMETER)?;
        let mut all = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all.entry(cbid).or_insert_with(|| CString::new(name).unwrap_or_default());
        // An entry's text stays where it is.
        text.put(kept.as_ptr())
    }

    /// The domains of which callbacks come.
    fn cuptiSupportedDomains(count: Place<usize>, domains: Place<*const u32>) {
        static DOMAINS: [u32; 1] = [domain::DRIVER];
        count.put(DOMAINS.len())?;
        domains.put(DOMAINS.as_ptr())
    }

    fn cuptiSetThreadIdType(kind: u32) {
        fail_if(kind > activity::THREAD_ID_SYSTEM, INVALID_PARAMETER)?;
        THREAD_ID_TYPE.store(kind, Ordering::Relaxed);
        Ok(())
    }

    fn cuptiGetThreadIdType(kind: Place<u32>) {
        kind.put(THREAD_ID_TYPE.load(Ordering::Relaxed))
    }

    /// The records' number of a context.
    fn cuptiGetContextId(context: *mut c_void, number: Place<u32>) {
        fail_if(context.is_null(), INVALID_CONTEXT)?;
        number.put(records::number(context.addr() as u64))
    }

    fn cuptiGetStreamId(_context: *mut c_void, stream: *mut c_void, number: Place<u32>) {
        stream_id(stream, 0, number)
    }

    fn cuptiGetStreamIdEx(
        _context: *mut c_void, stream: *mut c_void, per_thread: u8, number: Place<u32>,
    ) {
        stream_id(stream, per_thread, number)
    }

    /// The device of a context is asked of the driver.
    fn cuptiGetDeviceId(context: *mut c_void, device: Place<u32>) {
        device.put(client::device_of(context).ok_or(INVALID_CONTEXT)?)
    }

    fn cuptiGetGraphId(graph: *mut c_void, number: Place<u32>) {
        graph_id(graph, number)
    }

    fn cuptiGetGraphExecId(instance: *mut c_void, number: Place<u32>) {
        graph_id(instance, number)
    }

    fn cuptiGetGraphNodeId(node: *mut c_void, number: Place<u64>) {
        fail_if(node.is_null(), INVALID_PARAMETER)?;
        number.put(node.addr() as u64)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityConfigureUnifiedMemoryCounter(
    _config: *mut c_void,
    _count: u32,
) -> CUptiResult {
    // CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED
    28
}

/// The last error of the thread, once.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiGetLastError() -> CUptiResult {
    LAST.replace(SUCCESS)
}
