//! What becomes of workers and of connections that say nothing.

use std::io;
use std::time::{Duration, Instant};

use gtrace_link::printable;
use tracing::{info, warn};

use super::workers::Worker;
use super::{Supervisor, WELCOME_MAX};
use crate::control::FromWorker;

impl Supervisor {
    /// Takes what a worker has to say.
    pub(super) fn hear(&mut self, at: usize) {
        if let Some(worker) = self.workers.get_mut(at)
            && let Err(error) = worker.give_waiting()
        {
            warn!("worker {} takes no lanes: {error}", worker.pid());
        }
        loop {
            let Some(worker) = self.workers.get_mut(at) else {
                return;
            };
            match worker.receive() {
                Ok(Some(FromWorker::Welcomed(client))) => {
                    info!(
                        "{}: {} (pid {}) on {} is let in, worker {}",
                        client.peer,
                        printable(&client.program),
                        client.pid,
                        printable(&client.host),
                        worker.pid()
                    );
                    self.counters.sessions += 1;
                    self.counters.lanes += 1;
                    worker.client = Some((Instant::now(), client));
                }
                Ok(Some(FromWorker::Lane)) => self.counters.lanes += 1,
                Ok(Some(FromWorker::NotWelcomed { kind, reason })) => {
                    warn!("not let in: {}", printable(&reason));
                    self.counters.refuse(&kind);
                }
                Ok(Some(FromWorker::Stats(stats))) => worker.report(*stats),
                Ok(Some(FromWorker::Probed(_))) => {}
                Ok(Some(FromWorker::Failed(reason))) => {
                    warn!("worker {}: {}", worker.pid(), printable(&reason));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                ended => {
                    if let Err(error) = ended {
                        warn!("worker {}: {error}", worker.pid());
                    }
                    let worker = self.workers.swap_remove(at);
                    self.counters.add(&worker.stats);
                    self.leaving.push(worker.leave());
                    return;
                }
            }
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
                .map(Worker::kill),
        );
        let deadline = Instant::now() + Duration::from_secs(10);
        while !self.leaving.is_empty() && Instant::now() < deadline {
            self.leaving.retain_mut(|leaving| leaving.ended().is_none());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
