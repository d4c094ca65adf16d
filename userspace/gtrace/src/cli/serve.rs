//! `gtrace serve`: this host's GPUs for programs on other hosts.

use std::fs;
use std::io::{IsTerminal as _, Write as _};
use std::num::NonZeroUsize;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use gtrace_link::Networks;
use gtrace_server::{
    Limits, Listen, Options, SandboxMode, Supervisor, Users, WorkerCommand, parse_size,
};

use super::exec::libraries::SOFTGPU;
use super::run::{init_log, init_log_to};
use super::shared::{self, Failure};

/// Where clients of this host find the server.
const SOCKET: &str = "/run/gtrace/serve.sock";
/// Open files of a worker: the connections of a client's threads, which may be 1024, and the driver's.
const FILES: u64 = 65_536;
/// Argument that makes this binary a worker.
pub(super) const WORKER: &str = "serve-worker";

/// Serve the GPUs of this host to programs on other hosts (`gtrace exec`).
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Address to listen on: HOST:PORT or unix:PATH; may be given several times. By default
    /// 127.0.0.1:7471 and, where that can be made, unix:/run/gtrace/serve.sock.
    #[arg(long, value_name = "ADDR")]
    listen: Vec<Listen>,
    /// The CUDA driver's library. By default the libcuda.so.1 of the usual folders.
    #[arg(long, value_name = "PATH", conflicts_with = "softgpu")]
    libcuda: Option<PathBuf>,
    /// NVML's library. By default the libnvidia-ml.so.1 of the usual folders, if there is one.
    #[arg(long, value_name = "PATH", conflicts_with = "softgpu")]
    libnvml: Option<PathBuf>,
    /// Serve the CPU emulator of a GPU: for tests.
    #[arg(long)]
    softgpu: bool,
    /// What the CPU emulator does with kernels.
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value_t,
        requires = "softgpu"
    )]
    launch: Launch,
    /// File with the token that clients have to know.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// File of named tokens and client certificates (`gtrace token --credentials FILE`), read again when it changes. Each
    /// whose role is operate may run programs, as may who knows the token of --token-file.
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Certificate for TLS, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its private key, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Certificates of authorities, PEM: a client may show a certificate of theirs, which --credentials lists, in place of
    /// a token.
    #[arg(
        long,
        value_name = "FILE",
        requires = "tls_cert",
        requires = "credentials"
    )]
    tls_client_ca: Option<PathBuf>,
    /// Certificates that those authorities have revoked, PEM.
    #[arg(long, value_name = "FILE", requires = "tls_client_ca")]
    tls_client_crl: Option<PathBuf>,
    /// Confine the processes that serve clients: on (as far as this host allows), required (in full, or do not start) or
    /// off.
    #[arg(long, value_name = "MODE", default_value = "on")]
    sandbox: SandboxMode,
    /// Users of those processes, where this one may give them out: a name, a number, or a range such as
    /// 2000000000-2000000999. By default numbers that nobody has, each credential another one.
    #[arg(long, value_name = "USERS")]
    worker_user: Option<Users>,
    /// Most memory of this host for each client, such as 16G, where there are control groups of version 2.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    worker_memory: Option<u64>,
    /// Networks whose fabric is trusted with plaintext: clients there may use RDMA, which encrypts
    /// nothing. Several with commas between them.
    #[arg(long, value_name = "CIDR")]
    rdma_trusted_net: Option<Networks>,
    /// Listen beyond this host without token and TLS: whoever reaches it runs programs on the GPU.
    #[arg(long)]
    insecure: bool,
    /// Devices that clients see: ordinals or UUIDs, as CUDA_VISIBLE_DEVICES takes them.
    #[arg(long, value_name = "LIST")]
    gpus: Option<String>,
    /// Most device memory of each client, such as 8G.
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max_memory: Option<u64>,
    /// Most clients at a time.
    #[arg(long, value_name = "N", default_value = "64")]
    max_clients: NonZeroUsize,
    /// Most threads of a client that use the GPU.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u16).range(1..))]
    max_lanes: u16,
    /// How long the calls of a client whose connection breaks are kept for it to come back, such as 60s; 0: not at all.
    #[arg(long, value_name = "TIME", value_parser = gtrace_link::parse_resume, default_value = "30s")]
    resume: Duration,
    /// Folder where kernel images are kept for the next start of a program. By default
    /// /var/cache/gtrace/images, or images in this user's cache folder.
    #[arg(long, value_name = "DIR")]
    image_cache: Option<PathBuf>,
    /// Most bytes of it; 0 keeps none.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "2G")]
    image_cache_max: u64,
    /// Socket that answers `gtrace status --remote`. By default serve-status.sock in the first of /run/gtrace,
    /// /run/gtrace-serve and this user's runtime folder that can be written.
    #[arg(long, value_name = "PATH")]
    status_socket: Option<PathBuf>,
    /// Permissions of Unix sockets for clients, octal.
    #[arg(long, value_name = "MODE", default_value = "660", value_parser = octal)]
    socket_mode: u32,
}

/// What the CPU emulator does with kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Launch {
    /// Executes them.
    #[default]
    Run,
    /// Accepts them and executes nothing: results are wrong, and only the way there is measured.
    Skip,
}

fn octal(text: &str) -> Result<u32, String> {
    u32::from_str_radix(text, 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| format!("`{text}` is no mode: use octal digits, such as 660"))
}

/// Runs the command.
///
/// # Errors
///
/// Why it cannot serve here, with the remedy.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    init_log();
    let options = options(&args).map_err(|error| Failure::usage(format!("{error:#}")))?;
    options.check().map_err(Failure::usage)?;
    gtrace_server::protect_process()?;
    // Workers get it from this process.
    shared::many_files(FILES);
    let softgpu = args.softgpu.then(softgpu_library).transpose()?;
    let options = Options {
        libcuda: softgpu.as_ref().map(Library::path).or(options.libcuda),
        libnvml: softgpu.as_ref().map(Library::path).or(options.libnvml),
        ..options
    };
    let started = Supervisor::start(options, WorkerCommand::this_program(&[WORKER]));
    let supervisor = started.map_err(Failure::not_possible)?;
    supervisor.obey_signals()?;
    if std::io::stderr().is_terminal() {
        for address in supervisor.addresses() {
            say!("use it with: gtrace exec --remote {address} -- PROGRAM");
        }
    }
    // Only systemd waits for it.
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    supervisor.run()?;
    Ok(ExitCode::SUCCESS)
}

/// A worker of `gtrace serve`, which gives it its channel.
pub fn worker() -> ExitCode {
    init_log_to(|| gtrace_server::WorkerLog);
    gtrace_server::worker_main()
}

fn options(args: &Args) -> anyhow::Result<Options> {
    let token = args.token_file.as_deref().map(read_token).transpose()?;
    let mut listen_optional = Vec::new();
    let listen = if args.listen.is_empty() {
        if Path::new(SOCKET).parent().is_some_and(Path::is_dir) {
            listen_optional.push(Listen::Unix(SOCKET.into()));
        }
        vec![Listen::Tcp(([127, 0, 0, 1], gtrace_server::PORT).into())]
    } else {
        args.listen.clone()
    };
    let defaults = Options::default();
    let environment = match (args.softgpu, args.launch) {
        (true, Launch::Skip) => vec![("GTRACE_SOFTGPU_LAUNCH".into(), "skip".into())],
        _ => Vec::new(),
    };
    Ok(Options {
        listen,
        listen_optional,
        status_socket: Some(
            args.status_socket
                .clone()
                .unwrap_or_else(gtrace_engine::remote::to_make),
        ),
        socket_mode: args.socket_mode,
        libcuda: args.libcuda.clone(),
        libnvml: args.libnvml.clone(),
        token,
        credentials: args.credentials.clone(),
        tls_client_ca: args.tls_client_ca.clone(),
        tls_client_crl: args.tls_client_crl.clone(),
        sandbox: args.sandbox,
        worker_users: args.worker_user,
        worker_memory: args.worker_memory,
        tls: args.tls_cert.clone().zip(args.tls_key.clone()),
        rdma_trusted: args.rdma_trusted_net.clone().unwrap_or_default(),
        insecure: args.insecure,
        limits: Limits {
            max_memory: args.max_memory,
            gpus: args.gpus.clone(),
            max_lanes: args.max_lanes,
            ..defaults.limits
        },
        max_clients: args.max_clients.get(),
        image_cache: (args.image_cache_max > 0)
            .then(|| image_cache(args.image_cache.as_deref()))
            .flatten(),
        image_cache_max: args.image_cache_max,
        preamble_deadline: Duration::from_secs(2),
        resume: args.resume,
        environment,
        ..defaults
    })
}

fn read_token(path: &Path) -> anyhow::Result<String> {
    let shown = path.display();
    let token = fs::read_to_string(path).with_context(|| format!("the token file {shown}"))?;
    let mode = fs::metadata(path)?.permissions().mode();
    if mode & 0o007 != 0 {
        bail!("everybody can read the token file {shown}: chmod 600 {shown}");
    }
    Ok(token.trim().to_owned())
}

/// A folder that only this user can write to; without one, images are not kept.
fn image_cache(chosen: Option<&Path>) -> Option<PathBuf> {
    let candidates = match chosen {
        Some(dir) => vec![dir.to_owned()],
        None => [
            Some(PathBuf::from("/var/cache/gtrace/images")),
            shared::cache_folder().map(|dir| dir.join("gtrace/images")),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let usable = candidates.iter().find(|dir| {
        let made = fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir);
        made.is_ok() && rustix::fs::access(dir.as_path(), rustix::fs::Access::WRITE_OK).is_ok()
    });
    if usable.is_none() {
        tracing::warn!("kernel images are not kept: name a folder with --image-cache");
    }
    usable.cloned()
}

/// The CPU emulator's library: in memory, by a path that workers can open while this process lives.
pub(super) struct Library(std::os::fd::OwnedFd);

impl Library {
    pub(super) fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        let (pid, fd) = (std::process::id(), self.0.as_raw_fd());
        format!("/proc/{pid}/fd/{fd}").into()
    }
}

pub(super) fn softgpu_library() -> anyhow::Result<Library> {
    use rustix::fs::{MemfdFlags, SealFlags};
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd =
        rustix::fs::memfd_create("gtrace-softgpu", flags).context("memory for the CPU emulator")?;
    let mut file = fs::File::from(fd);
    file.write_all(&SOFTGPU.bytes()?)
        .context("memory for the CPU emulator")?;
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals).context("memory for the CPU emulator")?;
    Ok(Library(file.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser as _;

    #[derive(clap::Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        let words = std::iter::once(&"serve").chain(words);
        Cli::try_parse_from(words).map(|cli| cli.args)
    }

    #[test]
    fn beyond_this_host_is_refused_with_the_remedy() {
        let args = parse(&["--listen", "0.0.0.0:7471", "--image-cache-max", "0"]).unwrap();
        let reason = options(&args).unwrap().check().unwrap_err();
        assert!(reason.contains("--token-file") && reason.contains("--insecure"));
        let args = parse(&["--worker-user", "7-9", "--sandbox", "required"]).unwrap();
        assert_eq!(args.sandbox, SandboxMode::Required);
        assert!(parse(&["--worker-user", "root"]).is_err());
        assert!(parse(&["--tls-client-ca", "a"]).is_err());
        assert!(parse(&["--tls-cert", "a"]).is_err());
        assert!(parse(&["--softgpu", "--libcuda", "a"]).is_err());
        assert!(parse(&["--launch", "skip"]).is_err());
    }

    #[test]
    fn a_token_that_everybody_can_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let error = read_token(&path).unwrap_err().to_string();
        assert!(error.contains("chmod 600"), "{error}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(read_token(&path).unwrap(), "0123456789abcdef");
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(octal("660"), Ok(0o660));
        assert!(octal("9").is_err() && octal("7777").is_err());
    }
}
