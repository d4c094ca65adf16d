//! The benchmarks, one a file.

mod api_cost;
mod burst;
mod decode;
mod emulator;
mod fleet;
mod footprint;
mod ioctl_cost;
mod latency;
mod libcuda;
mod page;
pub(crate) mod passing;
mod pytorch;
mod remote;
mod report;
mod resume;
mod startup;
mod store;

use std::path::PathBuf;

use clap::ValueEnum;

use crate::machine::Busy;
use crate::report::Report;
use crate::sys;

/// A benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Name {
    /// From a kernel log line to `gtrace events --follow`
    Latency,
    /// Memory and CPU time of the daemon, idle and under load
    Footprint,
    /// Memory and CPU time of the daemon with 8 GPUs of the CPU emulator and everything on
    FootprintGpus,
    /// What tracing adds to an ioctl and to other system calls
    IoctlCost,
    /// What uprobes add to a call of the CUDA API, how long they take to attach and to go
    ApiCost,
    /// What uprobes add to a call of NVIDIA's libcuda, where it was fetched
    Libcuda,
    /// Throughput of the kernel-log decoder
    Decode,
    /// The CPU emulator's PTX executor, beside plain Rust
    Emulator,
    /// Append rate, query time and size of the store
    Store,
    /// Ingest and memory of the head of a fleet
    Fleet,
    /// Time and size of an incident's report
    Report,
    /// How soon the page's views are drawn and show a line of the kernel log, where Chromium is
    Page,
    /// A burst of kernel log lines
    Burst,
    /// GPU-over-IP on one host: blocking calls, launches, bulk copies
    Remote,
    /// What `gtrace trace -- PROGRAM` adds to a call of the CUDA driver
    PassThrough,
    /// Steps of PyTorch over an emulated slow network, where PyTorch was fetched
    Pytorch,
    /// Programs that end after their first kernels, over GPU-over-IP, cold and warm
    Startup,
}

impl Name {
    /// As it is on the command line.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    fn needs_root(self) -> bool {
        !matches!(
            self,
            Self::Decode
                | Self::Emulator
                | Self::Store
                | Self::Fleet
                | Self::Report
                | Self::Remote
                | Self::PassThrough
                | Self::Pytorch
        )
    }
}

/// How much to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    Short,
    Default,
    Long,
}

impl Length {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Default => "default",
            Self::Long => "long",
        }
    }
}

/// What every benchmark is given.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) gtrace: PathBuf,
    pub(crate) length: Length,
    pub(crate) scratch: PathBuf,
    pub(crate) quiet: bool,
}

impl Context {
    pub(crate) fn pick<T>(&self, short: T, default: T, long: T) -> T {
        match self.length {
            Length::Short => short,
            Length::Default => default,
            Length::Long => long,
        }
    }

    /// Shows a person who waits what is going on.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet {
            eprintln!("  ... {text}");
        }
    }
}

/// Runs one benchmark; whatever goes wrong is in the report.
pub(crate) fn run(name: Name, context: &Context) -> Report {
    if name.needs_root() && !sys::is_root() {
        let mut report = Report::new(name.name(), "");
        report.skip("it needs root (BPF programs, /dev/kmsg); run it with sudo");
        return report;
    }
    let busy = Busy::begin();
    let result = match name {
        Name::Latency => latency::run(context),
        Name::Footprint => footprint::run(context),
        Name::FootprintGpus => footprint::with_gpus(context),
        Name::IoctlCost => ioctl_cost::run(context),
        Name::ApiCost => api_cost::run(context),
        Name::Libcuda => libcuda::run(context),
        Name::Decode => decode::run(context),
        Name::Emulator => emulator::run(context),
        Name::Store => store::run(context),
        Name::Fleet => fleet::run(context),
        Name::Report => report::run(context),
        Name::Page => page::run(context),
        Name::Burst => burst::run(context),
        Name::Remote => remote::run(context),
        Name::PassThrough => passing::run(context),
        Name::Pytorch => pytorch::run(context),
        Name::Startup => startup::run(context),
    };
    let mut report = result.unwrap_or_else(|error| {
        let mut report = Report::new(name.name(), "");
        report.fail(format!("{error:#}"));
        report
    });
    report.judge();
    report.note(busy.end().to_string());
    report
}
