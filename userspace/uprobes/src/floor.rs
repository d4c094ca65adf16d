//! What any tracer pays that is reported about a call's start and end, whatever it then does: programs beside
//! which those of [`crate::Tracer`] can be measured.

use libbpf_rs::{Link, Object};

use crate::elf;
use crate::library::Library;
use crate::load::{self, Target, TraceError, bpf};
use crate::way::Way;

/// A program that counts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Nothing but the kernel's two traps.
    Empty,
    /// And a poll of the clock in each of them, without which there is no latency.
    Clock,
}

impl Baseline {
    const fn program(self) -> &'static str {
        match self {
            Self::Empty => "cuda_empty",
            Self::Clock => "cuda_clock",
        }
    }
}

/// The programs, loaded. They are attached as uprobe.session, the kernel's cheapest way.
#[derive(Debug)]
pub struct Floor {
    object: Object,
}

/// A program on a function; dropped, it is detached.
#[derive(Debug)]
pub struct Attached {
    _link: Link,
}

impl Floor {
    /// Loads the programs.
    ///
    /// # Errors
    ///
    /// If the kernel refuses them: before Linux 6.13 it has no uprobe.session.
    pub fn load() -> Result<Self, TraceError> {
        let names = [Baseline::Empty.program(), Baseline::Clock.program()];
        let object = load::open(|name| names.contains(&name))?
            .load()
            .map_err(bpf("the BPF programs that count nothing"))?;
        Ok(Self { object })
    }

    /// Puts a program on one function of a library, where [`crate::Tracer`] would put its own, for the
    /// process `pid`.
    ///
    /// # Errors
    ///
    /// If the library does not have the function, or the kernel refuses.
    pub fn attach(
        &self,
        bare: Baseline,
        library: &Library,
        function: &str,
        pid: u32,
    ) -> Result<Attached, TraceError> {
        let places = elf::places(&library.file, [function].into_iter()).map_err(|source| {
            TraceError::Library {
                path: library.path.clone(),
                source,
            }
        })?;
        let Some(place) = places.get(function) else {
            return Err(TraceError::NoFunctions(library.path.clone()));
        };
        let target = Target {
            path: library.attach_path(),
            name: library.path.display().to_string(),
            pid: i32::try_from(pid).unwrap_or(-1),
            probes: vec![(place.offset, 0)],
        };
        let program = load::program_of(&self.object, bare.program())?;
        let link = load::multi(&program, Way::Session, &target, false)?;
        Ok(Attached { _link: link })
    }
}
