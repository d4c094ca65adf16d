//! What clients were refused, or cut off for: counted each time, logged at most once a minute and reason.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtrace_engine::hub::Hub;

use super::peer::Peer;

/// Between two log lines about the same.
const LOG_EVERY: Duration = Duration::from_secs(60);

gtrace_event::shown_enum! {
    /// Why a client did not get what it wanted.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub(super) enum Reason {
        /// Its user holds too many connections, or nothing is free.
        Connections = "connections",
        /// Its user holds too many streams, or nothing is free.
        Streams = "streams",
        /// Too many bytes of answers wait for readers.
        Memory = "memory",
        /// It did not take its answer.
        SlowReader = "slow_reader",
        /// It sent no whole request.
        Idle = "idle",
        /// It did not send the body that it announced.
        Body = "body",
        /// It did not come through the handshake of TLS.
        Handshake = "handshake",
        /// What it showed is no valid credential.
        Login = "login",
        /// It asked too often.
        Rate = "rate",
    }
}

/// Counts and logs.
pub(super) struct Refusals {
    hub: Arc<Hub>,
    logged: Mutex<HashMap<(&'static str, Reason), Logged>>,
}

struct Logged {
    at: Instant,
    since: u64,
}

impl Refusals {
    pub(super) fn new(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            logged: Mutex::default(),
        }
    }

    /// `what` completes "user 1000 over tcp: ".
    pub(super) fn count(&self, peer: Peer, reason: Reason, what: impl fmt::Display) {
        let listener = peer.listener();
        self.hub.metrics.count_refused(listener, reason.name());
        // Clients that keep a connection for later let it idle: that is no news.
        if reason == Reason::Idle {
            return;
        }
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let since = match logged.get_mut(&(listener, reason)) {
            Some(last) if last.at.elapsed() < LOG_EVERY => {
                last.since += 1;
                return;
            }
            Some(last) => last.since,
            None => 0,
        };
        let now = Logged {
            at: Instant::now(),
            since: 0,
        };
        logged.insert((listener, reason), now);
        drop(logged);
        let user = peer.user;
        match since {
            0 => tracing::warn!("{user} over {listener}: {what}"),
            _ => tracing::warn!(
                "{user} over {listener}: {what}; {since} more times since the last such line"
            ),
        }
    }
}
