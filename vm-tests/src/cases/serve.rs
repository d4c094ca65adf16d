//! The server of a remote GPU in a control group of version 2 that is its own, as a unit of systemd with Delegate=yes has
//! one: what the kernel does when a worker wants more than its part.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use gtrace_vm_tests::layout::{BUSYBOX, GTRACE, LIMITS, RDMA};
use serde_json::Value;

use super::rdma::status_of;
use crate::guest::process::Killed;
use crate::guest::{Guest, PATIENCE, within};

cases! {
    Rdma "serve_worker_limits" => worker_limits, patience(300);
}

const ROOT: &str = "/sys/fs/cgroup";
/// The server's group.
const GROUP: &str = "serve";
const ADDRESS: &str = "127.0.0.1:7471";
/// Memory of a worker, and more than that, MiB.
const MEMORY: u64 = 192;
const TOO_MUCH: &str = "512";
/// Lanes of a client, beside which a worker has 256 threads.
const LANES: u64 = 8;
/// The kernel that has all that the sandbox can use.
const ALL_OF_IT: (u32, u32) = (6, 12);

/// `gtrace serve` in a group of its own; ended when dropped.
struct Server {
    child: Killed,
    group: PathBuf,
    status: String,
    log: PathBuf,
}

impl Server {
    fn start(guest: &Guest) -> Result<Self> {
        let control = Path::new(ROOT).join("cgroup.subtree_control");
        for controller in ["+memory", "+pids", "+cpu"] {
            fs::write(&control, controller).with_context(|| format!("no {controller}"))?;
        }
        let group = Path::new(ROOT).join(GROUP);
        fs::create_dir_all(&group)?;
        let (status, log) = (guest.scratch().join("status"), guest.scratch().join("log"));
        let sandbox = match guest.kernel() >= ALL_OF_IT {
            true => "required",
            false => "on",
        };
        let script = format!(
            "echo 0 >{}/cgroup.procs; exec {GTRACE} serve --softgpu --listen {ADDRESS} --status-socket {} \
             --max-lanes {LANES} --worker-memory {MEMORY}M --sandbox {sandbox}",
            group.display(),
            status.display()
        );
        let child = Command::new(BUSYBOX)
            .args(["sh", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(&log)?)
            .spawn()?;
        let mut server = Self {
            child: Killed(child),
            group,
            status: status.display().to_string(),
            log,
        };
        within(PATIENCE, "a server", || {
            if let Some(ended) = server.child.try_wait()? {
                anyhow::bail!("it ended: {ended}: {}", server.log());
            }
            let answer = std::net::TcpStream::connect(ADDRESS);
            Ok(answer.is_ok().then_some(()))
        })?;
        Ok(server)
    }

    fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    fn status(&self) -> Result<Value> {
        status_of(&self.status)
    }

    /// Processes of the workers whose clients were let in.
    fn workers(&self) -> Result<Vec<u64>> {
        let status = self.status()?;
        let sessions = status["sessions"].as_array().context("no sessions")?;
        let known = sessions.iter().filter(|one| !one["client"].is_null());
        Ok(known.filter_map(|one| one["worker"].as_u64()).collect())
    }

    fn group_of(&self, worker: u64) -> PathBuf {
        self.group.join(format!("worker-{worker}"))
    }
}

/// The program `limits`, which waits for a word.
struct Client {
    child: Killed,
    hears: ChildStdin,
    says: BufReader<ChildStdout>,
    worker: u64,
}

impl Client {
    fn start(server: &Server, arguments: &[&str]) -> Result<Self> {
        let before = server.workers()?;
        let mut child = Command::new(GTRACE)
            .args(["exec", "--remote", ADDRESS, "--"])
            .arg(format!("{RDMA}/{LIMITS}"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut says = BufReader::new(child.stdout.take().context("no output")?);
        let mut line = String::new();
        says.read_line(&mut line)?;
        ensure!(line == "ready\n", "it said {line:?}: {}", server.log());
        // That of `gtrace exec` itself may still be ending.
        let worker = within(PATIENCE, "its worker alone", || {
            let mut now = server.workers()?;
            now.retain(|worker| !before.contains(worker));
            Ok(match now[..] {
                [one] => Some(one),
                _ => None,
            })
        })?;
        Ok(Self {
            hears: child.stdin.take().context("no input")?,
            child: Killed(child),
            says,
            worker,
        })
    }

    /// Tells it to go on; what it says to its end.
    fn go_on(mut self) -> Result<String> {
        self.hears.write_all(b"go\n")?;
        let ended = within(PATIENCE, "its end", || Ok(self.child.try_wait()?))?;
        let mut printed = String::new();
        self.says.read_to_string(&mut printed)?;
        if let Some(mut stderr) = self.child.stderr.take() {
            stderr.read_to_string(&mut printed)?;
        }
        ensure!(ended.success(), "{ended}: {printed}");
        Ok(printed)
    }
}

fn worker_limits(guest: &mut Guest) -> Result<()> {
    let server = Server::start(guest)?;
    let status = server.status()?;
    let layers = status["layers"].as_array().context("no layers")?;
    let layer = layers.iter().find(|layer| layer["name"] == "cgroup");
    ensure!(
        layer.is_some_and(|layer| layer["active"] == true),
        "{layers:?}"
    );
    guest.note(format!("layers: {}", status["layers"]))?;

    let bystander = Client::start(&server, &["threads", "2"])?;
    let group = server.group_of(bystander.worker);
    for (file, wanted) in [
        ("cgroup.procs", bystander.worker.to_string()),
        ("pids.max", (LANES + 256).to_string()),
        ("memory.max", (MEMORY << 20).to_string()),
        ("memory.oom.group", "1".into()),
        ("cpu.weight", "100".into()),
    ] {
        let text = fs::read_to_string(group.join(file))?;
        ensure!(text.trim() == wanted, "{file}: {text:?}, not {wanted}");
    }

    // Who takes too much loses its own worker and nobody else's.
    let greedy = Client::start(&server, &["memory", TOO_MUCH])?;
    let group = server.group_of(greedy.worker);
    let printed = greedy.go_on()?;
    guest.note(format!("memory: {printed}"))?;
    ensure!(
        printed.contains("CUDA_ERROR_DEVICE_UNAVAILABLE"),
        "{printed}"
    );
    within(PATIENCE, "its group is gone", || {
        Ok((!group.exists()).then_some(()))
    })?;
    let dmesg = guest.dmesg()?;
    ensure!(
        dmesg
            .iter()
            .any(|line| line.contains("Memory cgroup out of memory")),
        "the kernel killed nobody: {dmesg:?}"
    );
    let failed = server.status()?["counters"]["workers_failed"].clone();
    ensure!(failed == 1, "{failed} workers have failed");

    // No further processes or threads than it has: the threads that want them fail, and the first one goes on.
    let crowded = Client::start(&server, &["threads", "3"])?;
    let group = server.group_of(crowded.worker);
    let now = fs::read_to_string(group.join("pids.current"))?;
    fs::write(group.join("pids.max"), now.trim())?;
    let printed = crowded.go_on()?;
    guest.note(format!("threads: {printed}"))?;
    ensure!(
        printed.contains("3 of 3 threads failed") && printed.contains("main thread: 5"),
        "{printed}"
    );

    let printed = bystander.go_on()?;
    ensure!(
        printed.contains("0 of 2 threads failed") && printed.contains("main thread: 5"),
        "{printed}: {}",
        server.log()
    );
    Ok(())
}
