//! Whole servers with an https listener.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "tests only; each test file uses a part of it"
)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gtrace_api::Status;
use gtrace_engine::hub::{self, Hub};
use gtrace_http::{ApiConfig, Limits};
use gtrace_store::{Options, Store};
use gtrace_tls::testing::Authority;
use gtrace_tls::{AccessFiles, ClientFiles, NewToken, Role, client_config, new_token};
use jiff::Timestamp;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use tokio::sync::watch;

/// For what would else wait for ever.
pub const DEADLINE: Duration = Duration::from_secs(60);
pub const OPS: &str = "[[certificate]]\nname = \"ops\"\nrole = \"operate\"\nsubject = \"CN=ops\"\n";

/// A server with an https listener, and the authority of its certificate.
pub struct Server {
    pub dir: tempfile::TempDir,
    pub ca: Arc<Authority>,
    pub files: AccessFiles,
    pub https: SocketAddr,
    pub hub: Arc<Hub>,
    shutdown: Option<watch::Sender<bool>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub fn start(limits: Limits) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let ca = Arc::new(Authority::new(dir.path()));
        let files = ca.server(OPS);
        Self::start_with(limits, dir, ca, files)
    }

    /// Another one, with the same certificate and credentials.
    pub fn sibling(&self) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (ca, files) = (Arc::clone(&self.ca), self.files.clone());
        Self::start_with(Limits::default(), dir, ca, files)
    }

    fn start_with(
        limits: Limits,
        dir: tempfile::TempDir,
        ca: Arc<Authority>,
        files: AccessFiles,
    ) -> Self {
        drop(Store::open(&dir.path().join("store.db"), Options::default()).unwrap());
        let config = ApiConfig {
            listen_https: vec!["127.0.0.1:0".parse().unwrap()],
            access: Some(files.clone()),
            store: dir.path().join("store.db"),
            limits,
            ..ApiConfig::default()
        };
        let bound = gtrace_http::bind(&config).unwrap();
        let https = bound.https_addrs().next().unwrap();
        let (hub, mut commands) = Hub::new(Status::default());
        std::thread::spawn(move || {
            while let Some(command) = commands.blocking_recv() {
                if let hub::Command::Pause(_, answer) = command {
                    let _ = answer.send(Ok(()));
                }
            }
        });
        let (shutdown, end) = watch::channel(false);
        let of_thread = Arc::clone(&hub);
        let thread = std::thread::spawn(move || serve(bound, of_thread, end));
        Self {
            dir,
            ca,
            files,
            https,
            hub,
            shutdown: Some(shutdown),
            thread: Some(thread),
        }
    }

    pub fn token(&self, name: &str, role: Role, expires: Option<Timestamp>, rate: u32) -> String {
        let token = NewToken {
            expires,
            requests_per_minute: NonZeroU32::new(rate),
            ..NewToken::new(name, role)
        };
        let secret = new_token(&self.files.credentials, &token, Timestamp::now()).unwrap();
        secret.expose().to_owned()
    }

    pub fn client(&self) -> ClientFiles {
        self.ca.client(None)
    }

    pub fn try_connect(
        &self,
        files: &ClientFiles,
    ) -> std::io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let config = client_config(files, &[b"http/1.1"]).unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let tcp = TcpStream::connect(self.https).unwrap();
        tcp.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut stream = StreamOwned::new(ClientConnection::new(config, name).unwrap(), tcp);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(stream)
    }

    /// Sends a request on a connection of its own: status code and whole answer.
    pub fn request(&self, files: &ClientFiles, line: &str, headers: &str) -> (u16, String) {
        let mut stream = self.try_connect(files).unwrap();
        let head =
            format!("{line} HTTP/1.1\r\nHost: node7:7471\r\nConnection: close\r\n{headers}\r\n");
        let body = if line.starts_with("POST") { PAUSE } else { "" };
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = Vec::new();
        // Without the end of TLS where the server has gone first.
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8(answer).unwrap();
        (answer[9..12].parse().unwrap(), answer)
    }

    pub fn with_token(&self, line: &str, token: &str) -> (u16, String) {
        self.request(&self.client(), line, &bearer(token))
    }

    /// Until the server has noticed something.
    pub fn until(&self, done: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !done(self) {
            assert!(begin.elapsed() < DEADLINE, "the server does not notice it");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    pub fn refused(&self, reason: &'static str) -> u64 {
        let labels = [("listener", "https"), ("reason", reason)];
        self.hub.metrics.refused.get_or_create(&labels).get()
    }

    pub fn failed_logins(&self, reason: &'static str) -> u64 {
        let labels = [("reason", reason)];
        self.hub.metrics.failed_logins.get_or_create(&labels).get()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.shutdown.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub const PAUSE: &str = r#"{"paused":true}"#;

pub fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}\r\n")
}

pub fn serve(bound: gtrace_http::Bound, hub: Arc<Hub>, end: watch::Receiver<bool>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .unwrap()
        .block_on(gtrace_http::serve(bound, hub, end))
        .unwrap();
}
