//! The listener for other hosts: handshakes of TLS, who its clients are, and files that change.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gtrace_engine::hub::Hub;
use gtrace_tls::{Credential, Guard, Kind, RateLimiter, Reload};
use jiff::Timestamp;
use rustls::ServerConfig;
use rustls::pki_types::CertificateDer;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::Limits;
use super::peer::{Peer, User};
use super::refusals::{Reason, Refusals};

/// What is spoken within TLS.
pub(super) const ALPN: &[&[u8]] = &[b"http/1.1"];
/// Between two looks at the files.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Between two looks at whether a connection that lasts is still allowed.
const RENEW_EVERY: Duration = Duration::from_secs(30);
/// Hosts and credentials whose rates are known at once.
const RATES: usize = 4096;
/// What may come at once of what is allowed in a minute.
const BURST: Duration = Duration::from_secs(10);
/// The type of a record that begins a handshake (RFC 8446, 5.1).
const HANDSHAKE: u8 = 22;

/// Sent to a client that speaks no TLS.
const PLAIN: &str = concat!(
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n",
    r#"{"error":"bad request","cause":"this port speaks TLS","remedy":"ask https://"}"#
);

/// Files, rates and reloads of all https listeners.
pub(super) struct Https {
    pub(super) guard: Arc<Guard>,
    handshakes: RateLimiter<User>,
    pub(super) requests: RateLimiter<Credential>,
    reloads: watch::Sender<()>,
}

impl Https {
    pub(super) fn new(guard: Arc<Guard>) -> Self {
        Self {
            guard,
            handshakes: RateLimiter::new(RATES, BURST),
            requests: RateLimiter::new(RATES, BURST),
            reloads: watch::Sender::new(()),
        }
    }

    /// Whether `peer` may begin a handshake, which costs this side more than it.
    pub(super) fn may_begin(&self, peer: Peer, limits: &Limits, refusals: &Refusals) -> bool {
        let rate = limits.handshakes_per_minute;
        let taken = self.handshakes.take(&peer.user, rate, Instant::now());
        if taken.is_err() {
            let what = format_args!("refused a connection: more than {rate} in a minute");
            refusals.count(peer, Reason::Rate, what);
        }
        taken.is_ok()
    }

    /// Goes through the handshake; `None` where there is nobody to serve.
    pub(super) async fn handshake<T: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut io: T,
        first: io::Result<Option<u8>>,
        peer: Peer,
        limits: &Limits,
        refusals: &Refusals,
    ) -> Option<(TlsStream<T>, Arc<Session>)> {
        let refuse = |what: &str| refusals.count(peer, Reason::Handshake, what);
        match first {
            Ok(Some(HANDSHAKE)) => {}
            // Closed at once, as probes of load balancers do.
            Ok(None) => return None,
            Ok(Some(_)) => {
                refuse("refused a connection: it speaks no TLS");
                let answer = io.write_all(PLAIN.as_bytes());
                let _ = tokio::time::timeout(limits.handshake, answer).await;
                let _ = io.shutdown().await;
                return None;
            }
            Err(error) => {
                refuse(&format!("no handshake of TLS: {error}"));
                return None;
            }
        }
        let tls = Arc::clone(&self.guard.access().tls);
        let accepting = TlsAcceptor::from(Arc::clone(&tls)).accept(io);
        match tokio::time::timeout(limits.handshake, accepting).await {
            Ok(Ok(stream)) => {
                let chain = stream.get_ref().1.peer_certificates();
                let session = Session {
                    certificate: chain
                        .and_then(|c| c.first())
                        .map(|c| c.clone().into_owned()),
                    tls,
                    known: Mutex::new(None),
                };
                Some((stream, Arc::new(session)))
            }
            Ok(Err(error)) => {
                let text: String = error.to_string().chars().take(200).collect();
                refuse(&format!("the handshake of TLS failed: {text:?}"));
                None
            }
            Err(_) => {
                refuse(&format!(
                    "no handshake of TLS within {:?}",
                    limits.handshake
                ));
                None
            }
        }
    }

    /// Returns once who asked over `session` may not any longer.
    pub(super) async fn lost(&self, session: &Session) {
        let mut reloads = self.reloads.subscribe();
        loop {
            // The sender is this one's own.
            let _ = tokio::time::timeout(RENEW_EVERY, reloads.changed()).await;
            if !self.holds(session) {
                return;
            }
        }
    }

    fn holds(&self, session: &Session) -> bool {
        let known = session.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = known.as_ref() else {
            return true;
        };
        let access = self.guard.access();
        // Authorities and revocations may have changed, which a handshake alone looks at.
        if known.kind == Kind::Certificate && !Arc::ptr_eq(&session.tls, &access.tls) {
            return false;
        }
        access
            .credentials
            .still_holds(known, session.certificate.as_ref(), Timestamp::now())
    }
}

/// A connection over TLS.
pub(super) struct Session {
    pub(super) certificate: Option<CertificateDer<'static>>,
    /// With what it began.
    tls: Arc<ServerConfig>,
    /// Who asked last: a connection has one request at a time.
    known: Mutex<Option<Credential>>,
}

impl Session {
    pub(super) fn remember(&self, credential: &Credential) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(credential.clone());
    }
}

/// The user of a client on another host: its address, and of IPv6 the network of one site, as a host has many there.
pub(super) fn user(from: SocketAddr) -> User {
    User::Host(match from.ip().to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    })
}

/// Takes over files of `https` that change, at SIGHUP at once. SIGHUP ends nothing in any case.
pub(super) async fn watch_files(https: Option<Arc<Https>>, hub: Arc<Hub>) -> Infallible {
    let mut hangups = match signal(SignalKind::hangup()) {
        Ok(signal) => Some(signal),
        Err(error) => {
            tracing::warn!(
                "SIGHUP cannot be received: {error}; changed files are seen within a second"
            );
            None
        }
    };
    if let Some(https) = &https {
        report(https, &hub);
    }
    loop {
        let Some(https) = &https else {
            hangup(&mut hangups).await;
            tracing::info!(
                "SIGHUP: there is nothing to read again; a changed configuration needs a restart"
            );
            continue;
        };
        let asked = tokio::select! {
            () = hangup(&mut hangups) => true,
            () = tokio::time::sleep(LOOK_EVERY) => false,
        };
        let guard = Arc::clone(&https.guard);
        match tokio::task::spawn_blocking(move || guard.check()).await {
            Ok(Reload::Unchanged) if asked => {
                tracing::info!("certificate and credentials are unchanged")
            }
            Ok(Reload::Unchanged) => {}
            Ok(Reload::Reloaded) => {
                tracing::info!("certificate and credentials were read again");
                https.reloads.send_replace(());
            }
            Ok(Reload::Failed(error)) => {
                tracing::error!("{error}; certificate and credentials stay as they were");
            }
            Err(panic) => tracing::error!("files cannot be read again: {panic}"),
        }
        report(https, &hub);
    }
}

async fn hangup(signals: &mut Option<Signal>) {
    match signals {
        Some(signals) => drop(signals.recv().await),
        None => std::future::pending().await,
    }
}

fn report(https: &Https, hub: &Hub) {
    let good = https.guard.error().is_none();
    let expiry = https.guard.access().expiry.map(|at| at.as_second());
    hub.metrics.set_listener_files(good, expiry);
}
