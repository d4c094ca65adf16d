//! What kernels print, on its way to the client.

use crate::codec::{DecodeError, Reader, Writer};
use crate::kinds;
use crate::payload::Payload as _;

/// Most bytes of text in one frame.
pub const OUTPUT_MAX: usize = 64 << 10;

/// Where text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output: `printf` of kernels.
    Output,
    /// Standard error: a failed `assert` of a kernel.
    Error,
}

kinds!(Stream, "a stream of output": 1 => Output, 2 => Error);

/// Payload of a frame OUTPUT. Without text it says that kernels may print from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output<'a> {
    /// Where it goes.
    pub stream: Stream,
    /// Bytes before this text that the server had no room for.
    pub dropped: u64,
    /// The text, not necessarily UTF-8; at most [`OUTPUT_MAX`] bytes.
    pub text: &'a [u8],
}

impl<'a> Output<'a> {
    /// Appends the payload.
    pub fn write(&self, writer: &mut Writer) {
        self.stream.write(writer);
        writer.u64(self.dropped);
        writer.raw(self.text);
    }

    /// Reads the payload.
    ///
    /// # Errors
    ///
    /// A stream that does not exist, or more text than a frame may have.
    pub fn read(bytes: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(bytes);
        let stream = Stream::read(&mut reader)?;
        let dropped = reader.u64()?;
        let text = reader.rest();
        if text.len() > OUTPUT_MAX {
            return Err(DecodeError::TooLong {
                len: text.len() as u64,
                cap: OUTPUT_MAX,
            });
        }
        Ok(Self {
            stream,
            dropped,
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn output_comes_back() {
        for (stream, text) in [(Stream::Output, &b"a line\n"[..]), (Stream::Error, b"")] {
            let output = Output {
                stream,
                dropped: 7,
                text,
            };
            let mut writer = Writer::default();
            output.write(&mut writer);
            assert_eq!(Output::read(writer.as_slice()), Ok(output));
        }
        let long = vec![1; OUTPUT_MAX + 10];
        assert!(Output::read(&long).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = Output::read(&bytes);
        }
    }
}
