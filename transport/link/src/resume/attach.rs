//! The client's side of coming back: a thread that opens another connection, again and again until the lane's deadline.

use std::io;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use gtrace_protocol::{Attachment, Death, LaneResumed, RefusalKind, ResumeLane};

use super::{Attached, Shared, Side, locked};
use crate::client::{self, Session};
use crate::link::LinkError;
use crate::lookup::LOOKUP;
use crate::sys;
use crate::target::{Address, Target};

/// Pauses between two attempts, each twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// Longest attempt: a network that is gone answers nothing, and may be back a moment later.
const ATTEMPT: Duration = Duration::from_secs(3);
/// Attempts at the same time, of all lanes of this process: with a thousand lanes, and half a second for each attempt, the
/// last one has its turn after 16 s.
const AT_ONCE: u64 = 32;
/// Threads that wait for their turn are woken by one of so many.
const BELLS: usize = 32;
/// Threads that do nothing but this need little.
const STACK: usize = 256 << 10;

/// How a client reaches the server of a lane again.
#[derive(Clone)]
pub(crate) struct ClientLane {
    pub(crate) target: Target,
    pub(crate) session: Session,
    /// Its number in the session.
    pub(crate) number: u16,
    /// The server runs on this host, so that nothing lies between.
    pub(crate) server_is_here: bool,
}

pub(super) struct Client {
    lane: Box<ClientLane>,
    /// The system had no thread for it.
    lacks_thread: AtomicBool,
}

/// Lets so many threads on at a time, in the order in which they come: where connections break again and again, a lane
/// must not wait behind others until its deadline.
#[derive(Debug)]
struct Turns {
    count: Mutex<Count>,
    bells: [Condvar; BELLS],
}

/// How many have come, and how many are done.
#[derive(Debug)]
struct Count {
    come: u64,
    done: u64,
}

static TURNS: Turns = Turns::new();

struct Turn(&'static Turns);

impl Turns {
    const fn new() -> Self {
        Self {
            count: Mutex::new(Count { come: 0, done: 0 }),
            bells: [const { Condvar::new() }; BELLS],
        }
    }

    fn bell(&self, number: u64) -> &Condvar {
        &self.bells[number as usize % BELLS]
    }

    fn turn(&'static self) -> Turn {
        let mut count = locked(&self.count);
        let own = count.come;
        count.come += 1;
        let waits = |count: &mut Count| own >= count.done + AT_ONCE;
        drop(self.bell(own).wait_while(count, waits));
        Turn(self)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut count = locked(&self.0.count);
        // Whose turn it is now; others may share the bell.
        let next = count.done + AT_ONCE;
        count.done += 1;
        drop(count);
        self.0.bell(next).notify_all();
    }
}

impl Client {
    pub(super) fn new(lane: ClientLane) -> Self {
        Self {
            lane: Box::new(lane),
            lacks_thread: AtomicBool::new(false),
        }
    }

    /// Starts the thread; nothing of the program's runs in it.
    fn start(&self, shared: &Weak<Shared>) -> io::Result<()> {
        let (lane, weak) = (self.lane.clone(), Weak::clone(shared));
        let started = sys::without_signals(|| {
            thread::Builder::new()
                .name("gtrace-attach".into())
                .stack_size(STACK)
                .spawn(move || {
                    let tried = catch_unwind(AssertUnwindSafe(|| attach_again(&lane, &weak)));
                    // Else whoever waits for the lane waits until its deadline, and does not learn why.
                    if tried.is_err()
                        && let Some(shared) = weak.upgrade()
                    {
                        let why = "gtrace's own thread gtrace-attach has failed from within; please report this with the messages above";
                        shared.die(Death::Refused, why);
                    }
                })
        });
        started.map(drop)
    }
}

/// Until the lane has a connection or is dead.
fn attach_again(lane: &ClientLane, shared: &Weak<Shared>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(shared) = shared.upgrade() else {
            return;
        };
        {
            let turn = TURNS.turn();
            let Some(attempt) = shared.begin_attempt() else {
                return;
            };
            match try_once(lane, &shared, attempt, turn) {
                Ok(()) => return,
                Err(error) => shared.note_failure(lane, &error),
            }
        }
        shared.pause(pause);
        pause = (pause * 2).min(LAST_PAUSE);
    }
}

fn try_once(lane: &ClientLane, shared: &Shared, attempt: u32, turn: Turn) -> Result<(), LinkError> {
    let mut target = lane.target.clone();
    let time_left = shared.time_left();
    target.timeout = target.timeout.min(ATTEMPT).min(time_left);
    if target.timeout.is_zero() {
        return Err(LinkError::TimedOut(target.address.to_string()));
    }
    let asked = ResumeLane {
        lane: lane.number,
        attempt,
        received: shared.freeze(),
    };
    // A resolver may have to ask another server, which takes longer than an attempt.
    let lookup = LOOKUP.min(time_left);
    let (link, LaneResumed { received, .. }) =
        client::resume(&target, &lane.session, &asked, lookup)?;
    // Sending what is kept takes as long as the server's call.
    drop(turn);
    shared.attach(attempt, received, |_| {
        Attached::of(link)
            .map_err(|_| LinkError::Usage("no connection that a lane goes on by".into()))
    })
}

/// Whether no further attempt can succeed.
fn is_final(error: &LinkError, lane: &ClientLane) -> bool {
    match error {
        LinkError::Refused(refused) => !matches!(
            refused.kind,
            RefusalKind::Busy | RefusalKind::MaxClients | RefusalKind::System
        ),
        LinkError::Position(_) => true,
        // Nobody listens there any more. At an address of this host that may be a tunnel, which comes back.
        LinkError::Io(_, error) => {
            let nobody = matches!(
                error.kind(),
                io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound
            );
            let tunnel = match &lane.target.address {
                Address::Tcp(host, _) => {
                    let loopback = host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
                    !lane.server_is_here && (loopback || host == "localhost")
                }
                Address::Unix(_) => !lane.server_is_here,
            };
            nobody && !tunnel
        }
        _ => false,
    }
}

impl Shared {
    /// Has a thread open another connection, on the client's side. Where the system has none to give, as many lanes may
    /// have broken at once, whoever waits for the lane asks for it again.
    pub(super) fn start_attaching(&self) {
        let Side::Client(client) = &self.side else {
            return;
        };
        if let Err(error) = client.start(&self.itself) {
            self.fate().why = format!("no thread for it: {error}");
            client.lacks_thread.store(true, Ordering::Release);
        }
    }

    /// Asks again for the thread that the system did not give.
    pub(super) fn retry_attaching(&self) {
        if let Side::Client(client) = &self.side
            && client.lacks_thread.swap(false, Ordering::AcqRel)
        {
            self.start_attaching();
        }
    }

    fn begin_attempt(&self) -> Option<u32> {
        let attempt = self.fate().life.try_attach(self.now());
        if attempt.is_none() {
            // It may have died of that.
            self.changed.notify_all();
        }
        attempt
    }

    fn time_left(&self) -> Duration {
        match self.fate().life.state() {
            Attachment::Severed { deadline } | Attachment::Attaching { deadline } => {
                Duration::from_millis(deadline.saturating_sub(self.now()))
            }
            _ => Duration::ZERO,
        }
    }

    fn note_failure(&self, lane: &ClientLane, error: &LinkError) {
        if is_final(error, lane) {
            let why = match error {
                LinkError::Refused(refused) if refused.kind == RefusalKind::Session => {
                    format!("the server was started again, or has given the session up: {refused}")
                }
                LinkError::Io(..) => format!("the server has ended: {error}"),
                error => error.to_string(),
            };
            self.die(Death::Refused, &why);
            return;
        }
        let mut fate = self.fate();
        let state = fate.life.state();
        let in_time = matches!(state, Attachment::Attaching { deadline } if self.now() < deadline);
        fate.life.attempt_failed();
        // What the deadline has cut short says less than the attempt before.
        if in_time || fate.why.is_empty() {
            fate.why = error.to_string();
        }
    }

    /// Waits before the next attempt, unless the lane dies.
    fn pause(&self, pause: Duration) {
        let until = Instant::now() + pause;
        let mut fate = self.fate();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let severed = matches!(fate.life.state(), Attachment::Severed { .. });
            if left.is_zero() || !severed {
                return;
            }
            let waited = self.changed.wait_timeout(fate, left);
            fate = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    use gtrace_protocol::SessionId;

    use super::*;
    use crate::stream::Stream;

    /// A lane of the server at `address`, which is this host's.
    fn lane(address: &str) -> ClientLane {
        ClientLane {
            target: Target::parse(address).unwrap(),
            session: Session {
                id: SessionId([1; 16]),
                secret: [0; 32],
            },
            number: 1,
            server_is_here: true,
        }
    }

    /// The client's end of a lane whose connection has broken.
    fn severed(client: Client, patience: Duration) -> Arc<Shared> {
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let (_socket, info) = Stream::from(ours).prepare();
        let shared = Shared::new(&info, Side::Client(client), patience, None, &[]);
        assert!(shared.fate().life.sever(0, shared.now()));
        shared
    }

    /// As where the program has as many threads as its container may have.
    #[test]
    fn a_thread_that_the_system_did_not_give_is_asked_for_again() {
        let dir = tempfile::tempdir().unwrap();
        let nobody = format!("unix:{}", dir.path().join("nobody").display());
        let client = Client::new(lane(&nobody));
        client.lacks_thread.store(true, Ordering::Release);
        let shared = severed(client, Duration::from_secs(3600));
        let deadline = Instant::now() + Duration::from_secs(60);
        let error = shared.wait_attached(0, Some(deadline)).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("the server has ended"), "{message}");
    }

    #[test]
    fn an_attempt_that_the_deadline_cuts_short_does_not_hide_why_others_failed() {
        let lane = lane("gpu-host");
        let patience = Duration::from_secs(1);
        let shared = severed(Client::new(lane.clone()), patience);
        assert_eq!(shared.begin_attempt(), Some(1));
        shared.note_failure(&lane, &LinkError::Usage("the cause".into()));
        assert_eq!(shared.begin_attempt(), Some(2));
        thread::sleep(patience);
        shared.note_failure(&lane, &LinkError::TimedOut("gpu-host".into()));
        assert_eq!(shared.fate().why, "the cause");
    }

    #[test]
    fn turns_are_given_in_the_order_of_coming() {
        static OWN: Turns = Turns::new();
        let mut held: Vec<Turn> = (0..AT_ONCE).map(|_| OWN.turn()).collect();
        let (sender, order) = channel();
        for number in 0..2 * AT_ONCE {
            let sender = sender.clone();
            thread::spawn(move || {
                let turn = OWN.turn();
                sender.send((number, turn)).unwrap();
            });
            // The next one comes after it.
            while locked(&OWN.count).come <= AT_ONCE + number {
                thread::yield_now();
            }
        }
        assert!(
            order.try_recv().is_err(),
            "more at a time than there may be"
        );
        let mut got = Vec::new();
        while let Some(turn) = held.pop() {
            drop(turn);
            // This one goes on, and nobody else.
            let (number, turn) = order.recv_timeout(Duration::from_secs(10)).unwrap();
            got.push(number);
            if got.len() as u64 == 2 * AT_ONCE {
                break;
            }
            held.insert(0, turn);
            assert!(order.try_recv().is_err());
        }
        assert_eq!(got, (0..2 * AT_ONCE).collect::<Vec<_>>());
    }
}
