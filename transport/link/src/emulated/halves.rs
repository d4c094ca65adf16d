//! The halves of a link over an emulated network.

use std::sync::Arc;
use std::time::Instant;

use super::{Network, PIECE};
use crate::ahead::IN_BUFFER;
use crate::buffer::{InBuffer, OutBuffer};
use crate::link::{LinkError, Rx, Tx};

pub(super) struct EmulatedTx {
    network: Arc<Network>,
    out: OutBuffer,
}

impl EmulatedTx {
    pub(super) fn new(network: &Arc<Network>) -> Self {
        Self {
            network: Arc::clone(network),
            out: OutBuffer::default(),
        }
    }
}

impl Tx for EmulatedTx {
    fn reserve(&mut self, len: usize) -> Result<&mut [u8], LinkError> {
        Ok(self.out.reserve(len))
    }

    fn commit(&mut self, len: usize) {
        self.out.commit(len);
    }

    fn bulk(&mut self, body: &[u8]) -> Result<(), LinkError> {
        self.flush()?;
        self.network.put(&self.network.sending, body)
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        self.network
            .put(&self.network.sending, self.out.committed())?;
        self.out.clear();
        Ok(())
    }

    fn pending(&self) -> usize {
        self.out.committed().len()
    }
}

impl Drop for EmulatedTx {
    fn drop(&mut self) {
        self.network.sending.finish(|state| state.end = true);
    }
}

pub(super) struct EmulatedRx {
    network: Arc<Network>,
    buffer: InBuffer,
}

impl EmulatedRx {
    pub(super) fn new(network: Arc<Network>) -> Self {
        Self {
            network,
            buffer: InBuffer::new(IN_BUFFER),
        }
    }

    fn fill(&mut self, total: usize, deadline: Option<Instant>) -> Result<(), LinkError> {
        while self.buffer.len() < total {
            let buffer = &mut self.buffer;
            let taken = self
                .network
                .take(&self.network.receiving, deadline, |bytes| {
                    let wanted = total.max(PIECE) - buffer.len().min(total.max(PIECE));
                    let len = bytes.len().min(wanted);
                    buffer.space(total + len)[..len].copy_from_slice(&bytes[..len]);
                    buffer.filled(len);
                    len
                })?;
            taken.ok_or_else(|| self.network.closed())?;
        }
        Ok(())
    }
}

impl Rx for EmulatedRx {
    fn peek(&mut self, len: usize, deadline: Option<Instant>) -> Result<&[u8], LinkError> {
        self.fill(len, deadline)?;
        Ok(&self.buffer.unread()[..len])
    }

    fn ready(&mut self, len: usize) -> Result<bool, LinkError> {
        match self.fill(len, Some(Instant::now())) {
            Ok(()) => Ok(true),
            Err(LinkError::TimedOut(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn consume(&mut self, len: usize) {
        self.buffer.consume(len);
    }

    fn read(&mut self, into: &mut [u8]) -> Result<(), LinkError> {
        let mut at = self.buffer.take(into);
        while at < into.len() {
            let rest = &mut into[at..];
            let mut copied = 0;
            let taken = self.network.take(&self.network.receiving, None, |bytes| {
                let len = bytes.len().min(rest.len() - copied);
                rest[copied..copied + len].copy_from_slice(&bytes[..len]);
                copied += len;
                len
            })?;
            taken.ok_or_else(|| self.network.closed())?;
            at += copied;
        }
        Ok(())
    }

    fn some(&mut self, max: usize) -> Result<&[u8], LinkError> {
        if self.buffer.len() == 0 {
            self.fill(1, None)?;
        }
        let unread = self.buffer.unread();
        Ok(&unread[..max.min(unread.len())])
    }
}

impl Drop for EmulatedRx {
    fn drop(&mut self) {
        self.network.receiving.finish(|state| state.dropped = true);
    }
}
