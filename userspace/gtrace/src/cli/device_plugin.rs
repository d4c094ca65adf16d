//! `gtrace device-plugin`: GPUs of other hosts for pods of this node.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use gtrace_device_plugin::{Container, Lister, Options};
use gtrace_grpc::device_plugin::{FOLDER, Mount};
use gtrace_link::Target;

use super::exec::connection::Connection;
use super::exec::libraries::CLIENT;
use super::run::init_log;
use super::shared::Failure;
use super::signals::signalled;

/// Argument that makes this binary the child that asks a server for its GPUs.
const LIST: &str = "remote-gpus";
/// Where the client's library is in a container: images of NVIDIA's CUDA look there.
const LIBRARIES: &str = "/usr/local/nvidia/lib64";
/// Where token and certificates are in a container.
const CREDENTIALS: &str = "/run/gtrace-remote";
/// Files that a container needs, by the variable that names them.
const FILES: [(&str, &str); 4] = [
    ("GTRACE_TOKEN_FILE", "token"),
    ("GTRACE_TLS_CA", "ca.pem"),
    ("GTRACE_TLS_CERT", "client.pem"),
    ("GTRACE_TLS_KEY", "client.key"),
];

/// Offer GPUs of hosts where `gtrace serve` runs to the pods of this Kubernetes node, as a device plugin of its kubelet.
///
/// A container that asks for `gtrace.dev/remote-gpu` gets one GPU of one server: its libcuda.so.1, its address and its
/// credentials. Exit status: 0 when it is stopped, 2 wrong usage, 3 if there is no kubelet or it refuses.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// A server: HOST or HOST:PORT; may be given several times.
    #[arg(
        long,
        value_name = "ADDR",
        env = "GTRACE_REMOTE",
        value_delimiter = ',',
        required = true
    )]
    remote: Vec<String>,
    #[command(flatten)]
    connection: Connection,
    /// How many containers share each GPU.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    slots: u32,
    /// What pods ask for.
    #[arg(long, value_name = "NAME", default_value = "gtrace.dev/remote-gpu", value_parser = resource)]
    resource: String,
    /// Seconds between two checks of the servers.
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    interval: u64,
    /// The kubelet's folder with the sockets of device plugins.
    #[arg(long, value_name = "DIR", default_value = FOLDER)]
    kubelet_dir: PathBuf,
    /// Folder of this host whose files containers get: the library and credentials. In a pod, a hostPath of the same name.
    #[arg(
        long,
        value_name = "DIR",
        default_value = "/var/lib/gtrace/device-plugin"
    )]
    host_dir: PathBuf,
}

/// A resource's name, as Kubernetes wants extended resources: a domain, and a name of at most 63 characters.
fn resource(text: &str) -> Result<String, String> {
    let domain = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let label = |label: &str| {
            let ends = [label.bytes().next(), label.bytes().next_back()];
            ends.into_iter().all(|byte| byte.is_some_and(plain))
                && label.bytes().all(|byte| plain(byte) || byte == b'-')
        };
        text.contains('.') && text.split('.').all(label)
    };
    let name = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        let ends = [text.bytes().next(), text.bytes().next_back()];
        text.len() <= 63
            && ends.into_iter().all(|byte| byte.is_some_and(plain))
            && text
                .bytes()
                .all(|byte| plain(byte) || b"-_.".contains(&byte))
    };
    match text.split_once('/') {
        Some((before, after)) if domain(before) && name(after) => Ok(text.to_owned()),
        _ => Err(format!(
            "`{text}` is no name of a resource: DOMAIN/NAME, such as gtrace.dev/remote-gpu"
        )),
    }
}

/// Runs the command.
///
/// # Errors
///
/// Why nothing can be offered here, with the remedy.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    init_log();
    for server in &args.remote {
        let wrong = match Target::parse(server) {
            Ok(_) if server.starts_with("unix:") => Some(format!(
                "{server}: a container does not see this host's sockets; name a host"
            )),
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        if let Some(wrong) = wrong {
            return Err(Failure::usage(wrong).into());
        }
    }
    if !args.kubelet_dir.is_dir() {
        bail!(
            "there is no folder {}: a kubelet makes it; name it with --kubelet-dir, and in a pod mount it",
            args.kubelet_dir.display()
        );
    }
    let options = options(&args)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        tokio::select! {
            ended = gtrace_device_plugin::run(options) => match ended {
                Err(error) => Err(anyhow::Error::new(Failure::not_possible(error))),
                Ok(never) => match never {},
            },
            signal = signalled() => signal.map(|()| ExitCode::SUCCESS),
        }
    })
}

/// Lays the files for containers out, and says what these get.
fn options(args: &Args) -> anyhow::Result<Options> {
    // Containers keep the path that they were started with: it has no `..` and no link of this process's folder in it.
    let host = std::path::absolute(&args.host_dir)?;
    let shown = host.display();
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&host)
        // The kubelet makes a hostPath that is not there, and every user may read that.
        .and_then(|()| fs::set_permissions(&host, fs::Permissions::from_mode(0o700)))
        .with_context(|| format!("{shown}"))?;
    let library = CLIENT.unpack_for_all(&host)?;
    let mut container = Container {
        environment: BTreeMap::from([("LD_LIBRARY_PATH".to_owned(), LIBRARIES.to_owned())]),
        mounts: vec![mount(LIBRARIES, &library)?],
    };
    let variables = args.connection.variables();
    for (name, value) in &variables {
        let file = FILES.iter().find(|(variable, _)| variable == name);
        let value = match file {
            Some((_, file)) => {
                let inside = format!("{CREDENTIALS}/{file}");
                let copy = copy(Path::new(value), &host, file)?;
                container.mounts.push(mount(&inside, &copy)?);
                inside
            }
            None => text(value)?,
        };
        container.environment.insert((*name).to_owned(), value);
    }
    let program = std::env::current_exe().context("this program")?;
    Ok(Options {
        servers: args.remote.clone(),
        slots: args.slots,
        resource: args.resource.clone(),
        folder: args.kubelet_dir.clone(),
        interval: Duration::from_secs(args.interval),
        lister: Lister {
            command: vec![program.into(), LIST.into()],
            library: library.join("libnvidia-ml.so.1"),
            environment: variables
                .into_iter()
                .map(|(name, value)| (name.into(), value))
                .collect(),
        },
        container,
    })
}

fn text(value: &std::ffi::OsStr) -> anyhow::Result<String> {
    match value.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{} is not UTF-8, as the kubelet wants it", value.display()),
    }
}

fn mount(inside: &str, host: &Path) -> anyhow::Result<Mount> {
    Ok(Mount {
        container_path: inside.to_owned(),
        host_path: text(host.as_os_str())?,
        read_only: true,
    })
}

/// A copy that every user of a container may read. On this host nobody but root gets there: the folder is root's alone.
fn copy(from: &Path, folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let (to, aside) = (folder.join(name), folder.join(format!(".{name}")));
    // One that was killed has left a file that nobody writes to.
    let _ = fs::remove_file(&aside);
    let copied = fs::read(from)
        .and_then(|bytes| fs::write(&aside, bytes))
        .and_then(|()| fs::set_permissions(&aside, fs::Permissions::from_mode(0o444)))
        .and_then(|()| fs::rename(&aside, &to));
    copied.with_context(|| format!("{} cannot be copied to {}", from.display(), to.display()))?;
    Ok(to)
}

/// The child that asks a server.
pub(super) fn list(library: &Path) -> ExitCode {
    gtrace_device_plugin::child_main(library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_is_a_domain_and_a_name() {
        for good in ["gtrace.dev/remote-gpu", "a.b/c", "example.com/H100_80.x"] {
            assert_eq!(resource(good).as_deref(), Ok(good));
        }
        for bad in [
            "gpu",
            "gtrace.dev/",
            "/gpu",
            "Gtrace.dev/gpu",
            "a/b",
            "a.b/-c",
            "a.b/c/d",
            "-a.b/c",
        ] {
            assert!(resource(bad).unwrap_err().contains("DOMAIN/NAME"), "{bad}");
        }
    }
}
