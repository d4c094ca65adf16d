//! Clients that do not keep to the protocol, and those that die.

#![allow(clippy::unwrap_used)]

mod arguments;
mod ends;
mod frames;
mod handshake;
mod memory;
#[path = "../support/mod.rs"]
mod support;

use std::io::Read as _;
use std::net::TcpStream;

use gtrace_protocol::{GREETING_LEN, Greeting};
use support::{Client, Server};

fn counted(server: &Server, reason: &str, at_least: u64) {
    server.wait_for(reason, |status| {
        status.counters.refused.get(reason).copied().unwrap_or(0) >= at_least
    });
}

/// The server's first bytes, which everybody gets.
fn greeted(stream: &mut TcpStream) {
    let mut greeting = [0; GREETING_LEN];
    stream.read_exact(&mut greeting).unwrap();
    assert!(Greeting::parse(&greeting).is_ok());
}

/// That another client is served as if nothing were.
fn serves(server: &Server) {
    let mut client = Client::ready(server.unix(), "unix");
    let at = client.alloc(4096).unwrap();
    assert_eq!(client.free(at), 0);
}
