//! A worker that somebody has taken over gets no further: it does here what he would try, confined and not.

#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::Path;
use std::time::Duration;

use gtrace_link::{TlsClient, Token};
use gtrace_server::{Options, SandboxMode};
use gtrace_tls::{NewToken, Role, new_token};
use jiff::Timestamp;
use rustix::thread::CapabilitySet;
use sha2::{Digest as _, Sha256};
use support::{Client, Server, target, within};

const TOKEN: &str = "the token of this server";

struct Secrets {
    folder: tempfile::TempDir,
    /// The number that is the private key.
    scalar: Vec<u8>,
}

impl Secrets {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let made = rcgen::generate_simple_self_signed(["gpu-host".to_owned()]).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        };
        write("cert", &made.cert.pem());
        write("key", &made.signing_key.serialize_pem());
        write("token", TOKEN);
        write("order", "");
        write("report", "");
        // RFC 5915: version 1, and an octet string of 32 bytes.
        let der = made.signing_key.serialize_der();
        let head = [2, 1, 1, 4, 32];
        let at = der.windows(5).position(|bytes| bytes == head).unwrap() + 5;
        let scalar = der[at..at + 32].to_vec();
        Self { folder, scalar }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn server(&self, change: impl FnOnce(&mut Options)) -> Server {
        Server::start(|options| {
            options.token = Some(TOKEN.into());
            options.tls = Some((self.path("cert").into(), self.path("key").into()));
            let names = format!("{} {}", self.path("order"), self.path("report"));
            options
                .environment
                .push(("GTRACE_TEST_ATTACK".into(), names));
            change(options);
        })
    }

    fn client(&self, server: &Server) -> Client {
        self.client_by(server, &Token::new(TOKEN.as_bytes()).unwrap())
    }

    fn client_by(&self, server: &Server, token: &Token) -> Client {
        let mut secure = target(server.tcp(), "tcp");
        secure.token = Some(token.clone());
        secure.tls = Some(TlsClient::new(
            self.path("cert").into(),
            Some("gpu-host".into()),
        ));
        let mut client = Client::open(&secure, None).unwrap();
        client.snapshot();
        client.retain();
        client
    }

    /// What came of each attempt of a second worker, whose first one is its victim: an errno, or `done`.
    fn attack(&self, server: &Server) -> BTreeMap<String, String> {
        fs::write(self.path("order"), "").unwrap();
        fs::write(self.path("report"), "").unwrap();
        let victim = self.client(server);
        let pid = server.wait_for("a worker", |status| status.sessions[0].client.is_some());
        let pid = pid.sessions[0].worker;
        let order = serde_json::json!({
            "key": self.path("key"),
            "token": self.path("token"),
            "images": server.folder().join("images"),
            "socket": server.folder().join("status.sock"),
            "victim": pid,
            "supervisor": std::process::id(),
        });
        fs::write(self.path("order"), order.to_string()).unwrap();
        let attacker = self.client(server);
        let report = fs::read_to_string(self.path("report")).unwrap();
        assert!(report.ends_with("end\n"), "{report}");
        drop((victim, attacker));
        let lines = report.lines().filter_map(|line| line.split_once(' '));
        lines
            .map(|(name, outcome)| (name.into(), outcome.into()))
            .collect()
    }

    /// Neither the key nor the token is in the memory of process `pid`, however it would have come there.
    fn is_nowhere_in(&self, pid: u32) {
        let token: [u8; 32] = Sha256::digest(TOKEN).into();
        for (what, secret) in [
            ("key", &self.scalar[..]),
            ("token", TOKEN.as_bytes()),
            ("hash", &token),
        ] {
            assert!(
                !is_in(pid, secret),
                "the {what} is in the memory of a worker"
            );
        }
        assert!(
            is_in(std::process::id(), &self.scalar),
            "nothing is found anywhere"
        );
    }
}

/// Largest piece of memory that is searched.
const LARGEST: u64 = 100 << 20;

fn is_in(pid: u32, secret: &[u8]) -> bool {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap();
    let memory = File::open(format!("/proc/{pid}/mem")).unwrap();
    let finder = memchr::memmem::Finder::new(secret);
    maps.lines().any(|line| {
        let (range, rest) = line.split_once(' ').unwrap();
        // What can be written is where secrets are; devices and the kernel's pages are left alone.
        if !rest.starts_with("rw") || rest.contains("/dev/") || rest.contains("[v") {
            return false;
        }
        let (from, to) = range.split_once('-').unwrap();
        let number = |text| u64::from_str_radix(text, 16).unwrap();
        let (from, to) = (number(from), number(to));
        // The memory of the emulated GPU is gigabytes, of which nothing was written.
        if to - from > LARGEST {
            return false;
        }
        let mut piece = vec![0; 1 << 20];
        (from..to).step_by(piece.len() - secret.len()).any(|at| {
            let len = piece.len().min((to - at) as usize);
            let read = memory.read_at(&mut piece[..len], at);
            read.is_ok_and(|len| finder.find(&piece[..len]).is_some())
        })
    })
}

/// Errno of what is refused: EPERM by seccomp, EACCES by Landlock, ENOSYS for what is to look as on an older kernel, ESRCH
/// for processes that cannot be seen.
const REFUSALS: [&str; 4] = ["1", "13", "38", "3"];

#[test]
fn root_a_worker_that_is_taken_over_gets_no_further() {
    let secrets = Secrets::new();
    let images = |options: &mut Options| {
        let folder = options.image_cache.take().unwrap().join("images");
        fs::create_dir(&folder).unwrap();
        options.image_cache = Some(folder);
    };
    // Without the sandbox a worker of root does all of it.
    let open = secrets.server(|options| {
        images(options);
        options.sandbox = SandboxMode::Off;
    });
    let mut allowed = secrets.attack(&open);
    drop(open);
    let _ = fs::remove_file("/tmp/gtrace-test-attack");
    // What this kernel or this host gives to nobody shows nothing.
    let nobody: Vec<String> = (allowed.iter())
        .filter(|(_, outcome)| *outcome != "done")
        .map(|(name, outcome)| format!("{name} {outcome}"))
        .collect();
    allowed.retain(|_, outcome| *outcome == "done");
    for needed in [
        "read_key",
        "read_token",
        "write_image",
        "victim_mem",
        "victim_environ",
        "ptrace",
        "signal",
        "schedule",
        "priority",
        "pidfd_getfd",
        "socket_inet",
        "socket_netlink",
        "connect_unix",
        "exec_shell",
        "execve",
        "mount",
        "become_root",
    ] {
        assert!(
            allowed.contains_key(needed),
            "{needed} shows nothing: {nobody:?}"
        );
    }
    println!("{} attempts show something; not {nobody:?}", allowed.len());
    for own_user in [true, false] {
        let confined = secrets.server(|options| {
            images(options);
            if !own_user {
                // The server's thread may give no users out, so that its workers stay root, without capabilities.
                let mut sets = rustix::thread::capabilities(None).unwrap();
                sets.effective -= CapabilitySet::KILL;
                rustix::thread::set_capabilities(None, sets).unwrap();
            }
        });
        let layer = |name: &str| {
            let layers = confined.status().layers;
            layers.into_iter().find(|layer| layer.name == name).unwrap()
        };
        assert_eq!(layer("user").active, own_user, "{:?}", layer("user"));
        assert!(layer("system_calls").active && layer("privileges").active);
        let files = layer("files");
        if !files.active && !own_user {
            println!("skipped without users: {}", files.note);
            continue;
        }
        let refused = secrets.attack(&confined);
        if own_user {
            let client = secrets.client(&confined);
            let status = confined.wait_for("a client", |s| {
                s.sessions.iter().any(|s| s.client.is_some())
            });
            secrets.is_nowhere_in(status.sessions[0].worker);
            drop(client);
        }
        for name in allowed.keys() {
            let outcome = &refused[name];
            // ENOENT: a driver that asks for a service finds none.
            let absent = name == "connect_unix" && outcome == "2";
            assert!(
                absent || REFUSALS.contains(&outcome.as_str()),
                "{name} (own user: {own_user}): {outcome}"
            );
        }
        assert!(!Path::new("/tmp/gtrace-test-attack").exists());
    }
}

/// Programs of one credential have the same user, and those of another one another; all end with the supervisor.
#[test]
fn root_each_credential_has_a_user_of_its_own_and_workers_end() {
    let secrets = Secrets::new();
    let credentials = secrets.folder.path().join("credentials");
    let [alice, bob] = ["alice", "bob"].map(|name| {
        let token = NewToken::new(name, Role::Operate);
        let secret = new_token(&credentials, &token, Timestamp::now()).unwrap();
        Token::new(secret.expose().as_bytes()).unwrap()
    });
    let server = secrets.server(|options| {
        options.credentials = Some(credentials.clone());
        options.worker_users = Some("2100000000-2100000009".parse().unwrap());
    });
    let clients = [&alice, &alice, &bob].map(|token| secrets.client_by(&server, token));
    let status = server.wait_for("three workers", |status| {
        let in_use = status.sessions.iter().filter(|s| s.client.is_some());
        in_use.count() == 3
    });
    let pids: Vec<u32> = status.sessions.iter().map(|s| s.worker).collect();
    let user = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("Uid:"))
            .unwrap();
        line.to_owned()
    };
    let users: Vec<String> = pids.iter().map(user).collect();
    let first = "Uid:\t2100000000\t2100000000\t2100000000\t2100000000";
    assert_eq!(users[..2], [first, first]);
    assert_eq!(users[2], first.replace("2100000000", "2100000001"));
    drop(server);
    within(Duration::from_secs(10), "workers end", || {
        let there = |pid: &u32| Path::new(&format!("/proc/{pid}/exe")).exists();
        !pids.iter().any(there)
    });
    drop(clients);
}

/// A rule of Landlock is for an inode, and the kernel makes those of /proc anew where it has forgotten them: the driver has to
/// find the folder of its threads for a context that comes later.
#[test]
fn root_a_worker_finds_its_own_folders_after_the_kernel_has_forgotten_them() {
    let secrets = Secrets::new();
    let server = secrets.server(|_| ());
    let mut secure = target(server.tcp(), "tcp");
    secure.token = Some(Token::new(TOKEN.as_bytes()).unwrap());
    secure.tls = Some(TlsClient::new(
        secrets.path("cert").into(),
        Some("gpu-host".into()),
    ));
    let mut client = Client::open(&secure, None).unwrap();
    client.snapshot();
    // Directory entries and inodes (proc_sys_vm(5)). What was used just now stays the first time.
    for _ in 0..3 {
        fs::write("/proc/sys/vm/drop_caches", "2").unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    client.retain();
}
