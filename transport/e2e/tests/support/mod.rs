//! Running one program in every way.
#![allow(dead_code)] // each test binary uses a part

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use gtrace_e2e::artefacts::{self, Artefacts};
use gtrace_e2e::process::{self, Outcome};
use gtrace_e2e::programs;
use gtrace_e2e::server::{Server, Via};

/// How long any of the programs may take; the machine may be busy and the stand-in unoptimised.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

pub(crate) fn artefacts() -> &'static Artefacts {
    Artefacts::get().expect("gtrace and the stand-in can be built")
}

/// A program, and what its environment and its server's add.
pub(crate) struct Case {
    program: PathBuf,
    arguments: Vec<String>,
    client: Vec<(String, String)>,
    server: Vec<(String, String)>,
    mask: fn(&str) -> String,
}

impl Case {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            client: Vec::new(),
            server: Vec::new(),
            mask: str::to_owned,
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
        self.arguments = arguments
            .iter()
            .map(|&argument| argument.to_owned())
            .collect();
        self
    }

    pub(crate) fn client(mut self, name: &str, value: &str) -> Self {
        self.client.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn server(mut self, name: &str, value: &str) -> Self {
        self.server.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What of the output is compared.
    pub(crate) fn mask(mut self, mask: fn(&str) -> String) -> Self {
        self.mask = mask;
        self
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        let server: Vec<_> = self
            .server
            .iter()
            .map(|(k, v)| (k.as_str(), v.as_str()))
            .collect();
        Server::start(&artefacts().gtrace, &server, arguments).unwrap()
    }

    /// Directly on the stand-in; the program is content.
    pub(crate) fn direct(&self) -> Outcome {
        self.content(self.outcome_directly(), "directly")
    }

    /// Through `server`; `options` are for `gtrace exec`. The program is content.
    pub(crate) fn remote(&self, server: &Server, via: Via, options: &[&str]) -> Outcome {
        self.content(self.outcome(server, via, options), via.name())
    }

    fn content(&self, outcome: Outcome, how: &str) -> Outcome {
        assert!(
            outcome.status.success(),
            "{} {how}: {}\n{}{}",
            self.program.display(),
            outcome.status,
            outcome.stdout,
            outcome.stderr
        );
        outcome
    }

    /// Directly, whatever comes of it.
    pub(crate) fn outcome_directly(&self) -> Outcome {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .env("LD_LIBRARY_PATH", &artefacts().softgpu_folder)
            .envs(self.server.iter().cloned());
        self.run(&mut command)
    }

    /// Through `server`, whatever comes of it.
    pub(crate) fn outcome(&self, server: &Server, via: Via, options: &[&str]) -> Outcome {
        let mut command = server.exec(via);
        command
            .args(options)
            .arg("--")
            .arg(&self.program)
            .args(&self.arguments);
        self.run(&mut command)
    }

    fn run(&self, command: &mut Command) -> Outcome {
        for name in [
            "CUDA_VISIBLE_DEVICES",
            "CUDA_LAUNCH_BLOCKING",
            "CUDA_DEVICE_ORDER",
        ] {
            command.env_remove(name);
        }
        command
            .env("GTRACE_KERNELS", artefacts::kernels())
            .envs(self.client.iter().cloned());
        process::run(command, LIMIT).unwrap()
    }

    /// Directly, over each link, and with every call answered; all print the same, which comes back.
    pub(crate) fn same_everywhere(&self) -> String {
        let direct = (self.mask)(&self.direct().stdout);
        let server = self.serve(&[]);
        let ways = Via::ALL.map(|via| (via, &[][..]));
        for (via, options) in ways.into_iter().chain([(Via::Unix, &["--strict"][..])]) {
            let remote = (self.mask)(&self.remote(&server, via, options).stdout);
            assert_eq!(
                remote,
                direct,
                "{} over {} {options:?} (left) prints something else than directly (right)",
                self.program.display(),
                via.name()
            );
        }
        direct
    }
}
