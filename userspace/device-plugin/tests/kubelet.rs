//! The plugin against a fake kubelet and a fake lister: no Kubernetes and no GPU is here. The messages are the API's.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use gtrace_device_plugin::{Container, Lister, Options, PluginError, run};
use gtrace_grpc::device_plugin::{
    self as api, AllocateRequest, AllocateResponse, ContainerAllocateRequest,
    ContainerPreferredRequest, Empty, ListAndWatchResponse, Mount, PreferredRequest,
    PreferredResponse, RegisterRequest,
};
use gtrace_grpc::server::{self, Reply, Service};
use gtrace_grpc::testing::watch;
use gtrace_grpc::{CallError, call, frame, parse};
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

const LONG: Duration = Duration::from_secs(60);

/// Takes registrations.
struct Kubelet {
    registered: Sender<RegisterRequest>,
    refuses: bool,
}

impl Service for Kubelet {
    fn call(&self, method: &str, question: &[u8]) -> Reply {
        assert_eq!(method, api::REGISTER);
        self.registered.send(parse(question).unwrap()).unwrap();
        match self.refuses {
            true => Reply::Refusal {
                code: 2,
                reason: "the version \"v1\u{df}\" is unsupported".to_owned(),
            },
            false => Reply::Message(frame(&Empty {})),
        }
    }
}

/// A folder, a plugin in it and what of the kubelet there is.
struct Node {
    dir: tempfile::TempDir,
    runtime: tokio::runtime::Runtime,
    plugin: Option<JoinHandle<PluginError>>,
    registered: Receiver<RegisterRequest>,
    sender: Sender<RegisterRequest>,
}

impl Node {
    /// What the lister says is in the file `HOST` of the folder; no such file: it does not answer.
    fn start(slots: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let lister = dir.path().join("lister");
        let script = format!(
            "#!/bin/sh\ncat '{}'/\"${{GTRACE_REMOTE%%:*}}\" && exit\necho 'first' >&2; echo 'it is down' >&2; exit 1\n",
            dir.path().display()
        );
        fs::write(&lister, script).unwrap();
        fs::set_permissions(&lister, fs::Permissions::from_mode(0o755)).unwrap();
        let options = Options {
            servers: vec!["a:7471".to_owned(), "b:7471".to_owned()],
            slots,
            resource: "gtrace.dev/remote-gpu".to_owned(),
            folder: dir.path().to_owned(),
            interval: Duration::from_millis(100),
            lister: Lister {
                command: vec![lister.into()],
                library: "/nonexistent".into(),
                environment: Vec::new(),
            },
            container: Container {
                environment: BTreeMap::from([("GTRACE_LINK".to_owned(), "tcp".to_owned())]),
                mounts: vec![Mount {
                    container_path: "/usr/local/nvidia/lib64".to_owned(),
                    host_path: "/var/lib/gtrace/remote".to_owned(),
                    read_only: true,
                }],
            },
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let plugin = runtime.spawn(async move {
            match run(options).await {
                Err(error) => error,
                Ok(never) => match never {},
            }
        });
        let (sender, registered) = channel();
        Self {
            dir,
            runtime,
            plugin: Some(plugin),
            registered,
            sender,
        }
    }

    fn servers(&self, host: &str, gpus: &[&str]) {
        let list: Vec<String> = gpus
            .iter()
            .map(|gpu| format!(r#"{{"uuid":"{gpu}","name":"CPU emulator"}}"#))
            .collect();
        let aside = self.dir.path().join("aside");
        fs::write(&aside, format!("[{}]", list.join(","))).unwrap();
        fs::rename(aside, self.dir.path().join(host)).unwrap();
    }

    /// A kubelet starts: it removes the sockets of plugins first.
    fn kubelet(&self, refuses: bool) -> JoinHandle<()> {
        for socket in fs::read_dir(self.dir.path()).unwrap().flatten() {
            if socket.path().extension().is_some_and(|end| end == "sock") {
                let _ = fs::remove_file(socket.path());
            }
        }
        let path = self.dir.path().join(api::KUBELET);
        let service = Arc::new(Kubelet {
            registered: self.sender.clone(),
            refuses,
        });
        let listener = {
            let _entered = self.runtime.enter();
            UnixListener::bind(path).unwrap()
        };
        self.runtime.spawn(async move {
            let Err(error) = server::serve(listener, service).await;
            panic!("{error}");
        })
    }

    fn registration(&self) -> PathBuf {
        let request = self.registered.recv_timeout(LONG).unwrap();
        assert_eq!(
            (request.version.as_str(), request.resource_name.as_str()),
            ("v1beta1", "gtrace.dev/remote-gpu")
        );
        assert!(request.options.unwrap().preferred_allocation);
        self.dir.path().join(request.endpoint)
    }
}

fn health(list: &ListAndWatchResponse) -> Vec<(&str, &str)> {
    list.devices
        .iter()
        .map(|device| (device.id.as_str(), device.health.as_str()))
        .collect()
}

/// The first list that is as wanted.
fn until(lists: &Receiver<ListAndWatchResponse>, wanted: &[(&str, &str)]) {
    loop {
        let list = lists.recv_timeout(LONG).unwrap();
        if health(&list) == wanted {
            return;
        }
    }
}

fn allocate(socket: &Path, containers: &[&[&str]]) -> Result<AllocateResponse, CallError> {
    let request = AllocateRequest {
        containers: containers
            .iter()
            .map(|devices| ContainerAllocateRequest {
                devices: devices.iter().map(|id| (*id).to_owned()).collect(),
            })
            .collect(),
    };
    call(socket, api::ALLOCATE, &request, LONG)
}

#[test]
fn devices_are_listed_watched_and_allocated_and_registered_again_with_a_new_kubelet() {
    let node = Node::start(1);
    node.servers("a", &["GPU-a0"]);
    node.servers("b", &["GPU-b0", "GPU-b1"]);
    let kubelet = node.kubelet(false);
    let socket = node.registration();
    assert_eq!(
        fs::metadata(&socket).unwrap().permissions().mode() & 0o777,
        0o600
    );

    let options: api::Options = call(&socket, api::OPTIONS, &Empty {}, LONG).unwrap();
    assert!(!options.pre_start_required && options.preferred_allocation);
    let lists = watch::<ListAndWatchResponse>(&socket, api::LIST_AND_WATCH);
    let all = [
        ("GPU-a0", "Healthy"),
        ("GPU-b0", "Healthy"),
        ("GPU-b1", "Healthy"),
    ];
    // It registers when it has asked the servers: the first list has what they have.
    assert_eq!(health(&lists.recv_timeout(LONG).unwrap()), all);

    let question = PreferredRequest {
        containers: vec![ContainerPreferredRequest {
            available: all.iter().map(|(id, _)| (*id).to_owned()).collect(),
            must_include: Vec::new(),
            size: 2,
        }],
    };
    let preferred: PreferredResponse = call(&socket, api::PREFERRED, &question, LONG).unwrap();
    assert_eq!(preferred.containers[0].devices, ["GPU-b0", "GPU-b1"]);

    let answer = allocate(&socket, &[&["GPU-b1", "GPU-b0"], &["GPU-a0"]]).unwrap();
    let [two, one] = &answer.containers[..] else {
        panic!("{answer:?}");
    };
    assert_eq!(two.envs["GTRACE_REMOTE"], "b:7471");
    assert_eq!(two.envs["CUDA_VISIBLE_DEVICES"], "GPU-b1,GPU-b0");
    assert_eq!(
        (
            one.envs["GTRACE_REMOTE"].as_str(),
            one.envs["GTRACE_LINK"].as_str()
        ),
        ("a:7471", "tcp")
    );
    assert_eq!(one.mounts[0].container_path, "/usr/local/nvidia/lib64");
    assert!(one.mounts[0].read_only);

    let Err(CallError::Refused { code, reason }) = allocate(&socket, &[&["GPU-a0", "GPU-b0"]])
    else {
        panic!("devices of two servers were allocated");
    };
    assert_eq!(code, server::code::FAILED_PRECONDITION);
    assert!(
        reason.contains("a:7471") && reason.contains("b:7471"),
        "{reason}"
    );
    let Err(CallError::Refused { code, .. }) =
        call::<_, Empty>(&socket, "/v1beta1.DevicePlugin/None", &Empty {}, LONG)
    else {
        panic!("a method that there is not was answered");
    };
    assert_eq!(code, server::code::UNIMPLEMENTED);

    // A server that goes away takes its devices with it, and brings them back.
    fs::remove_file(node.dir.path().join("b")).unwrap();
    until(
        &lists,
        &[
            ("GPU-a0", "Healthy"),
            ("GPU-b0", "Unhealthy"),
            ("GPU-b1", "Unhealthy"),
        ],
    );
    let Err(CallError::Refused { code, reason }) = allocate(&socket, &[&["GPU-b0"]]) else {
        panic!("a device of a server that is down was allocated");
    };
    assert_eq!(code, server::code::UNAVAILABLE);
    assert!(reason.ends_with("it is down"), "{reason}");
    node.servers("b", &["GPU-b0", "GPU-b1"]);
    until(&lists, &all);

    // Another kubelet.
    kubelet.abort();
    let _kubelet = node.kubelet(false);
    let socket = node.registration();
    let lists = watch::<ListAndWatchResponse>(&socket, api::LIST_AND_WATCH);
    until(&lists, &all);

    // One that forgets the plugin, and goes on. The stream ends with the next list that nobody takes.
    drop(lists);
    node.servers("a", &["GPU-a0", "GPU-a1"]);
    let socket = node.registration();
    let lists = watch::<ListAndWatchResponse>(&socket, api::LIST_AND_WATCH);
    // It knew of every server when it registered, and so it is at once.
    let list = lists.recv_timeout(LONG).unwrap();
    assert_eq!(list.devices.len(), 4);

    // The plugin ends: the kubelet sees the stream end, and the socket is gone.
    node.plugin.as_ref().unwrap().abort();
    while lists.recv_timeout(LONG).is_ok() {}
    assert!(!socket.exists());
}

#[test]
fn a_kubelet_that_refuses_ends_it_and_shares_have_ids_of_their_own() {
    let mut node = Node::start(2);
    node.servers("a", &["GPU-a0"]);
    // Before there is a kubelet, the socket is served already.
    let own = || {
        let mut files = fs::read_dir(node.dir.path()).unwrap().flatten();
        let is_own = |path: &PathBuf| path.extension().is_some_and(|end| end == "sock");
        files.find_map(|file| Some(file.path()).filter(is_own))
    };
    let socket = loop {
        match own() {
            Some(path) if std::os::unix::net::UnixStream::connect(&path).is_ok() => break path,
            _ => std::thread::yield_now(),
        }
    };
    let lists = watch::<ListAndWatchResponse>(&socket, api::LIST_AND_WATCH);
    until(
        &lists,
        &[("GPU-a0::0", "Healthy"), ("GPU-a0::1", "Healthy")],
    );
    let answer = allocate(&socket, &[&["GPU-a0::1"]]).unwrap();
    assert_eq!(answer.containers[0].envs["CUDA_VISIBLE_DEVICES"], "GPU-a0");
    let _kubelet = node.kubelet(true);
    let error = node.runtime.block_on(node.plugin.take().unwrap()).unwrap();
    assert!(matches!(error, PluginError::Refused { .. }), "{error}");
    assert!(error.to_string().contains("unsupported"), "{error}");
}
