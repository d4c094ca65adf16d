//! Clients that claim queue pairs which cannot be: refused with the reason, counted, and served by TCP.
//!
//! No RDMA device is needed: what is refused here is refused before one is opened.

#![allow(clippy::unwrap_used)]

mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use gtrace_protocol::{
    ClientHello, Features, GREETING_LEN, HEADER_LEN, Header, Message, Preamble, Proof,
    QueuePairEnd, QueuePairs, QueuePairsAnswer, Welcome, Writer, control, op_id,
};
use support::Server;

/// A client at its handshake, by hand.
struct ByHand(TcpStream);

impl ByHand {
    /// Let in, with the link still to be chosen.
    fn open(server: &Server) -> (Self, Welcome) {
        let stream = TcpStream::connect(server.tcp()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let mut client = Self(stream);
        let mut greeting = [0; GREETING_LEN];
        client.0.read_exact(&mut greeting).unwrap();
        let preamble = Preamble::new(false, false).to_bytes();
        client.0.write_all(&preamble).unwrap();
        client.send(&ClientHello {
            features: Features::default(),
            pid: 1,
            program: "liar".into(),
            host: "in_flight_on_other_lanes".into(),
            boot_id: "another".into(),
            ..ClientHello::default()
        });
        client.send(&Proof([0; 32]));
        let welcome = client.receive();
        (client, welcome)
    }

    fn frame(&mut self, op: u32, payload: &[u8]) {
        let mut header = Header {
            op,
            ..Header::default()
        };
        assert!(header.set_payload(payload.len(), 0));
        self.0.write_all(&header.to_bytes()).unwrap();
        self.0.write_all(payload).unwrap();
    }

    fn send<M: Message>(&mut self, message: &M) {
        let mut writer = Writer::default();
        message.write(&mut writer);
        self.frame(M::OP, writer.as_slice());
    }

    fn receive<M: Message>(&mut self) -> M {
        let mut header = [0; HEADER_LEN];
        self.0.read_exact(&mut header).unwrap();
        let header = Header::parse(&header).unwrap();
        let mut payload = vec![0; header.payload()];
        self.0.read_exact(&mut payload).unwrap();
        assert_eq!(header.op, M::OP);
        M::parse(&payload).unwrap()
    }

    /// Uses the connection as the lane's link, and is answered there.
    fn goes_on(&mut self) {
        self.frame(control::SWITCH, &[]);
        let mut header = Header {
            op: op_id("cuCtxSynchronize"),
            seq: 1,
            ..Header::default()
        };
        assert!(header.set_payload(0, 0));
        self.0.write_all(&header.to_bytes()).unwrap();
        let mut answer = [0; HEADER_LEN];
        self.0.read_exact(&mut answer).unwrap();
        assert_eq!(Header::parse(&answer).unwrap().seq, 1);
    }

    /// Why what was asked for is not given.
    fn refused(&mut self) -> String {
        let QueuePairsAnswer(answer) = self.receive();
        answer.unwrap_err()
    }
}

/// What an honest client on this host would say.
fn honest() -> QueuePairs {
    let mut gid = [0; 16];
    gid[10..].copy_from_slice(&[255, 255, 127, 0, 0, 1]);
    let end = |number| QueuePairEnd { number, psn: 5 };
    QueuePairs {
        gid,
        lid: 0,
        mtu: 3,
        ring: 1 << 20,
        address: 0x7f00_0000_0000,
        key: 0x1234,
        receives: 256,
        to_server: end(17),
        to_client: end(18),
    }
}

fn trusting() -> Server {
    Server::start(|options| options.rdma_trusted = "127.0.0.0/8".parse().unwrap())
}

#[test]
fn claims_that_cannot_be_are_refused_counted_and_served_by_tcp() {
    type Lie = fn(&mut QueuePairs);
    let lies: [(Lie, &str); 9] = [
        (|c| c.ring = 1 << 40, "a ring of 1099511627776 bytes"),
        (|c| c.ring = 3 << 18, "a ring of 786432 bytes"),
        (|c| c.address += 8, "a ring at 0x7f0000000008"),
        (|c| c.address = u64::MAX - 4095, "a ring at"),
        (|c| c.key = 0, "the key 0"),
        (|c| c.to_server.number = 1 << 24, "24 bits"),
        (
            |c| c.to_client.number = c.to_server.number,
            "both directions",
        ),
        (|c| c.receives = 0, "only 0 writes"),
        (|c| c.gid[15] = 9, "127.0.0.9"),
    ];
    let server = trusting();
    for (number, (lie, what)) in lies.into_iter().enumerate() {
        let (mut client, welcome) = ByHand::open(&server);
        assert!(welcome.features.has(Features::RDMA));
        let mut claims = honest();
        lie(&mut claims);
        client.send(&claims);
        let reason = client.refused();
        assert!(reason.contains(what), "{reason} instead of {what}");
        // Another try, with bytes that are no claims at all.
        client.frame(control::RDMA, &[0xff; 7]);
        client.refused();
        client.goes_on();
        let refused = 2 * (number as u64 + 1);
        let status = server.wait_for("a refusal", |status| {
            status.totals().rdma_refused >= refused
        });
        let session = status.sessions.iter().find(|session| {
            let reasons = &session.stats.fallbacks;
            reasons.iter().any(|reason| reason.contains(what))
        });
        let session = session.expect("its reason is shown");
        assert_eq!(session.stats.links, ["tcp"]);
        assert_eq!(status.totals().rdma_refused, refused);
        drop(client);
    }
}

#[test]
fn a_client_of_a_network_that_is_not_trusted_gets_no_queue_pairs() {
    let server = Server::start(|options| options.rdma_trusted = "10.9.0.0/16".parse().unwrap());
    let (mut client, _) = ByHand::open(&server);
    client.send(&honest());
    let reason = client.refused();
    assert!(
        reason.contains("in no network that the server trusts"),
        "{reason}"
    );
    client.goes_on();
    server.wait_for("a refusal", |status| status.totals().rdma_refused == 1);
}
