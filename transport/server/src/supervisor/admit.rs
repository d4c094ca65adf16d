//! From a connection to the worker that has it, or to the reason why none does.

use std::io;
use std::time::{Duration, Instant};

use gtrace_link::{Beginning, ConnectionKey, Stream};
use gtrace_protocol::{Preamble, RefusalKind};
use tracing::{debug, info, warn};

use super::listen::{Begun, Pending};
use super::workers::{self, Worker};
use super::{PENDING_MAX, Supervisor, environment};
use crate::control::{Start, ToWorker};

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
                    let tls = self.options.tls.is_some() && listener.is_tcp();
                    match gtrace_link::new_greeting(tls, self.options.token.is_some()) {
                        Ok(greeting) => {
                            let greeting = greeting.to_bytes();
                            self.pending
                                .push(Pending::new(fd, peer, greeting, deadline));
                        }
                        Err(error) => {
                            warn!("{peer}: {error}");
                            self.counters.refuse("system");
                        }
                    }
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
            Begun::Client(preamble, beginning) => {
                let pending = self.pending.swap_remove(at);
                self.route(pending, preamble, &beginning);
            }
            Begun::Version(error) => {
                let pending = self.pending.swap_remove(at);
                self.refuse(RefusalKind::Version, pending, &error.to_string());
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
    fn refuse(&mut self, kind: RefusalKind, pending: Pending, reason: &str) {
        warn!("{}: refused: {reason}", pending.peer);
        self.counters.refuse(kind.name());
        let reason = reason.to_owned();
        // It waits a moment for the client to read.
        self.aside("gtrace-refuse", move || {
            match Stream::from_fd(pending.into_fd()) {
                Ok(stream) => gtrace_link::refuse(&stream, kind, &reason),
                Err(error) => debug!("{error}"),
            }
        });
    }

    /// Gives a connection to the worker of its session, or to a new one. Until its client has shown that it knows the
    /// secret, it costs no more than a place in a table.
    fn route(&mut self, pending: Pending, preamble: Preamble, beginning: &Beginning) {
        if preamble.further {
            self.route_further(pending, preamble, beginning);
            return;
        }
        let key = match &self.options.token {
            None => None,
            Some(token) => match beginning.key_of(token.trim_ascii().as_bytes()) {
                Some(key) => Some(key),
                None => return self.refuse(RefusalKind::Token, pending, gtrace_link::WRONG_TOKEN),
            },
        };
        let unwelcomed = self.workers.iter().filter(|w| w.client.is_none()).count();
        if self.workers.len() >= self.options.max_clients {
            let reason = format!(
                "{} has the {} clients that it may have (--max-clients); try again when one has \
                 ended",
                self.host, self.options.max_clients
            );
            self.refuse(RefusalKind::MaxClients, pending, &reason);
            return;
        }
        if unwelcomed >= self.options.max_pending {
            let reason = format!(
                "{unwelcomed} other clients of {} are at their handshake; try again",
                self.host
            );
            self.refuse(RefusalKind::Busy, pending, &reason);
            return;
        }
        let mut worker = match self.start_worker() {
            Ok(worker) => worker,
            Err(error) => {
                let reason = format!("no worker could be started: {error}");
                self.refuse(RefusalKind::System, pending, &reason);
                return;
            }
        };
        match worker.give(lane(preamble, key, &pending.peer), pending.into_fd()) {
            Ok(()) => self.workers.push(worker),
            Err(error) => {
                warn!("worker {}: {error}", worker.pid());
                self.counters.refuse("system");
                self.leaving.push(worker.kill());
            }
        }
    }

    /// Whose secret the preamble was made with says whose lane it is; nothing in it names a session.
    fn route_further(&mut self, pending: Pending, preamble: Preamble, beginning: &Beginning) {
        let mut all = self.workers.iter_mut();
        let found = all.find_map(|worker| Some((beginning.key_of(&worker.secret)?, worker)));
        let Some((key, worker)) = found else {
            self.refuse(RefusalKind::Session, pending, gtrace_link::NO_SESSION);
            return;
        };
        let most = usize::from(self.options.limits.max_lanes);
        if worker.waiting() >= most {
            let reason =
                format!("{most} other threads of the program are at this point; try again");
            self.refuse(RefusalKind::Busy, pending, &reason);
        } else if let Err(error) =
            worker.give(lane(preamble, Some(key), &pending.peer), pending.into_fd())
        {
            warn!("worker {} takes no lanes: {error}", worker.pid());
            self.counters.refuse("system");
        }
    }

    fn start_worker(&mut self) -> io::Result<Worker> {
        let session = gtrace_link::new_session_id().map_err(io::Error::other)?.0;
        let secret = gtrace_link::new_secret().map_err(io::Error::other)?;
        let start = Start {
            session,
            secret,
            libcuda: Some(self.driver.libcuda.clone().into()),
            libnvml: self.driver.libnvml.clone().map(Into::into),
            tls: self.options.tls.clone(),
            rdma_trusted: self.options.rdma_trusted.to_string(),
            resume_ms: u64::try_from(self.options.resume.as_millis()).unwrap_or(u64::MAX),
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
        Ok(Worker::new(child, channel, session, secret))
    }
}

/// A connection, as a worker gets it: with a key that is good for nothing else.
fn lane(preamble: Preamble, key: Option<ConnectionKey>, peer: &str) -> ToWorker {
    ToWorker::Lane {
        tls: preamble.tls,
        further: preamble.further,
        version: preamble.version(),
        key: key.map(|key| key.0),
        peer: peer.to_owned(),
    }
}
