//! Everything a person does to the repository is one command here: `cargo xtask --help`.

#![forbid(unsafe_code)]

mod bench;
mod book;
mod calls;
mod cli;
mod codegen;
mod context;
mod dashboards;
mod deny;
mod dist;
mod e2e;
mod ebpf;
mod folders;
mod fuzz;
mod gpu_check;
mod kubernetes;
mod libclang;
mod linker;
mod lint;
mod modules;
mod os;
mod packages;
mod page;
mod pypi;
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

#[cfg(test)]
mod tests {
    use std::process::Command;

    /// On a machine without them, this program is what installs them.
    #[test]
    fn this_program_builds_without_packages_of_the_system() {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--locked", "--offline", "--package", "xtask"])
            .args(["--edges", "normal,build", "--prefix", "none"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let tree = String::from_utf8(output.stdout).unwrap();
        assert!(tree.contains("clap v"), "{tree}");
        let foreign = tree.lines().find(|line| {
            ["bindgen ", "cc ", "cmake ", "pkg-config "]
                .iter()
                .any(|builder| line.starts_with(builder))
        });
        assert_eq!(foreign, None, "{tree}");
    }
}
