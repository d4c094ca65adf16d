//! Which programs run on a remote GPU: each program of [`PROGRAMS`] on the CPU emulator itself and through each link, with the
//! cause where it stops, and whose that is. `docs/programs.md` has the table, which `cargo xtask programs` writes; the tests of
//! frameworks compare it.

mod page;
mod programs;

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;

use crate::artefacts::Artefacts;
use crate::case::{Case, Ground};
use crate::process::Outcome;
use crate::server::Via;

pub use page::{lacking, page, recorded, with_rows, words};
pub use programs::{NOT_RUN, PROGRAMS};

/// What of a program is run.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A script of `programs/python` and its arguments, with the packages of `frameworks.txt`.
    Framework(&'static [&'static str]),
    /// The same with those of `requirements.txt`.
    Tool(&'static [&'static str]),
    /// A command that the packages of `requirements.txt` bring, and its arguments.
    Command(&'static [&'static str]),
    /// NVIDIA's `nvidia-smi` of a series of the driver, and its arguments.
    NvidiaSmi(&'static str, &'static [&'static str]),
    /// An example of this crate, in Rust.
    Example(&'static str),
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// By which the tests know it.
    pub id: &'static str,
    /// As people search for it.
    pub name: &'static str,
    /// Packages of PyPI whose versions are named.
    pub packages: &'static [&'static str],
    /// What it does.
    pub does: &'static str,
    /// How it is run.
    pub kind: Kind,
    /// Environment of the server, and of the program that runs directly.
    pub server: &'static [(&'static str, &'static str)],
    /// Options of the server.
    pub options: &'static [&'static str],
    /// Options of `gtrace exec`.
    pub client: &'static [&'static str],
    /// What of the output is compared.
    pub mask: fn(&str) -> String,
}

/// How a program ended in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With 0, and remotely with the output that it has directly.
    Works,
    /// With an error: the last line that it printed on standard error.
    Stops(String),
    /// With 0, and another output than directly: the first line that differs.
    Differs(String),
}

impl Ended {
    /// A cell of the table.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Stops(_) => "stops",
            Self::Differs(_) => "differs",
        }
    }
}

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which.
    pub program: &'static Program,
    /// What was asked of the packages, such as `torch 2.15.0`.
    pub versions: String,
    /// On the CPU emulator itself.
    pub directly: Ended,
    /// Over each of [`LINKS`].
    pub remotely: Vec<Ended>,
}

/// The links of the table.
pub const LINKS: [Via; 2] = [Via::Tcp, Via::Shm];

impl Row {
    /// Whether it works directly and not through a link: then the fault is remoting's.
    pub fn is_of_remoting(&self) -> bool {
        self.remotely.iter().any(|ended| match ended {
            Ended::Works => false,
            Ended::Differs(_) => true,
            Ended::Stops(_) => self.directly == Ended::Works,
        })
    }

    /// The cause of the first way in which it stops.
    pub fn cause(&self) -> Option<&str> {
        let all = std::iter::once(&self.directly).chain(&self.remotely);
        all.into_iter().find_map(|ended| match ended {
            Ended::Works => None,
            Ended::Stops(cause) | Ended::Differs(cause) => Some(cause.as_str()),
        })
    }
}

/// How long a program may take in one way.
const LIMIT: Duration = Duration::from_secs(900);

impl Program {
    /// Where it is, or why it is not there.
    fn case(&self, artefacts: &Artefacts) -> Result<Case, String> {
        let beside = |folder: &str| artefacts.profile.with_file_name(folder);
        let python = |folder: &str, fetched: &str| {
            let python = beside(folder).join("bin/python3");
            let missing = || format!("no {}: {fetched} fetches it", python.display());
            python.is_file().then(|| python.clone()).ok_or_else(missing)
        };
        let script = |python: PathBuf, arguments: &[&str]| {
            let file = crate::programs::python_sources().join(arguments[0]);
            let mut all = vec![file.display().to_string()];
            all.extend(arguments[1..].iter().map(|argument| {
                // A folder beside the interpreter's own.
                match argument.strip_prefix('@') {
                    Some(folder) => beside("e2e-frameworks").join(folder).display().to_string(),
                    None => (*argument).to_owned(),
                }
            }));
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            Case::new(python).arguments(&all)
        };
        let case = match self.kind {
            Kind::Framework(arguments) => {
                script(python("e2e-frameworks", "cargo xtask programs")?, arguments)
            }
            Kind::Tool(arguments) => script(python("e2e-python", "cargo xtask test")?, arguments),
            Kind::Command(arguments) => {
                let python = python("e2e-python", "cargo xtask test")?;
                let program = python.with_file_name(arguments[0]);
                Case::new(program).arguments(&arguments[1..])
            }
            Kind::NvidiaSmi(series, arguments) => {
                let folder = beside(&format!("e2e-nvidia-smi-{series}"));
                let program = folder.join("usr/lib/nvidia/current/nvidia-smi");
                if !program.is_file() {
                    return Err(format!(
                        "no {}: cargo xtask test fetches it",
                        program.display()
                    ));
                }
                Case::new(program).arguments(arguments)
            }
            Kind::Example(name) => {
                let program = artefacts.profile.join("examples").join(name);
                if !program.is_file() {
                    return Err(format!(
                        "no {}: cargo build -p gtrace-e2e --examples makes it",
                        program.display()
                    ));
                }
                Case::new(program)
            }
        };
        let case = self
            .server
            .iter()
            .fold(case, |case, (name, value)| case.server(name, value));
        Ok(case.mask(self.mask))
    }

    /// The versions of its packages, as the environment has them, or which is not there.
    fn versions(&self, artefacts: &Artefacts) -> Result<String, String> {
        let folder = match self.kind {
            Kind::Framework(_) => "e2e-frameworks",
            _ => "e2e-python",
        };
        let installed = artefacts.profile.with_file_name(folder);
        let of = |package: &&str| {
            let script =
                format!("from importlib.metadata import version; print(version({package:?}))");
            let printed = Command::new(installed.join("bin/python3"))
                .args(["-c", &script])
                .output();
            match printed {
                Ok(printed) if printed.status.success() => {
                    let version = String::from_utf8_lossy(&printed.stdout);
                    Ok(format!("{package} {}", version.trim()))
                }
                _ => Err(format!("{package} is not installed in {folder}")),
            }
        };
        match self.kind {
            Kind::NvidiaSmi(series, _) => Ok(series.to_owned()),
            _ => {
                let versions: Result<Vec<_>, _> = self.packages.iter().map(of).collect();
                versions.map(|versions| versions.join(", "))
            }
        }
    }

    /// Runs it directly and over each link.
    ///
    /// # Errors
    ///
    /// It is not there (then the inner error says why), or a server could not be started.
    pub fn run(
        &'static self,
        artefacts: &Artefacts,
        ground: &Ground,
    ) -> Result<Result<Row, String>> {
        let case = self.case(artefacts);
        let found = case.and_then(|case| Ok((case, self.versions(artefacts)?)));
        let (case, versions) = match found {
            Ok(found) => found,
            Err(why) => return Ok(Err(why)),
        };
        let ground = Ground {
            limit: LIMIT,
            ..ground.clone()
        };
        let server = case.serve(&ground, self.options)?;
        let direct = case.outcome_directly(&ground);
        let expected = direct.as_ref().map(|outcome| (self.mask)(&outcome.stdout));
        let expected = expected.unwrap_or_default();
        let remotely = LINKS.map(|via| {
            let outcome = case.outcome(&ground, &server, via, self.client);
            ended(outcome, |stdout| {
                difference(&expected, &(self.mask)(stdout))
            })
        });
        Ok(Ok(Row {
            program: self,
            versions,
            directly: ended(direct, |_| None),
            remotely: remotely.to_vec(),
        }))
    }
}

/// How a run ended; `differs` says in what the output differs.
fn ended(outcome: Result<Outcome>, differs: impl FnOnce(&str) -> Option<String>) -> Ended {
    match outcome {
        Err(error) => Ended::Stops(first_line(&format!("{error:#}"))),
        Ok(outcome) if outcome.status.success() => match differs(&outcome.stdout) {
            Some(line) => Ended::Differs(line),
            None => Ended::Works,
        },
        Ok(outcome) => {
            let mut lines = outcome
                .stderr
                .lines()
                .filter(|line| !line.trim().is_empty());
            // A crash says nothing more by itself.
            let last = lines.next_back().unwrap_or_default();
            Ended::Stops(format!("{}: {}", outcome.status, last.trim()))
        }
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// The first line in which two outputs differ.
fn difference(direct: &str, remote: &str) -> Option<String> {
    if direct == remote {
        return None;
    }
    let (mut direct, mut remote) = (direct.lines(), remote.lines());
    loop {
        match (direct.next(), remote.next()) {
            (Some(one), Some(other)) if one == other => {}
            (one, other) => {
                let nothing = "(nothing)";
                return Some(format!(
                    "directly {}, remotely {}",
                    one.unwrap_or(nothing),
                    other.unwrap_or(nothing)
                ));
            }
        }
    }
}

/// All of an output.
fn all(text: &str) -> String {
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_a_fault_is() {
        let row = |directly: Ended, remotely: &[Ended]| Row {
            program: &PROGRAMS[0],
            versions: String::new(),
            directly,
            remotely: remotely.to_vec(),
        };
        let stops = || Ended::Stops("exit status: 1: x".to_owned());
        assert!(row(Ended::Works, &[Ended::Works, stops()]).is_of_remoting());
        assert!(!row(stops(), &[stops(), stops()]).is_of_remoting());
        assert!(!row(stops(), &[Ended::Works, Ended::Works]).is_of_remoting());
        let differs = Ended::Differs("directly 1, remotely 2".to_owned());
        assert!(row(Ended::Works, &[differs, Ended::Works]).is_of_remoting());
    }

    #[test]
    fn the_first_difference_is_named() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let found = difference("a\nb\n", "a\n").unwrap();
        assert_eq!(found, "directly b, remotely (nothing)");
    }

    #[test]
    fn programs_have_names_of_their_own() {
        let mut ids: Vec<_> = PROGRAMS.iter().map(|program| program.id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
