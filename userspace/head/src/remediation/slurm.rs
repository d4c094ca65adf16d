//! Nodes of a Slurm cluster by `scontrol`: drain and resume, and what holds of them.
//!
//! The form of `scontrol --oneliner show node` is that of scontrol(1): `NodeName=… State=IDLE+DRAIN … Reason=… [user@time]`. A node has
//! the name that the host has in the fleet. The reason says which plan drains it.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gtrace_fleet::remedy::{Effect, Outcome, Slurm as Access};

/// How long scontrol may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Most bytes of its output: 10,000 nodes at some 1 KiB, and more.
const OUTPUT_MAX: u64 = 64 << 20;
/// Of its errors, so much is said.
const SAID_MAX: usize = 300;
/// States in which a node has jobs, of scontrol(1).
const BUSY: [&str; 3] = ["ALLOCATED", "MIXED", "COMPLETING"];

/// A node, as far as plans are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// `IDLE`, `DRAIN` and so on.
    states: Vec<String>,
    reason: String,
}

impl Node {
    pub(super) fn is_drained(&self) -> bool {
        self.states
            .iter()
            .any(|state| state == "DRAIN" || state == "DRAINED" || state == "DRAINING")
    }

    /// Whether the scheduler gives it jobs: neither drained, nor down or failing.
    pub(super) fn is_out(&self) -> bool {
        let out = ["DOWN", "FAIL", "FAILING"];
        self.is_drained() || self.states.iter().any(|s| out.contains(&s.as_str()))
    }

    /// Jobs that are there, in words.
    pub(super) fn busy(&self) -> Option<String> {
        let busy = self.states.iter().find(|s| BUSY.contains(&s.as_str()));
        busy.map(|state| format!("Slurm has jobs on it ({state})"))
    }

    /// Whether it is drained, from the view of a plan.
    pub(super) fn effect(&self, plan: i64) -> Effect {
        match self.is_drained() {
            true if self.reason.starts_with(&reason(plan)) => Effect::Ours,
            true => Effect::Theirs,
            false => Effect::Absent,
        }
    }
}

fn reason(plan: i64) -> String {
    format!("gtrace plan {plan}:")
}

/// The nodes of scontrol's output, by name.
fn parse(output: &str) -> BTreeMap<String, Node> {
    let mut nodes = BTreeMap::new();
    for line in output.lines() {
        let Some(name) = line
            .strip_prefix("NodeName=")
            .and_then(|rest| rest.split(' ').next())
        else {
            continue;
        };
        let field = |key: &str| line.split_once(&format!(" {key}=")).map(|(_, rest)| rest);
        let state = field("State").and_then(|rest| rest.split(' ').next());
        // A suffix says more of it: `*` does not answer, `~` is powered off, and others.
        let states = state.unwrap_or_default().split('+');
        let states =
            states.map(|s| s.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        let node = Node {
            states: states.map(str::to_owned).collect(),
            reason: field("Reason").unwrap_or_default().to_owned(),
        };
        nodes.insert(name.to_owned(), node);
    }
    nodes
}

pub(super) struct Slurm(pub(super) Access);

impl Slurm {
    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let scontrol = self.0.scontrol.display();
        let failed = |e: &dyn std::fmt::Display| format!("{scontrol}: {e}");
        let mut command = Command::new(&self.0.scontrol);
        if let Some(conf) = &self.0.conf {
            command.env("SLURM_CONF", conf);
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| failed(&e))?;
        let read = |from: Option<Box<dyn std::io::Read + Send>>| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                if let Some(from) = from {
                    let _ = from.take(OUTPUT_MAX).read_to_end(&mut text);
                }
                String::from_utf8_lossy(&text).into_owned()
            })
        };
        let out = read(child.stdout.take().map(|s| Box::new(s) as _));
        let errors = read(child.stderr.take().map(|s| Box::new(s) as _));
        let until = Instant::now() + TIMEOUT;
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break status,
                Ok(None) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                _ => {
                    let _ = child.kill();
                    let _ = child.wait();
                    let seconds = TIMEOUT.as_secs();
                    return Err(format!("{scontrol} did not end within {seconds} s"));
                }
            }
        };
        let out = out.join().unwrap_or_default();
        if status.success() {
            return Ok(out);
        }
        let said = errors.join().unwrap_or_default() + &out;
        let said: String = said.trim().chars().take(SAID_MAX).collect();
        Err(format!(
            "{scontrol} fails ({status}): {}",
            said.replace(char::is_control, " ")
        ))
    }

    /// All nodes, by name.
    pub(super) fn nodes(&self) -> Result<BTreeMap<String, Node>, String> {
        let output = self.run(&["--oneliner", "show", "nodes"]);
        output.map(|text| parse(&text))
    }

    fn node(&self, name: &str) -> Result<Node, String> {
        let text = self.run(&["--oneliner", "show", "node", name])?;
        let node = parse(&text).remove(name);
        node.ok_or_else(|| format!("Slurm has no node {name}"))
    }

    fn update(&self, arguments: &[&str], done: &str) -> Outcome {
        match self.run(arguments) {
            Ok(_) => Outcome::Acted(done.to_owned()),
            // It also fails where it has done it: resuming a node whose slurmd has yet to answer is an "invalid node state".
            Err(why) => Outcome::Unsure(why),
        }
    }

    pub(super) fn drain(&self, name: &str, plan: i64, why: &str) -> Outcome {
        let node = match self.node(name) {
            Ok(node) => node,
            Err(why) => return Outcome::Refused(why),
        };
        if node.is_drained() {
            return Outcome::Acted("the node was drained already".to_owned());
        }
        // One argument, not a word of a shell; a quote would end it for scontrol.
        let fits = |c: &char| !c.is_control() && !"\"'`$\\=[]".contains(*c);
        let why: String = why.chars().filter(fits).take(120).collect();
        self.update(
            &[
                "update",
                &format!("NodeName={name}"),
                "State=DRAIN",
                &format!("Reason={} {why}", reason(plan)),
            ],
            "Slurm gives the node no new jobs",
        )
    }

    pub(super) fn resume(&self, name: &str, plan: i64) -> Outcome {
        // Of all nodes: that one is not there any more is no error then.
        match self.nodes().map(|mut nodes| nodes.remove(name)) {
            Ok(None) => Outcome::Acted(format!("Slurm has no node {name} any more")),
            Ok(Some(node)) if node.effect(plan) == Effect::Ours => self.update(
                &["update", &format!("NodeName={name}"), "State=RESUME"],
                "Slurm gives the node jobs again",
            ),
            Ok(Some(_)) => {
                let left = "the node is not drained by this plan any more; it is left as it is";
                Outcome::Acted(left.to_owned())
            }
            Err(why) => Outcome::Refused(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_reasons_are_those_of_scontrol() {
        let text = "NodeName=gpu-01 Arch=x86_64 CoresPerSocket=1 State=IDLE+DRAIN ThreadsPerCore=1 MCS_label=N/A \
                    Reason=gtrace plan 7: PCIe failure [root@2026-01-01T00:00:00]\n\
                    NodeName=gpu-02 State=MIXED*+DRAIN Reason=disk [x@y]\n\
                    NodeName=gpu-03 State=ALLOCATED\nnoise\n";
        let nodes = parse(text);
        assert_eq!(nodes.len(), 3);
        let (one, two, three) = (&nodes["gpu-01"], &nodes["gpu-02"], &nodes["gpu-03"]);
        assert_eq!(one.effect(7), Effect::Ours);
        // Not that of plan 70.
        assert_eq!((one.effect(70), one.busy()), (Effect::Theirs, None));
        assert_eq!(two.effect(7), Effect::Theirs);
        assert!(two.busy().is_some() && two.is_out());
        assert_eq!((three.effect(7), three.is_out()), (Effect::Absent, false));
        assert!(three.busy().is_some());
    }

    /// slurmctld of the distribution, with nodes that no slurmd runs on.
    struct Slurmctld {
        child: std::process::Child,
        dir: tempfile::TempDir,
    }

    impl Slurmctld {
        /// `None`, with the reason on standard output, where it is not installed.
        fn start() -> Option<Self> {
            let program = ["/usr/sbin/slurmctld", "/usr/bin/slurmctld"]
                .into_iter()
                .find(|path| std::path::Path::new(path).exists());
            let Some(program) = program else {
                println!("SKIPPED: slurmctld and scontrol are not installed");
                return None;
            };
            let dir = tempfile::tempdir().unwrap();
            let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            let port = port.local_addr().unwrap().port();
            let user = Command::new("id").arg("-un").output().unwrap().stdout;
            let (user, at) = (String::from_utf8(user).unwrap(), dir.path().display());
            std::fs::create_dir(dir.path().join("state")).unwrap();
            let conf = format!(
                "ClusterName=test\nSlurmctldHost=localhost\nSlurmctldPort={port}\nAuthType=auth/none\nCredType=cred/none\n\
                 SlurmUser={user}\nStateSaveLocation={at}/state\nSlurmctldPidFile={at}/pid\nSlurmctldLogFile={at}/log\n\
                 ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
                 SelectType=select/linear\nNodeName=gpu-01,gpu-02 NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN\n\
                 PartitionName=p Nodes=ALL Default=YES State=UP\n"
            );
            std::fs::write(dir.path().join("slurm.conf"), conf).unwrap();
            let child = Command::new(program)
                .args(["-D", "-f"])
                .arg(dir.path().join("slurm.conf"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            Some(Self { child, dir })
        }
    }

    impl Drop for Slurmctld {
        fn drop(&mut self) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    #[test]
    fn a_node_of_a_real_slurmctld_is_drained_and_resumed_and_what_others_did_is_left_alone() {
        let Some(server) = Slurmctld::start() else {
            return;
        };
        let slurm = Slurm(Access {
            scontrol: "/usr/bin/scontrol".into(),
            conf: Some(server.dir.path().join("slurm.conf")),
        });
        let until = Instant::now() + Duration::from_secs(60);
        let nodes = loop {
            match slurm.nodes() {
                Ok(nodes) => break nodes,
                Err(why) => assert!(Instant::now() < until, "{why}"),
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(nodes.len(), 2);
        let effect = |name: &str, plan: i64| slurm.nodes().unwrap()[name].effect(plan);
        assert_eq!(effect("gpu-01", 7), Effect::Absent);
        let why = "PCIe failure \"; \n$(reboot) State=DOWN";
        slurm.drain("gpu-01", 7, why);
        assert_eq!(effect("gpu-01", 7), Effect::Ours);
        // A second plan finds it drained, and neither takes it over nor resumes it.
        slurm.drain("gpu-01", 8, "x");
        slurm.resume("gpu-01", 8);
        assert_eq!(effect("gpu-01", 7), Effect::Ours);
        assert_eq!(effect("gpu-01", 8), Effect::Theirs);
        slurm.resume("gpu-01", 7);
        assert_eq!(effect("gpu-01", 7), Effect::Absent);
        assert_eq!(effect("gpu-02", 7), Effect::Absent);
        let refused = slurm.drain("gpu-09", 7, "x");
        assert!(matches!(refused, Outcome::Refused(why) if why.contains("not found")));
    }
}
