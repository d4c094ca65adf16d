//! The records of a TLS 1.3 connection whose handshake another process went through (RFC 8446, 5 and 7).
//!
//! What encrypts and derives keys is rustls's. A thread that sends does not wait for one that receives.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, OutboundChunks,
    OutboundPlainMessage,
};
use rustls::crypto::tls13::OkmBlock;
use rustls::{ContentType, ProtocolVersion, Tls13CipherSuite};
use zeroize::Zeroizing;

use super::certificates::provider;
use super::handshake::{RECORD_HEAD, RECORD_MAX, TlsSecrets};
use crate::channel::Channel;
use crate::link::LinkError;
use crate::socket::Socket;

/// Encrypted bytes that wait for the socket at most, before more are encrypted.
const AHEAD: usize = 256 << 10;
/// Memory for what is received.
const RECEIVED: usize = 128 << 10;
/// Plain bytes of a record.
const FRAGMENT: usize = 16 << 10;
/// Plain bytes that are encrypted before they are sent: the other side decrypts meanwhile.
const PIECE: usize = 64 << 10;
/// Records that one system call sends.
const SLICES: usize = 32;
/// Records after which another key is taken: AES-GCM is good for 2^24 of them (RFC 8446, 5.5).
const REKEY: u64 = 1 << 23;
/// Records in a row that bring no bytes. They are taken at once, so that no deadline ends a peer that sends nothing else.
const EMPTY_MOST: u32 = 64;

/// A handshake message of TLS 1.3, its length, and whether the other side is to follow (RFC 8446, 4.6.3).
const KEY_UPDATE: [u8; 4] = [24, 0, 0, 1];
/// An alert: a warning, and that nothing more comes (RFC 8446, 6.1).
const CLOSE_NOTIFY: [u8; 2] = [1, 0];

/// What cannot be: HKDF gives as many bytes as any suite wants.
const NO_KEY: &str = "no key follows from the last one";

/// A cipher suite as rustls has it, if it is one that is used here.
fn suite(number: u16) -> Option<&'static Tls13CipherSuite> {
    let provider = provider();
    let mut suites = provider
        .cipher_suites
        .iter()
        .filter_map(|suite| suite.tls13());
    suites.find(|suite| u16::from(suite.common.suite) == number)
}

/// A secret of one direction, and what is derived from it.
struct Secret {
    suite: &'static Tls13CipherSuite,
    value: Zeroizing<Vec<u8>>,
}

impl Secret {
    /// HKDF-Expand-Label with an empty context (RFC 8446, 7.1).
    fn expand(&self, label: &str, into: &mut [u8]) -> Option<()> {
        let len = u16::try_from(into.len()).ok()?.to_be_bytes();
        let label_len = [u8::try_from(b"tls13 ".len() + label.len()).ok()?];
        let parts: [&[u8]; 5] = [&len, &label_len, b"tls13 ", label.as_bytes(), &[0]];
        let expander = self
            .suite
            .hkdf_provider
            .expander_for_okm(&OkmBlock::new(&self.value));
        expander.expand_slice(&parts, into).ok()
    }

    fn key(&self) -> Option<(AeadKey, Iv)> {
        let (mut key, mut iv) = ([0; 32], [0; 12]);
        // Shorter keys cannot be given to rustls; the server agrees on none of their suites.
        if self.suite.aead_alg.key_len() != key.len() {
            return None;
        }
        self.expand("key", &mut key)?;
        self.expand("iv", &mut iv)?;
        Some((AeadKey::from(key), Iv::from(iv)))
    }

    /// The next one of the direction.
    fn advance(&mut self) -> Option<()> {
        let mut next = Zeroizing::new(vec![0; self.value.len()]);
        self.expand("traffic upd", &mut next)?;
        self.value = next;
        Some(())
    }
}

/// What is received.
struct Incoming {
    secret: Secret,
    decrypter: Box<dyn MessageDecrypter>,
    sequence: u64,
    buffer: Vec<u8>,
    /// Plain bytes that were not taken.
    plain: std::ops::Range<usize>,
    /// Encrypted ones behind them.
    encrypted: std::ops::Range<usize>,
    /// Records that brought none since the last that brought some.
    empty: u32,
    /// How it has ended, once all that came before is taken.
    end: Option<Result<(), String>>,
}

impl Incoming {
    /// Takes the next key.
    fn follow(&mut self) {
        match self.secret.advance().and_then(|()| self.secret.key()) {
            Some((key, iv)) => {
                self.decrypter = self.secret.suite.aead_alg.decrypter(key, iv);
                self.sequence = 0;
            }
            None => self.end = Some(Err(NO_KEY.into())),
        }
    }
}

/// What is sent.
struct Outgoing {
    secret: Secret,
    encrypter: Box<dyn MessageEncrypter>,
    sequence: u64,
    /// After so many records another key is taken.
    rekey: u64,
    records: VecDeque<Vec<u8>>,
    /// Bytes of the first one that were sent.
    sent: usize,
    /// Bytes that were not.
    waiting: usize,
}

/// A TLS connection that both halves of a link share, on the server's side.
pub(crate) struct RecordChannel {
    socket: Socket,
    incoming: Mutex<Incoming>,
    outgoing: Mutex<Outgoing>,
    /// The client wants another key of the server.
    rekey: AtomicBool,
}

/// What a record is about.
enum Record {
    /// Plain bytes are there.
    Data,
    /// The client takes another key, and whether the server is to follow.
    KeyUpdate(bool),
    /// Nothing more comes.
    Close,
    /// Nothing that matters.
    Empty,
}

impl RecordChannel {
    /// On `socket`, behind the handshake that `secrets` are from.
    ///
    /// # Errors
    ///
    /// [`LinkError::Tls`] for secrets that are none of a suite that is used here.
    pub(crate) fn new(socket: Socket, secrets: &TlsSecrets) -> Result<Self, LinkError> {
        let unknown = || {
            LinkError::Tls(
                socket.peer.clone(),
                format!("the cipher suite {:#06x} is not served", secrets.suite),
            )
        };
        let suite = suite(secrets.suite).ok_or_else(unknown)?;
        let of = |value: &[u8]| Secret {
            suite,
            value: Zeroizing::new(value.to_vec()),
        };
        let (receives, sends) = (of(&secrets.client), of(&secrets.server));
        let (key, iv) = receives.key().ok_or_else(unknown)?;
        let decrypter = suite.aead_alg.decrypter(key, iv);
        let (key, iv) = sends.key().ok_or_else(unknown)?;
        let encrypter = suite.aead_alg.encrypter(key, iv);
        Ok(Self {
            incoming: Mutex::new(Incoming {
                secret: receives,
                decrypter,
                sequence: 0,
                buffer: vec![0; RECEIVED],
                plain: 0..0,
                encrypted: 0..0,
                empty: 0,
                end: None,
            }),
            outgoing: Mutex::new(Outgoing {
                secret: sends,
                encrypter,
                sequence: 0,
                rekey: REKEY,
                records: VecDeque::new(),
                sent: 0,
                waiting: 0,
            }),
            rekey: AtomicBool::new(false),
            socket,
        })
    }

    fn incoming(&self) -> MutexGuard<'_, Incoming> {
        self.incoming.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outgoing(&self) -> MutexGuard<'_, Outgoing> {
        self.outgoing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, why: &str) -> LinkError {
        LinkError::Tls(self.socket.peer.clone(), why.to_owned())
    }

    /// Sends what is encrypted: none if the socket took not all.
    fn flush(&self, outgoing: &mut Outgoing) -> Result<Option<()>, LinkError> {
        while outgoing.waiting > 0 {
            let mut slices = [IoSlice::new(&[]); SLICES];
            let mut count = 0;
            for (slice, record) in slices.iter_mut().zip(&outgoing.records) {
                let from = if count == 0 { outgoing.sent } else { 0 };
                *slice = IoSlice::new(record.get(from..).unwrap_or_default());
                count += 1;
            }
            let Some(mut sent) = Socket::send(&self.socket, &slices[..count])? else {
                return Ok(None);
            };
            outgoing.waiting -= sent;
            while let Some(first) = outgoing.records.front() {
                let left = first.len() - outgoing.sent;
                if sent < left {
                    outgoing.sent += sent;
                    break;
                }
                sent -= left;
                outgoing.sent = 0;
                outgoing.records.pop_front();
            }
        }
        Ok(Some(()))
    }

    /// Encrypts a record.
    fn seal(
        &self,
        outgoing: &mut Outgoing,
        typ: ContentType,
        payload: OutboundChunks<'_>,
    ) -> Result<(), LinkError> {
        let plain = OutboundPlainMessage {
            typ,
            version: ProtocolVersion::TLSv1_2,
            payload,
        };
        let record = outgoing
            .encrypter
            .encrypt(plain, outgoing.sequence)
            .map_err(|error| self.failed(&error.to_string()))?
            .encode();
        outgoing.sequence += 1;
        outgoing.waiting += record.len();
        outgoing.records.push_back(record);
        Ok(())
    }

    /// Takes another key, and says so under the old one.
    fn take_key(&self, outgoing: &mut Outgoing) -> Result<(), LinkError> {
        let mut message = [0; 5];
        message[..4].copy_from_slice(&KEY_UPDATE);
        self.seal(
            outgoing,
            ContentType::Handshake,
            OutboundChunks::Single(&message),
        )?;
        let next = outgoing
            .secret
            .advance()
            .and_then(|()| outgoing.secret.key());
        let (key, iv) = next.ok_or_else(|| self.failed(NO_KEY))?;
        outgoing.encrypter = outgoing.secret.suite.aead_alg.encrypter(key, iv);
        outgoing.sequence = 0;
        Ok(())
    }

    /// Decrypts the next record, if all of it is there.
    fn open(incoming: &mut Incoming) -> Result<Option<Record>, String> {
        let encrypted = incoming.encrypted.clone();
        let unread = incoming
            .buffer
            .get_mut(encrypted.clone())
            .unwrap_or_default();
        let Some((head, rest)) = unread.split_first_chunk_mut::<RECORD_HEAD>() else {
            return Ok(None);
        };
        let len = usize::from(u16::from_be_bytes([head[3], head[4]]));
        if len > RECORD_MAX || head[0] != u8::from(ContentType::ApplicationData) {
            return Err("what came is no record of this connection".into());
        }
        let Some(payload) = rest.get_mut(..len) else {
            return Ok(None);
        };
        let from = encrypted.start + RECORD_HEAD;
        let message = InboundOpaqueMessage::new(
            ContentType::ApplicationData,
            ProtocolVersion::TLSv1_2,
            payload,
        );
        let plain = incoming
            .decrypter
            .decrypt(message, incoming.sequence)
            .map_err(|error| error.to_string())?;
        let (typ, plain_len) = (plain.typ, plain.payload.len());
        let record = match (typ, plain.payload) {
            (ContentType::ApplicationData, []) => Record::Empty,
            (ContentType::ApplicationData, _) => Record::Data,
            // Whatever a client has to say by an alert, it ends.
            (ContentType::Alert, _) => Record::Close,
            (ContentType::Handshake, [kind @ .., asked @ 0..=1]) if *kind == KEY_UPDATE => {
                Record::KeyUpdate(*asked == 1)
            }
            _ => return Err("a message that has no place behind the handshake".into()),
        };
        incoming.sequence += 1;
        incoming.encrypted.start = from + len;
        if matches!(record, Record::Data) {
            // It is decrypted in place.
            incoming.plain = from..from + plain_len;
            incoming.empty = 0;
        } else {
            incoming.empty += 1;
        }
        match incoming.empty > EMPTY_MOST {
            true => Err("records without bytes, one after the other".into()),
            false => Ok(Some(record)),
        }
    }
}

impl Channel for RecordChannel {
    fn socket(&self) -> &Socket {
        &self.socket
    }

    fn receive(&self, into: &mut [u8]) -> Result<Option<usize>, LinkError> {
        let mut incoming = self.incoming();
        let incoming = &mut *incoming;
        let mut taken = 0;
        loop {
            let len = incoming.plain.len().min(into.len() - taken);
            let from = incoming.plain.start;
            into[taken..taken + len].copy_from_slice(&incoming.buffer[from..from + len]);
            incoming.plain.start += len;
            taken += len;
            if taken == into.len() {
                return Ok(Some(taken));
            }
            if incoming.end.is_none() {
                match Self::open(incoming) {
                    Ok(Some(Record::Data | Record::Empty)) => continue,
                    Ok(Some(Record::KeyUpdate(asked))) => {
                        incoming.follow();
                        self.rekey.fetch_or(asked, Ordering::Relaxed);
                        continue;
                    }
                    Ok(Some(Record::Close)) => incoming.end = Some(Ok(())),
                    Ok(None) => {}
                    Err(why) => incoming.end = Some(Err(why)),
                }
            }
            // What came before an end is taken first.
            if taken > 0 {
                return Ok(Some(taken));
            }
            match &incoming.end {
                None => {}
                Some(Ok(())) => return Err(self.socket.closed()),
                Some(Err(why)) => return Err(self.failed(why)),
            }
            let unread = incoming.encrypted.clone();
            incoming.buffer.copy_within(unread.clone(), 0);
            incoming.encrypted = 0..unread.len();
            incoming.plain = 0..0;
            let space = &mut incoming.buffer[unread.len()..];
            match self.socket.receive(space)? {
                Some(received) => incoming.encrypted.end += received,
                None => return Ok(None),
            }
        }
    }

    fn send(&self, head: &[u8], body: &[u8]) -> Result<Option<usize>, LinkError> {
        let mut outgoing = self.outgoing();
        let total = head.len() + body.len();
        let mut taken = 0;
        if self.rekey.swap(false, Ordering::Relaxed) {
            self.take_key(&mut outgoing)?;
        }
        while taken < total {
            if outgoing.waiting >= AHEAD && self.flush(&mut outgoing)?.is_none() {
                return Ok((taken > 0).then_some(taken));
            }
            let end = total.min(taken + PIECE);
            while taken < end {
                if outgoing.sequence >= outgoing.rekey {
                    self.take_key(&mut outgoing)?;
                }
                let to = end.min(taken + FRAGMENT);
                let of_head = &head[taken.min(head.len())..to.min(head.len())];
                let of_body =
                    &body[taken.saturating_sub(head.len())..to.saturating_sub(head.len())];
                self.seal(
                    &mut outgoing,
                    ContentType::ApplicationData,
                    OutboundChunks::new(&[of_head, of_body]),
                )?;
                taken = to;
            }
            self.flush(&mut outgoing)?;
        }
        Ok(Some(taken))
    }

    fn drain(&self) -> Result<Option<()>, LinkError> {
        self.flush(&mut self.outgoing())
    }
}

impl Drop for RecordChannel {
    fn drop(&mut self) {
        let mut outgoing = self.outgoing();
        // A peer that takes nothing sees the socket's end instead.
        let _ = self
            .seal(
                &mut outgoing,
                ContentType::Alert,
                OutboundChunks::Single(&CLOSE_NOTIFY),
            )
            .and_then(|()| self.flush(&mut outgoing));
    }
}

/// A peer that has the keys and sends what it likes in records of any kind, and between them: what arrives is what it sent as
/// data before the first thing that has no place.
#[cfg(any(test, feature = "fuzzing"))]
#[cfg_attr(
    not(feature = "fuzzing"),
    allow(unreachable_pub, reason = "an entry of a fuzz target")
)]
pub fn hostile(data: &[u8]) {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    use crate::stream::Stream;

    let Ok((ours, theirs)) = UnixStream::pair() else {
        return;
    };
    let Ok(mut raw) = theirs.try_clone() else {
        return;
    };
    let secrets = |client, server| TlsSecrets {
        // TLS_AES_256_GCM_SHA384
        suite: 0x1302,
        client: vec![client; 48],
        server: vec![server; 48],
        exporter: [0; 32],
    };
    let channel = |stream: UnixStream, secrets: &TlsSecrets| {
        RecordChannel::new(Stream::from(stream).prepare().0, secrets).ok()
    };
    let (Some(near), Some(far)) = (
        channel(ours, &secrets(1, 2)),
        channel(theirs, &secrets(2, 1)),
    ) else {
        return;
    };
    let (mut wanted, mut good, mut rest) = (Vec::new(), true, data);
    // No more than a socket takes.
    for _ in 0..64 {
        let [kind, len, after @ ..] = rest else { break };
        let (payload, after) = after.split_at(usize::from(*len).min(after.len()));
        rest = after;
        let typ = match kind % 6 {
            0 | 1 => ContentType::ApplicationData,
            2 => ContentType::Alert,
            3 => ContentType::Handshake,
            4 => ContentType::from(*kind),
            _ => {
                let _ = raw.write_all(payload);
                good &= payload.is_empty();
                continue;
            }
        };
        let mut outgoing = far.outgoing();
        let sealed = match (kind % 6, payload) {
            (1, _) => far.take_key(&mut outgoing),
            _ => far.seal(&mut outgoing, typ, OutboundChunks::Single(payload)),
        };
        let sent = sealed.and_then(|()| far.flush(&mut outgoing));
        good &= sent.is_ok_and(|sent| sent.is_some()) && typ == ContentType::ApplicationData;
        if good && kind % 6 == 0 {
            wanted.extend_from_slice(payload);
        }
    }
    let _ = raw.shutdown(std::net::Shutdown::Write);
    let (mut got, mut piece) = (Vec::new(), [0; 100]);
    // It ends: each round takes bytes or is the last.
    while let Ok(Some(len)) = near.receive(&mut piece) {
        got.extend_from_slice(&piece[..len]);
    }
    assert!(got.starts_with(&wanted), "what came is not what was sent");
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use rustix::event::PollFlags;

    use super::super::{TlsClient, client_tls, server_tls, shake_hands};
    use super::*;
    use crate::common::{Bytes, Certificates};
    use crate::spin::Spin;
    use crate::stream::Stream;

    #[test]
    fn a_peer_with_the_keys_may_send_anything() {
        let mut bytes = Bytes::new(3);
        hostile(&[0, 3, 1, 2, 3, 1, 0, 0, 2, 4, 5, 2, 2, 1, 0, 0, 1, 9]);
        for len in [0, 1, 2, 40, 400, 4000] {
            for _ in 0..20 {
                let data: Vec<u8> = (0..len).map(|_| bytes.next() as u8).collect();
                hostile(&data);
            }
        }
    }

    #[test]
    fn a_peer_that_sends_records_without_bytes_is_given_up() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let channel = |stream: std::os::unix::net::UnixStream, client: u8, server: u8| {
            let secrets = TlsSecrets {
                suite: 0x1302,
                client: vec![client; 48],
                server: vec![server; 48],
                exporter: [0; 32],
            };
            RecordChannel::new(Stream::from(stream).prepare().0, &secrets).unwrap()
        };
        let (near, far) = (channel(ours, 1, 2), channel(theirs, 2, 1));
        let send = |payload: &[u8]| {
            let mut outgoing = far.outgoing();
            let payload = OutboundChunks::Single(payload);
            far.seal(&mut outgoing, ContentType::ApplicationData, payload)
                .and_then(|()| far.flush(&mut outgoing))
                .unwrap();
        };
        let mut into = [0; 8];
        for _ in 0..2 {
            (0..EMPTY_MOST).for_each(|_| send(&[]));
            assert!(matches!(near.receive(&mut into), Ok(None)));
            send(&[7]);
            assert!(matches!(near.receive(&mut into), Ok(Some(1))));
        }
        (0..=EMPTY_MOST).for_each(|_| send(&[]));
        let end = near.receive(&mut into);
        assert!(matches!(end, Err(LinkError::Tls(..))), "{end:?}");
    }

    /// Both directions take other keys, of their own accord and as they are asked to, in the middle of what is sent.
    #[test]
    fn keys_are_changed_on_the_way() {
        let files = Certificates::new();
        let config = server_tls(&files.path("cert"), &files.path("key")).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let mut data = vec![0; 1 << 20];
        Bytes::new(7).fill(&mut data);
        let trusted = TlsClient::new(files.path("ca"), Some("localhost".into()));
        let sent = data.clone();
        let client = std::thread::spawn(move || {
            let mut connection = client_tls(&trusted, "localhost").unwrap();
            let mut socket = TcpStream::connect(address).unwrap();
            let mut stream = rustls::Stream::new(&mut connection, &mut socket);
            let mut back = vec![0; sent.len()];
            let half = sent.len() / 2;
            stream.write_all(&sent[..half]).unwrap();
            // It asks the server for another key, too.
            stream.conn.refresh_traffic_keys().unwrap();
            stream.write_all(&sent[half..]).unwrap();
            stream.read_exact(&mut back).unwrap();
            stream.conn.send_close_notify();
            stream.flush().unwrap();
            back
        });
        let stream: Stream = listener.accept().unwrap().0.into();
        let deadline = Instant::now() + Duration::from_secs(10);
        let secrets = shake_hands(stream.socket(), &config, deadline).unwrap();
        let channel = Arc::new(RecordChannel::new(stream.prepare().0, &secrets).unwrap());
        channel.outgoing().rekey = 5;
        let wait = |events| channel.socket().wait(events, Some(deadline));
        let (mut got, mut at) = (vec![0; data.len()], 0);
        while at < got.len() {
            at += wait(PollFlags::IN)
                .until(&mut Spin::never(), || channel.receive(&mut got[at..]))
                .unwrap();
        }
        assert!(got == data);
        assert!(channel.rekey.load(Ordering::Relaxed), "it was asked");
        let mut at = 0;
        while at < data.len() {
            at += wait(PollFlags::OUT)
                .until(&mut Spin::never(), || {
                    channel.send(&data[at..at + 1], &data[at + 1..])
                })
                .unwrap();
        }
        wait(PollFlags::OUT)
            .until(&mut Spin::never(), || channel.drain())
            .unwrap();
        let end = wait(PollFlags::IN).until(&mut Spin::never(), || channel.receive(&mut [0; 8]));
        assert!(matches!(end, Err(LinkError::Closed(_))), "{end:?}");
        assert!(client.join().unwrap() == data);
    }
}
