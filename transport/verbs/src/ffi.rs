//! The structures and numbers of `infiniband/verbs.h`, as rdma-sys has them of the installed header.
//!
//! Of its functions none is used: they would make every program depend on libibverbs. Those of
//! `library` are loaded instead. The unions of rdma-sys are written by hand; the module `layout`
//! compares them with the header.
#![allow(unsafe_code, unreachable_pub)]

use std::ffi::{c_int, c_uint};
use std::mem;

#[cfg(test)]
pub use rdma_sys::ibv_context_ops;
pub use rdma_sys::{
    ibv_ah_attr, ibv_comp_channel, ibv_context, ibv_cq, ibv_device, ibv_gid, ibv_global_route,
    ibv_mr, ibv_pd, ibv_port_attr, ibv_qp, ibv_qp_attr, ibv_qp_cap, ibv_qp_init_attr, ibv_recv_wr,
    ibv_send_wr, ibv_sge, ibv_wc, imm_data_invalidated_rkey_union_t, rdma_t, wr_t,
};

/// Plain structures of C, of which all bytes may be zero: numbers, pointers, unions of these, and
/// optional functions.
pub trait Plain {}

macro_rules! plain {
    ($($name:ident)*) => { $(impl Plain for $name {})* };
}

plain!(ibv_ah_attr ibv_global_route ibv_port_attr ibv_qp_attr ibv_send_wr ibv_wc);

/// One that says nothing yet.
pub fn empty<T: Plain>() -> T {
    // SAFETY: all bytes of a plain structure may be zero.
    unsafe { mem::zeroed() }
}

macro_rules! numbers {
    ($($name:ident: $type:ty = $value:expr;)*) => {
        $(pub const $name: $type = $value;)*
    };
}

// Enumerations that are combined are structures in rdma-sys, and arguments of another type in C.
numbers! {
    IBV_QPS_INIT: c_uint = rdma_sys::ibv_qp_state::IBV_QPS_INIT;
    IBV_QPS_RTR: c_uint = rdma_sys::ibv_qp_state::IBV_QPS_RTR;
    IBV_QPS_RTS: c_uint = rdma_sys::ibv_qp_state::IBV_QPS_RTS;
    IBV_QPT_RC: c_uint = rdma_sys::ibv_qp_type::IBV_QPT_RC;
    IBV_QP_STATE: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_STATE.0.cast_signed();
    IBV_QP_ACCESS_FLAGS: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_ACCESS_FLAGS.0.cast_signed();
    IBV_QP_PKEY_INDEX: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_PKEY_INDEX.0.cast_signed();
    IBV_QP_PORT: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_PORT.0.cast_signed();
    IBV_QP_AV: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_AV.0.cast_signed();
    IBV_QP_PATH_MTU: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_PATH_MTU.0.cast_signed();
    IBV_QP_TIMEOUT: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_TIMEOUT.0.cast_signed();
    IBV_QP_RETRY_CNT: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_RETRY_CNT.0.cast_signed();
    IBV_QP_RNR_RETRY: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_RNR_RETRY.0.cast_signed();
    IBV_QP_RQ_PSN: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_RQ_PSN.0.cast_signed();
    IBV_QP_MAX_QP_RD_ATOMIC: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_MAX_QP_RD_ATOMIC.0.cast_signed();
    IBV_QP_MIN_RNR_TIMER: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_MIN_RNR_TIMER.0.cast_signed();
    IBV_QP_SQ_PSN: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_SQ_PSN.0.cast_signed();
    IBV_QP_MAX_DEST_RD_ATOMIC: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_MAX_DEST_RD_ATOMIC.0.cast_signed();
    IBV_QP_DEST_QPN: c_int = rdma_sys::ibv_qp_attr_mask::IBV_QP_DEST_QPN.0.cast_signed();
    IBV_WR_RDMA_WRITE: c_uint = rdma_sys::ibv_wr_opcode::IBV_WR_RDMA_WRITE;
    IBV_WR_RDMA_WRITE_WITH_IMM: c_uint = rdma_sys::ibv_wr_opcode::IBV_WR_RDMA_WRITE_WITH_IMM;
    IBV_WR_SEND_WITH_IMM: c_uint = rdma_sys::ibv_wr_opcode::IBV_WR_SEND_WITH_IMM;
    IBV_SEND_SIGNALED: c_uint = rdma_sys::ibv_send_flags::IBV_SEND_SIGNALED.0;
    IBV_SEND_INLINE: c_uint = rdma_sys::ibv_send_flags::IBV_SEND_INLINE.0;
    IBV_WC_RECV: c_uint = rdma_sys::ibv_wc_opcode::IBV_WC_RECV;
    IBV_WC_RECV_RDMA_WITH_IMM: c_uint = rdma_sys::ibv_wc_opcode::IBV_WC_RECV_RDMA_WITH_IMM;
    IBV_WC_WITH_IMM: c_uint = rdma_sys::ibv_wc_flags::IBV_WC_WITH_IMM.0;
    IBV_ACCESS_LOCAL_WRITE: c_uint = rdma_sys::ibv_access_flags::IBV_ACCESS_LOCAL_WRITE.0;
    IBV_ACCESS_REMOTE_WRITE: c_uint = rdma_sys::ibv_access_flags::IBV_ACCESS_REMOTE_WRITE.0;
    IBV_PORT_ACTIVE: c_uint = rdma_sys::ibv_port_state::IBV_PORT_ACTIVE;
    // An enumeration without a name, which rdma-sys has not; of `ibv_port_attr.link_layer`.
    IBV_LINK_LAYER_ETHERNET: u8 = 2;
}
