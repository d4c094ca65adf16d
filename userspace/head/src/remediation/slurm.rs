//! Nodes of a Slurm cluster by `scontrol`: drain and resume.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use gtrace_fleet::remedy::scontrol::{NODES_MAX, Node, parse, reason};
use gtrace_fleet::remedy::{Effect, Outcome, Slurm as Access};
use gtrace_plugins::{Left, Limits, program};

use super::kubernetes::May;

/// Most bytes of its output: 10,000 nodes at some 1 KiB, and more.
const OUTPUT_MAX: usize = 32 << 20;

pub(super) struct Slurm {
    access: Access,
    /// How long scontrol may take.
    answer: Duration,
    /// When all has to be answered.
    until: Instant,
}

impl Slurm {
    /// For runs of scontrol that have to end within `answer` each, and within `all` together.
    pub(super) fn new(access: &Access, answer: Duration, all: Duration) -> Self {
        Self {
            access: access.clone(),
            answer,
            until: Instant::now() + all,
        }
    }

    fn run(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.access.scontrol);
        if let Some(conf) = &self.access.conf {
            command.env("SLURM_CONF", conf);
        }
        command.args(arguments);
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let scontrol = self.access.scontrol.display();
            return Err(format!("{scontrol}: the time for all its answers is over"));
        }
        let limits = Limits {
            deadline: left.min(self.answer),
            output: OUTPUT_MAX,
        };
        let out = program(command, limits, Left::Killed)?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// All nodes, by name.
    pub(super) fn nodes(&self) -> Result<BTreeMap<String, Node>, String> {
        let output = self.run(&["--oneliner", "show", "nodes"]);
        let nodes = output.map(|text| parse(&text))?;
        match nodes.len() < NODES_MAX {
            true => Ok(nodes),
            // Of those that were not read nothing is known.
            false => Err(format!("Slurm lists {NODES_MAX} nodes or more")),
        }
    }

    fn update(&self, arguments: &[&str], done: &str, may: May<'_>) -> Outcome {
        if let Err(outcome) = may() {
            return outcome;
        }
        match self.run(arguments) {
            Ok(_) => Outcome::Acted(done.to_owned()),
            // It also fails where it has done it: resuming a node whose slurmd has yet to answer is an "invalid node state".
            Err(why) => Outcome::Unsure(why),
        }
    }

    pub(super) fn drain(&self, name: &str, plan: i64, why: &str, may: May<'_>) -> Outcome {
        // Of all nodes: that one is not there is no failure of scontrol then. Nothing was asked for where it fails.
        match self.nodes().map(|mut nodes| nodes.remove(name)) {
            Ok(Some(node)) if node.is_drained() => {
                return Outcome::Acted("the node was drained already".to_owned());
            }
            Ok(Some(_)) => {}
            Ok(None) => return Outcome::Refused(format!("Slurm has no node {name}")),
            Err(why) => return Outcome::Unsure(why),
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
            may,
        )
    }

    pub(super) fn resume(&self, name: &str, plan: i64, may: May<'_>) -> Outcome {
        // Of all nodes: that one is not there any more is no error then.
        match self.nodes().map(|mut nodes| nodes.remove(name)) {
            Ok(None) => Outcome::Acted(format!("Slurm has no node {name} any more")),
            Ok(Some(node)) if node.effect(plan) == Effect::Ours => self.update(
                &["update", &format!("NodeName={name}"), "State=RESUME"],
                "Slurm gives the node jobs again",
                may,
            ),
            Ok(Some(_)) => {
                let left = "the node is not drained by this plan any more; it is left as it is";
                Outcome::Acted(left.to_owned())
            }
            Err(why) => Outcome::Unsure(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

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
    fn a_list_that_may_be_cut_off_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("scontrol");
        let script = "#!/bin/sh\nexec seq -f 'NodeName=n%.0f State=IDLE' 1 $SLURM_CONF\n";
        std::fs::write(&path, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        let nodes = |count: usize| {
            let access = Access {
                scontrol: path.clone(),
                conf: Some(count.to_string().into()),
            };
            let all = Duration::from_secs(60);
            Slurm::new(&access, all, all).nodes().map(|n| n.len())
        };
        assert_eq!(nodes(NODES_MAX - 1), Ok(NODES_MAX - 1));
        assert!(nodes(NODES_MAX + 1).unwrap_err().contains("or more"));
    }

    #[test]
    fn a_node_of_a_real_slurmctld_is_drained_and_resumed_and_what_others_did_is_left_alone() {
        let Some(server) = Slurmctld::start() else {
            return;
        };
        let access = Access {
            scontrol: "/usr/bin/scontrol".into(),
            conf: Some(server.dir.path().join("slurm.conf")),
        };
        let slurm = Slurm::new(&access, Duration::from_secs(20), Duration::from_secs(300));
        let may = &mut || Ok(());
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
        slurm.drain("gpu-01", 7, why, may);
        assert_eq!(effect("gpu-01", 7), Effect::Ours);
        // A second plan finds it drained, and neither takes it over nor resumes it.
        slurm.drain("gpu-01", 8, "x", may);
        slurm.resume("gpu-01", 8, may);
        assert_eq!(effect("gpu-01", 7), Effect::Ours);
        assert_eq!(effect("gpu-01", 8), Effect::Theirs);
        slurm.resume("gpu-01", 7, may);
        assert_eq!(effect("gpu-01", 7), Effect::Absent);
        assert_eq!(effect("gpu-02", 7), Effect::Absent);
        let refused = slurm.drain("gpu-09", 7, "x", may);
        assert!(matches!(refused, Outcome::Refused(why) if why.contains("has no node")));
    }
}
