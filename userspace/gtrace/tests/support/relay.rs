//! An address that stays while the server behind it is killed and started anew, each time on any free port: to bind a port again that was
//! free for a moment would fail where another process has got it meanwhile.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

pub struct Relay {
    /// Where clients connect, until the test ends.
    pub address: SocketAddr,
    line: Arc<Line>,
}

#[derive(Default)]
struct Line {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    server: Option<SocketAddr>,
    /// Nothing passes, and nobody is informed of it.
    is_cut: bool,
    /// Both ends of each connection since the last [`Relay::reset`].
    streams: Vec<TcpStream>,
}

impl Relay {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            address: listener.local_addr().unwrap(),
            line: Arc::default(),
        };
        let line = Arc::clone(&relay.line);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = line.state.lock().unwrap().server;
                // A client of a server that is away finds the connection closed.
                if let Some(server) = server.and_then(|address| TcpStream::connect(address).ok()) {
                    let _ = line.relay(&client, &server);
                }
            }
        });
        relay
    }

    /// Where the server is from now on.
    pub fn set(&self, server: &str) {
        self.line.state.lock().unwrap().server = Some(server.parse().unwrap());
    }

    /// Holds back whatever is sent, as a network that is divided does, or lets it pass again.
    pub fn cut(&self, is_cut: bool) {
        self.line.state.lock().unwrap().is_cut = is_cut;
        self.line.changed.notify_all();
    }

    /// Ends all connections, with what was held back of them.
    pub fn reset(&self) {
        for stream in self.line.state.lock().unwrap().streams.drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Line {
    fn relay(self: &Arc<Self>, client: &TcpStream, server: &TcpStream) -> io::Result<()> {
        let streams = [client.try_clone()?, server.try_clone()?];
        let mut state = self.state.lock().unwrap();
        state.streams.retain(|stream| stream.peer_addr().is_ok());
        state.streams.extend(streams);
        drop(state);
        for (from, to) in [(client, server), (server, client)] {
            let (from, to) = (from.try_clone()?, to.try_clone()?);
            let line = Arc::clone(self);
            std::thread::spawn(move || {
                let _ = line.copy(&from, &to);
                // The end of one is the end of both.
                let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            });
        }
        Ok(())
    }

    fn copy(&self, mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        let mut piece = [0; 16 << 10];
        loop {
            let read = from.read(&mut piece)?;
            if read == 0 {
                return Ok(());
            }
            let state = self.state.lock().unwrap();
            drop(
                self.changed
                    .wait_while(state, |state| state.is_cut)
                    .unwrap(),
            );
            to.write_all(&piece[..read])?;
        }
    }
}
