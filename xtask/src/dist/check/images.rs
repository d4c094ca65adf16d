//! Container images, loaded and run by podman, with storage of their own.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};

use super::super::{Packed, VERSION};
use crate::context::Context;
use crate::os;
use crate::packages;
use crate::report::Report;
use crate::shell::{self, step};

/// What runs containers.
const NEEDED: [&str; 2] = ["podman", "runc"];
/// Most for a server to be there.
const LIMIT: Duration = Duration::from_secs(60);
/// Most for a server to end when it is asked to.
const END: Duration = Duration::from_secs(10);

/// Adds the check of all images to `report`.
pub(super) fn add(context: &Context, packed: &Packed, report: &mut Report) {
    const NAME: &str = "container images run";
    report.begin(NAME);
    if packed.images.is_empty() {
        return report.skip(NAME, 1, "no images were made: --images makes them");
    }
    if !os::is_root() {
        return report.skip(
            NAME,
            1,
            "podman without root needs ranges of users of its own",
        );
    }
    if let Err(error) = packages::ensure(&NEEDED, "it runs the images") {
        return report.skip(NAME, 1, format!("{error:#}"));
    }
    let podman = Podman {
        storage: context.target.join("dist/podman"),
    };
    let result = podman.check(packed);
    podman.clear();
    report.check(NAME, result);
}

/// podman, with storage that is not the host's.
struct Podman {
    storage: PathBuf,
}

impl Podman {
    fn command(&self, args: &[&str]) -> Command {
        let mut podman = Command::new("podman");
        podman
            .arg("--root")
            .arg(self.storage.join("root"))
            .arg("--runroot")
            .arg(self.storage.join("run"))
            .arg("--tmpdir")
            .arg(self.storage.join("tmp"))
            // As plain as it gets: no overlay of the kernel's, no systemd.
            .args(["--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"])
            .args(["--runtime", "runc", "--log-level", "error"])
            .args(args);
        podman
    }

    fn run(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["run", "--rm"]);
        // Podman would raise these limits, which not every root may.
        command.args([
            "--ulimit",
            "nofile=1024:1024",
            "--ulimit",
            "nproc=1024:1024",
        ]);
        command.args(args);
        command
    }

    fn clear(&self) {
        // `podman system reset` would also remove what is the host's. What is mounted has to go before the files.
        let _ = shell::output(&mut self.command(&["image", "unmount", "--all"]));
        let _ = fs::remove_dir_all(&self.storage);
    }

    fn check(&self, packed: &Packed) -> Result<()> {
        self.clear();
        fs::create_dir_all(&self.storage)?;
        for image in &packed.images {
            step(format!("loading {}", image.display()));
            let mut load = self.command(&["load", "--quiet", "--input"]);
            shell::read(load.arg(image)).context("podman load")?;
        }
        self.daemon().context("gtrace")?;
        self.remote_gpu().context("gtrace-serve and gtrace-client")
    }

    /// As packaging/README.md has it: the demonstration, which runs the daemon, writes a report.
    fn daemon(&self) -> Result<()> {
        let out = self.storage.join("out");
        fs::create_dir_all(&out)?;
        let volume = format!("{}:/out", out.display());
        let image = format!("localhost/gtrace:{VERSION}");
        let mut demo = self.run(&["--network", "none", "--volume", &volume, &image]);
        shell::read(demo.args(["demo", "--once", "--out", "/out"]))?;
        let reports = fs::read_dir(&out)?.flatten().filter(|file| {
            let is_report = |path: &Path| path.extension().is_some_and(|end| end == "html");
            is_report(&file.path()) && file.metadata().is_ok_and(|it| it.len() > 10_000)
        });
        ensure!(reports.count() == 1, "no report was written");
        Ok(())
    }

    /// The server as its user without rights, and a client that has nothing but the layer: it sees the server's GPU.
    fn remote_gpu(&self) -> Result<()> {
        // One that is free now, on this host's loopback interface.
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
        let serve = format!("localhost/gtrace-serve:{VERSION}");
        let mut server = self.run(&[
            "--network",
            "host",
            "--read-only",
            "--tmpfs",
            "/tmp",
            &serve,
        ]);
        server.args(["--softgpu", "--listen", &address]);
        let mut server = Server(server.stdin(Stdio::null()).spawn().context("podman")?);
        let until = Instant::now() + LIMIT;
        while TcpStream::connect(&address).is_err() {
            if let Some(status) = server.0.try_wait()? {
                bail!("the server has ended: {status}");
            }
            ensure!(Instant::now() < until, "the server does not listen");
            std::thread::sleep(Duration::from_millis(100));
        }
        let layer = self.command(&[
            "image",
            "mount",
            &format!("localhost/gtrace-client:{VERSION}"),
        ]);
        let layer = shell::read(&mut { layer })?;
        let volume = format!("{}/opt/gtrace:/opt/gtrace:ro", layer.trim());
        let remote = format!("GTRACE_REMOTE={address}");
        let image = format!("localhost/gtrace:{VERSION}");
        let mut client = self.run(&["--network", "host", "--user", "12345", "--env", &remote]);
        client.args(["--volume", &volume, &image]);
        let gpus = shell::read(client.args(["remote-gpus", "/opt/gtrace/libnvidia-ml.so.1"]))?;
        if !gpus.contains("\"uuid\":\"GPU-") {
            bail!("the client sees no GPU: {gpus}");
        }
        Ok(())
    }
}

/// A container that ends with the check.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let pid = self.0.id().to_string();
        // podman passes it on.
        let _ = shell::output(Command::new("kill").args(["-TERM", &pid]));
        let until = Instant::now() + END;
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
