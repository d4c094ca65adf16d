//! `cargo xtask bench`: runs the benchmarks in release form.

use anyhow::Result;

use crate::context::{Context, Profile};
use crate::packages::Privilege;
use crate::setup;
use crate::shell::{self, display, step};

/// Builds gtrace and the benchmarks, and runs the latter with `args`, as root where that can be.
pub(crate) fn run(context: &Context, args: impl Iterator<Item = String>) -> Result<()> {
    setup::build(
        context,
        Profile::Release,
        &["gtrace", "gtrace-bench", "gtrace-softgpu"],
    )?;
    let privilege = Privilege::find();
    if privilege == Privilege::None {
        step("not root, and no sudo: benchmarks that load BPF programs will skip themselves");
    } else {
        setup::mounts(privilege);
    }
    let program = context.binary(Profile::Release, "gtrace-bench");
    let mut command = privilege.command(&program.to_string_lossy());
    command.current_dir(&context.root).args(args);
    step(format!("running {}", display(&command)));
    shell::run(&mut command)
}
