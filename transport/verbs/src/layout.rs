//! The declarations of `ffi` against the header of the installed rdma-core.

use std::fmt::Write as _;
use std::fs;
use std::mem::{offset_of, size_of};
use std::path::Path;
use std::process::Command;

use crate::ffi;

/// Fields whose places are compared, by type; `size` stands for the size of the whole.
macro_rules! places {
    ($($name:ident: $($field:ident)*;)*) => {
        vec![$($((stringify!($name), stringify!($field), offset_of!(ffi::$name, $field)),)*)*]
    };
}

macro_rules! sizes {
    ($($name:ident)*) => { vec![$((stringify!($name), size_of::<ffi::$name>()),)*] };
}

macro_rules! numbers {
    ($($name:ident)*) => { vec![$((stringify!($name), i64::from(ffi::$name)),)*] };
}

#[test]
fn structures_and_numbers_are_those_of_the_header() {
    if !Path::new("/usr/include/infiniband/verbs.h").exists() {
        eprintln!("skipped: infiniband/verbs.h is not installed (libibverbs-dev)");
        return;
    }
    let places = places! {
        ibv_context_ops: poll_cq req_notify_cq post_send post_recv;
        ibv_context: device ops cmd_fd async_fd num_comp_vectors;
        ibv_pd: context handle;
        ibv_mr: context pd addr length handle lkey rkey;
        ibv_comp_channel: context fd refcnt;
        ibv_cq: context channel cq_context handle cqe;
        ibv_qp: context pd send_cq recv_cq srq handle qp_num;
        ibv_qp_cap: max_send_wr max_recv_wr max_send_sge max_recv_sge max_inline_data;
        ibv_qp_init_attr: qp_context send_cq recv_cq srq cap qp_type sq_sig_all;
        ibv_global_route: dgid flow_label sgid_index hop_limit traffic_class;
        ibv_ah_attr: grh dlid sl src_path_bits static_rate is_global port_num;
        ibv_qp_attr: qp_state path_mtu rq_psn sq_psn dest_qp_num qp_access_flags cap ah_attr
            alt_ah_attr pkey_index max_rd_atomic max_dest_rd_atomic min_rnr_timer port_num timeout
            retry_cnt rnr_retry rate_limit;
        ibv_port_attr: state max_mtu active_mtu lid link_layer flags port_cap_flags2;
        ibv_sge: addr length lkey;
        ibv_send_wr: wr_id next sg_list num_sge opcode send_flags;
        ibv_recv_wr: wr_id next sg_list num_sge;
        ibv_wc: wr_id status opcode vendor_err byte_len qp_num wc_flags dlid_path_bits;
    };
    let sizes = sizes! {
        ibv_context_ops ibv_mr ibv_comp_channel ibv_qp_cap ibv_qp_init_attr ibv_gid
        ibv_global_route ibv_ah_attr ibv_qp_attr ibv_port_attr ibv_sge ibv_send_wr ibv_recv_wr
        ibv_wc
    };
    let numbers = numbers! {
        IBV_QPS_INIT IBV_QPS_RTR IBV_QPS_RTS IBV_QPT_RC IBV_QP_STATE IBV_QP_ACCESS_FLAGS
        IBV_QP_PKEY_INDEX IBV_QP_PORT IBV_QP_AV IBV_QP_PATH_MTU IBV_QP_TIMEOUT IBV_QP_RETRY_CNT
        IBV_QP_RNR_RETRY IBV_QP_RQ_PSN IBV_QP_MAX_QP_RD_ATOMIC IBV_QP_MIN_RNR_TIMER IBV_QP_SQ_PSN
        IBV_QP_MAX_DEST_RD_ATOMIC IBV_QP_DEST_QPN IBV_WR_RDMA_WRITE IBV_WR_RDMA_WRITE_WITH_IMM
        IBV_WR_SEND_WITH_IMM IBV_SEND_SIGNALED IBV_SEND_INLINE IBV_WC_RECV
        IBV_WC_RECV_RDMA_WITH_IMM IBV_WC_WITH_IMM IBV_ACCESS_LOCAL_WRITE IBV_ACCESS_REMOTE_WRITE
        IBV_PORT_ACTIVE IBV_LINK_LAYER_ETHERNET
    };
    let mut program = String::from("#include <stddef.h>\n#include <infiniband/verbs.h>\n");
    for (name, field, place) in places {
        writeln!(
            program,
            "_Static_assert(offsetof(struct {name}, {field}) == {place}, \"{name}.{field}\");"
        )
        .unwrap();
    }
    let remote = offset_of!(ffi::ibv_send_wr, wr.rdma.remote_addr);
    let key = offset_of!(ffi::ibv_send_wr, wr.rdma.rkey);
    let sent = offset_of!(ffi::ibv_send_wr, imm_data_invalidated_rkey_union.imm_data);
    let received = offset_of!(ffi::ibv_wc, imm_data_invalidated_rkey_union.imm_data);
    writeln!(
        program,
        "_Static_assert(offsetof(struct ibv_send_wr, wr.rdma.remote_addr) == {remote}, \"addr\");\n\
         _Static_assert(offsetof(struct ibv_send_wr, wr.rdma.rkey) == {key}, \"rkey\");\n\
         _Static_assert(offsetof(struct ibv_send_wr, imm_data) == {sent}, \"imm_data\");\n\
         _Static_assert(offsetof(struct ibv_wc, imm_data) == {received}, \"imm_data of wc\");"
    )
    .unwrap();
    for (name, size) in sizes {
        let kind = if name == "ibv_gid" { "union" } else { "struct" };
        writeln!(
            program,
            "_Static_assert(sizeof({kind} {name}) == {size}, \"size of {name}\");"
        )
        .unwrap();
    }
    for (name, number) in numbers {
        writeln!(program, "_Static_assert({name} == {number}, \"{name}\");").unwrap();
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("layout.c");
    fs::write(&file, program).unwrap();
    let output = Command::new("cc").arg("-fsyntax-only").arg(&file).output();
    let output = output.expect("cc is there wherever this is built");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
