//! A lane whose other side sends anything: frames are read as a lane reads them, until one is wrong
//! or the other side hangs up.
#![no_main]

use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use gtrace_link::{
    Link, LinkError, OneSession, Preference, ServerTerms, Target, accept, connect_over, hello,
};
use gtrace_protocol::{Features, HEADER_LEN, Header, Reader, SessionId};
use libfuzzer_sys::fuzz_target;

/// A link whose other side is a plain socket.
fn link() -> (Link, UnixStream) {
    let (ours, theirs) = UnixStream::pair().expect("sockets");
    let raw = theirs.try_clone().expect("a descriptor");
    let client = thread::spawn(move || {
        let mut target = Target::parse("unix:/nowhere").expect("an address");
        target.link = Preference::Unix;
        let link = connect_over(theirs.into(), &target, &hello(false), None);
        // Its descriptor closes, and the copy in `raw` stays.
        drop(link.expect("a link"));
    });
    let terms = ServerTerms {
        token: None,
        tls: None,
        features: Features(0),
        credits: 16,
        driver_version: 1,
        nvml: false,
        host: "fuzz".into(),
        timeout: Duration::from_secs(2),
        resume: Duration::ZERO,
        ring: 0,
        rdma_trusted: gtrace_link::Networks::default(),
        sessions: Arc::new(OneSession::new(SessionId([1; 16]), 4).expect("random")),
    };
    let stream = ours.into();
    let (link, _, _) = accept(stream, &terms).expect("a link");
    client.join().expect("a client");
    (link, raw)
}

/// Reads one frame as a lane does; the way of reading its payload changes.
fn frame(link: &mut Link, way: u64) -> Result<(), LinkError> {
    let header = Header::parse(link.rx.peek(HEADER_LEN, None)?)?;
    link.rx.consume(HEADER_LEN);
    let small = header.small as usize;
    let mut reader = Reader::new(link.rx.peek(small, None)?);
    let _ = reader.bytes();
    link.rx.consume(small);
    let mut left = header.bulk();
    if way % 2 == 0 {
        let mut body = vec![0; left];
        return link.rx.read(&mut body);
    }
    while left > 0 {
        let some = link.rx.some(left)?.len();
        assert!(0 < some && some <= left);
        link.rx.consume(some);
        left -= some;
    }
    Ok(())
}

fuzz_target!(|data: &[u8]| {
    let (mut link, mut raw) = link();
    let mut bytes = Vec::new();
    let mut rest = data;
    // Right headers, so that what is behind them is reached; the last piece as it is.
    while let Some((&[choice, a, b, c], behind)) = rest.split_first_chunk()
        && choice % 4 != 3
    {
        let (small, bulk) = (usize::from(a) * 3, usize::from(u16::from_le_bytes([b, c])));
        let len = behind.len().min(small + bulk);
        let (payload, behind) = behind.split_at(len);
        rest = behind;
        let mut header = Header {
            op: u32::from(choice) << 8,
            seq: u64::from(a),
            ..Header::default()
        };
        if choice & 4 == 0 {
            // Right lengths.
            header.set_payload(len.min(small), len - len.min(small));
        } else {
            header.set_payload(small, bulk);
        }
        bytes.extend(header.to_bytes());
        bytes.extend(payload);
    }
    bytes.extend(rest);
    let _ = raw.set_nonblocking(true);
    let _ = raw.write(&bytes);
    raw.shutdown(Shutdown::Write).expect("connected");
    let began = Instant::now();
    let mut frames = 0;
    while frame(&mut link, frames).is_ok() {
        frames += 1;
    }
    assert!(frames as usize <= bytes.len() / HEADER_LEN);
    assert!(began.elapsed() < Duration::from_secs(2), "it hung");
});
