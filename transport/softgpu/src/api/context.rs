//! Contexts.

use std::ffi::{c_int, c_uint, c_ulonglong, c_void};
use std::sync::atomic::Ordering;

use crate::abi::{Answer, In, Out, api};
use crate::context::{self, Context, bound, current};
use crate::error::{
    INVALID_CONTEXT, INVALID_VALUE, NOT_SUPPORTED, PEER_ACCESS_ALREADY_ENABLED,
    PEER_ACCESS_NOT_ENABLED, fail_if,
};
use crate::state::state;
use crate::sync::lock;
use crate::types::{CtxCreateParams, Device, Handle};

/// Scheduling (mask 7, one of 0, 1, 2, 4), map host, keep local memory, and the newer flags.
pub(crate) fn check_flags(flags: c_uint) -> Answer {
    let one_way = matches!(flags & 7, 0 | 1 | 2 | 4);
    fail_if(!one_way || flags & !0xff != 0, INVALID_VALUE)
}

fn create(out: Out<Handle>, flags: c_uint, device: Device) -> Answer {
    let state = state()?;
    let device = state.device(device)?;
    fail_if(out.is_null(), INVALID_VALUE)?;
    check_flags(flags)?;
    let context = Context::create(state, device, flags, None)?;
    let handle = context.handle;
    context::push(context);
    out.put(handle)
}

/// The context of a handle, or for 0 the current one.
fn given_or_bound(handle: Handle) -> Answer<std::sync::Arc<Context>> {
    if handle == 0 {
        bound()
    } else {
        Context::of(handle)
    }
}

api! { TABLE:
    /// Creates a context and makes it current.
    fn cuCtxCreate_v2(context: Out<Handle>, flags: c_uint, device: Device) {
        create(context, flags, device)
    }

    /// As [`cuCtxCreate_v2`]; binding to some multiprocessors is not supported.
    fn cuCtxCreate_v3(
        context: Out<Handle>, affinity: *const c_void, count: c_int, flags: c_uint, device: Device,
    ) {
        fail_if(!affinity.is_null() && count != 0, NOT_SUPPORTED)?;
        create(context, flags, device)
    }

    /// As [`cuCtxCreate_v2`]; parameters may be given, but ask for nothing: binding to some
    /// multiprocessors and contexts of graphics are not supported.
    fn cuCtxCreate_v4(
        context: Out<Handle>, parameters: In<CtxCreateParams>, flags: c_uint, device: Device,
    ) {
        if !parameters.is_null() {
            let given = parameters.get()?;
            if (given.affinity != 0 && given.affinity_count != 0) || given.cig != 0 {
                return Err(NOT_SUPPORTED);
            }
        }
        create(context, flags, device)
    }

    /// Destroys a context that was created; one that is current is taken off the stack.
    fn cuCtxDestroy_v2(context: Handle) {
        let found = Context::of(context)?;
        fail_if(found.primary, INVALID_CONTEXT)?;
        if context::top().is_some_and(|top| top.handle == context) {
            context::pop();
        }
        found.destroy(state()?);
        Ok(())
    }

    /// The current context, to which its user is attached once more.
    fn cuCtxAttach(context: Out<Handle>, flags: c_uint) {
        let found = current()?;
        fail_if(flags != 0 || context.is_null(), INVALID_VALUE)?;
        found.attached.fetch_add(1, Ordering::Relaxed);
        context.put(found.handle)
    }

    /// Ends what [`cuCtxAttach`] began, or destroys the current context.
    fn cuCtxDetach(context: Handle) {
        let found = Context::of(context)?;
        fail_if(current()?.handle != context, INVALID_CONTEXT)?;
        let less = |attached: u32| attached.checked_sub(1);
        if found.attached.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok() {
            return Ok(());
        }
        fail_if(found.primary, INVALID_CONTEXT)?;
        context::pop();
        found.destroy(state()?);
        Ok(())
    }

    /// Makes a context current on top of the stack.
    fn cuCtxPushCurrent_v2 = cuCtxPushCurrent(context: Handle) {
        context::push(Context::of(context)?);
        Ok(())
    }

    /// Takes the current context off the stack, and says which it was.
    fn cuCtxPopCurrent = cuCtxPopCurrent_v2(context: Out<Handle>) {
        state()?;
        let popped = context::pop().ok_or(INVALID_CONTEXT)?;
        context.offer(popped.handle);
        Ok(())
    }

    /// Replaces the current context; 0 takes it away.
    fn cuCtxSetCurrent(context: Handle) {
        state()?;
        let context = if context == 0 { None } else { Some(Context::of(context)?) };
        context::replace(context);
        Ok(())
    }

    /// The current context, or 0.
    fn cuCtxGetCurrent(context: Out<Handle>) {
        state()?;
        context.put(context::top().map_or(0, |top| top.handle))
    }

    /// The device of the current context.
    fn cuCtxGetDevice(device: Out<Device>) {
        device.put(state()?.ordinal(bound()?.device))
    }

    /// The device of a context, of the current one for 0.
    fn cuCtxGetDevice_v2(device: Out<Device>, context: Handle) {
        device.put(state()?.ordinal(given_or_bound(context)?.device))
    }

    /// Flags of the current context.
    fn cuCtxGetFlags(flags: Out<c_uint>) {
        flags.put(bound()?.flags.load(Ordering::Relaxed))
    }

    /// Sets flags of the current context.
    fn cuCtxSetFlags(flags: c_uint) {
        check_flags(flags)?;
        bound()?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    /// A number that no other context of the process has.
    fn cuCtxGetId(context: Handle, id: Out<c_ulonglong>) {
        id.put(given_or_bound(context)?.handle >> 4 & 0xffff_ffff)
    }

    /// Version of the API with which a context was made.
    fn cuCtxGetApiVersion(context: Handle, version: Out<c_uint>) {
        given_or_bound(context)?;
        version.put(3020)
    }

    /// Waits for all work of the current context and reports its error.
    fn cuCtxSynchronize() {
        bound()?.synchronise()
    }

    /// Waits for all work of a context and reports its error.
    fn cuCtxSynchronize_v2(context: Handle) {
        given_or_bound(context)?.synchronise()
    }

    /// Value of a limit.
    fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        value.put(current()?.limit(limit)?)
    }

    /// Sets a limit.
    fn cuCtxSetLimit(limit: u32, value: usize) {
        current()?.set_limit(limit, value)
    }

    /// Preferred division of cache and shared memory: kept, without effect.
    fn cuCtxGetCacheConfig(config: Out<u32>) {
        config.put(current()?.cache_config.load(Ordering::Relaxed))
    }

    /// Preferred division of cache and shared memory: kept, without effect.
    fn cuCtxSetCacheConfig(config: u32) {
        fail_if(config > 3, INVALID_VALUE)?;
        current()?.cache_config.store(config, Ordering::Relaxed);
        Ok(())
    }

    /// Width of the banks of shared memory: always 4 bytes.
    fn cuCtxGetSharedMemConfig(config: Out<u32>) {
        current()?;
        config.put(1)
    }

    /// Width of the banks of shared memory: without effect.
    fn cuCtxSetSharedMemConfig(config: u32) {
        current()?;
        fail_if(config > 2, INVALID_VALUE)
    }

    /// Range of stream priorities; they have no effect here.
    fn cuCtxGetStreamPriorityRange(least: Out<c_int>, greatest: Out<c_int>) {
        current()?;
        least.offer(crate::api::stream::LEAST_PRIORITY);
        greatest.offer(crate::api::stream::GREATEST_PRIORITY);
        Ok(())
    }

    /// Forgets what the L2 cache was to keep: nothing.
    fn cuCtxResetPersistingL2Cache() {
        current().map(|_| ())
    }

    /// Lets the current context use the memory of another.
    fn cuCtxEnablePeerAccess(peer: Handle, flags: c_uint) {
        let (context, peer) = (current()?, Context::of(peer)?);
        fail_if(flags != 0, INVALID_VALUE)?;
        fail_if(peer.handle == context.handle, INVALID_CONTEXT)?;
        let mut peers = lock(&context.peers);
        fail_if(peers.contains(&peer.handle), PEER_ACCESS_ALREADY_ENABLED)?;
        peers.push(peer.handle);
        Ok(())
    }

    /// Ends the use of another context's memory.
    fn cuCtxDisablePeerAccess(peer: Handle) {
        let (context, peer) = (current()?, Context::of(peer)?);
        let mut peers = lock(&context.peers);
        let at = peers.iter().position(|other| *other == peer.handle);
        peers.remove(at.ok_or(PEER_ACCESS_NOT_ENABLED)?);
        Ok(())
    }
}
