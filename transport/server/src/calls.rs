//! From an operation's id to what makes its call.

use std::sync::Arc;

use gtrace_cuda::types::driver::{
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, CUDA_SUCCESS,
};
use gtrace_cuda::{Kind, context_of_frame, payload};
use gtrace_protocol::{DecodeError, Flags, OpId, Reader, Writer, op_id};

use crate::exec::{Called, Code, Exec};
use crate::generated::driver;
use crate::special;
use crate::worker::handles::{HANDLES_MAX, INVALID_CONTEXT, INVALID_VALUE, OUT_OF_MEMORY};
use crate::worker::lending::NotLent;
use crate::worker::objects::Object;
use crate::worker::session::Session;

/// CUDA_ERROR_INVALID_DEVICE
const INVALID_DEVICE: Code = 101;

const EVENT_RECORD: OpId = op_id("cuEventRecord");
const EVENT_RECORD_WITH_FLAGS: OpId = op_id("cuEventRecordWithFlags");
const EVENT_DESTROY: OpId = op_id("cuEventDestroy_v2");
const CAPTURE_BEGIN: OpId = op_id("cuStreamBeginCapture_v2");
const CAPTURE_INTO: OpId = op_id("cuStreamBeginCaptureToGraph");
const CAPTURE_END: OpId = op_id("cuStreamEndCapture");
const WAIT_EVENT: OpId = op_id("cuStreamWaitEvent");
const COPY: OpId = op_id("cuMemcpy");
const COPY_ASYNC: OpId = op_id("cuMemcpyAsync");
const COPY_ON_DEVICE: OpId = op_id("cuMemcpyDtoD_v2");
const COPY_ON_DEVICE_ASYNC: OpId = op_id("cuMemcpyDtoDAsync_v2");
const CONTEXT_CREATE: OpId = op_id("cuCtxCreate_v2");
const CONTEXT_DESTROY: OpId = op_id("cuCtxDestroy_v2");
const PRIMARY_RETAIN: OpId = op_id("cuDevicePrimaryCtxRetain");
const PRIMARY_RESET: OpId = op_id("cuDevicePrimaryCtxReset_v2");
const PRIMARY_RELEASE: OpId = op_id("cuDevicePrimaryCtxRelease_v2");
const PHYSICAL_CREATE: OpId = op_id("cuMemCreate");
const PHYSICAL_RETAIN: OpId = op_id("cuMemRetainAllocationHandle");
const PHYSICAL_RELEASE: OpId = op_id("cuMemRelease");
const PHYSICAL_PROPERTIES: OpId = op_id("cuMemGetAllocationPropertiesFromHandle");
const PHYSICAL_MAP: OpId = op_id("cuMemMap");
const PHYSICAL_UNMAP: OpId = op_id("cuMemUnmap");
const ADDRESSES_FREE: OpId = op_id("cuMemAddressFree");
const CONDITIONAL_CREATE: OpId = op_id("cuGraphConditionalHandleCreate");
const GRAPH_DESTROY: OpId = op_id("cuGraphDestroy");
const GRAPH_WITHIN: OpId = op_id("cuGraphChildGraphNodeGetGraph");

/// Has no memory of this process lent in the stream that is the first argument.
fn not_lent<'a>(
    exec: &Exec,
    session: &'a Session,
    r: &Reader<'_>,
) -> Result<Option<NotLent<'a>>, DecodeError> {
    let stream = r.clone().u64()?;
    // Of one that is none the call itself says so.
    let stream = exec.handles.real(Kind::Stream, stream).ok();
    Ok(stream.map(|stream| session.event_lifetime.not_lent(stream)))
}

/// Makes a conditional handle, whose number is the driver's.
fn create_conditional(exec: &mut Exec, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let graph = r.clone().u64()?;
    let session = Arc::clone(&exec.session);
    // Else another lane could end the object before it is known.
    let mut objects = session.objects.lock();
    if objects.len() >= HANDLES_MAX {
        return Ok(OUT_OF_MEMORY);
    }
    let code = driver::dispatch(CONDITIONAL_CREATE, exec, r, w)?;
    if code == 0 {
        objects.add(Object::Conditional, Reader::new(w.as_slice()).u64()?, graph);
    }
    Ok(code)
}

/// A call about physical memory, whose handles are the driver's numbers.
fn physical(exec: &mut Exec, op: OpId, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    let mut arguments = r.clone();
    let session = Arc::clone(&exec.session);
    let memory = &session.memory;
    // Else another lane could use what is made here before it is known, or be noted before this one although it came later.
    let mut physical = session.physical.lock();
    match op {
        PHYSICAL_CREATE => {
            let bytes = arguments.u64()?;
            if physical.len() >= HANDLES_MAX || !memory.reserve(bytes) {
                return Ok(OUT_OF_MEMORY);
            }
            let code = driver::dispatch(op, exec, r, w);
            let not_taken = match (&code, Reader::new(w.as_slice()).u64()) {
                (Ok(0), Ok(handle)) => physical.add(handle, bytes),
                _ => bytes,
            };
            memory.give_back(not_taken);
            code
        }
        PHYSICAL_RETAIN => {
            let address = arguments.u64()?;
            if physical.len() >= HANDLES_MAX {
                return Ok(OUT_OF_MEMORY);
            }
            let code = driver::dispatch(op, exec, r, w)?;
            if code == 0 {
                physical.retain(Reader::new(w.as_slice()).u64()?, address);
            }
            Ok(code)
        }
        PHYSICAL_MAP => {
            let (address, bytes) = (arguments.u64()?, arguments.u64()?);
            let (_offset, handle) = (arguments.u64()?, arguments.u64()?);
            if physical.bytes(handle).is_none() {
                return Ok(INVALID_VALUE);
            }
            let code = driver::dispatch(op, exec, r, w)?;
            if code == 0 {
                memory.give_back(physical.map(address, bytes, handle));
            }
            Ok(code)
        }
        // Addresses that are free have no mappings.
        PHYSICAL_UNMAP | ADDRESSES_FREE => {
            let (address, bytes) = (arguments.u64()?, arguments.u64()?);
            let code = driver::dispatch(op, exec, r, w)?;
            if code == 0 {
                memory.give_back(physical.unmap(address, bytes));
            }
            Ok(code)
        }
        // Released, or asked about.
        _ => {
            let handle = arguments.u64()?;
            if physical.bytes(handle).is_none() {
                return Ok(INVALID_VALUE);
            }
            let code = driver::dispatch(op, exec, r, w)?;
            if code == 0 && op == PHYSICAL_RELEASE {
                memory.give_back(physical.release(handle));
            }
            Ok(code)
        }
    }
}

/// Makes the call of `op` with the arguments of `r`, and puts what comes back into `w`.
///
/// An operation that does not exist answers NOT_SUPPORTED.
pub(crate) fn call(exec: &mut Exec, op: OpId, r: &mut Reader<'_>, w: &mut Writer) -> Called {
    match op {
        payload::SNAPSHOT => return special::snapshot(exec, r, w),
        payload::IMAGE => return special::image(exec, r),
        payload::HOST_NEXT => return special::host_next(exec, r, w),
        payload::HOST_DONE => return special::host_done(exec, r),
        payload::DEFER_COPY => return special::defer_copy(exec, r),
        payload::COLLECT => return special::take(exec, r),
        payload::MAP_HOST => return special::map_host(exec, r, w),
        payload::UNMAP_HOST => return special::unmap_host(exec, r),
        payload::EXPORT_MEMORY => return special::export_memory(exec, r, w),
        payload::IMPORT_MEMORY => return special::import_memory(exec, r, w),
        payload::GRAPH_NODE => return special::graph_node(exec, r, w),
        payload::GRAPH_KERNEL => return special::graph_kernel(exec, r, w),
        payload::GRAPH_COPY => return special::graph_copy(exec, r, w),
        payload::GRAPH_HOST => return special::graph_host(exec, r, w),
        payload::GRAPH_MEMORY => return special::graph_memory(exec, r, w),
        payload::GRAPH_INSTANTIATE => return special::graph_instantiate(exec, r, w),
        payload::GRAPH_UPDATE => return special::graph_update(exec, r, w),
        payload::CAPTURE_INFO => return special::capture_info(exec, r, w),
        _ => {}
    }
    if exec.request.flags.has(Flags::NVML) {
        return special::nvml_call(exec, op, r, w);
    }
    match op {
        EVENT_RECORD | EVENT_RECORD_WITH_FLAGS => {
            let event = r.clone().u64()?;
            let code = driver::dispatch(op, exec, r, w)?;
            if code == 0 {
                exec.recorded(event);
            }
            Ok(code)
        }
        PHYSICAL_CREATE | PHYSICAL_RETAIN | PHYSICAL_RELEASE | PHYSICAL_PROPERTIES
        | PHYSICAL_MAP | PHYSICAL_UNMAP | ADDRESSES_FREE => physical(exec, op, r, w),
        CONDITIONAL_CREATE => create_conditional(exec, r, w),
        GRAPH_DESTROY => {
            let graph = r.clone().u64()?;
            let hidden = exec.handles.hide(graph);
            let code = driver::dispatch(op, exec, r, w);
            match code {
                Ok(0) => exec.session.objects.graph_ended(graph),
                _ => exec.handles.show(&hidden),
            }
            code
        }
        GRAPH_WITHIN => {
            let node = r.clone().u64()?;
            let code = driver::dispatch(op, exec, r, w)?;
            if code == 0 {
                // It is the node's, and its nodes with it.
                let graph = Reader::new(w.as_slice()).u64()?;
                exec.handles.move_to(graph, node);
            }
            Ok(code)
        }
        EVENT_DESTROY => {
            let session = Arc::clone(&exec.session);
            let _alone = session.event_lifetime.destroying();
            driver::dispatch(op, exec, r, w)
        }
        CONTEXT_DESTROY | PRIMARY_RESET | PRIMARY_RELEASE => {
            // Others can go on until these are complete, and with the lock below they cannot.
            special::settle_copies(exec);
            let session = Arc::clone(&exec.session);
            let _alone = session.event_lifetime.destroying();
            session.deferred_copies.context_ends(exec.driver);
            // A call for a primary context names only the device, not the number.
            let mut named = r.clone();
            let (device, context) = match op {
                CONTEXT_DESTROY => (None, Some(context_of_frame(named.u64()?))),
                _ => {
                    let device = named.i32()?;
                    (Some(device), session.primary(device))
                }
            };
            let code = driver::dispatch(op, exec, r, w);
            // Whoever has another reference to a primary context keeps it. Of other failures it is not known.
            let ended = match code {
                Ok(INVALID_VALUE | INVALID_DEVICE | INVALID_CONTEXT) | Err(_) => false,
                Ok(_) => !device.is_some_and(|device| {
                    op == PRIMARY_RELEASE && special::primary_is_active(exec.driver, device)
                }),
            };
            if ended {
                let only = context.filter(|_| op == CONTEXT_DESTROY);
                session.event_lifetime.context_ended(only);
                if let Some(context) = context {
                    session.objects.context_ended(context);
                }
            }
            // They change this thread's stack of contexts behind the cache, as does making one.
            exec.context_changed();
            code
        }
        PRIMARY_RETAIN => {
            // A client calls it by one handle for ever, whatever the driver calls it next time.
            let mut named = r.clone();
            let (handle, device) = (named.u64()?, named.i32()?);
            let before = match Kind::Context.matches(handle) {
                true => exec.handles.remove(Kind::Context, handle),
                false => None,
            };
            let code = driver::dispatch(op, exec, r, w);
            if matches!(code, Ok(0)) {
                let context = context_of_frame(handle);
                exec.session.primary_retained(device, context);
            } else if let Some(real) = before {
                exec.handles.insert(Kind::Context, handle, real);
            }
            exec.context_changed();
            code
        }
        CONTEXT_CREATE => {
            let code = driver::dispatch(op, exec, r, w)?;
            exec.context_changed();
            Ok(code)
        }
        CAPTURE_BEGIN | CAPTURE_INTO => {
            let session = Arc::clone(&exec.session);
            let _not_lent = not_lent(exec, &session, r)?;
            session.event_lifetime.capture_begins();
            let code = driver::dispatch(op, exec, r, w);
            if !matches!(code, Ok(0)) {
                session.event_lifetime.capture_ended();
            }
            code
        }
        // It becomes part of the capture that recorded the event.
        WAIT_EVENT if exec.session.event_lifetime.is_capturing() => {
            let session = Arc::clone(&exec.session);
            let _not_lent = not_lent(exec, &session, r)?;
            driver::dispatch(op, exec, r, w)
        }
        CAPTURE_END => {
            let code = driver::dispatch(op, exec, r, w);
            // Any other failure leaves the capture as it is, if there is one: it may be another stream's.
            let over = [
                CUDA_SUCCESS,
                CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
            ];
            if code
                .as_ref()
                .is_ok_and(|code| over.contains(&code.cast_unsigned()))
            {
                exec.session.event_lifetime.capture_ended();
            }
            code
        }
        // Copies of the client's own memory come in other frames. The driver would take any other
        // address for one of this process, and read or write there what the client likes.
        COPY => driver::dispatch(COPY_ON_DEVICE, exec, r, w),
        COPY_ASYNC => driver::dispatch(COPY_ON_DEVICE_ASYNC, exec, r, w),
        op => driver::dispatch(op, exec, r, w),
    }
}
