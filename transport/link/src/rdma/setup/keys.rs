//! What a device lets a peer reach that holds a key and claims what it likes: the ring of its own lane, for as long as that
//! lane is there, and nothing else. On the device that `GTRACE_TEST_RDMA` names.

use std::net::IpAddr;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gtrace_protocol::QueuePairs;
use gtrace_verbs::{Access, Outcome, Region, VerbsError};

use super::super::wire::Source;
use super::{Prepared, RING, Wires};
use crate::common::rdma_address;
use crate::mapping::{Mapping, Ring};
use crate::pinned::PinnedRegion;

const PAGE: usize = 4096;
/// Bytes that an attack writes.
const LEN: usize = 2 * PAGE;
const PATIENCE: Duration = Duration::from_secs(60);

/// A lane's two sides.
struct Lane {
    client: Wires,
    /// Holds the queue pair that is written to.
    _server: Wires,
    /// The memory of each.
    ours: Arc<Mapping>,
    theirs: Arc<Mapping>,
}

fn mapping() -> Arc<Mapping> {
    Arc::new(Mapping::create(RING).unwrap().0)
}

/// A server's side, and what it sends.
fn server(ip: IpAddr) -> (Prepared, Arc<Mapping>, QueuePairs) {
    let mapping = mapping();
    let server = Prepared::over(ip, Ring::ToClient, &mapping).unwrap();
    let peer_state = server.peer_state();
    (server, mapping, peer_state)
}

impl Lane {
    /// The client believes what the server says as `lie` has it.
    fn new(
        ip: IpAddr,
        server: Prepared,
        theirs: Arc<Mapping>,
        lie: impl FnOnce(&mut QueuePairs),
    ) -> Self {
        let ours = mapping();
        ours.bytes_mut(Ring::ToServer, 0, RING).fill(0xaa);
        let client = Prepared::over(ip, Ring::ToServer, &ours).unwrap();
        let mut peer_state = server.peer_state();
        let server = server.wires(&client.peer_state(), ip).unwrap();
        lie(&mut peer_state);
        Self {
            client: client.wires(&peer_state, ip).unwrap(),
            _server: server,
            ours,
            theirs,
        }
    }

    /// Writes to where the other side claimed the ring to be.
    fn write(&mut self) -> Result<(), VerbsError> {
        assert!(
            self.ours
                .bytes(Ring::ToServer, 0, LEN)
                .iter()
                .all(|byte| *byte == 0xaa)
        );
        let out = &mut self.client.out;
        out.write((0, LEN), Source::Ring, Some(1), true)?;
        let began = Instant::now();
        let mut sent = false;
        while !sent {
            out.poll(&mut |outcome| sent |= matches!(outcome, Outcome::Sent))?;
            assert!(began.elapsed() < PATIENCE, "neither done nor refused");
        }
        Ok(())
    }

    fn refuses(mut self, what: &str) {
        let refused = self.write();
        assert!(
            matches!(refused, Err(VerbsError::Work(_))),
            "{what}: {refused:?}"
        );
        assert!(is_untouched(&self.theirs), "{what}");
    }
}

fn is_untouched(mapping: &Mapping) -> bool {
    [Ring::ToServer, Ring::ToClient]
        .iter()
        .all(|ring| mapping.bytes(*ring, 0, RING).iter().all(|byte| *byte == 0))
}

#[test]
fn a_key_opens_the_ring_of_its_lane_and_nothing_else() {
    let Some(ip) = rdma_address() else {
        eprintln!("skipped: GTRACE_TEST_RDMA names no device's address");
        return;
    };
    let (one, memory, _) = server(ip);
    let mut honest = Lane::new(ip, one, Arc::clone(&memory), |_| {});
    honest.write().unwrap();
    assert!(
        memory
            .bytes(Ring::ToServer, 0, LEN)
            .iter()
            .all(|byte| *byte == 0xaa)
    );

    // Another lane of the same process, whose key and place are known.
    let (other, others, peer_state) = server(ip);
    let attack = |what: &str, lie: &dyn Fn(&mut QueuePairs)| {
        let (one, memory, _) = server(ip);
        Lane::new(ip, one, memory, lie).refuses(what);
        assert!(is_untouched(&others), "{what}");
    };
    attack("another lane's ring by its key", &|claim| {
        (claim.address, claim.key) = (peer_state.address, peer_state.key);
    });
    attack("another lane's ring by the own key", &|claim| {
        claim.address = peer_state.address
    });
    attack("another lane's key", &|claim| claim.key = peer_state.key);
    attack("behind the ring", &|claim| claim.address += RING as u64);
    attack("before the ring", &|claim| claim.address -= LEN as u64);
    attack("half of it behind the ring", &|claim| {
        claim.address += (RING - PAGE) as u64;
    });
    attack("a key that nobody has", &|claim| claim.key = !claim.key);

    // Memory of the program that the device may take bytes from.
    let (one, memory, _) = server(ip);
    let mut program = vec![0u8; 1 << 20];
    let start = NonNull::new(program.as_mut_ptr()).unwrap();
    let pinned = pinned(start, program.len());
    let region = Region::new(&one.domain, Arc::new(pinned), Access::Local).unwrap();
    let (address, key) = region.remote();
    let place = address.next_multiple_of(PAGE as u64);
    // Some devices give none to who has no business there.
    if key != 0 {
        let lie = |claim: &mut QueuePairs| (claim.address, claim.key) = (place, key);
        Lane::new(ip, one, memory, lie).refuses("memory of the program");
    }
    drop(region);
    assert!(program.iter().all(|byte| *byte == 0));

    // A lane that has ended.
    drop(other);
    attack("the ring of a lane that has ended", &|claim| {
        (claim.address, claim.key) = (peer_state.address, peer_state.key);
    });
    // The honest one is none the worse.
    honest.write().unwrap();
}

#[allow(unsafe_code)]
fn pinned(start: NonNull<u8>, len: usize) -> PinnedRegion {
    // SAFETY: it outlives its region, and nobody writes to it.
    unsafe { PinnedRegion::new(start, len) }
}
