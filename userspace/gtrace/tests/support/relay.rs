//! An address that stays while the server behind it is killed and started anew, each time on any free port: to bind a port again that was
//! free for a moment would fail where another process has got it meanwhile.
#![allow(unreachable_pub, clippy::unwrap_used)]

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub struct Relay {
    /// Where clients connect, until the test ends.
    pub address: SocketAddr,
    server: Arc<Mutex<Option<SocketAddr>>>,
}

impl Relay {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            address: listener.local_addr().unwrap(),
            server: Arc::default(),
        };
        let server = Arc::clone(&relay.server);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = *server.lock().unwrap();
                // A client of a server that is away finds the connection closed.
                if let Some(server) = server.and_then(|address| TcpStream::connect(address).ok()) {
                    let _ = relay_both(&client, &server);
                }
            }
        });
        relay
    }

    /// Where the server is from now on.
    pub fn set(&self, server: &str) {
        *self.server.lock().unwrap() = Some(server.parse().unwrap());
    }
}

fn relay_both(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    for (from, to) in [(client, server), (server, client)] {
        let (mut from, mut to) = (from.try_clone()?, to.try_clone()?);
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            // The end of one is the end of both.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    }
    Ok(())
}
