//! HTTP/1.1 responses off a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::{ClientError, MAX_BODY, too_large, unexpected};
use crate::ProblemBody;
use crate::text::clean;

/// Longest line of a header or chunk size.
const MAX_LINE: u64 = 16 * 1024;
const MAX_HEADERS: usize = 100;

/// The socket of a connection.
#[derive(Debug)]
pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        match self {
            Self::Unix(stream) => stream.try_clone().map(Self::Unix),
            Self::Tcp(stream) => stream.try_clone().map(Self::Tcp),
        }
    }

    pub(super) fn shut_down(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.shutdown(Shutdown::Both),
            Self::Tcp(stream) => stream.shutdown(Shutdown::Both),
        }
    }
}

#[derive(Debug)]
pub(super) enum Connection {
    Unix(UnixStream),
    Tcp(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, TcpStream>>),
}

impl Connection {
    pub(super) fn set_deadline(&self, deadline: Duration) -> io::Result<()> {
        let tcp = match self {
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(deadline))?;
                return stream.set_write_timeout(Some(deadline));
            }
            Self::Tcp(stream) => stream,
            #[cfg(feature = "tls")]
            Self::Tls(stream) => &stream.sock,
        };
        tcp.set_read_timeout(Some(deadline))?;
        tcp.set_write_timeout(Some(deadline))
    }

    /// Its socket, once more.
    pub(super) fn socket(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(stream) => stream.try_clone().map(Socket::Unix),
            Self::Tcp(stream) => stream.try_clone().map(Socket::Tcp),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.sock.try_clone().map(Socket::Tcp),
        }
    }
}

impl Read for Connection {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buf),
            Self::Tcp(stream) => stream.read(buf),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.read(buf),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(buf),
            Self::Tcp(stream) => stream.write(buf),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Unix(_) | Self::Tcp(_) => Ok(()),
            #[cfg(feature = "tls")]
            Self::Tls(stream) => stream.flush(),
        }
    }
}

pub(super) struct Response {
    pub(super) body: Body,
}

impl Response {
    /// Reads the head; an answer that is an error becomes one.
    pub(super) fn read(connection: Connection) -> Result<Self, ClientError> {
        let mut input = BufReader::new(connection);
        let status = status_code(&header_line(&mut input)?)?;
        let mut length = Framing::ToEnd;
        for count in 0.. {
            let line = header_line(&mut input)?;
            if line.is_empty() {
                break;
            }
            if count == MAX_HEADERS {
                return Err(unexpected("too many headers"));
            }
            let (name, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.trim();
            if name.eq_ignore_ascii_case("transfer-encoding")
                && value.eq_ignore_ascii_case("chunked")
            {
                length = Framing::Chunk {
                    left: 0,
                    first: true,
                };
            } else if name.eq_ignore_ascii_case("content-length") {
                let bytes = value.parse();
                length = Framing::Length(
                    bytes.map_err(|_| unexpected(&format!("Content-Length {value}")))?,
                );
            }
        }
        if status == 204 {
            length = Framing::Length(0);
        }
        let response = Self {
            body: Body {
                input,
                framing: length,
            },
        };
        if (200..300).contains(&status) {
            return Ok(response);
        }
        let text = response.whole()?;
        let body = serde_json::from_slice(&text).unwrap_or_else(|_| ProblemBody {
            error: format!("HTTP status {status}"),
            cause: String::from_utf8_lossy(&text).chars().take(400).collect(),
            remedy: "is another program listening there?".to_owned(),
        });
        let body = ProblemBody {
            error: clean(&body.error),
            cause: clean(&body.cause),
            remedy: clean(&body.remedy),
        };
        Err(ClientError::Refused { status, body })
    }

    pub(super) fn whole(mut self) -> Result<Vec<u8>, ClientError> {
        let mut body = Vec::new();
        let most = MAX_BODY + 1;
        self.body.by_ref().take(most).read_to_end(&mut body)?;
        match body.len() as u64 > MAX_BODY {
            true => Err(too_large()),
            false => Ok(body),
        }
    }
}

fn status_code(line: &str) -> Result<u16, ClientError> {
    let mut words = line.split(' ');
    let version = words.next().unwrap_or("");
    let code = words.next().and_then(|word| word.parse().ok());
    code.filter(|_| version.starts_with("HTTP/1."))
        .ok_or_else(|| unexpected(&line.chars().take(80).collect::<String>()))
}

fn header_line(input: &mut impl BufRead) -> Result<String, ClientError> {
    let mut line = Vec::new();
    if read_line(input, &mut line, MAX_LINE)? == 0 {
        return Err(ClientError::Broken(io::ErrorKind::UnexpectedEof.into()));
    }
    Ok(String::from_utf8_lossy(&line)
        .trim_end_matches(['\r', '\n'])
        .to_owned())
}

/// Reads a line with its end, at most `max` bytes; 0 at the end of input.
pub(super) fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    max: u64,
) -> io::Result<usize> {
    let read = input.take(max).read_until(b'\n', line)?;
    if read > 0 && line.last() != Some(&b'\n') {
        let kind = if read as u64 == max {
            io::ErrorKind::InvalidData
        } else {
            io::ErrorKind::UnexpectedEof
        };
        return Err(kind.into());
    }
    Ok(read)
}

#[derive(Debug)]
enum Framing {
    /// So many bytes are left.
    Length(u64),
    /// RFC 9112, section 7.1; so many bytes of the current chunk are left.
    Chunk { left: u64, first: bool },
    /// Until the connection ends.
    ToEnd,
}

#[derive(Debug)]
pub(super) struct Body {
    input: BufReader<Connection>,
    framing: Framing,
}

impl Read for Body {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Framing::Chunk { left: 0, first } = self.framing {
            let size = self.next_chunk(first)?;
            self.framing = match size {
                0 => Framing::Length(0),
                left => Framing::Chunk { left, first: false },
            };
        }
        let left = match &mut self.framing {
            Framing::ToEnd => return self.input.read(buf),
            Framing::Length(left) | Framing::Chunk { left, .. } => left,
        };
        if *left == 0 || buf.is_empty() {
            return Ok(0);
        }
        let most = usize::try_from(*left).map_or(buf.len(), |left| left.min(buf.len()));
        let read = self.input.read(&mut buf[..most])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *left -= read as u64;
        Ok(read)
    }
}

impl Body {
    pub(super) fn connection(&self) -> &Connection {
        self.input.get_ref()
    }

    /// Size of the next chunk; 0 for the last one. Trailers are left unread: the connection ends.
    fn next_chunk(&mut self, first: bool) -> io::Result<u64> {
        let mut line = Vec::new();
        if !first {
            read_line(&mut self.input, &mut line, MAX_LINE)?;
            line.clear();
        }
        if read_line(&mut self.input, &mut line, MAX_LINE)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let text = String::from_utf8_lossy(&line);
        let digits = text.split(';').next().unwrap_or("").trim();
        u64::from_str_radix(digits, 16).map_err(|_| io::ErrorKind::InvalidData.into())
    }
}
