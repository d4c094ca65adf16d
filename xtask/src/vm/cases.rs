//! The cases that the guest's program has, asked from itself.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
pub(crate) use gtrace_vm_tests::protocol::ListedCase as Case;

use crate::shell;

/// All cases of `program`, in the order in which they run.
pub(crate) fn list(program: &Path) -> Result<Vec<Case>> {
    let printed = shell::read(Command::new(program).arg("list"))?;
    let parse = |line| {
        serde_json::from_str(line).with_context(|| format!("the guest's program lists {line:?}"))
    };
    printed.lines().map(parse).collect()
}
