//! Buffers of the links that have no memory in common with the peer.

/// Bytes to be sent.
#[derive(Debug, Default)]
pub(crate) struct OutBuffer {
    bytes: Vec<u8>,
    committed: usize,
}

impl OutBuffer {
    /// Room for `len` bytes behind what was committed.
    #[inline]
    pub(crate) fn reserve(&mut self, len: usize) -> &mut [u8] {
        let end = self.committed + len;
        if end > self.bytes.len() {
            self.bytes.resize(end.next_power_of_two(), 0);
        }
        &mut self.bytes[self.committed..end]
    }

    /// The first `len` bytes of the room are to be sent.
    #[inline]
    pub(crate) fn commit(&mut self, len: usize) {
        self.committed = (self.committed + len).min(self.bytes.len());
    }

    #[inline]
    pub(crate) fn committed(&self) -> &[u8] {
        &self.bytes[..self.committed]
    }

    /// The first `len` bytes of what was committed were sent.
    pub(crate) fn sent(&mut self, len: usize) {
        let len = len.min(self.committed);
        self.bytes.copy_within(len..self.committed, 0);
        self.committed -= len;
    }

    /// Forgets what was committed. Memory of a rare large message is given back.
    pub(crate) fn clear(&mut self) {
        self.committed = 0;
        if self.bytes.len() > KEPT {
            self.bytes = Vec::new();
        }
    }
}

/// Most memory that an empty buffer keeps.
const KEPT: usize = 1 << 20;

/// Bytes that were received and are not read yet.
#[derive(Debug)]
pub(crate) struct InBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    usual: usize,
}

impl InBuffer {
    /// An empty one that has `usual` bytes of memory when nothing asks for more.
    pub(crate) fn new(usual: usize) -> Self {
        Self {
            bytes: vec![0; usual],
            start: 0,
            end: 0,
            usual,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.end - self.start
    }

    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    #[inline]
    pub(crate) fn consume(&mut self, len: usize) {
        self.start = (self.start + len).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEPT.max(self.usual) {
                self.bytes = vec![0; self.usual];
            }
        }
    }

    /// Free memory behind the unread bytes, such that `total` unread bytes fit.
    pub(crate) fn space(&mut self, total: usize) -> &mut [u8] {
        if self.start + total > self.bytes.len() {
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            }
            if total > self.bytes.len() {
                self.bytes.resize(total.next_power_of_two(), 0);
            }
        }
        &mut self.bytes[self.end..]
    }

    /// The first `len` bytes of the free memory were filled.
    #[inline]
    pub(crate) fn filled(&mut self, len: usize) {
        self.end = (self.end + len).min(self.bytes.len());
    }

    /// Puts a copy of `bytes` behind the unread ones.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.space(self.len() + bytes.len())[..bytes.len()].copy_from_slice(bytes);
        self.filled(bytes.len());
    }

    /// Moves unread bytes to `into`; how many.
    pub(crate) fn take(&mut self, into: &mut [u8]) -> usize {
        let len = into.len().min(self.len());
        into[..len].copy_from_slice(&self.unread()[..len]);
        self.consume(len);
        len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_grows_and_keeps_what_was_committed() {
        let mut out = OutBuffer::default();
        out.reserve(3).copy_from_slice(b"abc");
        out.commit(3);
        out.reserve(5000)[..2].copy_from_slice(b"de");
        out.commit(2);
        assert_eq!(out.committed(), b"abcde");
        out.clear();
        assert_eq!(out.committed(), b"");
    }

    #[test]
    fn unread_bytes_survive_growing_and_moving() {
        let mut buffer = InBuffer::new(8);
        buffer.space(6)[..6].copy_from_slice(b"012345");
        buffer.filled(6);
        buffer.consume(4);
        assert!(buffer.space(7).len() >= 5);
        assert_eq!(buffer.unread(), b"45");
        buffer.space(100)[..1].copy_from_slice(b"6");
        buffer.filled(1);
        assert_eq!(buffer.unread(), b"456");
        buffer.push(b"789");
        assert_eq!(buffer.unread(), b"456789");
        buffer.consume(3);
        let mut two = [0; 2];
        assert_eq!(buffer.take(&mut two), 2);
        assert_eq!((&two, buffer.unread()), (b"78", &b"9"[..]));
    }
}
