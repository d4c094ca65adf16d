//! A server in this process, with workers of their own, and a client that sends frames as it likes.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_cuda::Kind;
use gtrace_cuda::payload::{self, Payload, Snapshot, SnapshotRequest};
use gtrace_link::{Link, LinkError, Session, Target};
use gtrace_protocol::{Flags, HEADER_LEN, Header, OpId, Reader, Welcome, Writer, control, op_id};
use gtrace_server::{
    Listen, Options, ServerStatus, StartError, Stopper, Supervisor, WorkerCommand,
};
use tempfile::TempDir;

/// The CPU emulator's library, which cargo builds as a dependency of these tests.
pub(crate) fn softgpu() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let deps = exe.parent().unwrap();
    let mut found: Vec<PathBuf> = [deps, deps.parent().unwrap()]
        .iter()
        .flat_map(|dir| std::fs::read_dir(dir).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("libgtrace_softgpu") && name.ends_with(".so")
        })
        .collect();
    found.sort_by_key(|path| std::fs::metadata(path).unwrap().modified().unwrap());
    found.pop().expect("cargo builds libgtrace_softgpu.so")
}

/// A supervisor with workers for tests.
pub(crate) fn supervisor(options: Options) -> Result<Supervisor, StartError> {
    let command = WorkerCommand {
        program: env!("CARGO_BIN_EXE_gtrace-test-worker").into(),
        arguments: Vec::new(),
    };
    Supervisor::start(options, command)
}

/// A server; stopped when dropped.
pub(crate) struct Server {
    folder: TempDir,
    addresses: Vec<String>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// With these changes to the options of a server with a Unix socket, a TCP port and the
    /// CPU emulator.
    pub(crate) fn start(change: impl FnOnce(&mut Options)) -> Self {
        Self::start_then(change, |_| {})
    }

    /// The same; `then` gets the supervisor before it serves.
    pub(crate) fn start_then(
        change: impl FnOnce(&mut Options),
        then: impl FnOnce(&Supervisor) + Send + 'static,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options {
            listen: vec![
                Listen::Unix(folder.path().join("serve.sock")),
                Listen::Tcp(([127, 0, 0, 1], 0).into()),
            ],
            status_socket: Some(folder.path().join("status.sock")),
            libcuda: Some(softgpu()),
            libnvml: Some(softgpu()),
            image_cache: Some(folder.path().into()),
            ..Options::default()
        };
        change(&mut options);
        let (start, started) = std::sync::mpsc::channel();
        // Workers die with the thread that starts them, so the same thread starts and serves.
        let thread = std::thread::spawn(move || {
            let supervisor = supervisor(options).unwrap();
            let stopper = supervisor.stopper().unwrap();
            then(&supervisor);
            start.send((supervisor.addresses(), stopper)).unwrap();
            supervisor.run().unwrap();
        });
        let (addresses, stopper) = started.recv().expect("the server starts");
        Self {
            folder,
            addresses,
            stopper,
            thread: Some(thread),
        }
    }

    /// The same with a client of its Unix socket.
    pub(crate) fn with_client(change: impl FnOnce(&mut Options)) -> (Self, Client) {
        let server = Self::start(change);
        let client = Client::ready(server.unix(), "unix");
        (server, client)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The Unix socket's address.
    pub(crate) fn unix(&self) -> &str {
        &self.addresses[0]
    }

    /// HOST:PORT.
    pub(crate) fn tcp(&self) -> &str {
        &self.addresses[1]
    }

    /// The address that a client of `link` connects to.
    pub(crate) fn address(&self, link: &str) -> &str {
        match link {
            "tcp" => self.tcp(),
            _ => self.unix(),
        }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        ServerStatus::ask(&self.folder.path().join("status.sock")).unwrap()
    }

    /// Waits until the status is as wanted.
    pub(crate) fn wait_for(
        &self,
        what: &str,
        wanted: impl Fn(&ServerStatus) -> bool,
    ) -> ServerStatus {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            let status = self.status();
            if wanted(&status) {
                return status;
            }
            assert!(Instant::now() < end, "{what}: {status:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) header: Header,
    pub(crate) small: Vec<u8>,
    pub(crate) bulk: Vec<u8>,
}

/// A lane of a client that does by hand what the client's library does.
pub(crate) struct Client {
    pub(crate) link: Link,
    pub(crate) welcome: Welcome,
    pub(crate) session: Session,
    pub(crate) seq: u64,
    pub(crate) context: u32,
    pub(crate) credit: u32,
}

pub(crate) fn target(address: &str, link: &str) -> Target {
    let mut target = Target::parse(address).unwrap();
    target.link = link.parse().unwrap();
    target.timeout = Duration::from_secs(10);
    target
}

impl Client {
    pub(crate) fn connect(address: &str, link: &str) -> Result<Self, LinkError> {
        Self::open(&target(address, link), None)
    }

    pub(crate) fn open(target: &Target, session: Option<&Session>) -> Result<Self, LinkError> {
        let (link, welcome, session) =
            gtrace_link::connect(target, &gtrace_link::hello(false), session)?;
        Ok(Self {
            credit: welcome.credits,
            link,
            welcome,
            session,
            seq: 0,
            context: 0,
        })
    }

    /// A lane with snapshot taken and the primary context of device 0 current.
    pub(crate) fn ready(address: &str, link: &str) -> Self {
        let mut client = Self::connect(address, link).unwrap();
        client.snapshot();
        client.retain();
        client
    }

    /// Another lane of its session, by the Unix socket.
    pub(crate) fn lane(&self, server: &Server) -> Self {
        let target = target(server.unix(), "unix");
        let mut lane = Self::open(&target, Some(&self.session)).unwrap();
        lane.context = 1;
        lane
    }

    pub(crate) fn header(&mut self, op: OpId, flags: Flags) -> Header {
        self.seq += 1;
        Header {
            op,
            seq: self.seq,
            context: self.context,
            flags,
            ..Header::default()
        }
    }

    /// Sends a frame as it is.
    pub(crate) fn send(
        &mut self,
        mut header: Header,
        small: &[u8],
        bulk: &[u8],
    ) -> Result<(), LinkError> {
        assert!(header.set_payload(small.len(), bulk.len()));
        let len = HEADER_LEN + small.len();
        let room = self.link.tx.reserve(len)?;
        room[..HEADER_LEN].copy_from_slice(&header.to_bytes());
        room[HEADER_LEN..len].copy_from_slice(small);
        self.link.tx.commit(len);
        if !bulk.is_empty() {
            self.link.tx.bulk(bulk)?;
        }
        self.link.tx.flush()
    }

    /// The next frame, whatever it is.
    pub(crate) fn receive(&mut self) -> Result<Answer, LinkError> {
        let deadline = Instant::now() + Duration::from_secs(20);
        let header = Header::parse(self.link.rx.peek(HEADER_LEN, Some(deadline))?)?;
        self.link.rx.consume(HEADER_LEN);
        let mut small = vec![0; header.small as usize];
        self.link.rx.read(&mut small)?;
        let mut bulk = vec![0; header.bulk()];
        self.link.rx.read(&mut bulk)?;
        self.credit += u32::from(header.credit);
        Ok(Answer {
            header,
            small,
            bulk,
        })
    }

    /// Waits for the answer of the last request.
    pub(crate) fn answer(&mut self) -> Answer {
        loop {
            let answer = self.receive().unwrap();
            if !matches!(answer.header.op, control::CREDIT | control::OUTPUT) {
                assert_eq!(answer.header.seq, self.seq);
                return answer;
            }
        }
    }

    /// A call that is awaited.
    pub(crate) fn call(&mut self, op: &str, small: &[u8]) -> Answer {
        self.call_op(op_id(op), small, &[])
    }

    /// The status of one.
    pub(crate) fn status(&mut self, op: &str, small: &[u8]) -> u32 {
        self.call(op, small).header.status
    }

    pub(crate) fn call_op(&mut self, op: OpId, small: &[u8], bulk: &[u8]) -> Answer {
        let header = self.header(op, Flags::default());
        self.send(header, small, bulk).unwrap();
        self.answer()
    }

    /// A call that is not awaited.
    pub(crate) fn one_way(&mut self, op: &str, small: &[u8], bulk: &[u8]) {
        let header = self.header(op_id(op), Flags::ONE_WAY);
        self.send(header, small, bulk).unwrap();
    }

    /// What comes next in `stream` waits until `flag` in the device's memory has this value.
    pub(crate) fn wait_value(&mut self, stream: u64, flag: u64, value: u32) {
        let mut w = Writer::default();
        w.u64(stream);
        w.u64(flag);
        w.u32(value);
        w.u32(1); // CU_STREAM_WAIT_VALUE_EQ
        self.one_way("cuStreamWaitValue32_v2", w.as_slice(), &[]);
    }

    /// Whether nothing can be sent any more, at the latest with the second frame.
    pub(crate) fn one_way_fails(&mut self, handle: u64) -> bool {
        (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            let header = self.header(op_id("cuStreamDestroy_v2"), Flags::ONE_WAY);
            self.send(header, &handle.to_le_bytes(), &[]).is_err()
        })
    }

    pub(crate) fn snapshot(&mut self) -> Snapshot {
        let request = bytes(&SnapshotRequest::default());
        let answer = self.call_op(payload::SNAPSHOT, &request, &[]);
        assert_eq!(answer.header.status, 0);
        Snapshot::read(&mut Reader::new(&answer.small)).unwrap()
    }

    /// Makes the primary context of device 0 current.
    pub(crate) fn retain(&mut self) {
        let mut w = Writer::default();
        w.u64(Kind::Context.handle(1));
        w.i32(0);
        let status = self.status("cuDevicePrimaryCtxRetain", w.as_slice());
        assert_eq!(status, 0, "retain");
        self.context = 1;
    }

    /// The address, or the status.
    pub(crate) fn alloc(&mut self, len: u64) -> Result<u64, u32> {
        let answer = self.call("cuMemAlloc_v2", &len.to_le_bytes());
        match answer.header.status {
            0 => Ok(u64::from_le_bytes(answer.small.try_into().unwrap())),
            status => Err(status),
        }
    }

    pub(crate) fn free(&mut self, address: u64) -> u32 {
        self.status("cuMemFree_v2", &address.to_le_bytes())
    }

    pub(crate) fn upload(&mut self, to: u64, bulk: &[u8]) {
        let upload = payload::Upload {
            to,
            stream: payload::SYNCHRONOUS,
        };
        self.one_way("cuMemcpyHtoD_v2", &bytes(&upload), bulk);
    }

    /// The bytes, or the status.
    pub(crate) fn download(&mut self, from: u64, len: u64, chunk: u32) -> Result<Vec<u8>, u32> {
        let download = payload::Download {
            from,
            len,
            chunk,
            stream: payload::SYNCHRONOUS,
        };
        let header = self.header(op_id("cuMemcpyDtoH_v2"), Flags::default());
        self.send(header, &bytes(&download), &[]).unwrap();
        let mut all = Vec::new();
        loop {
            let answer = self.answer();
            if answer.header.status != 0 {
                return Err(answer.header.status);
            }
            assert!(answer.bulk.len() <= chunk as usize);
            all.extend(answer.bulk);
            if !answer.header.flags.has(Flags::MORE) {
                return Ok(all);
            }
        }
    }
}

/// Waits until something is so.
pub(crate) fn within(limit: Duration, what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + limit;
    while !done() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The bytes of a payload.
pub(crate) fn bytes<'a>(payload: &impl Payload<'a>) -> Vec<u8> {
    let mut w = Writer::default();
    payload.write(&mut w);
    w.into_inner()
}

/// Numbers as a request has them.
pub(crate) fn numbers(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|n| n.to_le_bytes()).collect()
}

/// Bytes that no compression makes shorter and no other place has.
pub(crate) fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed | 1;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 24) as u8
        })
        .collect()
}
