//! Addresses of a host by its name. A resolver may not answer at all, so that a thread of its own asks it.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::sys;

/// Longest wait for a resolver: that of libc has asked three servers twice by then.
pub(crate) const LOOKUP: Duration = Duration::from_secs(30);
/// Threads of this process that ask a resolver, at most: one that does not answer keeps its thread.
const AT_ONCE: usize = 64;

static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// A thread that asks, as counted.
struct UnderWay(&'static AtomicUsize);

impl UnderWay {
    /// Unless there are [`AT_ONCE`].
    fn begin(count: &'static AtomicUsize) -> Option<Self> {
        let more = |own: usize| (own < AT_ONCE).then_some(own + 1);
        let begun = count.fetch_update(Ordering::AcqRel, Ordering::Acquire, more);
        begun.is_ok().then(|| Self(count))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The addresses of `host`, as known within `time`.
///
/// # Errors
///
/// Those of the resolver; TimedOut.
pub(crate) fn addresses(host: &str, port: u16, time: Duration) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let host = host.to_owned();
    within(time, &UNDER_WAY, move || {
        let found = (host.as_str(), port).to_socket_addrs()?;
        Ok(found.collect())
    })
}

/// What `ask` comes to within `time`. It goes on in its thread beyond that.
fn within<T: Send + 'static>(
    time: Duration,
    count: &'static AtomicUsize,
    ask: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let Some(under_way) = UnderWay::begin(count) else {
        let text = format!("the resolver does not answer {AT_ONCE} earlier questions");
        return Err(io::Error::other(text));
    };
    let (sender, answer) = mpsc::channel();
    sys::without_signals(|| {
        thread::Builder::new()
            .name("gtrace-lookup".into())
            .spawn(move || {
                let asked = ask();
                drop(under_way);
                // Nobody waits any more.
                let _ = sender.send(asked);
            })
    })?;
    match answer.recv_timeout(time) {
        Ok(asked) => asked,
        Err(mpsc::RecvTimeoutError::Timeout) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("the resolver did not answer within {time:?}"),
        )),
        Err(mpsc::RecvTimeoutError::Disconnected) => Err(io::Error::other(
            "the thread that asked the resolver has failed",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resolver_that_hangs_costs_its_time_and_no_more_threads_than_there_may_be() {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let soon = Duration::from_millis(1);
        let mut hanging = Vec::new();
        for _ in 0..AT_ONCE {
            let (end, ended) = mpsc::channel::<()>();
            hanging.push(end);
            let asked = within(soon, &COUNT, move || {
                let _ = ended.recv();
                Ok(())
            });
            assert_eq!(asked.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        let refused = within(soon, &COUNT, || Ok(())).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::Other);
        drop(hanging);
        while COUNT.load(Ordering::Acquire) > 0 {
            thread::yield_now();
        }
        assert_eq!(within(LOOKUP, &COUNT, || Ok(7)).unwrap(), 7);
    }

    #[test]
    fn addresses_are_no_names() {
        let none = Duration::ZERO;
        for host in ["192.0.2.1", "2001:db8::1"] {
            let address = SocketAddr::new(host.parse().unwrap(), 7471);
            assert_eq!(addresses(host, 7471, none).unwrap(), [address]);
        }
    }
}
