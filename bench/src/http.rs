//! As much HTTP/1.1 as a question to the daemon takes.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};

/// Sends a GET and leaves the answer to be read.
pub(crate) fn open(socket: &Path, target: &str) -> anyhow::Result<UnixStream> {
    let mut stream = UnixStream::connect(socket)
        .with_context(|| format!("no daemon at {}", socket.display()))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    let close = if target.ends_with("/stream") {
        "keep-alive"
    } else {
        "close"
    };
    write!(
        stream,
        "GET {target} HTTP/1.1\r\nHost: gtrace\r\nConnection: {close}\r\n\r\n"
    )?;
    Ok(stream)
}

/// The body of the answer to a GET.
pub(crate) fn get(socket: &Path, target: &str) -> anyhow::Result<String> {
    let mut answer = Vec::new();
    open(socket, target)?.read_to_end(&mut answer)?;
    body(&answer).with_context(|| format!("GET {target}"))
}

pub(crate) fn get_json(socket: &Path, target: &str) -> anyhow::Result<serde_json::Value> {
    Ok(serde_json::from_str(&get(socket, target)?)?)
}

fn body(answer: &[u8]) -> anyhow::Result<String> {
    let end = answer
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .context("no end of the header")?;
    let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
    let status = head.split(' ').nth(1).unwrap_or_default();
    let rest = &answer[end + 4..];
    let body = if head.contains("transfer-encoding: chunked") {
        dechunk(rest)?
    } else {
        rest.to_vec()
    };
    let body = String::from_utf8_lossy(&body).into_owned();
    if status != "200" {
        bail!("the daemon answers {status}: {body}");
    }
    Ok(body)
}

fn dechunk(mut rest: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest
            .windows(2)
            .position(|w| w == b"\r\n")
            .context("a chunk without a size")?;
        let size = std::str::from_utf8(&rest[..end])?;
        let size = usize::from_str_radix(size.split(';').next().unwrap_or("").trim(), 16)?;
        if size == 0 {
            return Ok(body);
        }
        rest = &rest[end + 2..];
        body.extend_from_slice(rest.get(..size).context("a chunk is cut short")?);
        rest = rest.get(size + 2..).context("a chunk without an end")?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_come_whole_or_in_chunks() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(body(whole).unwrap(), "{}");
        let chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
            3\r\nabc\r\n1;x=y\r\nd\r\n0\r\n\r\n";
        assert_eq!(body(chunks).unwrap(), "abcd");
    }

    #[test]
    fn errors_carry_the_answer() {
        let refused = b"HTTP/1.1 404 Not Found\r\n\r\nno such page";
        assert!(
            body(refused)
                .unwrap_err()
                .to_string()
                .contains("404: no such page")
        );
        for bad in [
            &b"HTTP"[..],
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab",
        ] {
            assert!(body(bad).is_err());
        }
    }
}
