//! Everything a person does to the repository is one command here: `cargo xtask --help`.

#![forbid(unsafe_code)]

mod bench;
mod calls;
mod cli;
mod codegen;
mod context;
mod demo;
mod deny;
mod dist;
mod drills;
mod e2e;
mod ebpf;
mod fuzz;
mod gpu_check;
mod linker;
mod lint;
mod os;
mod packages;
mod report;
mod run;
mod setup;
mod shell;
mod stamp;
mod summary;
mod test;
mod toolchain;
mod tools;
mod vm;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    match cli.execute() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("gtrace: {error:#}");
            ExitCode::FAILURE
        }
    }
}
