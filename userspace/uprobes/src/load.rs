//! Loading the programs, and attaching them.

use std::path::PathBuf;
use std::time::Duration;

use gtrace_abi::{API_LIBRARIES, ApiHist, ApiKey};
use libbpf_rs::{
    Link, MapCore as _, MapFlags, Object, ObjectBuilder, OpenObject, ProgramMut, UprobeMultiOpts,
    UprobeOpts,
};

use crate::elf::ElfError;
use crate::embedded::Embedded;
use crate::functions::Function;
use crate::pod::bytes_of;
use crate::way::Way;

/// What is traced, and how much room it gets.
#[derive(Clone, Debug)]
pub struct Options {
    /// Only this process; `None` for all.
    pub pid: Option<u32>,
    /// Only this way; `None` for the best that the kernel has.
    pub way: Option<Way>,
    /// What is probed. A function's place is its number.
    pub functions: Vec<Function>,
    /// Calls that took so long are reported one by one; zero for none.
    pub slow: Duration,
    /// Whether allocations and frees are reported one by one.
    pub memory_events: bool,
    /// Whether failed calls are reported one by one.
    pub error_events: bool,
    /// Pairs of process and function of which there can be a histogram, 7 KiB each.
    pub histograms: u32,
    /// Allocations that can be remembered, about 100 bytes each.
    pub allocations: u32,
    /// Bytes of the ring; a power of two, a page at least.
    pub ring_bytes: u32,
    /// Calls that can be under way at once, about 120 bytes each: those of which an argument matters, and
    /// before Linux 6.13 all.
    pub under_way: u32,
    /// Processes that can have a ledger, about 190 bytes each.
    pub processes: u32,
    /// Whether every call is reported with its arguments ([`crate::Tracer::calls`]), and nothing else.
    pub calls: bool,
    /// Ways in which functions can fail in processes, about 90 bytes each.
    pub failures: u32,
}

impl Options {
    /// For one process, or for all.
    pub fn new(pid: Option<u32>, functions: Vec<Function>) -> Self {
        Self {
            pid,
            way: None,
            functions,
            slow: Duration::ZERO,
            memory_events: false,
            error_events: false,
            histograms: if pid.is_some() { 256 } else { 2048 },
            allocations: 32_768,
            ring_bytes: 256 << 10,
            under_way: 8192,
            calls: false,
            processes: if pid.is_some() { 256 } else { 1024 },
            failures: if pid.is_some() { 256 } else { 2048 },
        }
    }
}

/// Why nothing is traced.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The kernel refused the programs or the probes.
    #[error("{what}: {source:#}")]
    Bpf {
        /// What was tried.
        what: String,
        /// libbpf's error.
        source: libbpf_rs::Error,
    },
    /// The kernel lets only privileged users do it.
    #[error(
        "CUDA calls cannot be probed by this user ({0}): run as root, or with CAP_BPF and CAP_PERFMON; root in a \
         container needs them too, and lockdown=confidentiality refuses everybody"
    )]
    NotPermitted(String),
    /// No way of attaching works.
    #[error(
        "this kernel lets no uprobe be attached ({0}): it needs CONFIG_UPROBES and CONFIG_BPF_EVENTS"
    )]
    NoWay(String),
    /// This process is in a PID namespace of its own.
    #[error(
        "process {0} has another number in the kernel, whose probes do not know this PID namespace: run gtrace in \
         that of the host (docker run --pid=host, hostPID: true), with the number that the process has there"
    )]
    OtherNumbers(u32),
    /// The library is not one.
    #[error("{path}: {source}")]
    Library {
        /// Its path in the process's mount namespace.
        path: PathBuf,
        /// Why.
        source: ElfError,
    },
    /// It has the name and none of the functions.
    #[error("{0} exports none of the functions that are traced: it is no CUDA driver library")]
    NoFunctions(PathBuf),
    /// More libraries than can be distinguished.
    #[error(
        "{0} is not traced yet: {API_LIBRARIES} versions of the library are traced already, and it waits \
         until no process has one of them open"
    )]
    TooMany(PathBuf),
}

impl TraceError {
    /// Whether the kernel refused the user, not what the user wants.
    pub(crate) fn is_permission(&self) -> bool {
        matches!(self, Self::Bpf { source, .. } if source.kind() == libbpf_rs::ErrorKind::PermissionDenied)
    }
}

pub(crate) fn bpf(what: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> TraceError {
    let what = what.into();
    move |source| TraceError::Bpf { what, source }
}

pub(crate) fn map_of<'o>(
    object: &'o Object,
    name: &str,
) -> Result<libbpf_rs::MapImpl<'o>, TraceError> {
    let found = object.maps().find(|map| map.name() == name);
    found.ok_or_else(|| TraceError::Bpf {
        what: format!("the BPF object has no map {name}"),
        source: libbpf_rs::Error::from_raw_os_error(libc::ENOENT),
    })
}

/// The compiled programs.
static OBJECT: Embedded = Embedded {
    packed: include_bytes!(env!("GTRACE_BPF_OBJECT_CUDA_API")),
    len: include!(env!("GTRACE_BPF_OBJECT_CUDA_API_LEN")),
};

/// The compiled programs, of which those that are wanted will be loaded.
pub(crate) fn open(wanted: impl Fn(&str) -> bool) -> Result<OpenObject, TraceError> {
    let mut open = ObjectBuilder::default()
        .open_memory(&OBJECT.unpack())
        .map_err(bpf("the BPF programs of CUDA calls"))?;
    for mut program in open.progs_mut() {
        let wanted = wanted(&program.name().to_string_lossy());
        program.set_autoload(wanted);
    }
    Ok(open)
}

/// Loads the programs of one way.
pub(super) fn load(options: &Options, way: Way) -> Result<Object, TraceError> {
    let what = || "the BPF programs of CUDA calls";
    let (start, end) = way.programs();
    let mut open = open(|name| name == start || Some(name) == end)?;
    // Calls without room are distinguished by function where that takes little memory beside the rest.
    let functions = match options.functions.len() as u32 {
        few if few <= options.histograms / 4 => few,
        _ => 0,
    };
    for mut map in open.maps_mut() {
        let entries = match map.name().to_string_lossy().as_ref() {
            // One more a function for what has no room, and one for functions that have none.
            "API_HISTS" => options.histograms.saturating_add(functions + 1),
            "API_MEMORY" => options.allocations.max(1),
            "API_EVENTS" => options.ring_bytes,
            "API_STARTS" => options.under_way.max(1),
            "API_WORDS" if options.calls => options.under_way.max(1),
            "API_LEDGERS" => options.processes.max(1),
            "API_FAILURES" => options.failures.max(1),
            _ => continue,
        };
        map.set_max_entries(entries).map_err(bpf(what()))?;
    }
    let object = open.load().map_err(bpf(what()))?;
    let hists = map_of(&object, "API_HISTS")?;
    let overflow = (0..functions).map(ApiKey::overflow);
    for key in overflow.chain([ApiKey::OVERFLOW]) {
        hists
            .update(bytes_of(&key), bytes_of(&ApiHist::EMPTY), MapFlags::ANY)
            .map_err(bpf(what()))?;
    }
    Ok(object)
}

/// What links are made to.
pub(crate) struct Target {
    /// A path that the kernel can follow.
    pub(crate) path: PathBuf,
    /// As it is called in errors.
    pub(crate) name: String,
    /// Only this process, -1 for all.
    pub(crate) pid: i32,
    /// Offset in the file and cookie of each probe.
    pub(crate) probes: Vec<(u64, u64)>,
}

/// Attaches the programs of a way. The end comes first, so that no start is ever without its end.
pub(crate) fn attach(object: &Object, way: Way, target: &Target) -> Result<Vec<Link>, TraceError> {
    let (start, end) = way.programs();
    let mut links = Vec::new();
    for (program, is_end) in [(end, true), (Some(start), false)] {
        let Some(name) = program else { continue };
        let program = program_of(object, name)?;
        match way {
            Way::Single => single(&program, target, is_end, &mut links)?,
            Way::Session | Way::Multi => links.push(multi(&program, way, target, is_end)?),
        }
    }
    Ok(links)
}

pub(crate) fn program_of<'o>(object: &'o Object, name: &str) -> Result<ProgramMut<'o>, TraceError> {
    let found = object.progs_mut().find(|program| program.name() == name);
    found.ok_or_else(|| TraceError::Bpf {
        what: format!("the BPF object has no program {name}"),
        source: libbpf_rs::Error::from_raw_os_error(libc::ENOENT),
    })
}

pub(crate) fn multi(
    program: &ProgramMut<'_>,
    way: Way,
    target: &Target,
    is_end: bool,
) -> Result<Link, TraceError> {
    let options = UprobeMultiOpts {
        offsets: target.probes.iter().map(|(at, _)| *at as usize).collect(),
        cookies: target.probes.iter().map(|(_, cookie)| *cookie).collect(),
        retprobe: is_end,
        session: way == Way::Session,
        ..UprobeMultiOpts::default()
    };
    program
        .attach_uprobe_multi_with_opts(target.pid, &target.path, "", options)
        .map_err(bpf(format!("{} on {}", way.name(), target.name)))
}

fn single(
    program: &ProgramMut<'_>,
    target: &Target,
    is_end: bool,
    links: &mut Vec<Link>,
) -> Result<(), TraceError> {
    for (offset, cookie) in &target.probes {
        let options = UprobeOpts {
            cookie: *cookie,
            retprobe: is_end,
            ..UprobeOpts::default()
        };
        // A perf event of a process would see one thread of it: the program filters instead.
        let link = program
            .attach_uprobe_with_opts(-1, &target.path, *offset as usize, options)
            .map_err(bpf(format!("an uprobe on {}", target.name)))?;
        links.push(link);
    }
    Ok(())
}
