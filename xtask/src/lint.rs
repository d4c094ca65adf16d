//! Checks that need no test to run: formatting, clippy, documentation.

use std::process::ExitCode;

use anyhow::{Result, anyhow, ensure};

use crate::context::Context;
use crate::report::Report;
use crate::shell::{self, step};
use crate::{codegen, deny, ebpf, modules, page, setup};

/// `cargo xtask lint`.
pub(crate) fn command(context: Context) -> Result<ExitCode> {
    let context = &context.with_clippy()?;
    let mut report = Report::default();
    report.begin("packages and probes");
    setup::host_packages(context)?;
    ebpf::build(context)?;
    checks(context, &mut report);
    if build(context, &mut report) {
        documentation(context, &mut report);
    }
    report.begin("licences and advisories");
    deny::check(context).add_to(&mut report);
    Ok(report.finish())
}

/// Adds the checks that compile nothing to `report`; one that fails does not keep the others from running.
pub(crate) fn checks(context: &Context, report: &mut Report) {
    report.begin("formatting and generated code");
    step("checking that the code is formatted");
    let probes = "--manifest-path=ebpf/Cargo.toml";
    let formatted = shell::run(context.cargo().args(["fmt", "--all", "--check"]))
        .and_then(|()| shell::run(context.cargo().args(["fmt", probes, "--check"])));
    report.check("formatting", formatted);

    step("checking that generated code is as it is generated");
    report.check("generated code", codegen::command(context, true, false));

    report.begin("page");
    page::check(context, report);

    report.begin("module cycles");
    report.check("module cycles", modules::check(&context.root));
}

/// Adds whether the documentation of the code has warnings. gtrace carries libraries, which a build has made before.
pub(crate) fn documentation(context: &Context, report: &mut Report) {
    report.begin("documentation");
    step("documentation, warnings denied");
    let doc = shell::run(
        context
            .cargo()
            .args(["doc", "--workspace", "--no-deps", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    );
    report.check("documentation", doc);
}

/// Builds everything, tests included; where clippy compiles, one pass does for both, and what it warns of is added.
/// Says whether there is something to run.
pub(crate) fn build(context: &Context, report: &mut Report) -> bool {
    report.begin("build, by clippy");
    step("building everything, tests included");
    let mut warned = Vec::new();
    let mut build = |arguments: &[&str]| {
        let mut command = context.cargo();
        command.args(["build", "--workspace"]).args(arguments);
        let (status, _) = shell::tee(&mut command, |line| {
            warned.extend(warned_package(line));
            false
        })?;
        ensure!(
            status.success(),
            "`{}` failed ({status})",
            shell::display(&command)
        );
        Ok(())
    };
    // gtrace carries some of the libraries: they are there when its turn comes. With a test their dependencies have the
    // features of the whole, and are not compiled again for it.
    let libraries = match context.clippy {
        Some(_) => build(&["--exclude=gtrace", "--lib", "--test=xid"]),
        None => Ok(()),
    };
    let built = libraries.and_then(|()| build(&["--all-targets"]));
    let can_run = built.is_ok();
    report.check("build", built);
    if context.clippy.is_some() {
        let clippy = match warned.as_slice() {
            [] => Ok(()),
            some => Err(anyhow!("warnings, which are above: {}", some.join(", "))),
        };
        report.check("clippy", clippy);
    }
    can_run
}

/// The target that cargo's closing line of it says had warnings.
fn warned_package(line: &str) -> Option<String> {
    let (_, rest) = line.split_once('`')?;
    let (target, count) = rest.split_once(" generated ")?;
    (line.contains("warning") && count.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| target.replace('`', ""))
}

#[cfg(test)]
mod tests {
    use super::warned_package;

    #[test]
    fn what_cargo_says_of_warnings_names_the_target() {
        let line = "warning: `gtrace-recorder` (lib test) generated 2 warnings (1 duplicate)";
        assert_eq!(
            warned_package(line).as_deref(),
            Some("gtrace-recorder (lib test)")
        );
        assert_eq!(
            warned_package("warning: `line` is both a function and a macro"),
            None
        );
        assert_eq!(warned_package("   Compiling gtrace v0.1.0"), None);
    }
}
