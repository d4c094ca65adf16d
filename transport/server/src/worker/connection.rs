//! A connection of the client, from its handshake to its end.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use gtrace_link::{LinkError, Opened, Opening, ServerTerms, Stream, welcome};
use tracing::{debug, info};

use super::lane::{self, Ended, Lane};
use super::session::{LaneAdmission, Session, SessionAdmission};
use super::{AtEnd, library, paths};
use crate::control::{Channel, Client, FromWorker};
use crate::exec::Libraries;

/// A connection, from its handshake to its end.
pub(super) struct Connection {
    pub(super) channel: Arc<Channel>,
    pub(super) session: Arc<Session>,
    pub(super) terms: ServerTerms,
    pub(super) sessions: Arc<SessionAdmission>,
    pub(super) libraries: Arc<OnceLock<Result<Libraries, String>>>,
    pub(super) welcomed: Arc<AtomicBool>,
    pub(super) peer: String,
}

impl Connection {
    pub(super) fn run(mut self, opening: &Opening, fd: OwnedFd) {
        let admission = Arc::new(LaneAdmission::new(&self.sessions));
        self.terms.sessions = Arc::clone(&admission) as Arc<dyn gtrace_link::Sessions>;
        let opened = Stream::from_fd(fd)
            .map_err(|error| LinkError::Io(self.peer.clone(), error))
            .and_then(|stream| welcome(stream, opening, &self.terms));
        let (mut link, mut hello, admitted) = match opened {
            Ok(Opened::Lane(link, hello, admitted)) => (*link, hello, admitted),
            Ok(Opened::Resumed(lane)) => {
                debug!("{}: lane {lane} goes on by this connection", self.peer);
                return;
            }
            Err(error) => {
                if let Some(lane) = admission.admitted() {
                    self.session.order.close(lane);
                }
                self.report(&FromWorker::NotWelcomed {
                    kind: kind_of(&error).into(),
                    reason: format!("{}: {error}", self.peer),
                });
                return;
            }
        };
        let number = admitted.lane;
        let first = hello.first.take();
        if self.welcomed.swap(true, Ordering::SeqCst) {
            self.report(&FromWorker::Lane);
        } else {
            self.report(&FromWorker::Welcomed {
                client: Client {
                    host: hello.host,
                    pid: hello.pid,
                    program: hello.program,
                    peer: self.peer.clone(),
                    credential: None,
                },
                boot_id: hello.boot_id,
                pid_namespace: hello.pid_namespace,
            });
        }
        for reason in &link.info.fallbacks {
            info!(
                "{}: lane {number} by {}: {reason}",
                self.peer, link.info.kind
            );
        }
        let Some(progress) = admission.progress() else {
            return;
        };
        self.session
            .lane_opened(number, &link, Arc::clone(&progress));
        let _closed = AtEnd(|| self.session.lane_closed(number));
        let libraries = self.libraries.get_or_init(|| {
            paths(&self.session.start)
                .and_then(|(libcuda, libnvml)| library::open(&libcuda, libnvml.as_deref()))
                .map_err(|error| error.to_string())
        });
        match libraries {
            Ok(libraries) => {
                let session = Arc::clone(&self.session);
                let lane = Lane::new(session, *libraries, link, progress, first);
                match lane.run() {
                    Ended::Goodbye => {}
                    Ended::Severed(error) => debug!("{}: lane {number}: {error}", self.peer),
                    Ended::Lost => info!("{}: lane {number} ends with its session", self.peer),
                    Ended::Broken(error) => info!("{}: lane {number}: {error}", self.peer),
                }
            }
            Err(reason) => {
                lane::say_goodbye(&mut *link.tx, reason);
                self.report(&FromWorker::Failed(reason.clone()));
            }
        }
    }

    fn report(&self, message: &FromWorker) {
        if let Err(error) = self.channel.send(message, None) {
            debug!("{error}");
        }
    }
}

/// How a failed handshake is counted.
fn kind_of(error: &LinkError) -> &'static str {
    match error {
        LinkError::Refused(refused) => refused.kind.name(),
        LinkError::TimedOut(_) => "timeout",
        LinkError::Closed(_) => "closed",
        LinkError::Tls(..) => "tls",
        LinkError::Frame(_) | LinkError::Decode(_) => "garbage",
        _ => "other",
    }
}
