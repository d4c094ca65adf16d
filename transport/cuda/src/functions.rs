//! How each function travels, by subject. Written by hand.

mod absent;
mod array;
mod context;
mod device;
mod graph;
mod launch;
mod memory;
mod module;
mod nvml;
mod pool;
mod stream;
mod tensor_map;

use crate::{Api, Function};

pub use absent::{WITHOUT_SIGNATURE, why_absent};
pub use array::{ARRAY, REFERENCE, TEXTURE};
pub use context::CONTEXT;
pub use device::DEVICE;
pub use graph::GRAPH;
pub use launch::LAUNCH;
pub use memory::{COPY, MEMORY};
pub use module::{LIBRARY, LINK, MODULE};
pub use nvml::{Refusal, refusal};
pub use pool::{IPC, POOL, VIRTUAL};
pub use stream::{EVENT, STREAM};
pub use tensor_map::TENSOR_MAP;

/// The driver's functions, by subject.
pub const DRIVER: &[&[Function]] = &[
    DEVICE, CONTEXT, MEMORY, COPY, POOL, IPC, VIRTUAL, STREAM, EVENT, MODULE, LIBRARY, LINK,
    LAUNCH, GRAPH, TENSOR_MAP, ARRAY, TEXTURE, REFERENCE,
];

/// NVML's functions, by subject.
pub const NVML: &[&[Function]] = nvml::ALL;

const _: () = crate::unique(&[DRIVER, NVML]);

/// All functions of a library.
pub fn all(api: Api) -> impl Iterator<Item = &'static Function> {
    let tables = match api {
        Api::Driver => DRIVER,
        Api::Nvml => NVML,
    };
    tables.iter().copied().flatten()
}
