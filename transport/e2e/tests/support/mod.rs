//! Running one program in every way on what cargo built, with the CPU emulator.
#![allow(dead_code)] // each test binary uses a part

use std::path::PathBuf;
use std::time::Duration;

use gtrace_e2e::artefacts::{self, Artefacts};
use gtrace_e2e::case::{self, Ground};
use gtrace_e2e::process::Outcome;
use gtrace_e2e::programs;
use gtrace_e2e::server::{Gpu, Server, Via};

/// How long any of the programs may take; the machine may be busy and the CPU emulator unoptimised.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn artefacts() -> &'static Artefacts {
    Artefacts::get().expect("gtrace and the CPU emulator can be built")
}

pub(crate) fn ground() -> Ground {
    Ground {
        gtrace: artefacts().gtrace.clone(),
        gpu: Gpu::default(),
        direct: artefacts().softgpu_folder.clone().into(),
        kernels: artefacts::kernels(),
        real: false,
        limit: LIMIT,
    }
}

/// A [`case::Case`] on this ground, whose errors fail the test.
pub(crate) struct Case {
    case: case::Case,
    ground: Ground,
}

impl Case {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            case: case::Case::new(program),
            ground: ground(),
        }
    }

    pub(crate) fn c(name: &str) -> Self {
        Self::new(programs::c_program(artefacts(), name).unwrap())
    }

    pub(crate) fn example(name: &str) -> Self {
        let program = artefacts().profile.join("examples").join(name);
        assert!(
            program.is_file(),
            "cargo build -p gtrace-e2e --examples makes {}",
            program.display()
        );
        Self::new(program)
    }

    pub(crate) fn arguments(mut self, arguments: &[&str]) -> Self {
        self.case = self.case.arguments(arguments);
        self
    }

    pub(crate) fn client(mut self, name: &str, value: &str) -> Self {
        self.case = self.case.client(name, value);
        self
    }

    pub(crate) fn server(mut self, name: &str, value: &str) -> Self {
        self.case = self.case.server(name, value);
        self
    }

    /// How long it may take.
    pub(crate) fn limit(mut self, limit: Duration) -> Self {
        self.ground.limit = limit;
        self
    }

    pub(crate) fn mask(mut self, mask: fn(&str) -> String) -> Self {
        self.case = self.case.mask(mask);
        self
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        self.case.serve(&self.ground, arguments).unwrap()
    }

    pub(crate) fn direct(&self) -> Outcome {
        self.case.direct(&self.ground).unwrap()
    }

    pub(crate) fn remote(&self, server: &Server, via: Via, options: &[&str]) -> Outcome {
        self.case
            .remote(&self.ground, server, via, options)
            .unwrap()
    }

    pub(crate) fn outcome_directly(&self) -> Outcome {
        self.case.outcome_directly(&self.ground).unwrap()
    }

    pub(crate) fn outcome(&self, server: &Server, via: Via, options: &[&str]) -> Outcome {
        self.case
            .outcome(&self.ground, server, via, options)
            .unwrap()
    }

    pub(crate) fn same_everywhere(&self) -> String {
        match self.case.same_everywhere(&self.ground) {
            Ok(output) => output,
            Err(error) => panic!("{error:#}"),
        }
    }

    pub(crate) fn same_through(&self, server: &Server) -> String {
        match self.case.same_through(&self.ground, server) {
            Ok(output) => output,
            Err(error) => panic!("{error:#}\n{}", server.log()),
        }
    }
}

/// Libraries of NVIDIA's runtime that were fetched, a version each.
pub(crate) fn runtimes() -> Vec<PathBuf> {
    fn library(folder: &std::path::Path) -> Option<PathBuf> {
        for entry in std::fs::read_dir(folder).ok()?.flatten() {
            let path = entry.path();
            let found = match path.is_dir() {
                true => library(&path),
                false => entry
                    .file_name()
                    .to_string_lossy()
                    .starts_with("libcudart.so.")
                    .then_some(path),
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }
    let folder = artefacts().profile.with_file_name("e2e-runtimes");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| library(&entry.path())).collect()
}
