//! A completion queue and the channel that reports it.
#![allow(unsafe_code)]

use std::array;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use rustix::fs::OFlags;

use crate::context::Context;
use crate::error::VerbsError;
use crate::ffi::{
    IBV_WC_RECV, IBV_WC_RECV_RDMA_WITH_IMM, IBV_WC_WITH_IMM, empty, ibv_comp_channel, ibv_cq,
    ibv_wc,
};

/// Completions that are taken at once.
const BATCH: usize = 16;

/// What became of a work request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its name, as it was posted. Of what was received: 0.
    pub id: u64,
    /// What it was.
    pub outcome: Outcome,
}

/// What a work request was, when it succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The peer has acknowledged it.
    Sent,
    /// The peer wrote to a region of ours, and sent this number along.
    Written(u32),
    /// The peer sent this number alone.
    SendImm(u32),
    /// Something came that carries no number.
    NoImm,
}

/// A completion queue with a channel of its own.
pub(crate) struct Completions {
    pub(crate) raw: NonNull<ibv_cq>,
    channel: NonNull<ibv_comp_channel>,
    context: Arc<Context>,
}

// SAFETY: libibverbs may be called from any thread; `&mut self` keeps polls apart.
unsafe impl Send for Completions {}

impl Completions {
    /// With room for `depth` completions.
    pub(crate) fn new(context: &Arc<Context>, depth: u32) -> Result<Self, VerbsError> {
        let functions = context.functions;
        // SAFETY: the context is open.
        let channel = unsafe { (functions.ibv_create_comp_channel)(context.raw.as_ptr()) };
        let channel =
            NonNull::new(channel).ok_or_else(|| VerbsError::last("ibv_create_comp_channel"))?;
        // SAFETY: context and channel are open; no context of ours is attached.
        let raw = unsafe {
            (functions.ibv_create_cq)(
                context.raw.as_ptr(),
                i32::try_from(depth).unwrap_or(i32::MAX),
                ptr::null_mut(),
                channel.as_ptr(),
                0,
            )
        };
        let Some(raw) = NonNull::new(raw) else {
            let error = VerbsError::last("ibv_create_cq");
            // SAFETY: nothing else knows the channel yet.
            let _ = unsafe { (functions.ibv_destroy_comp_channel)(channel.as_ptr()) };
            return Err(error);
        };
        let completions = Self {
            raw,
            channel,
            context: Arc::clone(context),
        };
        // Else taking an event that another wake-up has taken would sleep.
        let flags = rustix::fs::fcntl_getfl(&completions)
            .and_then(|flags| rustix::fs::fcntl_setfl(&completions, flags | OFlags::NONBLOCK));
        flags.map_err(|error| VerbsError::Call {
            call: "fcntl of a completion channel",
            source: error.into(),
        })?;
        Ok(completions)
    }

    /// Takes what has completed; `each` gets it in order. Whether there was anything.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Work`] if a work request failed, [`VerbsError::Call`]; those of `each`.
    #[inline]
    pub(crate) fn poll(&mut self, mut each: impl FnMut(Completion)) -> Result<bool, VerbsError> {
        let mut found: [ibv_wc; BATCH] = array::from_fn(|_| empty());
        let mut any = false;
        loop {
            // SAFETY: the queue is open, and has room for as many entries as it is given.
            let count = unsafe {
                let context = &*self.raw.as_ref().context;
                let Some(poll) = context.ops.poll_cq else {
                    return Err(VerbsError::OldLibrary("poll_cq"));
                };
                poll(self.raw.as_ptr(), BATCH as i32, found.as_mut_ptr())
            };
            let Ok(count) = usize::try_from(count) else {
                return Err(VerbsError::returned("ibv_poll_cq", count));
            };
            for work in &found[..count.min(BATCH)] {
                each(completion(work)?);
            }
            any |= count > 0;
            if count < BATCH {
                return Ok(any);
            }
        }
    }

    /// The next completion makes the channel readable. Whoever arms it polls once more before it
    /// sleeps: what completed before raises no event.
    pub(crate) fn arm(&mut self) -> Result<(), VerbsError> {
        // SAFETY: the queue is open.
        let status = unsafe {
            let context = &*self.raw.as_ref().context;
            let Some(notify) = context.ops.req_notify_cq else {
                return Err(VerbsError::OldLibrary("req_notify_cq"));
            };
            notify(self.raw.as_ptr(), 0)
        };
        VerbsError::check("ibv_req_notify_cq", status)
    }

    /// Takes the events that made the channel readable.
    pub(crate) fn clear(&mut self) {
        loop {
            let (mut queue, mut attached) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: the channel is open and does not block.
            let status = unsafe {
                (self.context.functions.ibv_get_cq_event)(
                    self.channel.as_ptr(),
                    &raw mut queue,
                    &raw mut attached,
                )
            };
            if status != 0 {
                return;
            }
            // SAFETY: an event of this queue, the only one of the channel, is acknowledged once.
            unsafe { (self.context.functions.ibv_ack_cq_events)(queue, 1) };
        }
    }
}

impl AsFd for Completions {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the channel has its descriptor open until it is destroyed.
        unsafe { BorrowedFd::borrow_raw(self.channel.as_ref().fd) }
    }
}

impl Drop for Completions {
    fn drop(&mut self) {
        if !self.context.is_ours() {
            return;
        }
        // SAFETY: the queue pair that uses them is gone, as it owns them; all events are
        // acknowledged.
        unsafe {
            let _ = (self.context.functions.ibv_destroy_cq)(self.raw.as_ptr());
            let _ = (self.context.functions.ibv_destroy_comp_channel)(self.channel.as_ptr());
        }
    }
}

fn completion(work: &ibv_wc) -> Result<Completion, VerbsError> {
    if work.status != 0 {
        return Err(VerbsError::Work(status(work.status)));
    }
    // SAFETY: both of the union are numbers of the same size.
    let number = u32::from_be(unsafe { work.imm_data_invalidated_rkey_union.imm_data });
    let with = work.wc_flags & IBV_WC_WITH_IMM != 0;
    let outcome = match (work.opcode & IBV_WC_RECV != 0, with) {
        (false, _) => Outcome::Sent,
        (true, true) if work.opcode == IBV_WC_RECV_RDMA_WITH_IMM => Outcome::Written(number),
        (true, true) => Outcome::SendImm(number),
        (true, false) => Outcome::NoImm,
    };
    Ok(Completion {
        id: work.wr_id,
        outcome,
    })
}

/// `enum ibv_wc_status` in words.
fn status(status: u32) -> &'static str {
    match status {
        1 => "local length error",
        2 => "local queue pair operation error",
        4 => "local protection error",
        5 => "flushed, as the queue pair has failed",
        7 => "bad response",
        8 => "local access error",
        9 => "the other side calls the request invalid",
        10 => "the other side does not allow the access",
        11 => "the other side failed",
        12 => "the other side does not answer",
        13 => "the other side has posted no receive",
        16 => "aborted by the other side",
        19 => "fatal error of the device",
        20 => "the response came too late",
        _ => "general error",
    }
}
