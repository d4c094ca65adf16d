//! What uprobes add to calls of NVIDIA's own libcuda, and how long they say that a call took. Without a
//! GPU: of calls that answer, or fail, at once.
#![allow(unsafe_code)] // functions of a library opened at run time are called

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use gtrace_uprobes::functions::plain_set;
use gtrace_uprobes::{Library, Options, Tracer};

use super::Context;
use crate::bpftrace::Bpftrace;
use crate::ioctl_load::time_each;
use crate::report::{Figure, Report};
use crate::stats::{Samples, added};

/// Names the library.
const VARIABLE: &str = "GTRACE_LIBCUDA";
/// What gtrace adds to a call, relative to a probe at the function's start.
const ADDED: f64 = 0.25;
/// How far its latency may be from that in the process, microseconds.
const APART_US: f64 = 3.0;
/// Parts of one measurement; the fastest counts, so that interruptions do not.
const PARTS: u32 = 20;

/// What is called: neither needs a GPU, the second fails as nothing is initialised.
const FUNCTIONS: [&str; 2] = ["cuDriverGetVersion", "cuMemAlloc_v2"];

type Function = unsafe extern "C" fn(*mut c_void, usize) -> c_int;

/// Of one function, nanoseconds by round.
#[derive(Debug, Default)]
struct Rounds {
    bare: Vec<f64>,
    gtrace: Vec<f64>,
    bpftrace: Vec<f64>,
    /// Of every call that was timed in the process.
    inside: Vec<f64>,
}

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let rounds = context.pick(1, 7, 15);
    let calls = context.pick(200, 1000, 5000);
    let mut report = Report::new(
        "libcuda",
        format!(
            "nanoseconds a call of NVIDIA's libcuda without a GPU, {rounds} rounds of bare, gtrace, bpftrace in turn; \
             a round is the fastest of {PARTS} times {calls} calls, a figure the median of rounds"
        ),
    );
    let Some(path) = library(context) else {
        report.skip(format!(
            "no libcuda of NVIDIA's: `cargo xtask vm-test real` fetches one, {VARIABLE} names another"
        ));
        return Ok(report);
    };
    let path = path
        .canonicalize()
        .with_context(|| path.display().to_string())?;
    // SAFETY: NVIDIA's library, which the user names, does what it does in any program.
    let library = unsafe { libloading::Library::new(&path) }?;
    let names = || FUNCTIONS.into_iter();
    let mut tracer = Tracer::load(Options::new(Some(std::process::id()), plain_set(names())))?;
    let mut places = Vec::new();
    for (number, name) in names().enumerate() {
        // SAFETY: the first takes one pointer, the second a pointer and a size.
        let function: libloading::Symbol<'_, Function> = unsafe { library.get(name.as_bytes()) }?;
        let mut word = [0_u64; 2];
        let place = word.as_mut_ptr().cast();
        let mut call = || {
            // SAFETY: at most a word is written.
            std::hint::black_box(unsafe { function(place, 4096) });
        };
        let mut of = Rounds::default();
        for round in 1..=rounds {
            context.say(&format!("{name}, round {round} of {rounds}"));
            of.bare.push(fastest(calls, &mut call));
            of.inside.extend((0..calls).map(|_| {
                let start = Instant::now();
                call();
                start.elapsed().as_nanos() as f64
            }));
            tracer.attach(Library::open(&path)?)?;
            of.gtrace.push(fastest(calls, &mut call));
            let probed = tracer.libraries().flat_map(|library| &library.sites);
            let site = probed
                .into_iter()
                .find(|site| site.function == number as u32);
            let place = site.map(|site| (site.place.behind(), site.place.class.name()));
            tracer.detach_all();
            if round == 1
                && let Some((behind, class)) = place
            {
                places.push(format!("{name} at +{behind}, {class}"));
            }
            if let Some(bpftrace) = Bpftrace::on_function(&path, name)? {
                of.bpftrace.push(fastest(calls, &mut call));
                drop(bpftrace);
            }
        }
        let counted = tracer.counted()?;
        let row = counted
            .rows
            .iter()
            .find(|row| row.function == number as u32);
        let seen = row
            .with_context(|| format!("no call of {name} was seen"))?
            .quantile(0.5);
        of.push_to(name, seen as f64, &mut report);
    }
    report.note(format!(
        "{}, probes by {}: {}; {:.0} ns were taken off each latency",
        path.display(),
        tracer.way().name(),
        places.join("; "),
        tracer.trap().seen_emulated_ns,
    ));
    report.note(match Bpftrace::version() {
        Some(version) => {
            format!("{version} has a histogram of latencies of that function, probed at +0")
        }
        None => "bpftrace is not installed, so there is no peer".to_owned(),
    });
    Ok(report)
}

/// What the variable names, or what was fetched for the virtual machines.
fn library(context: &Context) -> Option<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Some(named.into());
    }
    let target = context.gtrace.parent()?.parent()?;
    let drivers = std::fs::read_dir(target.join("vm/nvidia")).ok()?;
    let mut found: Vec<PathBuf> = drivers
        .filter_map(|driver| {
            let folder = driver
                .ok()?
                .path()
                .join("usr/lib/x86_64-linux-gnu/nvidia/current");
            let mut files = std::fs::read_dir(folder)
                .ok()?
                .filter_map(|file| Some(file.ok()?.path()));
            // The file itself and not a link to it.
            files.find(|file| {
                let name = file.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("libcuda.so.") && !file.is_symlink()
            })
        })
        .collect();
    found.sort();
    found.pop()
}

/// Nanoseconds of a call.
fn fastest(calls: u32, call: &mut impl FnMut()) -> f64 {
    let parts = (0..PARTS).map(|_| time_each(calls, &mut *call));
    parts.fold(f64::INFINITY, f64::min)
}

impl Rounds {
    fn push_to(&self, name: &str, seen: f64, report: &mut Report) {
        let samples = |values: &[f64]| values.iter().copied().collect::<Samples>();
        let bare = samples(&self.bare).median();
        report.push(Figure::new(format!("{name}, bare"), bare, "ns"));
        let gtrace = added(&self.gtrace, &self.bare);
        report.push(Figure::new(
            format!("{name}, added by gtrace"),
            gtrace,
            "ns",
        ));
        if !self.bpftrace.is_empty() {
            let other = added(&self.bpftrace, &self.bare);
            report.push(Figure::new(
                format!("{name}, added by bpftrace"),
                other,
                "ns",
            ));
            let ratio = Figure::new(format!("{name}, gtrace to bpftrace"), gtrace / other, "");
            report.push(ratio.budget(ADDED));
        }
        let inside = samples(&self.inside).median();
        let apart = (seen - inside).abs() / 1e3;
        report.push(
            Figure::new(
                format!("{name}, gtrace's median to that in the process"),
                apart,
                "us",
            )
            .with("seen", seen)
            .with("inside", inside)
            .budget(APART_US),
        );
    }
}
