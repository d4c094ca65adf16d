//! Streams.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::Arc;

use crate::abi::{Answer, Out, api};
use crate::command::{Command, MemOp, UserData, WaitValue};
use crate::context::{Context, bound, current};
use crate::error::{INVALID_HANDLE, INVALID_VALUE, NOT_READY, fail_if};
use crate::event::Event;
use crate::graph::capture;
use crate::graph::work::{Host, Work, captured};
use crate::memory;
use crate::stream::{NON_BLOCKING, STREAMS, Stream, locate, resolve};
use crate::types::{Device, DevicePtr, Handle, HostFn, StreamCallback};

/// Stream priorities; greater is a lower number. They have no effect here.
pub(crate) const LEAST_PRIORITY: c_int = 0;
pub(crate) const GREATEST_PRIORITY: c_int = -5;

fn create(out: Out<Handle>, flags: c_uint, priority: c_int) -> Answer {
    let context = current()?;
    fail_if(out.is_null() || flags & !NON_BLOCKING != 0, INVALID_VALUE)?;
    // CUDA takes priorities out of range for the nearest one in it.
    let priority = priority.clamp(GREATEST_PRIORITY, LEAST_PRIORITY);
    out.put(Stream::create(&context, flags, priority))
}

/// The stream of a handle for questions that no error of the device stops.
fn known(stream: Handle) -> Answer<(Arc<Context>, Arc<Stream>)> {
    locate(bound()?, stream)
}

/// What `CU_STREAM_WAIT_VALUE_*` have: how to compare, and that writes of other devices are flushed.
const WAIT_FLAGS: u32 = 3 | 1 << 30;

/// `address` as an aligned word of device or page-locked memory.
fn word(address: DevicePtr, wide: bool) -> Answer<DevicePtr> {
    let size = if wide { 8 } else { 4 };
    let known = memory::find_range(address, size).is_some();
    if known && address.is_multiple_of(size) {
        Ok(address)
    } else {
        Err(INVALID_VALUE)
    }
}

/// A wait for a word.
pub(super) fn wait(address: DevicePtr, value: u64, flags: u32, wide: bool) -> Answer<MemOp> {
    fail_if(flags & !WAIT_FLAGS != 0, INVALID_VALUE)?;
    Ok(MemOp::Wait(WaitValue {
        address: word(address, wide)?,
        value,
        wide,
        flags,
    }))
}

/// A store to a word; the only flag says that nothing before it has to be flushed.
pub(super) fn write(address: DevicePtr, value: u64, flags: u32, wide: bool) -> Answer<MemOp> {
    fail_if(flags > 1, INVALID_VALUE)?;
    let address = word(address, wide)?;
    Ok(MemOp::Write {
        address,
        value,
        wide,
    })
}

pub(super) fn issue(stream: Handle, op: Answer<MemOp>) -> Answer {
    let (context, stream) = resolve(stream)?;
    let op = op?;
    if captured(&stream, || Ok(Work::MemOp(op)))? {
        return Ok(());
    }
    stream.submit(&context, Command::MemOp(op))
}

api! { TABLE:
    /// Creates a stream.
    fn cuStreamCreate(stream: Out<Handle>, flags: c_uint) {
        create(stream, flags, LEAST_PRIORITY)
    }

    /// Creates a stream with a priority.
    fn cuStreamCreateWithPriority(stream: Out<Handle>, flags: c_uint, priority: c_int) {
        create(stream, flags, priority)
    }

    /// Destroys a stream; its work is still done.
    fn cuStreamDestroy_v2(stream: Handle) {
        crate::state::state()?;
        let gone = STREAMS.remove(stream).ok_or(INVALID_HANDLE)?;
        capture::stream_destroyed(&gone);
        Ok(())
    }

    /// Waits for the work of a stream and gives the error of its context.
    fn cuStreamSynchronize, cuStreamSynchronize_ptsz [stream] (stream: Handle) {
        let (context, stream) = known(stream)?;
        capture::refuse(&stream)?;
        capture::refuse_implicit(&stream)?;
        capture::refuse_unsafe()?;
        stream.quiesce(&context);
        context.health.check()
    }

    /// Whether all work of a stream is done: success or `CUDA_ERROR_NOT_READY`.
    fn cuStreamQuery, cuStreamQuery_ptsz [stream] (stream: Handle) {
        let (context, stream) = resolve(stream)?;
        capture::refuse(&stream)?;
        capture::refuse_implicit(&stream)?;
        capture::refuse_unsafe()?;
        fail_if(!stream.is_idle(&context), NOT_READY)
    }

    /// Lets a stream wait for the latest record of an event.
    fn cuStreamWaitEvent, cuStreamWaitEvent_ptsz [stream] (
        stream: Handle, event: Handle, flags: c_uint,
    ) {
        let (context, stream) = resolve(stream)?;
        let handle = event;
        let event = Event::of(event)?;
        fail_if(flags > 1, INVALID_VALUE)?;
        if flags == 1 && captured(&stream, || Ok(Work::WaitEvent(handle, Arc::clone(&event))))? {
            return Ok(());
        }
        if capture::wait_event(&stream, &event)? {
            return Ok(());
        }
        let record = event.latest();
        if !record.is_complete() {
            return stream.submit(&context, Command::Await(record.done, record.number));
        }
        capture::refuse_implicit(&stream)
    }

    /// Calls a function of the program when the stream gets there; not after an error.
    fn cuLaunchHostFunc, cuLaunchHostFunc_ptsz [stream] (
        stream: Handle, function: HostFn, data: *mut c_void,
    ) {
        let (context, stream) = resolve(stream)?;
        let function = function.ok_or(INVALID_VALUE)?;
        let data = UserData(data);
        if captured(&stream, || Ok(Work::Host(Host { function, data })))? {
            return Ok(());
        }
        stream.submit(&context, Command::HostFn(function, data))
    }

    /// Calls a function of the program with the status when the stream gets there.
    fn cuStreamAddCallback, cuStreamAddCallback_ptsz [stream] (
        stream: Handle, function: StreamCallback, data: *mut c_void, flags: c_uint,
    ) {
        let handle = stream;
        let (context, stream) = resolve(stream)?;
        let function = function.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        stream.submit(&context, Command::Callback(function, handle, UserData(data)))
    }

    /// Flags of a stream.
    fn cuStreamGetFlags, cuStreamGetFlags_ptsz [stream] (stream: Handle, flags: Out<c_uint>) {
        flags.put(known(stream)?.1.flags)
    }

    /// Priority of a stream.
    fn cuStreamGetPriority, cuStreamGetPriority_ptsz [stream] (
        stream: Handle, priority: Out<c_int>,
    ) {
        priority.put(known(stream)?.1.priority)
    }

    /// A number that no other stream of the process has.
    fn cuStreamGetId, cuStreamGetId_ptsz [stream] (stream: Handle, id: Out<c_ulonglong>) {
        id.put(known(stream)?.1.id)
    }

    /// Context of a stream.
    fn cuStreamGetCtx, cuStreamGetCtx_ptsz [stream] (stream: Handle, context: Out<Handle>) {
        context.put(known(stream)?.0.handle)
    }

    /// Context of a stream; green contexts are not offered.
    fn cuStreamGetCtx_v2, cuStreamGetCtx_v2_ptsz [stream] (
        stream: Handle, context: Out<Handle>, green: Out<Handle>,
    ) {
        context.put(known(stream)?.0.handle)?;
        green.offer(0);
        Ok(())
    }

    /// Green context of a stream: none.
    fn cuStreamGetGreenCtx(stream: Handle, green: Out<Handle>) {
        known(stream)?;
        green.put(0)
    }

    /// Device of a stream.
    fn cuStreamGetDevice, cuStreamGetDevice_ptsz [stream] (stream: Handle, device: Out<Device>) {
        let (context, _) = known(stream)?;
        device.put(crate::state::state()?.ordinal(context.device))
    }

    /// Attaches managed memory to a stream: without effect, as all streams may use it.
    fn cuStreamAttachMemAsync, cuStreamAttachMemAsync_ptsz [stream] (
        stream: Handle, address: DevicePtr, length: usize, flags: c_uint,
    ) {
        let _ = length;
        let (_, stream) = resolve(stream)?;
        capture::refuse(&stream)?;
        let managed = memory::find(address).is_some_and(|found| found.kind == memory::Kind::Managed);
        fail_if(!managed || !matches!(flags, 1 | 2 | 4), INVALID_VALUE)
    }

    /// Lets a stream wait until a word has a value.
    fn cuStreamWaitValue32, cuStreamWaitValue32_ptsz = cuStreamWaitValue32_v2, cuStreamWaitValue32_v2_ptsz [stream] (
        stream: Handle, address: DevicePtr, value: u32, flags: c_uint,
    ) {
        issue(stream, wait(address, value.into(), flags, false))
    }

    /// Lets a stream wait until a word of 64 bits has a value.
    fn cuStreamWaitValue64, cuStreamWaitValue64_ptsz = cuStreamWaitValue64_v2, cuStreamWaitValue64_v2_ptsz [stream] (
        stream: Handle, address: DevicePtr, value: u64, flags: c_uint,
    ) {
        issue(stream, wait(address, value, flags, true))
    }

    /// Writes a word in a stream.
    fn cuStreamWriteValue32, cuStreamWriteValue32_ptsz = cuStreamWriteValue32_v2, cuStreamWriteValue32_v2_ptsz [stream] (
        stream: Handle, address: DevicePtr, value: u32, flags: c_uint,
    ) {
        issue(stream, write(address, value.into(), flags, false))
    }

    /// Writes a word of 64 bits in a stream.
    fn cuStreamWriteValue64, cuStreamWriteValue64_ptsz = cuStreamWriteValue64_v2, cuStreamWriteValue64_v2_ptsz [stream] (
        stream: Handle, address: DevicePtr, value: u64, flags: c_uint,
    ) {
        issue(stream, write(address, value, flags, true))
    }
}
