//! PID 1 of the guest, and every case that it runs.
//!
//! One program in five roles: PID 1; `case NAME`, the process that a case runs in; `helper NAME`,
//! a further process that a case starts; `agent`, which runs commands for a first machine in the second; and, on the host, `list`, which names the cases.

mod agent;
mod cases;
mod guest;
mod pid1;
mod sys;

use std::process::ExitCode;

use anyhow::bail;
use gtrace_vm_tests::protocol::ListedCase;

fn main() -> ExitCode {
    if std::process::id() == 1 {
        pid1::main();
    }
    let mut args = std::env::args().skip(1);
    let role = args.next();
    let rest: Vec<String> = args.collect();
    let done = match role.as_deref() {
        Some("list") => list(),
        Some("case") => return guest::outcome::run_case(&rest),
        Some("helper") => helper(&rest),
        Some("agent") => agent::serve(),
        _ => Err(anyhow::anyhow!(
            "this is PID 1 of a test machine; use `cargo xtask vm-test`, or `list` to see the cases"
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gtrace-vm-init: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Every case, one a line.
fn list() -> anyhow::Result<()> {
    for case in cases::all() {
        let listed = ListedCase {
            name: case.name.to_owned(),
            scenario: case.scenario,
            patience: case.patience,
            core: case.core,
            idle: case.idle,
        };
        println!("{}", serde_json::to_string(&listed)?);
    }
    Ok(())
}

fn helper(args: &[String]) -> anyhow::Result<()> {
    let Some((name, args)) = args.split_first() else {
        bail!("a helper wants a name");
    };
    let Some((_, run)) = cases::helper(name) else {
        bail!("there is no helper {name:?}: enter it in HELPERS");
    };
    run(args)
}
