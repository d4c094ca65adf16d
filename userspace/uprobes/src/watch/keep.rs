//! What is kept of processes, and given up when they end.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{ENDED, Watch};
use crate::collect::Counted;
use crate::library::FileId;
use crate::load::TraceError;
use crate::procfs;

/// A library that no process has mapped any more is let go after so long.
const LET_GO_AFTER: Duration = Duration::from_secs(5);
/// Files that cannot be traced, or not opened, and are remembered.
const MAX_UNTRACEABLE: usize = 1024;

impl Watch {
    /// Takes processes that have ended out of the kernel's tables, and notes memory.
    pub(super) fn keep(
        &mut self,
        counted: &Counted,
        pids: &BTreeSet<u32>,
    ) -> Result<(), TraceError> {
        let at = self.started.elapsed();
        for (pid, ledger) in &counted.ledgers {
            let (kept, growth) = self.memory.entry(*pid).or_default();
            *kept = *ledger;
            growth.add(at, ledger.live);
        }
        let mut ended = BTreeSet::new();
        for pid in pids {
            let lives = procfs::lives(&self.proc_root, *pid);
            let identity = self.processes.entry(*pid).or_default();
            if lives {
                // It may have become another program since.
                *identity = procfs::identify(&self.proc_root, *pid);
            } else {
                identity.ended = true;
                ended.insert(*pid);
            }
        }
        // The one process that was asked for stays where it is: nobody needs its room.
        if self.pid.is_some() || ended.is_empty() {
            return Ok(());
        }
        // What they did since the counts were read is read now that they do nothing more.
        let last = self.tracer.counted()?;
        for pid in &ended {
            let rows = last.rows.iter().filter(|row| row.pid == *pid).cloned();
            self.ended.push((*pid, rows.collect()));
            if let Some(ledger) = last.ledgers.get(pid) {
                self.memory.entry(*pid).or_default().0 = *ledger;
            }
            self.seen_calls.retain(|(of, _), _| of != pid);
            self.seen_cpu.remove(pid);
            self.looked.remove(pid);
            self.users.remove(pid);
        }
        while self.ended.len() > self.settings.ended {
            let (pid, rows) = self.ended.remove(0);
            self.processes.remove(&pid);
            self.memory.remove(&pid);
            self.found.remove(&pid);
            for mut row in rows {
                row.pid = ENDED;
                match self.older.get_mut(&row.function) {
                    Some(sum) => sum.add(&row),
                    None => {
                        self.older.insert(row.function, row);
                    }
                }
            }
        }
        self.tracer.forget(&ended)
    }

    /// Forgets processes that are gone and never called anything, and lets go of libraries that nobody has
    /// mapped: an open file keeps a container's file system from being taken away, and the table of
    /// libraries has an end.
    pub(super) fn let_go(&mut self) {
        let waiting = self.waiting.values().flatten();
        let mut known: BTreeSet<u32> = self.users.keys().chain(waiting).copied().collect();
        known.extend(self.seen_cpu.keys().chain(self.found.keys()));
        known.retain(|pid| !self.proc_root.join(pid.to_string()).exists());
        let gone = |pid: &u32| known.contains(pid);
        self.users.retain(|pid, _| !gone(pid));
        // Those with calls are accounted for when what they did is kept.
        let (seen_calls, pid) = (&self.seen_calls, self.pid);
        self.seen_cpu.retain(|of, _| {
            !gone(of) || pid == Some(*of) || seen_calls.keys().any(|(caller, _)| caller == of)
        });
        if self.untraceable.len() > MAX_UNTRACEABLE {
            self.untraceable.clear();
        }
        if self.unopened.len() > MAX_UNTRACEABLE {
            self.unopened.clear();
        }
        let processes = &self.processes;
        self.found
            .retain(|pid, _| !gone(pid) || processes.contains_key(pid));
        self.waiting.retain(|_, processes| {
            processes.retain(|pid| !gone(pid));
            !processes.is_empty()
        });
        // The one process that is asked for may open its library again.
        if self.pid.is_some() {
            return;
        }
        let used: BTreeSet<FileId> = self.users.values().flatten().copied().collect();
        let now = self.started.elapsed();
        let probed: Vec<FileId> = self.tracer.libraries().map(|probed| probed.id()).collect();
        self.unused.retain(|id, _| !used.contains(id));
        for id in probed.into_iter().filter(|id| !used.contains(id)) {
            let since = *self.unused.entry(id).or_insert_with(|| {
                // A child that took it over by fork(2) is only found by reading processes.
                self.scan_again = true;
                now
            });
            let scanned = self.scanned.saturating_duration_since(self.started);
            let is_scanned = scanned > since && self.resume == 0;
            if is_scanned && now.saturating_sub(since) >= LET_GO_AFTER {
                self.unused.remove(&id);
                self.tracer.detach(id);
                // The next poll finds what waits for a place.
                self.scan_again = true;
                for pid in self.waiting.values().flatten() {
                    self.looked.remove(pid);
                }
            }
        }
    }
}
