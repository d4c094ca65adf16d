//! From a connection to the worker that has it, or to the reason why none does.

use std::io;
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use gtrace_link::Stream;
use gtrace_protocol::Preamble;
use tracing::{debug, info, warn};

use super::listen::{Begun, Pending};
use super::workers::{self, Worker};
use super::{PENDING_MAX, Supervisor, environment};
use crate::control::Start;

impl Supervisor {
    pub(super) fn accept(&mut self, at: usize) {
        let Some(listener) = self.listeners.get(at) else {
            return;
        };
        while self.pending.len() < PENDING_MAX {
            match listener.accept() {
                Ok((fd, peer)) => {
                    self.counters.accepted += 1;
                    let deadline = Instant::now() + self.options.preamble_deadline;
                    self.pending.push(Pending::new(fd, peer, deadline));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    // Out of descriptors, mostly: the connection stays in the queue, so do not spin.
                    warn!("cannot take a connection: {error}");
                    self.counters.refuse("system");
                    std::thread::sleep(Duration::from_millis(10));
                    return;
                }
            }
        }
    }

    pub(super) fn read_preamble(&mut self, at: usize) {
        let Some(pending) = self.pending.get_mut(at) else {
            return;
        };
        match pending.read() {
            Begun::NotYet => {}
            Begun::Client(preamble, bytes) => {
                let pending = self.pending.swap_remove(at);
                self.route(pending, preamble, bytes);
            }
            Begun::Version(error) => {
                let pending = self.pending.swap_remove(at);
                self.refuse("version", pending, &error.to_string());
            }
            Begun::Garbage(error) => {
                let pending = self.pending.swap_remove(at);
                info!("{}: {error}", pending.peer);
                self.counters.refuse("garbage");
            }
            Begun::Closed => {
                let pending = self.pending.swap_remove(at);
                debug!("{}: closed before it said anything", pending.peer);
                self.counters.refuse("closed");
            }
        }
    }

    /// Sends a client the reason of its refusal.
    fn refuse(&mut self, kind: &str, pending: Pending, reason: &str) {
        warn!("{}: refused: {reason}", pending.peer);
        self.counters.refuse(kind);
        let reason = reason.to_owned();
        // It waits a moment for the client to read.
        self.aside("gtrace-refuse", move || {
            match Stream::from_fd(pending.into_fd()) {
                Ok(stream) => gtrace_link::refuse(&stream, &reason),
                Err(error) => debug!("{error}"),
            }
        });
    }

    /// Gives a connection to the worker of its session.
    fn route(&mut self, pending: Pending, preamble: Preamble, bytes: [u8; 32]) {
        if !preamble.session.is_new() {
            let worker = self
                .workers
                .iter()
                .find(|worker| worker.session == preamble.session.0 && worker.client.is_some());
            let Some(worker) = worker else {
                let reason = "the session has ended; start the program again";
                self.refuse("session", pending, reason);
                return;
            };
            let given = worker.give(bytes, &pending.peer, pending.as_fd());
            if let Err(error) = given {
                let reason = format!("the worker of the session takes no lanes now: {error}");
                self.refuse("busy", pending, &reason);
            }
            return;
        }
        let unwelcomed = self.workers.iter().filter(|w| w.client.is_none()).count();
        if self.workers.len() >= self.options.max_clients {
            let reason = format!(
                "{} has the {} clients that it may have (--max-clients); try again when one has \
                 ended",
                self.host, self.options.max_clients
            );
            self.refuse("max_clients", pending, &reason);
        } else if unwelcomed >= self.options.max_pending {
            let reason = format!(
                "{unwelcomed} other clients of {} are at their handshake; try again",
                self.host
            );
            self.refuse("busy", pending, &reason);
        } else if let Err(error) = self.open(&pending, bytes) {
            let reason = format!("no worker could be started: {error}");
            self.refuse("system", pending, &reason);
        }
    }

    fn open(&mut self, pending: &Pending, preamble: [u8; 32]) -> io::Result<()> {
        let session = gtrace_link::new_session_id().map_err(io::Error::other)?.0;
        let start = Start {
            session,
            libcuda: Some(self.driver.libcuda.clone().into()),
            libnvml: self.driver.libnvml.clone().map(Into::into),
            token: self.options.token.clone(),
            tls: self.options.tls.clone(),
            rdma_trusted: self.options.rdma_trusted.to_string(),
            limits: self.options.limits.clone(),
            permitted: self.driver.devices.clone(),
            image_cache: self.options.image_cache.clone(),
            image_cache_max: self.options.image_cache_max,
            driver_version: self.driver.version,
            host: self.host.clone(),
            supervisor: std::process::id(),
        };
        let environment = environment(&self.options);
        let (child, channel) = workers::spawn(&self.command, &environment, &start)?;
        let worker = Worker::new(child, channel, session);
        let given = worker.give(preamble, &pending.peer, pending.as_fd());
        match given {
            Ok(()) => self.workers.push(worker),
            Err(error) => {
                self.leaving.push(worker.kill());
                return Err(error);
            }
        }
        Ok(())
    }
}
