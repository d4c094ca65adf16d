//! A server that answers anything: the client gets a link or an error, without panic or hang.
#![no_main]

use std::io::Write as _;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use gtrace_link::{LinkError, Preference, Target, Token, connect_over, hello};
use gtrace_protocol::{Greeting, Header, control};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((choice, data)) = data.split_first() else {
        return;
    };
    let (ours, mut server) = UnixStream::pair().expect("sockets");
    let mut bytes = Vec::new();
    if choice & 16 == 0 {
        let greeting = Greeting {
            tls: choice & 32 != 0,
            token: choice & 4 != 0,
            certificate: choice & 64 != 0,
            nonce: [7; 32],
        };
        bytes.extend(greeting.to_bytes());
    }
    if choice & 1 != 0 {
        let ops = match choice & 2 {
            0 => [control::WELCOME, control::ECHO, control::ECHO],
            _ => [control::REFUSED, control::GOODBYE, control::ECHO],
        };
        for (op, payload) in ops.into_iter().zip(data.chunks(data.len() / 3 + 1)) {
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
    let _ = server.set_nonblocking(true);
    let _ = server.write(&bytes);
    server.shutdown(Shutdown::Write).expect("connected");
    let mut target = Target::parse("unix:/nowhere").expect("an address");
    target.timeout = Duration::from_secs(2);
    target.token = (choice & 4 != 0).then(|| Token::new(b"0123456789abcdef").expect("long"));
    if choice & 8 != 0 {
        target.link = Preference::Unix;
    }
    let began = Instant::now();
    let outcome = connect_over(ours.into(), &target, &hello(false), None);
    if target.token.is_some() {
        assert!(
            outcome.is_err(),
            "let in by one who does not know the token"
        );
    }
    if let Err(LinkError::TimedOut(_)) = outcome {
        panic!("it waited for one who had hung up");
    }
    assert!(began.elapsed() < Duration::from_secs(2), "it hung");
});
