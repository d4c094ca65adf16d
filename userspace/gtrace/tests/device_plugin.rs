//! `gtrace device-plugin` as a node runs it: a real `gtrace serve` with the CPU emulator, a fake kubelet, and a program of CUDA
//! that is started with what the plugin says, and nothing else.
#![allow(missing_docs, clippy::unwrap_used, reason = "tests only")]

#[path = "support/process.rs"]
mod process;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gtrace_grpc::device_plugin::{
    ALLOCATE, AllocateRequest, AllocateResponse, ContainerAllocateRequest, Empty, HEALTHY, KUBELET,
    LIST_AND_WATCH, ListAndWatchResponse, REGISTER, RegisterRequest,
};
use gtrace_grpc::testing::{Reply, serve, watch};
use gtrace_grpc::{call, frame, parse};
use process::Running;

const LONG: Duration = Duration::from_secs(60);
const TOKEN: &str = "a secret of sixteen characters and more";

fn gtrace(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gtrace"));
    command
        .env("XDG_CACHE_HOME", dir.join("cache"))
        .env("XDG_RUNTIME_DIR", dir)
        .env_remove("GTRACE_REMOTE")
        .stdin(Stdio::null());
    command
}

fn server(dir: &Path, token: &Path) -> (Running, String) {
    let log = dir.join("serve.log");
    let server = gtrace(dir)
        .args(["serve", "--softgpu", "--listen", "127.0.0.1:0"])
        .arg("--token-file")
        .arg(token)
        .stderr(fs::File::create(&log).unwrap())
        .spawn();
    let mut server = Running(server.unwrap());
    loop {
        let text = fs::read_to_string(&log).unwrap();
        if let Some((_, address)) = text.split_once(" on 127.0.0.1:")
            && let Some((port, _)) = address.split_once('\n')
        {
            return (server, format!("127.0.0.1:{port}"));
        }
        assert!(server.0.try_wait().unwrap().is_none(), "{text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn compiled(dir: &Path) -> PathBuf {
    let program = dir.join("container");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/container.c");
    let mut cc = Command::new("cc");
    cc.args(["-O1", "-o"]).args([&program, &source]).arg("-ldl");
    assert!(cc.status().unwrap().success());
    program
}

#[test]
fn a_container_reaches_the_gpu_that_the_kubelet_gave_it() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let token = dir.join("token");
    fs::write(&token, TOKEN).unwrap();
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).unwrap();
    let (_server, address) = server(dir, &token);

    let folder = dir.join("device-plugins");
    fs::create_dir(&folder).unwrap();
    let (kubelet, registered) = serve(&folder, Reply::Message(frame(&Empty {})));
    fs::rename(kubelet, folder.join(KUBELET)).unwrap();
    // As the kubelet makes it for a pod; a file that nobody may write to is of a plugin that was killed.
    let host_dir = dir.join("host");
    fs::create_dir(&host_dir).unwrap();
    fs::set_permissions(&host_dir, fs::Permissions::from_mode(0o755)).unwrap();
    fs::write(host_dir.join(".token"), "cut off").unwrap();
    fs::set_permissions(host_dir.join(".token"), fs::Permissions::from_mode(0o444)).unwrap();
    let log = dir.join("plugin.log");
    let plugin = gtrace(dir)
        .args([
            "device-plugin",
            "--remote",
            &address,
            "--slots",
            "2",
            "--token-file",
        ])
        .arg(&token)
        .args(["--resource", "example.com/gpu", "--kubelet-dir"])
        .arg(&folder)
        .arg("--host-dir")
        .arg(&host_dir)
        .stderr(fs::File::create(&log).unwrap())
        .spawn();
    let mut plugin = Running(plugin.unwrap());
    let (method, question) = registered
        .recv_timeout(LONG)
        .unwrap_or_else(|_| panic!("{}", fs::read_to_string(&log).unwrap()));
    let request: RegisterRequest = parse(&question).unwrap();
    assert_eq!(
        (method.as_str(), request.resource_name.as_str()),
        (REGISTER, "example.com/gpu")
    );
    let socket = folder.join(request.endpoint);

    let lists = watch::<ListAndWatchResponse>(&socket, LIST_AND_WATCH);
    let devices = loop {
        let list = lists.recv_timeout(LONG).unwrap().devices;
        if list.iter().any(|device| device.health == HEALTHY) {
            break list;
        }
    };
    let ids: Vec<&str> = devices.iter().map(|device| device.id.as_str()).collect();
    assert!(
        ids.len() >= 2 && ids[0].ends_with("::0") && ids[1].ends_with("::1"),
        "{ids:?}"
    );
    let request = AllocateRequest {
        containers: vec![ContainerAllocateRequest {
            devices: vec![ids[1].to_owned()],
        }],
    };
    let answer: AllocateResponse = call(&socket, ALLOCATE, &request, LONG).unwrap();
    let container = &answer.containers[0];
    assert!(container.mounts.iter().all(|mount| mount.read_only));

    // No container here: what is mounted at its paths is named by the host's, and the environment is the container's alone.
    let host = |path: &str| {
        let mounted = container
            .mounts
            .iter()
            .find(|mount| mount.container_path == path);
        mounted.map_or_else(|| path.to_owned(), |mount| mount.host_path.clone())
    };
    for mount in &container.mounts {
        let mode = fs::metadata(&mount.host_path).unwrap().permissions().mode();
        assert_eq!(
            mode & 0o004,
            0o004,
            "other users of a container read {mount:?}"
        );
    }
    let outside = fs::metadata(&host_dir).unwrap().permissions().mode();
    assert_eq!(outside & 0o077, 0, "other users of the host do not");
    let program = compiled(dir);
    let output = Command::new(program)
        .env_clear()
        .envs(
            container
                .envs
                .iter()
                .map(|(name, value)| (name, host(value))),
        )
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}\n{:?}", container.envs);
    let uuid = ids[1].trim_end_matches("::1");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{uuid} same\n"),
        "{error}"
    );

    // It ends as a pod is ended, and takes its socket away.
    let pid = rustix::process::Pid::from_child(&plugin.0);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(plugin.0.wait().unwrap().code(), Some(0));
    assert!(!socket.exists());
}
