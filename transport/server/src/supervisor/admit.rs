//! From a connection to the worker that has it, or to the reason why none does.

use std::io;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use gtrace_link::{Beginning, ConnectionKey, Stream, TlsHandshake, TlsSecrets};
use gtrace_protocol::{Preamble, RefusalKind};
use tracing::{debug, info, warn};

use super::access::{Known, Rejection};
use super::listen::{Begun, Pending, Route, Securing, gives_way};
use super::workers::{self, Worker};
use super::{PENDING_MAX, Supervisor, share};
use crate::control::{Start, ToWorker};
use crate::sandbox::Users;

impl Supervisor {
    pub(super) fn accept(&mut self, at: usize) {
        let Some(listener) = self.listeners.get(at) else {
            return;
        };
        // Then those are read that have come.
        for _ in 0..PENDING_MAX {
            match listener.accept() {
                Ok((fd, peer, origin)) => {
                    self.counters.accepted += 1;
                    if self.pending.len() >= PENDING_MAX {
                        let pending = self.pending.iter();
                        let pending = pending.map(|pending| (pending.origin, pending.deadline));
                        if let Some(at) = gives_way(pending, origin) {
                            let crowding = self.pending.swap_remove(at);
                            debug!("{}: closed, as others want its place", crowding.peer);
                            self.counters.refuse("crowd");
                        }
                    }
                    let deadline = Instant::now() + self.options.preamble_deadline;
                    let tls = self.options.tls.is_some() && listener.is_tcp();
                    match gtrace_link::new_greeting(tls, self.access.asks()) {
                        Ok(mut greeting) => {
                            greeting.certificate = tls && self.access.takes_certificates();
                            let greeting = greeting.to_bytes();
                            let pending = Pending::new(fd, (peer, origin), greeting, deadline);
                            self.pending.push(pending);
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
        if pending.securing.is_some() {
            self.secure(at);
            return;
        }
        match pending.read() {
            Begun::NotYet => {}
            Begun::Client(preamble, beginning) => {
                let pending = self.pending.swap_remove(at);
                self.route(pending, preamble, &beginning);
            }
            Begun::Version(error) => {
                let pending = self.pending.swap_remove(at);
                self.refuse(RefusalKind::Version, pending, None, &error.to_string());
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

    /// Sends a client the reason of its refusal: in clear, or in its TLS connection.
    fn refuse(
        &mut self,
        kind: RefusalKind,
        pending: Pending,
        tls: Option<TlsHandshake>,
        reason: &str,
    ) {
        warn!("{}: refused: {reason}", pending.peer);
        self.counters.refuse(kind.name());
        self.send_refusal(kind, pending, tls, reason);
    }

    fn send_refusal(
        &self,
        kind: RefusalKind,
        pending: Pending,
        tls: Option<TlsHandshake>,
        reason: &str,
    ) {
        let reason = reason.to_owned();
        // It waits a moment for the client to read.
        self.aside("gtrace-refuse", move || {
            let fd = pending.into_fd();
            match (tls, Stream::from_fd(fd)) {
                (Some(tls), Ok(stream)) => tls.refuse(stream.as_fd(), kind, &reason),
                (None, Ok(stream)) => gtrace_link::refuse(&stream, kind, &reason),
                (_, Err(error)) => debug!("{error}"),
            }
        });
    }

    /// Refuses somebody who is not known, and says no more of that than that.
    fn refuse_unauthorised(
        &mut self,
        pending: Pending,
        tls: Option<TlsHandshake>,
        who: &Rejection,
    ) {
        warn!("{}: refused: it shows {}", pending.peer, who.why);
        self.counters.refuse(who.label);
        let reason = match (tls.is_some(), who.label) {
            (true, _) => "the server does not take this certificate, or not any more",
            (false, "role") => {
                "this token does not permit to run programs: it takes the role operate"
            }
            (false, _) => gtrace_link::WRONG_TOKEN,
        };
        self.send_refusal(RefusalKind::Token, pending, tls, reason);
    }

    /// Gives a connection to the worker of its session, or to a new one. Until its client has shown that it knows the
    /// secret, it costs no more than a place in a table, and the handshake of TLS where it has a certificate instead.
    fn route(&mut self, pending: Pending, preamble: Preamble, beginning: &Beginning) {
        let route = if preamble.further {
            // Whose secret the preamble was made with says whose lane it is; nothing in it names a session.
            let mut all = self.workers.iter();
            let found = all.find_map(|worker| Some((beginning.key_of(&worker.secret)?, worker)));
            match found.map(|(key, worker)| Route::Further(worker.session, key)) {
                Some(route) => route,
                None => {
                    let reason = gtrace_link::NO_SESSION;
                    return self.refuse(RefusalKind::Session, pending, None, reason);
                }
            }
        } else if preamble.certificate && preamble.tls && self.access.takes_certificates() {
            Route::Certificate
        } else {
            match self.access.by_token(beginning) {
                Ok((key, known)) => Route::New(key, known),
                Err(rejection) => return self.refuse_unauthorised(pending, None, &rejection),
            }
        };
        let config = self.access.tls();
        let is_tcp = pending.is_tcp();
        if let Some(reason) = gtrace_link::tls_mismatch(config.is_some(), is_tcp, preamble.tls) {
            return self.refuse(RefusalKind::Tls, pending, None, reason);
        }
        if let Route::New(_, known) = &route
            && let Some((kind, reason)) = self.no_room(known.as_ref())
        {
            return self.refuse(kind, pending, None, &reason);
        }
        match config.filter(|_| preamble.tls) {
            None => self.admit(pending, preamble, route, None),
            Some(config) => match TlsHandshake::new(&config, &pending.peer) {
                Ok(handshake) => {
                    let securing = Securing {
                        handshake,
                        preamble,
                        beginning: *beginning,
                        route,
                    };
                    let mut pending = pending;
                    pending.securing = Some(Box::new(securing));
                    pending.deadline = Instant::now() + self.options.preamble_deadline;
                    self.pending.push(pending);
                    self.secure(self.pending.len() - 1);
                }
                Err(error) => {
                    warn!("{error}");
                    self.counters.refuse("tls");
                }
            },
        }
    }

    /// Goes on with the handshake of TLS of a connection.
    fn secure(&mut self, at: usize) {
        let advanced = match self.pending.get_mut(at) {
            Some(Pending {
                fd,
                securing: Some(securing),
                ..
            }) => securing.handshake.advance(fd.as_fd()),
            _ => return,
        };
        let secrets = match advanced {
            Ok(None) => return,
            Ok(Some(secrets)) => secrets,
            Err(error) => {
                info!("{error}");
                self.pending.swap_remove(at);
                self.counters.refuse("tls");
                return;
            }
        };
        let mut pending = self.pending.swap_remove(at);
        let Some(securing) = pending.securing.take() else {
            return;
        };
        let Securing {
            handshake,
            preamble,
            beginning,
            mut route,
        } = *securing;
        if matches!(route, Route::Certificate) {
            match self.access.by_certificate(handshake.certificate()) {
                Ok(known) => {
                    route = Route::New(Some(beginning.key_in_tls(&secrets)), Some(known));
                }
                Err(rejection) => {
                    return self.refuse_unauthorised(pending, Some(handshake), &rejection);
                }
            }
        }
        // Others may have been let in since the preamble.
        if let Route::New(_, known) = &route
            && let Some((kind, reason)) = self.no_room(known.as_ref())
        {
            return self.refuse(kind, pending, Some(handshake), &reason);
        }
        self.admit(pending, preamble, route, Some((handshake, secrets)));
    }

    /// Why no new session can begin now, for `known`.
    fn no_room(&self, known: Option<&Known>) -> Option<(RefusalKind, String)> {
        let unwelcomed = self.workers.iter().filter(|w| w.client.is_none()).count();
        if self.workers.len() >= self.options.max_clients {
            let reason = format!(
                "{} has the {} clients that it may have (--max-clients); try again when one has ended",
                self.host, self.options.max_clients
            );
            return Some((RefusalKind::MaxClients, reason));
        }
        if let Some(most) = known.and_then(|known| known.credential.gpu.max_clients) {
            let name = known.map(|known| known.credential.to_string());
            let same = |worker: &&Worker| worker.credential() == name;
            if self.workers.iter().filter(same).count() >= most.get() as usize {
                let reason = format!(
                    "the {} has the {most} programs at a time that it may have; try again when one has ended",
                    name.unwrap_or_default()
                );
                return Some((RefusalKind::MaxClients, reason));
            }
        }
        (unwelcomed >= self.options.max_pending).then(|| {
            let reason = format!(
                "{unwelcomed} other clients of {} are at their handshake; try again",
                self.host
            );
            (RefusalKind::Busy, reason)
        })
    }

    /// Gives a connection whose client is known, and which is secure if it is to be, to its worker.
    fn admit(
        &mut self,
        pending: Pending,
        preamble: Preamble,
        route: Route,
        tls: Option<(TlsHandshake, TlsSecrets)>,
    ) {
        let (handshake, secrets) = tls.unzip();
        let peer = pending.peer.clone();
        let most = usize::from(self.options.limits.max_lanes);
        match route {
            Route::Further(session, key) => {
                let mut all = self.workers.iter_mut();
                let Some(worker) = all.find(|worker| worker.session == session) else {
                    let reason = gtrace_link::NO_SESSION;
                    return self.refuse(RefusalKind::Session, pending, handshake, reason);
                };
                let lane = lane(preamble, Some(key), secrets.as_ref(), &peer);
                if worker.waiting() >= most {
                    let reason =
                        format!("{most} other threads of the program are at this point; try again");
                    self.refuse(RefusalKind::Busy, pending, handshake, &reason);
                } else if let Err(error) = worker.give(lane, Some(pending.into_fd())) {
                    warn!("worker {} takes no lanes: {error}", worker.pid());
                    self.counters.refuse("system");
                }
            }
            Route::New(key, known) => {
                let mut worker = match self.start_worker(known) {
                    Ok(worker) => worker,
                    Err(error) => {
                        let reason = format!("no worker could be started: {error}");
                        self.refuse(RefusalKind::System, pending, handshake, &reason);
                        return;
                    }
                };
                let lane = lane(preamble, key, secrets.as_ref(), &peer);
                match worker.give(lane, Some(pending.into_fd())) {
                    Ok(()) => self.workers.push(worker),
                    Err(error) => {
                        warn!("worker {}: {error}", worker.pid());
                        self.counters.refuse("system");
                        self.leaving.push(worker.kill());
                    }
                }
            }
            // Whose it is is known by now.
            Route::Certificate => {}
        }
    }

    fn start_worker(&mut self, known: Option<Known>) -> io::Result<Worker> {
        let session = gtrace_link::new_session_id().map_err(io::Error::other)?.0;
        let secret = gtrace_link::new_secret().map_err(io::Error::other)?;
        let given = known.as_ref().map(|known| &known.credential.gpu);
        let share =
            share::of(given, &self.options, &self.driver.devices).map_err(io::Error::other)?;
        let user = self
            .users
            .clone()
            .map(|users| self.user_of(users, known.as_ref()));
        let libraries = [Some(&self.driver.libcuda), self.driver.libnvml.as_ref()];
        let libraries = libraries.into_iter().flatten().map(Path::new);
        let start = Start {
            session,
            secret,
            libcuda: Some(self.driver.libcuda.clone().into()),
            libnvml: self.driver.libnvml.clone().map(Into::into),
            rdma_trusted: self.options.rdma_trusted.to_string(),
            resume_ms: u64::try_from(self.options.resume.as_millis()).unwrap_or(u64::MAX),
            limits: share.limits,
            permitted: share.permitted,
            image_max: self.images.as_ref().map_or(0, |images| images.max()),
            driver_version: self.driver.version,
            host: self.host.clone(),
            supervisor: std::process::id(),
            sandbox: self.options.confinement(user.clone(), libraries),
        };
        let (child, channel) = workers::spawn(
            &self.command,
            &share.environment,
            &start,
            self.groups.as_ref().ok(),
        )?;
        let user = user.ok().map(|(user, _)| user);
        let memory_limit = start.limits.max_memory;
        Ok(Worker::new(
            child,
            channel,
            workers::Identity {
                session,
                secret,
                known,
                user,
                memory_limit,
            },
        ))
    }

    /// Whom a worker of `known` becomes: each credential is another user, and its programs share memory by the driver's
    /// handles, which are for one user.
    fn user_of(&self, users: Users, known: Option<&Known>) -> (u32, u32) {
        let name = known.map(|known| known.credential.to_string());
        let mut all = self.workers.iter();
        match all.find(|worker| worker.credential() == name) {
            Some(Worker {
                user: Some(user), ..
            }) => users.named(*user),
            _ => users.one(&self.users_taken()),
        }
    }

    /// Users of workers that have not ended.
    fn users_taken(&self) -> Vec<u32> {
        let workers = self.workers.iter().filter_map(Worker::user);
        let leaving = self.leaving.iter().filter_map(workers::Leaving::user);
        workers.chain(leaving).collect()
    }
}

/// A connection, as a worker gets it: with a key that is good for nothing else.
fn lane(
    preamble: Preamble,
    key: Option<ConnectionKey>,
    tls: Option<&TlsSecrets>,
    peer: &str,
) -> ToWorker {
    ToWorker::Lane {
        tls: tls.map(Into::into),
        further: preamble.further,
        version: preamble.version(),
        key: key.map(|key| key.0),
        peer: peer.to_owned(),
    }
}
