//! What a head may ask of this host beside measuring, as far as the host's configuration permits it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use gtrace_api::client::encoded;
use gtrace_event::{IncidentId, PciAddress};
use gtrace_fleet::{
    Ask, HostRead, HostRequest, PAGE, READ_MAX, REPORT_MAX, REPORTED_TEXT_MAX, TraceOrder,
    is_readable, known_requests,
};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::transport::{Call, LinkError, Shared};

/// For so long an answer is sent again; a head awaits none for longer.
const ANSWER_WITHIN: Duration = Duration::from_secs(300);
/// Between two attempts.
const ANSWER_AGAIN: Duration = Duration::from_secs(1);

/// Answers of the daemon that are held at the same time, each of [`READ_MAX`] at most.
const READS_AT_ONCE: usize = 2;

/// Numbers that the question for work says: the newest. With them its path stays far below what a head reads of one.
const TAKEN_MAX: usize = 64;

/// Does what the head asks for. It permits what the host's configuration says, and nothing else is done.
pub trait Actor: Send + Sync {
    /// Names of [`Ask`]s that this host permits.
    fn permits(&self) -> Vec<String>;

    /// What the daemon's API answers to `GET path`: its status and body.
    fn read(&self, path: &str) -> (u16, Vec<u8>);

    /// The report of an incident, as a page.
    ///
    /// # Errors
    /// Why there is none.
    fn report(&self, incident: IncidentId) -> Result<Vec<u8>, String>;

    /// The calls of a process for some seconds, as a trace for Perfetto that gzip has packed.
    ///
    /// # Errors
    /// Why there is none.
    fn trace(&self, order: &TraceOrder) -> Result<Vec<u8>, String>;

    /// Resets a GPU that no process has open; what came of it.
    ///
    /// # Errors
    /// Why it was not reset.
    fn reset_gpu(&self, pci: PciAddress) -> Result<String, String>;

    /// Reboots the host, if no process has a GPU open; what came of it.
    ///
    /// # Errors
    /// Why it is not rebooted.
    fn reboot(&self) -> Result<String, String>;
}

/// Whose turn it is to read the daemon: more reads wait.
pub(crate) fn turns() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(READS_AT_ONCE))
}

/// Reads something of the daemon for a person at the head, once there is a turn; bytes that were sent. What fails is asked for again by who wants it.
pub(crate) async fn read_for(
    turns: Arc<Semaphore>,
    head: Shared,
    actor: Arc<dyn Actor>,
    wanted: HostRead,
) -> usize {
    let _turn = turns.acquire().await;
    let HostRead { id, path } = wanted;
    let permitted = actor.permits().iter().any(|one| one == PAGE) && is_readable(&path);
    let (status, body) = match permitted {
        true => {
            let read = tokio::task::spawn_blocking(move || actor.read(&path)).await;
            read.unwrap_or((500, Vec::new()))
        }
        false => (403, Vec::new()),
    };
    let (status, body) = match body.len() > READ_MAX.min(head.call_max()) {
        true => (413, Vec::new()),
        false => (status, body),
    };
    let sent = body.len();
    let path = format!("/fleet/v1/reads/{id}?status={status}");
    match head.call(Call::upload(path, body)).await {
        Ok(_) => sent,
        Err(_) => 0,
    }
}

/// The newest connection: one that broke is replaced by whoever ships records.
type Links = watch::Receiver<Option<Shared>>;

/// What was asked and what is done of it, one after another.
#[derive(Default)]
pub(crate) struct Requests {
    waiting: Vec<HostRequest>,
    /// Those that the head need not give again.
    taken: BTreeSet<i64>,
    running: Option<JoinHandle<Result<usize, LinkError>>>,
    link: watch::Sender<Option<Shared>>,
}

impl Requests {
    /// Numbers of those that were taken, with commas between.
    pub(crate) fn taken(&self) -> String {
        let taken: Vec<String> = self.taken.iter().map(i64::to_string).collect();
        taken.join(",")
    }

    /// Takes what the head asks for; of what it does not list any more nothing is remembered.
    pub(crate) fn take(&mut self, asked: &[serde_json::Value]) {
        let asked = known_requests(asked);
        if asked.is_empty() && self.waiting.is_empty() && self.running.is_none() {
            self.taken.clear();
        }
        for request in asked {
            if self.taken.insert(request.id) {
                self.waiting.push(request);
            }
        }
        // An older one that is given again does no harm: the head lets each begin once.
        while self.taken.len() > TAKEN_MAX {
            self.taken.pop_first();
        }
    }

    /// Begins the next, if none is under way. Bytes that were sent for one that has ended.
    pub(crate) async fn go_on(&mut self, actor: &Arc<dyn Actor>, head: &Shared) -> usize {
        self.link.send_replace(Some(Arc::clone(head)));
        let mut sent = 0;
        if let Some(running) = self.running.take_if(|task| task.is_finished()) {
            match running.await {
                Ok(Ok(bytes)) => sent = bytes,
                Ok(Err(error)) => {
                    tracing::warn!("{error}; the head does not know what came of what it asked for")
                }
                Err(error) => tracing::warn!("what the head asked for has failed: {error}"),
            }
        }
        if self.running.is_none() && !self.waiting.is_empty() {
            let request = self.waiting.remove(0);
            let (actor, links) = (Arc::clone(actor), self.link.subscribe());
            let carrying_out = async move { carry_out(request, actor, &links).await };
            self.running = Some(tokio::spawn(carrying_out));
        }
        sent
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.running.is_none() && self.waiting.is_empty()
    }
}

/// Asks the head whether it is still to be done, does it, and answers.
async fn carry_out(
    request: HostRequest,
    actor: Arc<dyn Actor>,
    links: &Links,
) -> Result<usize, LinkError> {
    let path = format!("/fleet/v1/requests/{}", request.id);
    // By it the head knows who asks again as its answer was lost, and may still begin.
    let begin = format!("{path}/begin?attempt={:016x}", fastrand::u64(..));
    match send(links, &begin, Vec::new()).await {
        Ok(()) => {}
        // Somebody was quicker, or its time is over.
        Err(LinkError::Refused { status: 404, .. }) => return Ok(0),
        Err(error) => return Err(error),
    }
    let done = match actor.permits().iter().any(|one| one == request.ask.name()) {
        true => {
            tracing::info!("the head asks for: {}", request.ask);
            let ask = request.ask.clone();
            let done = tokio::task::spawn_blocking(move || act(actor.as_ref(), &ask)).await;
            done.unwrap_or_else(|error| Err(format!("it has failed: {error}")))
        }
        false => Err("this host does not permit it".to_owned()),
    };
    if let Err(why) = &done {
        tracing::warn!("{}: {why}", request.ask);
    }
    let (ok, reported, body) = match done {
        Ok(Done::File(file)) => (true, String::new(), file),
        Ok(Done::Reported(text)) => (true, text, Vec::new()),
        Err(why) => (false, String::new(), why.into_bytes()),
    };
    let most = links.borrow().as_ref().map_or(0, |head| head.call_max());
    let (ok, body) = match body.len() > most {
        true => {
            let why = format!(
                "the file has {} bytes, and the way to the head takes {most}",
                body.len()
            );
            (false, why.into_bytes())
        }
        false => (ok, body),
    };
    let reported: String = reported.chars().take(REPORTED_TEXT_MAX / 4).collect();
    let path = format!("{path}/answer?ok={ok}&reported={}", encoded(&reported));
    let sent = body.len();
    // It was done: what came of it is not to be lost with one connection.
    send(links, &path, body).await.map(|()| sent)
}

/// Posts something until the head has answered, over another connection where one breaks.
async fn send(links: &Links, path: &str, body: Vec<u8>) -> Result<(), LinkError> {
    let end = tokio::time::Instant::now() + ANSWER_WITHIN;
    loop {
        let head = links.borrow().clone();
        let Some(head) = head else {
            return Err(LinkError::NotUnderstood(
                "there is no connection".to_owned(),
            ));
        };
        match head.call(Call::upload(path, body.clone())).await {
            Ok(_) => return Ok(()),
            Err(error) if error.is_final() => return Err(error),
            Err(error @ LinkError::Refused { status: 404, .. }) => return Err(error),
            Err(error) if tokio::time::Instant::now() + ANSWER_AGAIN > end => return Err(error),
            Err(error) => tracing::warn!("{error}; it is sent again"),
        }
        tokio::time::sleep(ANSWER_AGAIN).await;
    }
}

enum Done {
    File(Vec<u8>),
    Reported(String),
}

fn act(actor: &dyn Actor, ask: &Ask) -> Result<Done, String> {
    match ask {
        Ask::Report { incident } => {
            let file = actor.report(*incident)?;
            match file.len() > REPORT_MAX {
                true => Err(format!(
                    "the report has {} bytes, the most is {REPORT_MAX}: `gtrace report --incident {incident}` on the host writes it",
                    file.len()
                )),
                false => Ok(Done::File(file)),
            }
        }
        Ask::Trace(order) => {
            order.check()?;
            let file = actor.trace(order)?;
            match file.len() > REPORT_MAX {
                true => Err(format!(
                    "the trace has more than {REPORT_MAX} bytes: ask for fewer calls"
                )),
                false => Ok(Done::File(file)),
            }
        }
        Ask::ResetGpu { pci } => actor.reset_gpu(*pci).map(Done::Reported),
        Ask::Reboot => actor.reboot().map(Done::Reported),
        Ask::Other => Err("this version of the agent does not know it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use gtrace_fleet::{Batch, HostState};

    use super::*;
    use crate::transport::{Answered, BatchTaken, StateTaken, Transport};

    /// A head that takes calls slowly, and counts those that are under way.
    #[derive(Default)]
    struct Slow {
        now: AtomicUsize,
        most: AtomicUsize,
    }

    impl Transport for Slow {
        fn state<'a>(&'a self, _: &'a HostState) -> Answered<'a, StateTaken> {
            Box::pin(std::future::pending())
        }

        fn batch<'a>(&'a self, _: &'a Batch) -> Answered<'a, BatchTaken> {
            Box::pin(std::future::pending())
        }

        fn call(&self, _: Call) -> Answered<'_, Vec<u8>> {
            Box::pin(async move {
                let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
                self.most.fetch_max(now, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
                self.now.fetch_sub(1, Ordering::Relaxed);
                Ok(Vec::new())
            })
        }

        fn call_max(&self) -> usize {
            usize::MAX
        }
    }

    /// A host that shows its page.
    struct Page;

    impl Actor for Page {
        fn permits(&self) -> Vec<String> {
            vec![PAGE.to_owned()]
        }

        fn read(&self, path: &str) -> (u16, Vec<u8>) {
            (200, path.as_bytes().to_vec())
        }

        fn report(&self, _: IncidentId) -> Result<Vec<u8>, String> {
            Err("none".to_owned())
        }

        fn trace(&self, _: &TraceOrder) -> Result<Vec<u8>, String> {
            Err("none".to_owned())
        }

        fn reset_gpu(&self, _: PciAddress) -> Result<String, String> {
            Err("none".to_owned())
        }

        fn reboot(&self) -> Result<String, String> {
            Err("none".to_owned())
        }
    }

    #[test]
    fn of_what_was_taken_the_newest_numbers_are_said() {
        let mut requests = Requests::default();
        for id in 0..1000 {
            requests.take(&[serde_json::json!({ "id": id, "ask": { "what": "reboot" } })]);
        }
        let taken = requests.taken();
        let listed: Vec<&str> = taken.split(',').collect();
        assert_eq!(
            (listed.len(), listed[0], listed[63]),
            (TAKEN_MAX, "936", "999")
        );
    }

    #[tokio::test]
    async fn few_answers_of_the_daemon_are_held_at_the_same_time_and_all_are_sent() {
        let head = Arc::new(Slow::default());
        let turns = turns();
        let mut reads = tokio::task::JoinSet::new();
        for id in 0..8 {
            let wanted = HostRead {
                id,
                path: "/api/v1/status".to_owned(),
            };
            let (turns, head) = (Arc::clone(&turns), Arc::clone(&head));
            reads.spawn(read_for(turns, head, Arc::new(Page), wanted));
        }
        let sent = reads.join_all().await;
        assert_eq!(sent, ["/api/v1/status".len(); 8]);
        assert_eq!(head.most.load(Ordering::Relaxed), READS_AT_ONCE);
    }
}
