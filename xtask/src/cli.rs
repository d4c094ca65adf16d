//! The command line.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;

use crate::context::{Context, Profile};
use crate::{
    bench, book, codegen, dashboards, dist, e2e, ebpf, fuzz, gpu_check, kubernetes, lint, page,
    run, setup, test, vm,
};

/// Everything a person does to the repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) enum Cli {
    /// Install what building, running and testing need
    Setup,
    /// Compile the eBPF probes, in production form and with logging
    BuildEbpf {
        /// Compile again even if nothing changed, and refuse an object that differs from the
        /// one that was there
        #[arg(long)]
        release_check: bool,
        /// Where the objects go; `bpf` in the target directory by default
        #[arg(long, value_name = "DIR")]
        out_dir: Option<PathBuf>,
    },
    /// Write types and signatures of the CUDA driver API and NVML, and docs/cuda-coverage.md
    Codegen {
        /// Write nothing, and fail if something is not as it would be written
        #[arg(long)]
        check: bool,
        /// Which programs call a function: as the last run of `cargo xtask test` had it
        #[arg(long, conflicts_with = "check")]
        calls: bool,
    },
    /// Build the web page of the daemon into the folder that is compiled in; needs Node.js and npm
    Page {
        /// Write nothing, and fail if the folder is not as it would be written
        #[arg(long)]
        check: bool,
    },
    /// Build, and start the daemon in the foreground (`gtrace run`), as root
    Run {
        /// Arguments for `gtrace run`
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Check and test everything; the last line is `N passed, N failed, N skipped`
    Test(test::Scope),
    /// Test on Debian's kernels in emulated machines, with a stub of the NVIDIA driver and with the real one: every case
    VmTest(vm::Options),
    /// Fetch the programs of docs/programs.md, run each on the CPU emulator and over links, and write that page
    Programs {
        /// Only those, by their names in the page's source: the rows of those that work are written anew
        ids: Vec<String>,
    },
    /// Check formatting, clippy, documentation, licences and advisories
    Lint,
    /// Run the benchmarks
    Bench {
        /// The benchmark's name; all but driver-ioctl, which boots virtual machines, without one
        name: Option<String>,
        /// Measure for longer
        #[arg(long)]
        long: bool,
        /// Run each once, to see that it works
        #[arg(long, conflicts_with = "long")]
        short: bool,
        /// Further arguments for the benchmark program
        #[arg(last = true)]
        args: Vec<String>,
    },
    /// Fuzz the kernel-log decoder, profiles, kernel images, the protocol of GPU-over-IP and PTX
    Fuzz {
        /// The fuzz target; all of them, one after the other, without one
        target: Option<String>,
        /// How long to fuzz each target
        #[arg(long, default_value_t = 60)]
        seconds: u32,
    },
    /// Check GPU-over-IP with this machine's GPU and driver, into docs/gpu-results.md; or pack what a
    /// machine with a GPU needs to do so
    GpuCheck {
        /// Write an archive (.tar.gz or .tar.zst) for a machine that has a GPU and perhaps no compiler
        /// and no network, and run nothing
        #[arg(long, value_name = "FILE", conflicts_with_all = ["softgpu", "out", "libcuda", "libnvml", "python"])]
        pack: Option<PathBuf>,
        #[command(flatten)]
        options: gpu_check::Options,
    },
    /// Build the documents as a site with search, by mdBook, after checking every link
    Book,
    /// Write the rules of Prometheus as a manifest for its operator
    Kubernetes {
        /// Write nothing, and check every manifest against the schema of its kind; needs Node.js and npm
        #[arg(long)]
        check: bool,
    },
    /// Write the dashboards for Grafana, which packages have, to target/dashboards
    Dashboards,
    /// Build what hosts install from: an archive, a deb and an rpm, with licences, bill of materials and checksums
    Dist {
        /// Pack a build of the dev profile, to try the packages
        #[arg(long)]
        dev: bool,
        #[command(flatten)]
        options: dist::Options,
    },
}

impl Cli {
    /// Does what was asked for.
    pub(crate) fn execute(self) -> Result<ExitCode> {
        let mut context = Context::find()?;
        match self {
            Self::Setup => setup::everything(&context)?,
            Self::BuildEbpf {
                release_check,
                out_dir,
            } => {
                if let Some(dir) = out_dir {
                    context.bpf = std::path::absolute(dir)?;
                }
                if release_check {
                    ebpf::release_check(&context)?;
                } else {
                    ebpf::build(&context)?;
                }
            }
            Self::Codegen { check, calls } => codegen::command(&context, check, calls)?,
            Self::Page { check } => page::command(&context, check)?,
            Self::Run { args } => run::exec(&context, &args)?,
            Self::Test(scope) => return test::command(context, &scope),
            Self::VmTest(options) => return vm::command(&context, &options),
            Self::Programs { ids } => return e2e::programs(&context, &ids),
            Self::Lint => return lint::command(context),
            Self::Bench {
                name,
                long,
                short,
                args,
            } => {
                if name.as_deref() == Some("driver-ioctl") {
                    let write = args.iter().any(|arg| arg == "--write");
                    vm::bench::driver_ioctl(&context, long, write)?;
                    return Ok(ExitCode::SUCCESS);
                }
                let flags = [("--long", long), ("--short", short)];
                let flags = flags.iter().filter(|(_, on)| *on);
                let all = name
                    .into_iter()
                    .chain(flags.map(|(flag, _)| (*flag).to_owned()))
                    .chain(args);
                bench::run(&context, all)?;
            }
            Self::Fuzz { target, seconds } => fuzz::run(&context, target, seconds)?,
            Self::GpuCheck { pack, options } => {
                if let Some(archive) = pack {
                    gpu_check::pack(&context, &archive)?;
                    return Ok(ExitCode::SUCCESS);
                }
                return gpu_check::run(&context, &options);
            }
            Self::Book => drop(book::command(&context)?),
            Self::Kubernetes { check } => kubernetes::command(&context, check)?,
            Self::Dashboards => dashboards::write(&context.target.join("dashboards"))?,
            Self::Dist { dev, options } => {
                let profile = if dev { Profile::Dev } else { Profile::Release };
                return dist::command(&context, profile, &options);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn what_follows_two_dashes_goes_to_the_daemon() {
        let cli = Cli::parse_from(["xtask", "run", "--", "--listen", "off"]);
        assert!(matches!(cli, Cli::Run { args } if args == ["--listen", "off"]));
    }
}
