//! Reliable-connected queue pairs.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::completion::{Completion, Completions};
use crate::context::Port;
use crate::error::VerbsError;
use crate::ffi::{
    IBV_ACCESS_REMOTE_WRITE, IBV_QP_ACCESS_FLAGS, IBV_QP_AV, IBV_QP_DEST_QPN,
    IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER, IBV_QP_PATH_MTU,
    IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_RQ_PSN,
    IBV_QP_SQ_PSN, IBV_QP_STATE, IBV_QP_TIMEOUT, IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
    IBV_QPT_RC, IBV_SEND_INLINE, IBV_SEND_SIGNALED, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
    IBV_WR_SEND_WITH_IMM, empty, ibv_ah_attr, ibv_gid, ibv_global_route, ibv_qp, ibv_qp_attr,
    ibv_qp_cap, ibv_qp_init_attr, ibv_recv_wr, ibv_send_wr, ibv_sge,
    imm_data_invalidated_rkey_union_t, rdma_t, wr_t,
};
use crate::region::{Access, Domain, Region};

/// Time for an acknowledgement, as 4.096 us * 2^n: 67 ms.
const TIMEOUT: u8 = 14;
/// Times that a request is sent again before the queue pair fails.
const RETRIES: u8 = 7;
/// Sent again for ever while the peer has no receive posted; its end is seen by other means.
const RECEIVER_RETRIES: u8 = 7;
/// Wait before that, as the InfiniBand specification numbers it: 0.64 ms.
const RECEIVER_WAIT: u8 = 12;
/// Routers that a packet may pass.
const HOPS: u8 = 64;
/// Bits of a packet sequence number.
pub(crate) const PSN: u32 = 0xff_ffff;

/// Room of a queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Work requests that may be under way.
    pub sends: u32,
    /// Receives that may be posted.
    pub receives: u32,
    /// Bytes that are wanted to fit into a work request; there may be fewer.
    pub inline: u32,
}

/// The other end, as its side says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Number of its queue pair.
    pub number: u32,
    /// Sequence number of its first packet.
    pub psn: u32,
    /// Its address.
    pub gid: [u8; 16],
    /// Its local identifier, on InfiniBand.
    pub lid: u16,
    /// Its largest packet, as [`Port::mtu`].
    pub mtu: u8,
}

/// Where a write goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Address in the peer's process.
    pub address: u64,
    /// The peer's key of the region.
    pub key: u32,
}

/// A reliable-connected queue pair with a completion queue of its own.
pub struct QueuePair {
    raw: NonNull<ibv_qp>,
    inline: usize,
    // Dropped after the queue pair is destroyed.
    completions: Completions,
    domain: Arc<Domain>,
}

// SAFETY: libibverbs may be called from any thread; `&mut self` keeps calls apart.
unsafe impl Send for QueuePair {}

impl QueuePair {
    /// A queue pair that is not connected yet.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Call`], for one if the device has not that much room.
    pub fn new(domain: &Arc<Domain>, capacity: Capacity) -> Result<Self, VerbsError> {
        let context = &domain.context;
        let depth = capacity.sends.saturating_add(capacity.receives);
        let completions = Completions::new(context, depth)?;
        let mut inline = capacity.inline;
        loop {
            let mut attributes = ibv_qp_init_attr {
                qp_context: ptr::null_mut(),
                send_cq: completions.raw.as_ptr(),
                recv_cq: completions.raw.as_ptr(),
                srq: ptr::null_mut(),
                cap: ibv_qp_cap {
                    max_send_wr: capacity.sends,
                    max_recv_wr: capacity.receives,
                    max_send_sge: 1,
                    max_recv_sge: 1,
                    max_inline_data: inline,
                },
                qp_type: IBV_QPT_RC,
                sq_sig_all: 0,
            };
            // SAFETY: domain and completion queue are open; the library writes what it granted.
            let raw = unsafe {
                (context.functions.ibv_create_qp)(domain.raw.as_ptr(), &raw mut attributes)
            };
            if let Some(raw) = NonNull::new(raw) {
                return Ok(Self {
                    raw,
                    inline: attributes.cap.max_inline_data.min(inline) as usize,
                    completions,
                    domain: Arc::clone(domain),
                });
            }
            // Devices differ in what fits into a work request, and refuse instead of granting less.
            match inline {
                0 => return Err(VerbsError::last("ibv_create_qp")),
                _ => inline /= 2,
            }
        }
    }

    /// Its number, for the other side.
    pub fn number(&self) -> u32 {
        // SAFETY: the queue pair is open.
        unsafe { self.raw.as_ref() }.qp_num
    }

    /// Connects it: from here on it receives, and then sends. `psn` is the sequence number of its
    /// first packet, as the other side was notified; with [`Access::RemoteWrite`] the other side may
    /// write to regions of that access.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Call`].
    pub fn connect(
        &mut self,
        port: &Port,
        gid_index: u8,
        peer: &Peer,
        psn: u32,
        access: Access,
    ) -> Result<(), VerbsError> {
        let access = match access {
            Access::Local => 0,
            Access::RemoteWrite => IBV_ACCESS_REMOTE_WRITE,
        };
        let ready = ibv_qp_attr {
            qp_state: IBV_QPS_INIT,
            port_num: port.number,
            qp_access_flags: access,
            ..empty()
        };
        self.modify(
            ready,
            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
        )?;
        let receives = ibv_qp_attr {
            qp_state: IBV_QPS_RTR,
            path_mtu: u32::from(port.mtu.min(peer.mtu).clamp(1, 5)),
            rq_psn: peer.psn & PSN,
            dest_qp_num: peer.number,
            min_rnr_timer: RECEIVER_WAIT,
            ah_attr: ibv_ah_attr {
                grh: ibv_global_route {
                    dgid: ibv_gid { raw: peer.gid },
                    sgid_index: gid_index,
                    hop_limit: HOPS,
                    ..empty()
                },
                dlid: peer.lid,
                is_global: 1,
                port_num: port.number,
                ..empty()
            },
            ..empty()
        };
        self.modify(
            receives,
            IBV_QP_STATE
                | IBV_QP_AV
                | IBV_QP_PATH_MTU
                | IBV_QP_DEST_QPN
                | IBV_QP_RQ_PSN
                | IBV_QP_MAX_DEST_RD_ATOMIC
                | IBV_QP_MIN_RNR_TIMER,
        )?;
        let sends = ibv_qp_attr {
            qp_state: IBV_QPS_RTS,
            sq_psn: psn & PSN,
            timeout: TIMEOUT,
            retry_cnt: RETRIES,
            rnr_retry: RECEIVER_RETRIES,
            ..empty()
        };
        self.modify(
            sends,
            IBV_QP_STATE
                | IBV_QP_SQ_PSN
                | IBV_QP_TIMEOUT
                | IBV_QP_RETRY_CNT
                | IBV_QP_RNR_RETRY
                | IBV_QP_MAX_QP_RD_ATOMIC,
        )
    }

    fn modify(&mut self, mut attributes: ibv_qp_attr, mask: c_int) -> Result<(), VerbsError> {
        // SAFETY: the queue pair is open; the library reads the fields that the mask names.
        let status = unsafe {
            (self.domain.context.functions.ibv_modify_qp)(
                self.raw.as_ptr(),
                &raw mut attributes,
                mask,
            )
        };
        VerbsError::check("ibv_modify_qp", status)
    }

    /// Posts `count` receives for writes with a number, which need no memory of their own. Possible
    /// once it is connected.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Call`], for one if more are posted than there is room for.
    pub fn receive(&mut self, count: u32) -> Result<(), VerbsError> {
        for _ in 0..count {
            let mut request = ibv_recv_wr {
                wr_id: 0,
                next: ptr::null_mut(),
                sg_list: ptr::null_mut(),
                num_sge: 0,
            };
            let mut bad = ptr::null_mut();
            // SAFETY: the queue pair is open; the request is read before the call returns.
            let status = unsafe {
                let context = &*self.raw.as_ref().context;
                let Some(post) = context.ops.post_recv else {
                    return Err(VerbsError::OldLibrary("post_recv"));
                };
                post(self.raw.as_ptr(), &raw mut request, &raw mut bad)
            };
            VerbsError::check("ibv_post_recv", status)?;
        }
        Ok(())
    }

    /// Writes `len` bytes of `from` at `at` to `to`. With a number, the other side learns of it by a
    /// completion, and all that was written before is there by then. With a name, the
    /// completion here has it; until then the bytes must stay as they are.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Outside`], [`VerbsError::Call`].
    pub fn write(
        &mut self,
        from: &Region,
        (at, len): (usize, usize),
        to: Remote,
        number: Option<u32>,
        name: Option<u64>,
    ) -> Result<(), VerbsError> {
        let opcode = match number {
            Some(_) => IBV_WR_RDMA_WRITE_WITH_IMM,
            None => IBV_WR_RDMA_WRITE,
        };
        let inline = match len <= self.inline {
            true => IBV_SEND_INLINE,
            false => 0,
        };
        let mut piece = from.piece(at, len)?;
        self.post(
            opcode,
            inline,
            Some(&mut piece),
            to,
            number.unwrap_or(0),
            name,
        )
    }

    /// Sends a number alone.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Call`].
    pub fn send_imm(&mut self, number: u32, name: Option<u64>) -> Result<(), VerbsError> {
        let nowhere = Remote { address: 0, key: 0 };
        self.post(IBV_WR_SEND_WITH_IMM, 0, None, nowhere, number, name)
    }

    fn post(
        &mut self,
        opcode: u32,
        flags: u32,
        piece: Option<&mut ibv_sge>,
        to: Remote,
        number: u32,
        name: Option<u64>,
    ) -> Result<(), VerbsError> {
        let signal = name.map_or(0, |_| IBV_SEND_SIGNALED);
        let mut request = ibv_send_wr {
            wr_id: name.unwrap_or(0),
            next: ptr::null_mut(),
            num_sge: i32::from(piece.is_some()),
            sg_list: piece.map_or(ptr::null_mut(), ptr::from_mut),
            opcode,
            send_flags: flags | signal,
            imm_data_invalidated_rkey_union: imm_data_invalidated_rkey_union_t {
                imm_data: number.to_be(),
            },
            wr: wr_t {
                rdma: rdma_t {
                    remote_addr: to.address,
                    rkey: to.key,
                },
            },
            ..empty()
        };
        let mut bad = ptr::null_mut();
        // SAFETY: the queue pair is open; the request and its piece are read before the call
        // returns, and the memory that the piece names is registered.
        let status = unsafe {
            let context = &*self.raw.as_ref().context;
            let Some(post) = context.ops.post_send else {
                return Err(VerbsError::OldLibrary("post_send"));
            };
            post(self.raw.as_ptr(), &raw mut request, &raw mut bad)
        };
        VerbsError::check("ibv_post_send", status)
    }

    /// Takes what has completed; `each` gets it in order. Whether there was anything.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Work`] if a work request failed, and with it the queue pair;
    /// [`VerbsError::Call`].
    #[inline]
    pub fn poll(&mut self, each: impl FnMut(Completion)) -> Result<bool, VerbsError> {
        self.completions.poll(each)
    }

    /// The next completion makes the descriptor readable. Whoever arms it polls once more before it
    /// sleeps: what completed before raises no event.
    ///
    /// # Errors
    ///
    /// [`VerbsError::Call`].
    pub fn arm(&mut self) -> Result<(), VerbsError> {
        self.completions.arm()
    }

    /// Takes the events that made the descriptor readable.
    pub fn clear(&mut self) {
        self.completions.clear();
    }
}

impl AsFd for QueuePair {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.completions.as_fd()
    }
}

impl QueuePair {
    /// That its device is not being taken away ([`Context::check`](crate::Context::check)).
    ///
    /// # Errors
    ///
    /// [`VerbsError::Gone`].
    pub fn check(&self) -> Result<(), VerbsError> {
        self.domain.context.check()
    }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        if !self.domain.context.is_ours() {
            return;
        }
        // SAFETY: destroyed once, before its completion queue.
        let _ = unsafe { (self.domain.context.functions.ibv_destroy_qp)(self.raw.as_ptr()) };
    }
}

impl fmt::Debug for QueuePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("QueuePair").field(&self.number()).finish()
    }
}
