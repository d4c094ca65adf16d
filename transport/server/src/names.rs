//! Names of operations, for statistics and messages.

use std::collections::HashMap;
use std::sync::OnceLock;

use gtrace_cuda::{Api, functions, payload};
use gtrace_protocol::OpId;

fn names() -> &'static HashMap<OpId, &'static str> {
    static NAMES: OnceLock<HashMap<OpId, &'static str>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let described = [Api::Driver, Api::Nvml]
            .into_iter()
            .flat_map(functions::all)
            .map(|function| (function.id(), function.name));
        let own = payload::NAMES.iter().map(|(name, id)| (*id, *name));
        described.chain(own).collect()
    })
}

/// The operation's name; its number if there is no such operation.
pub(crate) fn name_of(op: OpId) -> String {
    match names().get(&op) {
        Some(name) => (*name).to_owned(),
        None if op == 0 => "unknown".to_owned(),
        None => format!("{op:#010x}"),
    }
}

/// Whether there is such an operation.
pub(crate) fn is_known(op: OpId) -> bool {
    names().contains_key(&op)
}
