//! Before a client is let in, and while its lanes choose their links.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use gtrace_link::{LinkError, Token};
use gtrace_protocol::{
    ClientHello, GREETING_LEN, HEADER_LEN, Header, PREAMBLE_LEN, Preamble, control,
};

use crate::support::{Client, Server, target, within};
use crate::{counted, greeted, serves};

#[test]
fn what_is_no_client_is_closed_and_counted() {
    let server = Server::start(|options| options.preamble_deadline = Duration::from_millis(300));
    // A web browser.
    let mut stream = TcpStream::connect(server.tcp()).unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: gpu\r\n\r\n")
        .unwrap();
    greeted(&mut stream);
    assert_eq!(stream.read(&mut [0; 64]).unwrap_or(0), 0);
    counted(&server, "garbage", 1);
    // A port scan: connects, and goes.
    drop(TcpStream::connect(server.tcp()).unwrap());
    counted(&server, "closed", 1);
    // Many that say nothing keep nobody waiting, and are closed.
    let silent: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(server.tcp()).unwrap())
        .collect();
    let began = Instant::now();
    serves(&server);
    assert!(began.elapsed() < Duration::from_secs(5));
    counted(&server, "timeout", 100);
    for mut stream in silent {
        greeted(&mut stream);
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    }
    // Half a preamble.
    let mut stream = UnixStream::connect(server.unix().trim_start_matches("unix:")).unwrap();
    stream
        .write_all(&Preamble::new(false, false).to_bytes()[..20])
        .unwrap();
    counted(&server, "timeout", 101);
    serves(&server);
    assert!(server.status().counters.accepted >= 104);
}

#[test]
fn connections_that_say_nothing_leave_places_to_others() {
    // So that none is closed by it.
    let server = Server::start(|options| options.preamble_deadline = Duration::from_secs(3600));
    let connect = |_| TcpStream::connect(server.tcp()).unwrap();
    let mut silent: Vec<TcpStream> = (0..300).map(connect).collect();
    serves(&server);
    // From the same address.
    drop(Client::ready(server.tcp(), "tcp"));
    counted(&server, "crowd", 44);
    let first = &mut silent[0];
    greeted(first);
    assert_eq!(first.read(&mut [0; 1]).unwrap(), 0);
    let last = &mut silent[299];
    greeted(last);
    last.set_nonblocking(true).unwrap();
    let waited_for = last.read(&mut [0; 1]).unwrap_err();
    assert_eq!(waited_for.kind(), ErrorKind::WouldBlock);
    let refused = server.status().counters.refused;
    assert_eq!(refused.keys().collect::<Vec<_>>(), ["crowd"]);
}

#[test]
fn another_version_and_an_ended_session_are_reported() {
    let server = Server::start(|_| {});
    for (version, further, wanted) in [(9u16, false, "version"), (2, true, "session")] {
        let mut preamble = Preamble::new(false, further).to_bytes();
        preamble[8..10].copy_from_slice(&version.to_le_bytes());
        preamble[10..12].copy_from_slice(&version.to_le_bytes());
        let mut stream = TcpStream::connect(server.tcp()).unwrap();
        stream.write_all(&preamble).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let text = String::from_utf8_lossy(&reply[GREETING_LEN + HEADER_LEN..]).into_owned();
        assert!(text.contains(wanted), "{text}");
        counted(&server, wanted, 1);
    }
}

#[test]
fn a_preamble_and_then_nothing_leaves_no_worker() {
    let server = Server::start(|_| {});
    let mut streams = Vec::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(server.tcp()).unwrap();
        stream
            .write_all(&Preamble::new(false, false).to_bytes())
            .unwrap();
        streams.push(stream);
    }
    server.wait_for("workers", |status| status.sessions.len() == 3);
    server.wait_for("no workers", |status| status.sessions.is_empty());
    counted(&server, "timeout", 3);
    drop(streams);
    serves(&server);
}

#[test]
fn a_wrong_token_is_refused_and_the_right_one_let_in() {
    let server = Server::start(|options| options.token = Some("the token of this server".into()));
    let refused = |token: Option<&[u8]>| {
        let mut target = target(server.tcp(), "tcp");
        target.token = token.map(|token| Token::new(token).unwrap());
        match Client::open(&target, None) {
            Err(LinkError::Refused(refused)) => refused.reason,
            other => panic!("{:?}", other.map(|client| client.welcome)),
        }
    };
    assert!(refused(Some(b"the token of another server")).contains("token"));
    assert!(refused(None).contains("token"));
    counted(&server, "token", 1);
    let mut target = target(server.tcp(), "tcp");
    target.token = Some(Token::new(b"the token of this server").unwrap());
    let mut client = Client::open(&target, None).unwrap();
    client.snapshot();
    // A lane of that session needs its secret.
    let mut session = client.session.clone();
    assert!(Client::open(&target, Some(&session)).is_ok());
    session.secret[0] ^= 1;
    let wrong = Client::open(&target, Some(&session));
    assert!(matches!(wrong, Err(LinkError::Refused(_))));
}

/// Between client and server, as far as the client's last word on its link, which does not get through.
fn never_idle(server: &Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let to = server.tcp().to_owned();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let mut server = TcpStream::connect(to).unwrap();
        let (mut answers, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut answers, &mut to));
        let mut preamble = [0; PREAMBLE_LEN];
        client.read_exact(&mut preamble).unwrap();
        server.write_all(&preamble).unwrap();
        loop {
            let mut frame = vec![0; HEADER_LEN];
            if client.read_exact(&mut frame).is_err() {
                return;
            }
            let header = Header::parse(&frame).unwrap();
            frame.resize(HEADER_LEN + header.payload(), 0);
            client.read_exact(&mut frame[HEADER_LEN..]).unwrap();
            if header.op != control::SWITCH {
                server.write_all(&frame).unwrap();
            }
        }
    });
    address
}

#[test]
fn lanes_count_before_their_link_is_chosen() {
    let server = Server::start(|options| options.limits.max_lanes = 3);
    let one = Client::ready(server.tcp(), "tcp");
    let open = |address: &str| Client::open(&target(address, "tcp"), Some(&one.session));
    // Of another host, and with RDMA to ask for: they choose a link, and say so at the end.
    let choosing = |address: &str| {
        let mut target = target(address, "auto");
        target.rdma_trusted = "127.0.0.1".parse().unwrap();
        let hello = ClientHello {
            boot_id: "another".into(),
            ..gtrace_link::hello(false)
        };
        gtrace_link::connect(&target, &hello, Some(&one.session))
    };
    let _unsettled: Vec<_> = (0..2)
        .map(|_| choosing(&never_idle(&server)).unwrap())
        .collect();
    let refused = open(server.tcp());
    assert!(
        matches!(&refused, Err(LinkError::Refused(reason)) if reason.reason.contains("3 threads")),
        "{:?}",
        refused.map(|client| client.welcome)
    );
    within(Duration::from_secs(15), "they are given up", || {
        open(server.tcp()).is_ok()
    });
}
