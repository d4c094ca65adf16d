//! The status of a `gtrace serve` of this host, for `/metrics`. A thread of its own asks for it, with a
//! deadline, so that a server that hangs delays no scrape.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use gtrace_server::ServerStatus;
use tokio::sync::{Mutex, oneshot};

/// How long `/metrics` waits for it.
const DEADLINE: Duration = Duration::from_millis(500);

/// Asks the server.
#[derive(Debug, Default)]
pub(super) struct RemoteStatus {
    /// One question at a time.
    turn: Mutex<()>,
    /// Whether an earlier question has not ended.
    stuck: Arc<AtomicBool>,
    unanswered: AtomicU64,
}

impl RemoteStatus {
    /// The status of the server that listens on `socket`; `None` without a server or a timely
    /// answer.
    pub(super) async fn ask(&self, socket: impl FnOnce() -> PathBuf) -> Option<ServerStatus> {
        let answer = tokio::time::timeout(DEADLINE, self.ask_in_turn(socket)).await;
        answer.unwrap_or_else(|_| {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
            None
        })
    }

    /// How often there was no answer in time.
    pub(super) fn unanswered(&self) -> u64 {
        self.unanswered.load(Ordering::Relaxed)
    }

    async fn ask_in_turn(&self, socket: impl FnOnce() -> PathBuf) -> Option<ServerStatus> {
        let _turn = self.turn.lock().await;
        if self.stuck.swap(true, Ordering::AcqRel) {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let (done, answer) = oneshot::channel();
        let (socket, stuck) = (socket(), Arc::clone(&self.stuck));
        let thread = std::thread::Builder::new()
            .name("gtrace-remote".to_owned())
            .spawn(move || {
                // No server is no trouble: most hosts have none.
                let status = ServerStatus::ask(&socket).ok();
                stuck.store(false, Ordering::Release);
                // Nobody waits for what comes too late.
                let _ = done.send(status);
            });
        if thread.is_err() {
            self.stuck.store(false, Ordering::Release);
            return None;
        }
        answer.await.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    use super::*;

    /// The engine does not know the server's types: what it reads of them has to have their names.
    #[test]
    fn the_engine_finds_the_clients_in_a_real_state() {
        use gtrace_server::{Client, SessionStatus};
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("status.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let session = |worker, client| SessionStatus {
            worker,
            client,
            ..SessionStatus::default()
        };
        let client = Client {
            host: "lab".to_owned(),
            pid: 9,
            program: "train".to_owned(),
            ..Client::default()
        };
        let status = ServerStatus {
            sessions: vec![session(7, Some(client)), session(8, None)],
            ..ServerStatus::default()
        };
        let clients = std::thread::scope(|threads| {
            threads.spawn(|| {
                let stream = listener.accept().unwrap().0;
                serde_json::to_writer(stream, &status).unwrap();
            });
            gtrace_engine::remote::clients(&socket).unwrap()
        });
        assert_eq!(clients, [(7, "lab: train (9)".to_owned())].into());
    }

    #[test]
    fn a_server_that_does_not_answer_costs_one_deadline_and_one_thread() {
        let dir = tempfile::tempdir().unwrap();
        let socket = dir.path().join("status.sock");
        // It takes connections into its queue and answers nothing.
        let server = UnixListener::bind(&socket).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let remote = RemoteStatus::default();
            assert!(remote.ask(|| socket.clone()).await.is_none());
            assert_eq!(remote.unanswered(), 1);
            // The question is still open: further ones are not asked at all.
            let began = Instant::now();
            for asked in 2..=5 {
                assert!(
                    remote
                        .ask(|| unreachable!("while one is open"))
                        .await
                        .is_none()
                );
                assert_eq!(remote.unanswered(), asked);
            }
            assert!(began.elapsed() < 4 * DEADLINE);
            // It goes away: the thread ends, and there is no server, which is no trouble.
            drop(server.accept().unwrap());
            while remote.stuck.load(Ordering::Acquire) {
                tokio::task::yield_now().await;
            }
            drop(server);
            assert!(remote.ask(|| socket.clone()).await.is_none());
            assert_eq!(remote.unanswered(), 5);
        });
    }
}
