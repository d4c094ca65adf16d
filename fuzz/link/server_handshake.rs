//! A client that sends anything: the server turns it away or lets it in, without panic or hang.
#![no_main]

use std::io::{Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_link::{OneSession, ServerTerms, Token, accept};
use gtrace_protocol::{
    Features, GREETING_LEN, Greeting, HEADER_LEN, Header, Preamble, SessionId, control,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let (ours, mut client) = UnixStream::pair().expect("sockets");
    client
        .set_read_timeout(Some(Duration::from_secs(5)))
        .expect("a timeout");
    let mut bytes = Vec::new();
    // Behind the preamble and the header's checksum as often as not.
    if choice & 1 != 0 {
        bytes.extend(Preamble::new(choice & 8 != 0, choice & 16 != 0).to_bytes());
    }
    if choice & 2 != 0 {
        let first = match choice & 32 {
            0 => control::HELLO,
            _ => control::RESUME,
        };
        for (op, payload) in [first, control::PROOF, control::SWITCH]
            .into_iter()
            .zip(data.chunks(data.len() / 3 + 1))
        {
            let mut header = Header {
                op,
                ..Header::default()
            };
            header.set_payload(payload.len(), 0);
            bytes.extend(header.to_bytes());
            bytes.extend(payload);
        }
    } else {
        bytes.extend(data);
    }
    let _ = client.set_nonblocking(true);
    let _ = client.write(&bytes);
    let _ = client.set_nonblocking(false);
    client.shutdown(Shutdown::Write).expect("connected");
    let terms = ServerTerms {
        token: (choice & 4 != 0).then(|| Token::new(b"0123456789abcdef").expect("long")),
        tls: None,
        features: Features(7),
        credits: 16,
        driver_version: 1,
        nvml: false,
        host: "fuzz".into(),
        timeout: Duration::from_secs(2),
        resume: Duration::ZERO,
        ring: 1 << 18,
        rdma_trusted: gtrace_link::Networks::default(),
        sessions: Arc::new(OneSession::new(SessionId([1; 16]), 4).expect("random")),
    };
    let began = Instant::now();
    let stream = ours.into();
    drop(accept(stream, &terms));
    assert!(began.elapsed() < Duration::from_secs(2), "it hung");
    let mut greeting = [0; GREETING_LEN];
    client.read_exact(&mut greeting).expect("a greeting");
    Greeting::parse(&greeting).expect("the server's own greeting is right");
    let mut answer = [0; HEADER_LEN];
    if client.read_exact(&mut answer).is_ok() {
        Header::parse(&answer).expect("the server's own frames are right");
    }
});
