//! `cargo xtask run`: from a checkout to a running daemon.

use std::os::unix::process::CommandExt as _;

use anyhow::{Context as _, Result, bail};

use crate::context::{Context, Profile};
use crate::packages::Privilege;
use crate::setup;
use crate::shell::{display, step};

/// Builds as this user, then becomes `gtrace run` as root. Returns only on failure.
pub(crate) fn exec(context: &Context, args: &[String]) -> Result<()> {
    let privilege = Privilege::find();
    setup::build(context, Profile::Release, &["gtrace"])?;
    if privilege == Privilege::None {
        bail!("`gtrace run` loads BPF programs and needs root: run this as root, or install sudo");
    }
    setup::mounts(privilege);
    let program = context.binary(Profile::Release, "gtrace");
    let mut command = privilege.command(&program.to_string_lossy());
    command.arg("run").args(args);
    step(format!("starting {}", display(&command)));
    let error = command.exec();
    Err(error).with_context(|| format!("cannot start `{}`", display(&command)))
}
