//! What becomes of workers and of connections that say nothing.

use std::io;
use std::time::{Duration, Instant};

use gtrace_link::printable;
use tracing::{info, warn};

use super::clients::{self, Found};
use super::workers::Worker;
use super::{Supervisor, WELCOME_MAX};
use crate::control::{FromWorker, ToWorker};
use crate::worker::shared_memory::Shared;

/// Messages of a worker that are taken at a time.
const MESSAGES_MAX: usize = 64;

/// A reason for which a worker refuses a client, as it is counted: one that it makes up is none.
fn known_reason(kind: &str) -> &str {
    const KNOWN: [&str; 13] = [
        "garbage",
        "closed",
        "timeout",
        "version",
        "token",
        "tls",
        "session",
        "max_clients",
        "max_lanes",
        "busy",
        "refused",
        "system",
        "other",
    ];
    KNOWN
        .into_iter()
        .find(|known| *known == kind)
        .unwrap_or("other")
}

impl Supervisor {
    /// Takes what a worker has to say.
    pub(super) fn read_worker(&mut self, at: usize) {
        if let Some(worker) = self.workers.get_mut(at)
            && let Err(error) = worker.give_waiting()
        {
            warn!("worker {} takes no lanes: {error}", worker.pid());
        }
        // Others are to be served too, however much one sends.
        for _ in 0..MESSAGES_MAX {
            let Some(worker) = self.workers.get_mut(at) else {
                return;
            };
            match worker.receive() {
                // One that has been taken over may say it again.
                Ok(Some((FromWorker::Welcomed { .. }, _))) if worker.client.is_some() => {}
                Ok(Some((
                    FromWorker::Welcomed {
                        mut client,
                        boot_id,
                        pid_namespace,
                    },
                    _,
                ))) => {
                    client.credential = worker.credential();
                    let by = client.credential.as_ref().map(|by| format!(" by the {by}"));
                    info!(
                        "{}: {} (pid {}) on {} is let in{}, worker {}",
                        client.peer,
                        printable(&client.program),
                        client.pid,
                        printable(&client.host),
                        by.unwrap_or_default(),
                        worker.pid()
                    );
                    self.counters.let_in(client.credential.as_deref());
                    // Without it the worker sees the end of the connection alone.
                    let _ = match clients::find(&client, &boot_id, pid_namespace) {
                        Found::Process(process) => {
                            worker.give(ToWorker::ClientProcess, Some(process))
                        }
                        Found::Ended => worker.give(ToWorker::ClientProcess, None),
                        Found::Unknown => Ok(()),
                    };
                    worker.client = Some((Instant::now(), client));
                }
                Ok(Some((FromWorker::Lane, _))) => self.counters.lanes += 1,
                Ok(Some((FromWorker::NotWelcomed { kind, reason }, _))) => {
                    warn!("not let in: {}", printable(&reason));
                    self.counters.refuse(known_reason(&kind));
                }
                Ok(Some((FromWorker::Stats(stats), _))) => worker.report(*stats),
                Ok(Some((FromWorker::Probed(..), _))) => {}
                Ok(Some((FromWorker::Failed(reason), _))) => {
                    warn!("worker {}: {}", worker.pid(), printable(&reason));
                }
                Ok(Some((FromWorker::WantImage(hash), _))) => {
                    // It asks for one at a time, and reads the answer: each has a descriptor here until then.
                    if worker.awaits_answer() {
                        continue;
                    }
                    let file = self.images.as_ref().and_then(|images| images.open(hash));
                    if let Err(error) = worker.give(ToWorker::Image(hash), file.map(Into::into)) {
                        warn!("worker {}: {error}", worker.pid());
                    }
                }
                Ok(Some((FromWorker::KeepImage(hash), memory))) => {
                    if let (Some(images), Some(memory)) = (&self.images, memory) {
                        images.keep(hash, memory);
                    }
                }
                Ok(Some((FromWorker::KeepMemory(ticket, bytes), memory))) => {
                    let (session, credential) = (worker.session, worker.credential());
                    let kept = memory.is_some_and(|memory| {
                        let shared = Shared { memory, bytes };
                        self.shared_memory.keep(ticket, session, credential, shared)
                    });
                    if !kept {
                        warn!("worker {}: too much memory is shared", worker.pid());
                    }
                }
                Ok(Some((FromWorker::WantMemory(ticket), _))) => {
                    // As with images.
                    if worker.awaits_answer() {
                        continue;
                    }
                    let by = worker.credential();
                    let shared = self.shared_memory.open(&ticket, by.as_deref());
                    let bytes = shared.as_ref().map_or(0, |shared| shared.bytes);
                    let memory = shared.map(|shared| shared.memory);
                    if let Err(error) = worker.give(ToWorker::Memory(ticket, bytes), memory) {
                        warn!("worker {}: {error}", worker.pid());
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                ended => {
                    if let Err(error) = ended {
                        warn!("worker {}: {error}", worker.pid());
                    }
                    let worker = self.workers.swap_remove(at);
                    self.shared_memory.forget(&worker.session);
                    self.counters.add(&worker.stats);
                    self.leaving.push(worker.leave());
                    return;
                }
            }
        }
    }

    /// Ends the sessions of credentials that have expired or were revoked.
    pub(super) fn end_unauthorised(&mut self) {
        let is_unauthorised = |worker: &Worker| {
            worker
                .known()
                .is_some_and(|known| !self.access.still_knows(known))
        };
        while let Some(at) = self.workers.iter().position(is_unauthorised) {
            let worker = self.workers.swap_remove(at);
            self.shared_memory.forget(&worker.session);
            warn!(
                "worker {}: ended, as the {} is good no longer",
                worker.pid(),
                worker.credential().unwrap_or_default()
            );
            self.counters.sessions_revoked += 1;
            self.counters.add(&worker.stats);
            self.leaving.push(worker.kill());
        }
    }

    /// Closes connections and ends workers whose time is over.
    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        let before = self.pending.len();
        self.pending.retain(|pending| {
            let late = pending.deadline <= now;
            if late {
                info!("{}: says nothing; closed", pending.peer);
            }
            !late
        });
        for _ in self.pending.len()..before {
            self.counters.refuse("timeout");
        }
        let late = |worker: &Worker| worker.client.is_none() && worker.age() >= WELCOME_MAX;
        while let Some(at) = self.workers.iter().position(late) {
            let worker = self.workers.swap_remove(at);
            self.shared_memory.forget(&worker.session);
            warn!(
                "worker {}: its client does not finish the handshake",
                worker.pid()
            );
            self.counters.refuse("timeout");
            self.leaving.push(worker.kill());
        }
    }

    pub(super) fn reap(&mut self) {
        let counters = &mut self.counters;
        self.leaving.retain_mut(|leaving| match leaving.ended() {
            None => true,
            Some(Ok(status)) if status.success() => {
                info!("worker {} has ended, its memory is free", leaving.pid());
                false
            }
            Some(Ok(status)) => {
                warn!("worker {} has ended: {status}", leaving.pid());
                counters.workers_failed += 1;
                false
            }
            Some(Err(error)) => {
                warn!("worker {}: {error}", leaving.pid());
                false
            }
        });
    }

    pub(super) fn end(&mut self) {
        info!(
            "ends, and with it {} sessions",
            self.workers.iter().filter(|w| w.client.is_some()).count()
        );
        self.listeners.clear();
        self.status = None;
        self.pending.clear();
        self.leaving.extend(
            std::mem::take(&mut self.workers)
                .into_iter()
                .map(Worker::leave),
        );
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.leaving.is_empty() && Instant::now() < deadline {
            self.leaving.retain_mut(|leaving| leaving.ended().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
