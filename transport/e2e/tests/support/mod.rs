//! Running one program in every way on what cargo built, with the CPU emulator.
#![allow(dead_code)] // each test binary uses a part

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

use gtrace_e2e::artefacts::{self, Artefacts};
use gtrace_e2e::case::{self, Ground};
use gtrace_e2e::process::{self, Outcome};
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

/// A program that says a word when it waits for one.
pub(crate) struct Talking {
    pub(crate) child: Child,
    says: BufReader<ChildStdout>,
    hears: ChildStdin,
}

impl Talking {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            says: BufReader::new(child.stdout.take().unwrap()),
            hears: child.stdin.take().unwrap(),
            child,
        }
    }

    pub(crate) fn wait_for(&mut self, wanted: &str) {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), wanted);
    }

    pub(crate) fn say(&mut self, word: &str) -> io::Result<()> {
        self.hears.write_all(format!("{word}\n").as_bytes())
    }

    /// What it printed from here on, on both, and its exit status.
    pub(crate) fn end(self) -> (String, String, Option<i32>) {
        let (stdout, stderr, status) = self.end_within(LIMIT);
        (stdout, stderr, status.expect("it ends").code())
    }

    /// The same, without a status if it has to be killed.
    pub(crate) fn end_within(mut self, limit: Duration) -> (String, String, Option<ExitStatus>) {
        let status = process::wait(&mut self.child, limit).unwrap();
        if status.is_none() {
            self.child.kill().unwrap();
        }
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.says.read_to_string(&mut stdout).unwrap();
        let mut pipe = self.child.stderr.take().unwrap();
        pipe.read_to_string(&mut stderr).unwrap();
        (stdout, stderr, status)
    }
}

/// Python in a folder beside cargo's, or where a variable says; else what is lacking is reported, and what makes it.
pub(crate) fn python(
    variable: &str,
    folder: &str,
    [lacking, remedy]: [&str; 2],
) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let folder = named.unwrap_or_else(|| artefacts().profile.with_file_name(folder));
    let python = folder.join("bin/python3");
    if python.is_file() {
        return Some(python);
    }
    println!("SKIPPED: no {lacking} at {}: {remedy}", folder.display());
    None
}

/// A program in Python.
pub(crate) fn script(python: PathBuf, name: &str) -> Case {
    let file = programs::python_sources().join(name);
    Case::new(python).arguments(&[file.to_str().unwrap()])
}

/// What a server has of its clients.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    workers: usize,
    threads: Option<usize>,
    descriptors: Option<usize>,
}

pub(crate) fn state(server: &Server) -> State {
    State {
        workers: server.workers().len(),
        threads: process::threads(server.pid()),
        descriptors: process::descriptors(server.pid()),
    }
}

/// Once it no longer changes: what a server needs to start, or a client to begin, is not closed at once.
pub(crate) fn idle_state(server: &Server) -> State {
    let mut before = state(server);
    loop {
        std::thread::sleep(Duration::from_millis(200));
        let now = state(server);
        if now == before {
            return now;
        }
        before = now;
    }
}

/// A way to `server`, whose address is the result: each connection of a client, with its number and the one to the server, is given
/// to `each`, which does not wait.
pub(crate) fn way_to(
    server: String,
    mut each: impl FnMut(usize, TcpStream, TcpStream) + Send + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for number in 0.. {
            let Ok((client, _)) = listener.accept() else {
                return;
            };
            let Ok(there) = TcpStream::connect(&server) else {
                return;
            };
            each(number, client, there);
        }
    });
    address
}

/// The library of NVIDIA's runtime in an unpacked package.
pub(crate) fn library(folder: &Path) -> Option<PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() {
            if let Some(found) = library(&path) {
                return Some(found);
            }
        } else if name.to_string_lossy().starts_with("libcudart.so.") {
            return Some(path);
        }
    }
    None
}

/// Libraries of NVIDIA's runtime that were fetched, a version each.
pub(crate) fn runtimes() -> Vec<PathBuf> {
    let folder = artefacts().profile.with_file_name("e2e-runtimes");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| library(&entry.path())).collect()
}
