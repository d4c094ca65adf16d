//! A connection that does not wait for ever for its reader.

use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::peer::Peer;
use super::refusals::{Reason, Refusals};

/// Fails once its reader has taken nothing for so long, and then drops what the kernel still holds for it.
pub(super) struct Impatient<T> {
    io: T,
    limit: Duration,
    /// Runs while a write waits.
    patience: Option<Pin<Box<Sleep>>>,
    peer: Peer,
    refusals: Arc<Refusals>,
}

impl<T: AsFd> Impatient<T> {
    pub(super) fn new(io: T, limit: Duration, peer: Peer, refusals: Arc<Refusals>) -> Self {
        Self {
            io,
            limit,
            patience: None,
            peer,
            refusals,
        }
    }

    fn judge<R>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.patience = None;
            return written;
        }
        let limit = self.limit;
        let patience = self.patience.get_or_insert_with(|| Box::pin(sleep(limit)));
        if patience.as_mut().poll(cx).is_pending() {
            return Poll::Pending;
        }
        // Else the kernel would keep what was not taken for minutes. A socket without this option has
        // nothing to keep.
        let _ = set_socket_linger(&self.io, Some(Duration::ZERO));
        let what = format_args!("cut off: it took nothing of its answer for {limit:?}");
        self.refusals.count(self.peer, Reason::SlowReader, what);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Impatient<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl<T: AsyncWrite + AsFd + Unpin> AsyncWrite for Impatient<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.judge(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}
