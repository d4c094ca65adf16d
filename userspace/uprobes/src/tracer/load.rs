//! Loading the programs, and attaching them.

use std::path::PathBuf;

use gtrace_abi::{ApiHist, ApiKey};
use libbpf_rs::{
    Link, MapCore as _, MapFlags, Object, ObjectBuilder, OpenObject, ProgramMut, UprobeMultiOpts,
    UprobeOpts,
};

use super::{Options, TraceError, bpf, map_of};
use crate::pod::bytes_of;
use crate::way::Way;

/// The compiled programs, aligned as the ELF parser wants them.
#[repr(C, align(8))]
struct Aligned<T: ?Sized>(T);
static OBJECT: &Aligned<[u8]> = &Aligned(*include_bytes!(env!("GTRACE_BPF_OBJECT_CUDA_API")));

/// The compiled programs, of which those that are wanted will be loaded.
pub(crate) fn open(wanted: impl Fn(&str) -> bool) -> Result<OpenObject, TraceError> {
    let mut open = ObjectBuilder::default()
        .open_memory(&OBJECT.0)
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
    // Calls without room are told apart by function where that takes little memory beside the rest.
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
