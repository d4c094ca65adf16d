//! Prometheus and what belongs to it, as distributions have them.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "tests only; each test file uses a part of it"
)]

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use serde_json::Value;

/// For what would else wait for ever.
const DEADLINE: Duration = Duration::from_secs(60);

/// Ends with this.
pub struct Program(pub Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program of a package that `cargo xtask test` has unpacked.
pub fn program(folder: &str, name: &str) -> Option<PathBuf> {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    let program = target.join(folder).join("usr/bin").join(name);
    if !program.is_file() {
        println!("SKIPPED: no {name}: cargo xtask test fetches the package of Debian");
        return None;
    }
    Some(program)
}

pub fn free() -> SocketAddr {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap()
}

/// The JSON at `path`; `None` while nobody answers.
pub fn get(address: SocketAddr, path: &str) -> Option<Value> {
    let mut stream = TcpStream::connect(address).ok()?;
    let head = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (_, body) = answer.split_once("\r\n\r\n")?;
    serde_json::from_str(body).ok()
}

/// What Prometheus answers to an expression.
pub fn query(address: SocketAddr, expression: &str) -> Option<Value> {
    let encoded: String = expression.bytes().map(|b| format!("%{b:02x}")).collect();
    get(address, &format!("/api/v1/query?query={encoded}"))
}

pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < DEADLINE, "{what} does not come");
        std::thread::sleep(Duration::from_millis(100));
    }
}
