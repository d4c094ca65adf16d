//! The loaded probes: what they are attached to and how they are configured.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::time::Instant;

use gtrace_abi::{API_LIBRARIES, ApiConfig, ApiFunction, ApiRecord, CALIBRATION};
use libbpf_rs::{Link, MapCore as _, MapFlags, Object, RingBufferBuilder};

use crate::calibrate::{self, TrapCost};
use crate::elf::{self, Place};
use crate::functions::{self, Function};
use crate::instruction::Class;
use crate::library::{FileId, Library};
use crate::load::{Options, Target, TraceError, attach, bpf, load, map_of};
use crate::pod::{bytes_of, read};
use crate::way::{self, Way};

/// A function in a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Its number.
    pub function: u32,
    /// Where it is.
    pub place: Place,
    /// Others of the traced functions that a linker has put in the same place: their calls are counted
    /// as this one's.
    pub folded: Vec<String>,
}

/// A library that is probed.
#[derive(Debug)]
pub struct Probed {
    /// Its path in the mount namespace of the process where it was found.
    pub path: PathBuf,
    /// Whether it was deleted or replaced on disk since.
    pub deleted: bool,
    /// What is probed in it, or could be.
    pub sites: Vec<Site>,
    library: Library,
    since: Instant,
    slot: usize,
    generation: u32,
    links: Vec<Link>,
}

impl Probed {
    /// Which file it is.
    pub fn id(&self) -> FileId {
        self.library.id
    }
}

/// The probes. Dropped, they are detached.
#[derive(Debug)]
pub struct Tracer {
    // Links before the programs they are of.
    libraries: BTreeMap<FileId, Probed>,
    object: Object,
    options: Options,
    way: Way,
    /// Why better ways are not taken.
    refused: Vec<(Way, String)>,
    /// Functions that are not probed: their probes cost too much.
    shed: BTreeSet<u32>,
    table: Vec<ApiFunction>,
    config: ApiConfig,
    filtered: bool,
    trap: TrapCost,
}

impl Tracer {
    /// Loads the programs, finds the best way of attaching them, and measures what a probe costs.
    ///
    /// # Errors
    ///
    /// If the kernel has no uprobes, or the process may not use them.
    pub fn load(options: Options) -> Result<Self, TraceError> {
        libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Debug, |_, line| {
            tracing::debug!("libbpf: {}", line.trim_end());
        })));
        let ways: Vec<Way> = match options.way {
            Some(way) => vec![way],
            None => Way::ALL.to_vec(),
        };
        let mut refused = Vec::new();
        // A kernel that does not know a way may refuse its program with EACCES, but not those of all ways.
        let mut permitted = false;
        for way in ways {
            let tried = load(&options, way).and_then(|object| {
                let trap = calibrate::calibrate(&object, way)?;
                Ok((object, trap))
            });
            match tried {
                Ok((object, trap)) => return Self::new(options, way, object, trap, refused),
                Err(error) => {
                    tracing::debug!("{} is not possible: {error}", way.name());
                    permitted |= !error.is_permission();
                    refused.push((way, error.to_string()));
                }
            }
        }
        let reasons: Vec<String> = refused
            .iter()
            .map(|(way, why)| format!("{}: {why}", way.name()))
            .collect();
        let reasons = reasons.join("; ");
        Err(match permitted {
            true => TraceError::NoWay(reasons),
            false => TraceError::NotPermitted(reasons),
        })
    }

    fn new(
        mut options: Options,
        way: Way,
        object: Object,
        trap: TrapCost,
        refused: Vec<(Way, String)>,
    ) -> Result<Self, TraceError> {
        options.functions.truncate(CALIBRATION as usize);
        let table: Vec<_> = options.functions.iter().map(|f| f.description).collect();
        let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let filtered = way != Way::Single && way::kernel_filters_processes(&release);
        let config = ApiConfig {
            slow_ns: u64::try_from(options.slow.as_nanos()).unwrap_or(u64::MAX),
            tgid: options.pid.unwrap_or(0),
            memory_events: options.memory_events.into(),
            error_events: options.error_events.into(),
            calls: options.calls.into(),
            trap_ns: [trap.seen_emulated_ns, trap.seen_single_stepped_ns].map(|ns| ns as u32),
            ..ApiConfig::default()
        };
        let tracer = Self {
            libraries: BTreeMap::new(),
            object,
            options,
            way,
            refused,
            shed: BTreeSet::new(),
            table,
            config,
            filtered,
            trap,
        };
        for function in 0..tracer.table.len() {
            tracer.write_function(function as u32)?;
        }
        tracer.write_config()?;
        Ok(tracer)
    }

    /// How the probes are attached.
    pub fn way(&self) -> Way {
        self.way
    }

    /// The better ways, with why they are not taken.
    pub fn refused(&self) -> &[(Way, String)] {
        &self.refused
    }

    /// Whether processes that are not traced are left alone by the kernel itself. Otherwise every user
    /// of a traced library pays for the probes, though only the traced one is counted.
    pub fn others_unaffected(&self) -> bool {
        self.filtered && self.options.pid.is_some()
    }

    /// What a probe was measured to cost.
    pub fn trap(&self) -> &TrapCost {
        &self.trap
    }

    /// What can be probed, by number.
    pub fn functions(&self) -> &[Function] {
        &self.options.functions
    }

    /// What is probed.
    pub fn libraries(&self) -> impl Iterator<Item = &Probed> {
        self.libraries.values()
    }

    /// Whether that file is probed.
    pub fn has(&self, id: FileId) -> bool {
        self.libraries.contains_key(&id)
    }

    /// Names of the probed functions.
    pub fn probed_names(&self) -> BTreeSet<&str> {
        let sites = self.libraries.values().flat_map(|library| &library.sites);
        sites
            .filter(|site| !self.shed.contains(&site.function))
            .map(|site| self.options.functions[site.function as usize].name.as_str())
            .collect()
    }

    /// Functions whose probes were taken away.
    pub fn shed(&self) -> &BTreeSet<u32> {
        &self.shed
    }

    /// One call in so many of `function` is timed.
    pub fn time_every(&self, function: u32) -> u32 {
        let described = self.table.get(function as usize);
        described.map_or(1, |function| function.time_every.max(1))
    }

    /// Probes a library. Does nothing if that file is probed already. Where there is no place, one whose owner has most may give its own
    /// to it, and is returned: its probes go with it.
    ///
    /// # Errors
    ///
    /// If it has none of the functions, or the kernel refuses.
    pub fn attach(&mut self, library: Library) -> Result<Option<Probed>, TraceError> {
        if self.has(library.id) {
            return Ok(None);
        }
        let taken: BTreeSet<usize> = self.libraries.values().map(|l| l.slot).collect();
        let free = (0..API_LIBRARIES).find(|slot| !taken.contains(slot));
        let displaced = match free {
            Some(_) => None,
            None => self.gives_way_to(library.owner),
        };
        let Some(slot) = free.or_else(|| Some(self.libraries.get(&displaced?)?.slot)) else {
            return Err(TraceError::TooMany(library.path));
        };
        let sites = self.sites(&library)?;
        let mut probed = Probed {
            path: library.path.clone(),
            deleted: library.deleted,
            sites,
            library,
            since: Instant::now(),
            slot,
            generation: self.config.generations[slot],
            links: Vec::new(),
        };
        // Where it fails, the one that has the place keeps it.
        self.link(&mut probed)?;
        let displaced = displaced.and_then(|id| self.libraries.remove(&id));
        self.libraries.insert(probed.library.id, probed);
        Ok(displaced)
    }

    fn gives_way_to(&self, owner: u32) -> Option<FileId> {
        let mut probed: Vec<&Probed> = self.libraries.values().collect();
        probed.sort_by_key(|probed| probed.since);
        let places = probed
            .iter()
            .map(|probed| (probed.id(), probed.library.owner));
        gives_way(&places.collect::<Vec<_>>(), owner)
    }

    /// Takes the probes of a library away.
    pub fn detach(&mut self, id: FileId) {
        self.libraries.remove(&id);
    }

    /// Takes the probes of all libraries away.
    pub fn detach_all(&mut self) {
        self.libraries.clear();
    }

    fn sites(&self, library: &Library) -> Result<Vec<Site>, TraceError> {
        let names = self.options.functions.iter().map(|f| f.name.as_str());
        let mut places =
            elf::places(&library.file, names).map_err(|source| TraceError::Library {
                path: library.path.clone(),
                source,
            })?;
        let mut sites: Vec<Site> = Vec::new();
        let mut by_offset: HashMap<u64, usize> = HashMap::new();
        for (number, function) in self.options.functions.iter().enumerate() {
            let Some(place) = places.remove(function.name.as_str()) else {
                continue;
            };
            if let Some(first) = by_offset.get(&place.offset) {
                sites[*first].folded.push(function.name.clone());
                continue;
            }
            by_offset.insert(place.offset, sites.len());
            sites.push(Site {
                function: number as u32,
                place,
                folded: Vec::new(),
            });
        }
        if sites.is_empty() {
            return Err(TraceError::NoFunctions(library.path.clone()));
        }
        if self.way == Way::Single {
            let name = |site: &Site| &self.options.functions[site.function as usize].name;
            sites.sort_by_key(|site| functions::rank(name(site)));
            sites.truncate(Way::MOST_SINGLE);
        }
        Ok(sites)
    }

    /// Attaches a link of a new generation, has it count, and lets go of those before: no call is
    /// counted twice, and none is missed but those that were under way.
    fn link(&mut self, probed: &mut Probed) -> Result<(), TraceError> {
        let generation = probed.generation.wrapping_add(1);
        let sites: Vec<&Site> = probed
            .sites
            .iter()
            .filter(|site| !self.shed.contains(&site.function))
            .collect();
        let cookie = |site: &Site| {
            let stepped = site.place.class == Class::SingleStepped;
            ApiConfig::cookie(site.function, probed.slot, generation, stepped)
        };
        let pid = match (self.filtered, self.options.pid) {
            (true, Some(pid)) => i32::try_from(pid).unwrap_or(-1),
            _ => -1,
        };
        let target = Target {
            path: probed.library.attach_path(),
            name: probed.path.display().to_string(),
            pid,
            probes: sites
                .iter()
                .map(|site| (site.place.offset, cookie(site)))
                .collect(),
        };
        let links = match sites.is_empty() {
            true => Vec::new(),
            false => attach(&self.object, self.way, &target)?,
        };
        self.config.generations[probed.slot] = generation;
        self.write_config()?;
        probed.generation = generation;
        probed.links = links;
        Ok(())
    }

    /// Times one call in `every` of a function, and only counts the others.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn sample(&mut self, function: u32, every: u32) -> Result<(), TraceError> {
        if let Some(described) = self.table.get_mut(function as usize) {
            described.time_every = every;
        }
        self.write_function(function)
    }

    /// Puts one call in `every` of a function into the ring; none if it is 0.
    ///
    /// # Errors
    ///
    /// If the kernel refuses.
    pub fn report(&mut self, function: u32, every: u32) -> Result<(), TraceError> {
        if let Some(described) = self.table.get_mut(function as usize) {
            described.event_every = every;
        }
        self.write_function(function)
    }

    /// Takes the probes of functions away, everywhere; their calls are seen no more.
    ///
    /// # Errors
    ///
    /// If the kernel refuses the probes that are to remain.
    pub fn shed_functions(
        &mut self,
        functions: impl IntoIterator<Item = u32>,
    ) -> Result<(), TraceError> {
        self.shed.extend(functions);
        let ids: Vec<FileId> = self.libraries.keys().copied().collect();
        for id in ids {
            let Some(mut probed) = self.libraries.remove(&id) else {
                continue;
            };
            let linked = self.link(&mut probed);
            self.libraries.insert(id, probed);
            linked?;
        }
        Ok(())
    }

    /// Attaches functions again whose probes were taken away, timing one call in `every`.
    ///
    /// # Errors
    ///
    /// If the kernel refuses the probes.
    pub fn restore_functions(&mut self, functions: &[(u32, u32)]) -> Result<(), TraceError> {
        for (function, every) in functions {
            self.sample(*function, *every)?;
            self.shed.remove(function);
        }
        self.shed_functions([])
    }

    fn write_config(&self) -> Result<(), TraceError> {
        self.write("API_CONFIG", &0_u32, &self.config)
    }

    fn write_function(&self, number: u32) -> Result<(), TraceError> {
        match self.table.get(number as usize) {
            Some(described) => self.write("API_TABLE", &number, described),
            None => Ok(()),
        }
    }

    fn write<K: crate::pod::Pod, V: crate::pod::Pod>(
        &self,
        name: &str,
        key: &K,
        value: &V,
    ) -> Result<(), TraceError> {
        let map = map_of(&self.object, name)?;
        map.update(bytes_of(key), bytes_of(value), MapFlags::ANY)
            .map_err(bpf(format!("BPF map {name}")))
    }

    pub(crate) fn object(&self) -> &Object {
        &self.object
    }

    /// Kernel memory of all maps, bytes, as the kernel accounts it.
    pub fn map_bytes(&self) -> u64 {
        let infos = self.object.maps().filter_map(|map| {
            let fd = map.as_fd();
            let fd = std::os::fd::AsRawFd::as_raw_fd(&fd);
            let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{fd}")).ok()?;
            Some(accounted(&info))
        });
        infos.sum()
    }

    /// Hands each record that is in the ring to `take`; returns at once.
    ///
    /// # Errors
    ///
    /// If the ring cannot be read.
    pub fn drain(&self, mut take: impl FnMut(ApiRecord)) -> Result<(), TraceError> {
        let map = map_of(&self.object, "API_EVENTS")?;
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&map, |bytes| {
                if let Some(record) = read(bytes) {
                    take(record);
                }
                0
            })
            .map_err(bpf("the ring"))?;
        let ring = builder.build().map_err(bpf("the ring"))?;
        ring.consume().map_err(bpf("the ring"))
    }
}

/// Which library gives its place to one more of `owner`, where all are taken: the newest of the user who has most of them, if he keeps as
/// many as `owner` then has. `places`: libraries and the owners of their files, the oldest first. Root's give way to none: a user can
/// have files under as many subordinate ids as he likes.
fn gives_way<T: Copy>(places: &[(T, u32)], owner: u32) -> Option<T> {
    const ROOT: u32 = 0;
    let has = |of: u32| places.iter().filter(|(_, owner)| *owner == of).count();
    let others = places.iter().filter(|(_, of)| *of != ROOT);
    let (newest, most) = others.max_by_key(|(_, of)| has(*of))?;
    (has(*most) > has(owner) + 1).then_some(*newest)
}

/// The memory of a map as the kernel reports it; kernels before 6.4 report none for a ring.
fn accounted(info: &str) -> u64 {
    const RINGBUF: u64 = 27;
    let field = |name| {
        info.lines()
            .find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok())
            .unwrap_or(0)
    };
    match (field("map_type:"), field("memlock:")) {
        (RINGBUF, 0) => field("max_entries:"),
        (_, bytes) => bytes,
    }
}

#[cfg(test)]
mod tests {
    use libbpf_rs::ProgramInput;
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::load::open;

    #[test]
    fn root_the_kernel_puts_every_latency_into_the_bucket_that_user_space_does() {
        let object = match open(|name| name == "cuda_bucket").unwrap().load() {
            Ok(object) => object,
            Err(error) => {
                eprintln!("skipped: needs root ({error})");
                return;
            }
        };
        let program = object
            .progs_mut()
            .find(|p| p.name() == "cuda_bucket")
            .unwrap();
        let in_kernel = |value: u64| {
            let mut context = value.to_ne_bytes();
            let input = ProgramInput {
                context_in: Some(&mut context),
                ..ProgramInput::default()
            };
            program.test_run(input).unwrap();
            u64::from_ne_bytes(context)
        };
        let powers = (0..64).flat_map(|shift| {
            let power = 1_u64 << shift;
            [power - 1, power, power.saturating_add(1)]
        });
        let mut runner = TestRunner::deterministic();
        // Of all magnitudes alike.
        let random = (0..64_u32, proptest::num::u64::ANY).prop_map(|(shift, n)| n >> shift);
        let random = (0..20_000).map(|_| random.new_tree(&mut runner).unwrap().current());
        for value in powers.chain([0, u64::MAX]).chain(random) {
            let bucket = gtrace_abi::bucket_of(value) as u64;
            assert_eq!(in_kernel(value), bucket, "{value}");
        }
    }

    #[test]
    fn places_are_shared_among_the_owners_of_libraries() {
        let places = |owners: &[u32]| owners.iter().copied().enumerate().collect::<Vec<_>>();
        let full = places(&[0, 7, 7, 0, 7, 7, 8, 0]);
        // 7 has four, 0 three, 8 one.
        assert_eq!(gives_way(&full, 9), Some(5));
        assert_eq!(gives_way(&full, 8), Some(5));
        assert_eq!(gives_way(&full, 7), None);
        assert_eq!(gives_way(&full, 0), None);
        // Each the same, whoever comes.
        let even = places(&[7, 8, 7, 8]);
        assert_eq!(
            [7, 8, 0].map(|owner| gives_way(&even, owner)),
            [None, None, Some(3)]
        );
        assert_eq!(gives_way(&places(&[7, 8, 9]), 10), None);
        // Root's stay.
        assert_eq!(gives_way(&places(&[0, 0, 0, 0]), 9), None);
        // It goes on until nobody gains.
        let mut owners = vec![7; API_LIBRARIES];
        while let Some(at) = gives_way(&places(&owners), 8) {
            owners[at] = 8;
        }
        let has = |of| owners.iter().filter(|owner| **owner == of).count();
        assert_eq!((has(7), has(8)), (16, 16));
        assert_eq!(gives_way(&places(&owners), 7), None);
    }

    #[test]
    fn memory_of_a_ring_that_is_not_accounted_is_its_room() {
        let info = |kind: u32, memlock: u32| {
            format!("pos:\t0\nmap_type:\t{kind}\nmax_entries:\t4096\nmemlock:\t{memlock}\n")
        };
        assert_eq!(accounted(&info(1, 100)), 100);
        assert_eq!(accounted(&info(27, 0)), 4096);
        assert_eq!(accounted(&info(27, 5000)), 5000);
    }
}
