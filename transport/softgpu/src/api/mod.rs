//! The exported functions of the driver API, by subject.
#![allow(unsafe_code, non_snake_case)]
#![allow(
    clippy::too_many_arguments,
    reason = "the signatures are those of the driver API"
)]

pub mod absent;
pub mod array;
pub mod batch;
pub mod capture;
pub mod context;
pub mod copy;
pub mod device;
pub mod event;
pub mod fill;
pub mod graph;
pub mod graph_node;
mod graph_params;
pub mod init;
pub mod ipc;
pub mod launch;
pub mod library;
pub mod link;
pub mod lookup;
pub mod managed;
pub mod memory;
pub mod module;
pub mod occupancy;
pub mod pointer;
pub mod pool;
pub mod reference;
pub mod stream;
pub mod texture;
pub mod virtual_memory;

use crate::abi::Symbol;

/// Every exported function of the driver API.
pub(crate) static TABLES: &[&[Symbol]] = &[
    array::TABLE,
    batch::TABLE,
    capture::TABLE,
    context::TABLE,
    copy::TABLE,
    device::TABLE,
    event::TABLE,
    fill::TABLE,
    graph::TABLE,
    graph_node::TABLE,
    init::TABLE,
    ipc::TABLE,
    launch::TABLE,
    library::TABLE,
    link::TABLE,
    lookup::TABLE,
    managed::TABLE,
    memory::TABLE,
    module::TABLE,
    occupancy::TABLE,
    pointer::TABLE,
    pool::TABLE,
    reference::TABLE,
    stream::TABLE,
    texture::TABLE,
    virtual_memory::TABLE,
];
