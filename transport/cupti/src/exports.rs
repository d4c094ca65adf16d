//! The functions of CUPTI that are served.

// The symbols' names, and pointers of the program, which each function trusts as CUPTI's documentation lets it.
#![allow(
    clippy::missing_safety_doc,
    clippy::not_unsafe_ptr_arg_deref,
    missing_docs,
    non_snake_case,
    unreachable_pub,
    unsafe_code
)]

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
    CUptiResult, INVALID_KIND, INVALID_OPERATION, INVALID_PARAMETER, MAX_LIMIT_REACHED,
    MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, NOT_INITIALIZED, NOT_SUPPORTED,
    PARAMETER_SIZE_NOT_SUFFICIENT, QUEUE_EMPTY, SUCCESS, guard, name,
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

/// Writes where the program wants it.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), CUptiResult> {
    match place.is_null() {
        true => Err(INVALID_PARAMETER),
        false => {
            // SAFETY: the program's.
            unsafe { place.write(value) };
            Ok(())
        }
    }
}

fn enable(context: Option<*mut c_void>, kind: u32, wanted: bool) -> CUptiResult {
    done(|| {
        if kind == 0 || kind >= KINDS || SERVED & 1 << kind == 0 {
            return Err(INVALID_KIND);
        }
        if context.is_some_and(<*mut c_void>::is_null) {
            return Err(INVALID_PARAMETER);
        }
        let context = context.map(|context| context.addr());
        state::get().want(|all| all.set(context, kind, wanted))
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnable(kind: u32) -> CUptiResult {
    enable(None, kind, true)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityDisable(kind: u32) -> CUptiResult {
    enable(None, kind, false)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableContext(context: *mut c_void, kind: u32) -> CUptiResult {
    enable(Some(context), kind, true)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityDisableContext(context: *mut c_void, kind: u32) -> CUptiResult {
    enable(Some(context), kind, false)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableDriverApi(cbid: u32, enable: u8) -> CUptiResult {
    done(|| {
        callbacks::name(cbid).ok_or(INVALID_PARAMETER)?;
        state::get().want(|all| all.set_call(cbid, enable != 0))
    })
}

/// Calls of the runtime are not seen: there are no records of them.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityEnableRuntimeApi(_cbid: u32, _enable: u8) -> CUptiResult {
    SUCCESS
}

macro_rules! changes_nothing {
    ($($name:ident)*) => {
        $(
            /// What it would add to records is not there.
            #[unsafe(no_mangle)]
            pub extern "C" fn $name(_enable: u8) -> CUptiResult {
                SUCCESS
            }
        )*
    };
}

changes_nothing! {
    cuptiActivityEnableAllSyncRecords
    cuptiActivityEnableCudaEventDeviceTimestamps
    cuptiActivityEnableLatencyTimestamps
    cuptiActivityEnableLaunchAttributes
}

/// It is about full buffers, which are handed on at once.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityFlushPeriod(_milliseconds: u32) -> CUptiResult {
    SUCCESS
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityConfigureUnifiedMemoryCounter(
    _config: *mut c_void,
    _count: u32,
) -> CUptiResult {
    // CUPTI_ERROR_UM_PROFILING_NOT_SUPPORTED
    28
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityRegisterCallbacks(
    request: Option<Request>,
    complete: Option<Complete>,
) -> CUptiResult {
    done(|| {
        let (Some(request), Some(complete)) = (request, complete) else {
            return Err(INVALID_PARAMETER);
        };
        state::get().lock().buffers = Some(Buffers { request, complete });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityRegisterTimestampCallback(
    callback: Option<clock::Callback>,
) -> CUptiResult {
    done(|| {
        let state = state::get();
        let mut inner = state.lock();
        clock::set(callback);
        if inner.since.is_some() {
            inner.since = Some(Moment::now());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityFlushAll(flag: u32) -> CUptiResult {
    done(|| {
        let state = state::get();
        if state.lock().buffers.is_none() {
            return Err(INVALID_OPERATION);
        }
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
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityFlush(
    _context: *mut c_void,
    _stream: u32,
    flag: u32,
) -> CUptiResult {
    cuptiActivityFlushAll(flag)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityGetNumDroppedRecords(
    _context: *mut c_void,
    _stream: u32,
    dropped: *mut usize,
) -> CUptiResult {
    done(|| {
        if dropped.is_null() {
            return Err(INVALID_PARAMETER);
        }
        let count = std::mem::take(&mut state::get().lock().dropped);
        // SAFETY: the program's place.
        unsafe { put(dropped, count) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityGetNextRecord(
    buffer: *mut u8,
    valid: usize,
    record: *mut *mut u8,
) -> CUptiResult {
    done(|| {
        if buffer.is_null() || record.is_null() {
            return Err(INVALID_PARAMETER);
        }
        // SAFETY: the program's buffer, of so many bytes, with records that are whole.
        unsafe {
            let before = record.read();
            let kind = |at: usize| buffer.add(at).cast::<u32>().read_unaligned();
            let at = match before.is_null() {
                true => 0,
                false => {
                    let at = before.addr().checked_sub(buffer.addr());
                    let at = at.filter(|at| *at + 4 <= valid).ok_or(INVALID_PARAMETER)?;
                    at + length(kind(at)).ok_or(INVALID_KIND)?
                }
            };
            if at + 4 > valid {
                return Err(MAX_LIMIT_REACHED);
            }
            let fits = length(kind(at)).ok_or(INVALID_KIND)? <= valid - at;
            match fits {
                true => put(record, buffer.add(at)),
                false => Err(MAX_LIMIT_REACHED),
            }
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiActivityPushExternalCorrelationId(kind: u32, id: u64) -> CUptiResult {
    done(|| {
        if !EXTERNAL.contains(&kind) {
            return Err(INVALID_PARAMETER);
        }
        activity::push_external(kind, id);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityPopExternalCorrelationId(
    kind: u32,
    last: *mut u64,
) -> CUptiResult {
    done(|| {
        if !EXTERNAL.contains(&kind) {
            return Err(INVALID_PARAMETER);
        }
        let id = activity::pop_external(kind).ok_or(QUEUE_EMPTY)?;
        if !last.is_null() {
            // SAFETY: the program's place.
            unsafe { last.write(id) };
        }
        Ok(())
    })
}

/// What attributes were set to, by their numbers. Nothing depends on them.
static ATTRIBUTES: Mutex<BTreeMap<u32, Vec<u8>>> = Mutex::new(BTreeMap::new());
/// `CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS`, the last one.
const LAST_ATTRIBUTE: u32 = 10;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivitySetAttribute(
    attribute: u32,
    size: *mut usize,
    value: *const u8,
) -> CUptiResult {
    done(|| {
        if size.is_null() || value.is_null() || attribute > LAST_ATTRIBUTE {
            return Err(INVALID_PARAMETER);
        }
        // SAFETY: the program's.
        let bytes = unsafe { std::slice::from_raw_parts(value, size.read().min(8)) };
        let mut all = ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(attribute, bytes.to_vec());
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiActivityGetAttribute(
    attribute: u32,
    size: *mut usize,
    value: *mut u8,
) -> CUptiResult {
    done(|| {
        if size.is_null() || value.is_null() || attribute > LAST_ATTRIBUTE {
            return Err(INVALID_PARAMETER);
        }
        let all = ATTRIBUTES.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all.get(&attribute).cloned().unwrap_or(vec![0; 8]);
        // SAFETY: the program's.
        unsafe {
            let room = size.read();
            if room < known.len().min(room.max(1)) {
                return Err(PARAMETER_SIZE_NOT_SUFFICIENT);
            }
            let len = known.len().min(room);
            value.copy_from_nonoverlapping(known.as_ptr(), len);
            put(size, len)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetTimestamp(timestamp: *mut u64) -> CUptiResult {
    // SAFETY: the program's place.
    done(|| unsafe { put(timestamp, clock::now()) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetVersion(version: *mut u32) -> CUptiResult {
    // SAFETY: the program's place.
    done(|| unsafe { put(version, VERSION) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetResultString(
    result: CUptiResult,
    text: *mut *const c_char,
) -> CUptiResult {
    done(|| {
        let name = name(result).ok_or(INVALID_PARAMETER)?;
        // SAFETY: the program's place.
        unsafe { put(text, name.as_ptr()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetErrorMessage(
    result: CUptiResult,
    text: *mut *const c_char,
) -> CUptiResult {
    // SAFETY: as of the program.
    unsafe { cuptiGetResultString(result, text) }
}

/// The last error of the thread, once.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiGetLastError() -> CUptiResult {
    LAST.replace(SUCCESS)
}

/// Ends everything; the process may begin anew.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiFinalize() -> CUptiResult {
    done(|| {
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
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiSubscribe(
    subscriber: *mut *mut c_void,
    callback: Option<Callback>,
    user: *mut c_void,
) -> CUptiResult {
    done(|| {
        let callback = callback.ok_or(INVALID_PARAMETER)?;
        if subscriber.is_null() {
            return Err(INVALID_PARAMETER);
        }
        if !client::is_there() {
            return Err(NOT_INITIALIZED);
        }
        if !callbacks::subscribe(callback, user) {
            return Err(MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
        }
        state::update();
        // SAFETY: the program's place.
        unsafe { put(subscriber, callbacks::handle()) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiSubscribe_v2(
    subscriber: *mut *mut c_void,
    callback: Option<Callback>,
    user: *mut c_void,
    _parameters: *mut c_void,
) -> CUptiResult {
    // SAFETY: as of the program.
    unsafe { cuptiSubscribe(subscriber, callback, user) }
}

fn subscribed(subscriber: *mut c_void) -> Result<(), CUptiResult> {
    match subscriber == callbacks::handle() {
        true => Ok(()),
        false => Err(INVALID_PARAMETER),
    }
}

fn domain(domain: u32) -> Result<(), CUptiResult> {
    match (domain::DRIVER..=domain::STATE).contains(&domain) {
        true => Ok(()),
        false => Err(INVALID_PARAMETER),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiUnsubscribe(subscriber: *mut c_void) -> CUptiResult {
    done(|| {
        subscribed(subscriber)?;
        callbacks::unsubscribe();
        Ok(())
    })
}

/// Of other domains than the driver's calls nothing ever comes.
#[unsafe(no_mangle)]
pub extern "C" fn cuptiEnableCallback(
    enable: u32,
    subscriber: *mut c_void,
    of: u32,
    cbid: u32,
) -> CUptiResult {
    done(|| {
        subscribed(subscriber)?;
        domain(of)?;
        if of == domain::DRIVER {
            callbacks::name(cbid).ok_or(INVALID_PARAMETER)?;
            callbacks::enable(cbid, enable != 0);
            state::update();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiEnableDomain(enable: u32, subscriber: *mut c_void, of: u32) -> CUptiResult {
    done(|| {
        subscribed(subscriber)?;
        domain(of)?;
        if of == domain::DRIVER {
            callbacks::enable_all(enable != 0);
            state::update();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiEnableAllDomains(enable: u32, subscriber: *mut c_void) -> CUptiResult {
    cuptiEnableDomain(enable, subscriber, domain::DRIVER)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetCallbackState(
    enabled: *mut u32,
    subscriber: *mut c_void,
    of: u32,
    cbid: u32,
) -> CUptiResult {
    done(|| {
        subscribed(subscriber)?;
        domain(of)?;
        let is = of == domain::DRIVER && callbacks::is_enabled(cbid);
        // SAFETY: the program's place.
        unsafe { put(enabled, is.into()) }
    })
}

/// Names that were asked for: they stay.
static NAMES: Mutex<BTreeMap<u32, CString>> = Mutex::new(BTreeMap::new());

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetCallbackName(
    of: u32,
    cbid: u32,
    text: *mut *const c_char,
) -> CUptiResult {
    done(|| {
        domain(of)?;
        if of != domain::DRIVER {
            return Err(NOT_SUPPORTED);
        }
        let name = callbacks::name(cbid).ok_or(INVALID_PARAMETER)?;
        let mut all = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = all
            .entry(cbid)
            .or_insert_with(|| CString::new(name).unwrap_or_default());
        // SAFETY: the program's place. An entry's text stays where it is.
        unsafe { put(text, kept.as_ptr()) }
    })
}

/// The domains of which callbacks come.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiSupportedDomains(
    count: *mut usize,
    domains: *mut *const u32,
) -> CUptiResult {
    static DOMAINS: [u32; 1] = [domain::DRIVER];
    done(|| {
        // SAFETY: the program's places.
        unsafe {
            put(count, DOMAINS.len())?;
            put(domains, DOMAINS.as_ptr())
        }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn cuptiSetThreadIdType(kind: u32) -> CUptiResult {
    done(|| match kind {
        0..=activity::THREAD_ID_SYSTEM => {
            THREAD_ID_TYPE.store(kind, Ordering::Relaxed);
            Ok(())
        }
        _ => Err(INVALID_PARAMETER),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetThreadIdType(kind: *mut u32) -> CUptiResult {
    // SAFETY: the program's place.
    done(|| unsafe { put(kind, THREAD_ID_TYPE.load(Ordering::Relaxed)) })
}

/// The records' number of a context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetContextId(context: *mut c_void, number: *mut u32) -> CUptiResult {
    done(|| {
        if context.is_null() {
            // CUPTI_ERROR_INVALID_CONTEXT
            return Err(3);
        }
        // SAFETY: the program's place.
        unsafe { put(number, records::number(context.addr() as u64)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetStreamIdEx(
    _context: *mut c_void,
    stream: *mut c_void,
    per_thread: u8,
    number: *mut u32,
) -> CUptiResult {
    done(|| {
        let handle = match (stream.addr() as u64, per_thread) {
            (0, 1) => 2,
            (handle, _) => handle,
        };
        // SAFETY: the program's place.
        unsafe { put(number, gtrace_recording::observe::stream_number(handle)) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetStreamId(
    context: *mut c_void,
    stream: *mut c_void,
    number: *mut u32,
) -> CUptiResult {
    // SAFETY: as of the program.
    unsafe { cuptiGetStreamIdEx(context, stream, 0, number) }
}

/// The device of a context is asked of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetDeviceId(context: *mut c_void, device: *mut u32) -> CUptiResult {
    done(|| {
        let found = client::device_of(context).ok_or(3u32)?;
        // SAFETY: the program's place.
        unsafe { put(device, found) }
    })
}

/// The records' number of a graph.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetGraphId(graph: *mut c_void, number: *mut u32) -> CUptiResult {
    done(|| {
        if graph.is_null() {
            return Err(INVALID_PARAMETER);
        }
        // SAFETY: the program's place.
        unsafe { put(number, records::graph(graph.addr() as u64)) }
    })
}

/// That of an instance: no graph has the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetGraphExecId(
    instance: *mut c_void,
    number: *mut u32,
) -> CUptiResult {
    // SAFETY: as of the program.
    unsafe { cuptiGetGraphId(instance, number) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn cuptiGetGraphNodeId(node: *mut c_void, number: *mut u64) -> CUptiResult {
    done(|| {
        if node.is_null() {
            return Err(INVALID_PARAMETER);
        }
        // SAFETY: the program's place.
        unsafe { put(number, node.addr() as u64) }
    })
}
