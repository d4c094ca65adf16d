//! Prints what this host shows of its GPUs, as JSON: `cargo run -p gtrace-devices --example gpus`.
//! NVML runs in a child process, which is this same program with `nvml-child [LIBRARY]`.

use std::process::ExitCode;

use gtrace_devices::{Devices, NvmlClient, NvmlConfig, ProcRoot, SysRoot, child_main};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|a| a == "nvml-child") {
        return child_main(args.next().map(Into::into));
    }
    let nvml = match NvmlClient::new(NvmlConfig::this_program()) {
        Ok(nvml) => nvml,
        Err(error) => {
            eprintln!("cannot start the NVML client: {error}");
            return ExitCode::FAILURE;
        }
    };
    let snapshot = nvml.sample().inspect_err(|error| eprintln!("{error}")).ok();
    let report = Devices::new(SysRoot::default(), ProcRoot::default()).poll(snapshot);
    match serde_json::to_string_pretty(&report.gpus) {
        Ok(json) => println!("{json}"),
        Err(error) => eprintln!("{error}"),
    }
    for event in report.events {
        eprintln!("{}: {}", event.witness, event.occurrence.message);
    }
    ExitCode::SUCCESS
}
