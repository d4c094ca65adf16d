//! Checks that need no test to run: formatting, clippy, documentation.

use std::process::ExitCode;

use anyhow::Result;

use crate::context::Context;
use crate::report::Report;
use crate::shell::{self, step};
use crate::{codegen, deny, ebpf, modules, setup};

/// `cargo xtask lint`.
pub(crate) fn command(context: &Context) -> Result<ExitCode> {
    let mut report = Report::default();
    report.begin("packages and probes");
    setup::host_packages(context)?;
    ebpf::build(context)?;
    checks(context, &mut report);
    report.begin("licences and advisories");
    deny::check(context).add_to(&mut report);
    Ok(report.finish())
}

/// Adds every check of this checkout to `report`; one that fails does not keep the others from running.
pub(crate) fn checks(context: &Context, report: &mut Report) {
    report.begin("formatting and generated code");
    step("checking that the code is formatted");
    let probes = "--manifest-path=ebpf/probes/Cargo.toml";
    let formatted = shell::run(context.cargo().args(["fmt", "--all", "--check"]))
        .and_then(|()| shell::run(context.cargo().args(["fmt", probes, "--check"])));
    report.check("formatting", formatted);

    step("checking that generated code is as it is generated");
    report.check("generated code", codegen::command(context, true, false));

    report.begin("module cycles");
    report.check("module cycles", modules::check(&context.root));

    report.begin("clippy");
    step("clippy, warnings denied");
    let clippy = shell::run(
        context
            .cargo()
            .args(["clippy", "--workspace", "--all-targets", "--quiet"])
            .args(["--", "-D", "warnings"]),
    );
    report.check("clippy", clippy);

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
