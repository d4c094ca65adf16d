//! A message a line, as the protocol's transport over standard input and output has it.

use std::io::{self, BufRead, Write};

use crate::message::{INVALID_REQUEST, Problem};
use crate::{Server, Source};

/// Longest message that is read, bytes.
pub const LINE_MAX: usize = 1 << 20;

/// Answers each line of `input` until it ends.
///
/// # Errors
///
/// What `input` or `output` say.
pub fn serve(
    source: &dyn Source,
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut server = Server::new(source);
    let mut line = Vec::new();
    loop {
        let answer = match read_line(&mut input, &mut line)? {
            Line::End => return Ok(()),
            Line::Whole => server.answer(&line),
            Line::TooLong => {
                let why = format!("the message is longer than {LINE_MAX} bytes");
                Some(Problem::new(INVALID_REQUEST, why).answer().to_string())
            }
        };
        if let Some(mut answer) = answer {
            answer.push('\n');
            output.write_all(answer.as_bytes())?;
            output.flush()?;
        }
    }
}

enum Line {
    Whole,
    /// It was read to its end and is gone.
    TooLong,
    End,
}

/// Reads to the next newline. An empty line is none.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    line.clear();
    let mut too_long = false;
    loop {
        let available = match input.fill_buf() {
            Ok(available) => available,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let newline = available.iter().position(|byte| *byte == b'\n');
        let part = newline.map_or(available, |end| &available[..end]);
        too_long |= line.len() + part.len() > LINE_MAX;
        if !too_long {
            line.extend_from_slice(part);
        }
        let (ended, used) = match newline {
            Some(end) => (false, end + 1),
            None => (available.is_empty(), available.len()),
        };
        input.consume(used);
        if newline.is_none() && !ended {
            continue;
        }
        match (too_long, line.trim_ascii().is_empty(), ended) {
            (true, ..) => {
                line.clear();
                return Ok(Line::TooLong);
            }
            (_, true, true) => return Ok(Line::End),
            (_, true, false) => line.clear(),
            // What ends without a newline is a message too; the next call sees the end.
            (_, false, _) => return Ok(Line::Whole),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_those_after_it_are_read() {
        let long = vec![b'x'; LINE_MAX + 1];
        let mut input = [b"\n \r\n{}\n", long.as_slice(), b"\nlast"].concat();
        input.extend(b"");
        let mut input = io::BufReader::with_capacity(1000, input.as_slice());
        let mut line = Vec::new();
        let mut read = || {
            let kind = read_line(&mut input, &mut line).unwrap();
            (
                matches!(kind, Line::TooLong),
                String::from_utf8(line.clone()).unwrap(),
                matches!(kind, Line::End),
            )
        };
        assert_eq!(read(), (false, "{}".to_owned(), false));
        assert_eq!(read(), (true, String::new(), false));
        assert_eq!(read(), (false, "last".to_owned(), false));
        assert_eq!(read(), (false, String::new(), true));
    }
}
