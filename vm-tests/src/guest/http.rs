//! A GET over the daemon's Unix socket.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// Longer than any answer takes.
const LIMIT: Duration = Duration::from_secs(20);

/// The body of `path` at the daemon that listens on `socket`.
///
/// # Errors
///
/// Nobody listens, the answer is no HTTP, or its status is not 200.
pub(crate) fn get(socket: &Path, path: &str) -> Result<String> {
    let mut stream = UnixStream::connect(socket)
        .with_context(|| format!("cannot connect to {}", socket.display()))?;
    stream.set_read_timeout(Some(LIMIT))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = BufReader::new(stream);
    let status = line(&mut answer)?;
    let mut chunked = false;
    loop {
        let header = line(&mut answer)?.to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        chunked |= header.starts_with("transfer-encoding:") && header.contains("chunked");
    }
    let mut body = Vec::new();
    if chunked {
        chunks(&mut answer, &mut body)?;
    } else {
        answer.read_to_end(&mut body)?;
    }
    let body = String::from_utf8(body).with_context(|| format!("GET {path} gave no UTF-8"))?;
    if status.split(' ').nth(1) != Some("200") {
        bail!("GET {path}: {status}: {body}");
    }
    Ok(body)
}

fn line(answer: &mut BufReader<UnixStream>) -> Result<String> {
    let mut line = String::new();
    answer.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}

fn chunks(answer: &mut BufReader<UnixStream>, body: &mut Vec<u8>) -> Result<()> {
    loop {
        let size = line(answer)?;
        let size = size.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(size, 16).context("a chunk has no size")?;
        if size == 0 {
            return Ok(());
        }
        answer.by_ref().take(size).read_to_end(body)?;
        line(answer)?;
    }
}
