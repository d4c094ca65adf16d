//! Kills for lack of memory. Source: mm/oom_kill.c, Linux 2.6.32 to 6.18.
//!
//! The line `Killed process …` ends a report. Before it may stand `oom-kill:constraint=…` (since
//! 4.19) and, before 5.3, `Out of memory: Kill process … or sacrifice child`.

use gtrace_event::{HostDetail, Kind, Occurrence, Process, Severity};

use crate::group::Group;
use crate::record::{Line, Meta};
use crate::scan;

const MAX_GROUPS: usize = 32;
/// `TASK_COMM_LEN` less the closing zero.
const MAX_COMM: usize = 15;
/// How a line begins where a control group ran out, and not the host.
const IN_CGROUP: &str = "Memory cgroup out of memory";

/// Kills announced and not yet reported.
#[derive(Debug, Default)]
pub(crate) struct State {
    groups: Vec<Open>,
    /// `Task in A killed as a result of limit of B` (before 4.19): A and B, and when it was said.
    limit: Option<(Group, String, String)>,
}

#[derive(Debug)]
struct Open {
    group: Group,
    victim: Victim,
    /// Announced by `Kill process`, so that the victim may be a child of it.
    sacrifice: bool,
}

#[derive(Debug, Default)]
struct Victim {
    pid: Option<u32>,
    comm: Option<String>,
    detail: HostDetail,
}

impl Open {
    fn finish(self) -> Occurrence {
        let mut occurrence = self
            .group
            .into_occurrence(Kind::OomKill, Severity::Critical);
        occurrence.process = Some(Process {
            pid: self.victim.pid,
            comm: self.victim.comm,
            cgroup: self.victim.detail.cgroup.clone(),
            container: None,
        });
        occurrence.detail.host = self.victim.detail;
        occurrence
    }
}

impl State {
    pub(crate) fn oldest(&self) -> Option<u64> {
        self.groups.iter().map(|g| g.group.first()).min()
    }

    pub(crate) fn expire(&mut self, now: &Meta, out: &mut Vec<Occurrence>) {
        let closed = self.groups.extract_if(.., |g| g.group.expired(now));
        out.extend(closed.map(Open::finish));
    }

    pub(crate) fn flush(&mut self, out: &mut Vec<Occurrence>) {
        out.extend(self.groups.drain(..).map(Open::finish));
    }

    /// Takes a line that begins as one of these forms does.
    pub(crate) fn line(&mut self, line: &Line<'_>, out: &mut Vec<Occurrence>) {
        let text = line.text;
        if let Some(rest) = text.strip_prefix("oom-kill:constraint=") {
            if let Some(victim) = constraint(rest) {
                self.announce(line, victim, false, out);
            }
        } else if let Some(rest) = text.strip_prefix("Task in ") {
            if let Some((cgroup, limit)) = rest.split_once(" killed as a result of limit of ") {
                let limit = limit.trim_end().to_owned();
                self.limit = Some((Group::open(line), cgroup.to_owned(), limit));
            }
        } else if let Some(rest) = after_cause(text) {
            if let Some(rest) = rest.strip_prefix("Killed process ") {
                if let Some(mut victim) = killed(rest) {
                    victim.in_cgroup(text.starts_with(IN_CGROUP));
                    self.killed(line, victim, out);
                }
            } else if let Some(rest) = rest.strip_prefix("Kill process ")
                && let Some(mut victim) = announced(rest)
            {
                victim.in_cgroup(text.starts_with(IN_CGROUP));
                self.announce(line, victim, true, out);
            }
        }
    }

    fn announce(
        &mut self,
        line: &Line<'_>,
        victim: Victim,
        sacrifice: bool,
        out: &mut Vec<Occurrence>,
    ) {
        let known = self
            .groups
            .iter()
            .position(|g| g.victim.pid == victim.pid && g.group.accepts(line));
        if let Some(at) = known {
            if let Some(open) = self.groups.get_mut(at)
                && sacrifice
                && !open.sacrifice
            {
                open.group.add(line);
                open.sacrifice = true;
                return;
            }
            out.push(self.groups.remove(at).finish());
        } else if self.groups.len() == MAX_GROUPS {
            out.push(self.groups.remove(0).finish());
        }
        let mut open = Open {
            group: Group::open(line),
            victim,
            sacrifice,
        };
        self.take_limit(line, &mut open.victim);
        self.groups.push(open);
    }

    fn killed(&mut self, line: &Line<'_>, victim: Victim, out: &mut Vec<Occurrence>) {
        let ours = |g: &Open| g.group.accepts(line);
        let known = self
            .groups
            .iter()
            .position(|g| ours(g) && g.victim.pid == victim.pid)
            .or_else(|| self.groups.iter().rposition(|g| ours(g) && g.sacrifice));
        let mut open = match known {
            Some(at) => {
                let mut open = self.groups.remove(at);
                open.group.add(line);
                open
            }
            None => Open {
                group: Group::open(line),
                victim: Victim::default(),
                sacrifice: false,
            },
        };
        let earlier = std::mem::replace(&mut open.victim, victim).detail;
        let detail = &mut open.victim.detail;
        detail.cgroup = earlier.cgroup;
        detail.limit_cgroup = earlier.limit_cgroup;
        // The line that names the constraint is the more exact one.
        detail.constraint = earlier.constraint.or(detail.constraint.take());
        detail.oom_scope = earlier.oom_scope.or(detail.oom_scope.take());
        self.take_limit(line, &mut open.victim);
        out.push(open.finish());
    }

    fn take_limit(&mut self, line: &Line<'_>, victim: &mut Victim) {
        if victim.detail.cgroup.is_none()
            && let Some((origin, cgroup, limit)) = self.limit.take()
            && origin.accepts(line)
            && !origin.expired(&line.meta)
        {
            victim.detail.cgroup = Some(cgroup);
            victim.detail.limit_cgroup = Some(limit).filter(|limit| !limit.is_empty());
            victim.in_cgroup(true);
        }
    }
}

impl Victim {
    /// Notes that a line says that the limit of a control group was reached.
    fn in_cgroup(&mut self, yes: bool) {
        if yes && self.detail.constraint.is_none() {
            self.detail.constraint = Some("CONSTRAINT_MEMCG".to_owned());
            self.detail.oom_scope = scope("CONSTRAINT_MEMCG");
        }
    }
}

/// `cgroup`, `numa` or `host` (`enum oom_constraint`).
fn scope(constraint: &str) -> Option<String> {
    let scope = match constraint {
        "CONSTRAINT_MEMCG" => "cgroup",
        "CONSTRAINT_CPUSET" | "CONSTRAINT_MEMORY_POLICY" => "numa",
        "CONSTRAINT_NONE" => "host",
        _ => return None,
    };
    Some(scope.to_owned())
}

/// Strips `Out of memory: `, `Memory cgroup out of memory: ` and their variants.
fn after_cause(text: &str) -> Option<&str> {
    if text.starts_with("Killed process ") {
        return Some(text);
    }
    let rest = text
        .strip_prefix("Out of memory")
        .or_else(|| text.strip_prefix(IN_CGROUP))?;
    // `Out of memory (oom_kill_allocating_task): `
    let rest = match scan::bracketed(rest.trim_start()) {
        Some((_, rest)) => rest,
        None => rest,
    };
    rest.strip_prefix(": ")
}

/// `CONSTRAINT_MEMCG,nodemask=…,oom_memcg=/a,task_memcg=/a/b,task=name,pid=1,uid=0`
fn constraint(rest: &str) -> Option<Victim> {
    let (kind, _) = rest.split_once(',')?;
    let (head, tail) = rest.rsplit_once(",pid=")?;
    let (pid, _) = scan::number(tail)?;
    let task = head
        .match_indices(",task=")
        .find(|(at, m)| head.len() - at - m.len() <= MAX_COMM)
        .or_else(|| head.rmatch_indices(",task=").next());
    let (head, comm) = match task {
        Some((at, m)) => (head.get(..at)?, head.get(at + m.len()..)?),
        None => (head, ""),
    };
    let limit = scan::after(head, ",oom_memcg=");
    // The path of the limit ends where that of the task begins; a path may have commas.
    let limit = limit.map(|limit| match limit.rsplit_once(",task_memcg=") {
        Some((limit, _)) => limit,
        None => limit,
    });
    let cgroup = scan::after(head, ",task_memcg=").or(limit);
    Some(Victim {
        pid: Some(pid),
        comm: Some(comm.to_owned()).filter(|c| !c.is_empty()),
        detail: HostDetail {
            cgroup: cgroup.filter(|c| !c.is_empty()).map(str::to_owned),
            limit_cgroup: limit.filter(|c| !c.is_empty()).map(str::to_owned),
            constraint: Some(kind.to_owned()),
            oom_scope: scope(kind),
            ..HostDetail::default()
        },
    })
}

/// `123 (name) score 900 or sacrifice child`
fn announced(rest: &str) -> Option<Victim> {
    let (pid, rest) = scan::number(rest)?;
    let (comm, tail) = rest.strip_prefix(" (")?.rsplit_once(") ")?;
    tail.starts_with("score ").then(|| Victim {
        pid: Some(pid),
        comm: Some(comm.to_owned()),
        detail: HostDetail::default(),
    })
}

/// `123 (name) total-vm:1kB, …`, `123 (name), UID 0, total-vm:…`, `123, UID 0, (name) total-vm:…`
fn killed(rest: &str) -> Option<Victim> {
    let (pid, rest) = scan::number(rest)?;
    let (head, sizes) = match rest.find("total-vm:") {
        Some(at) => (rest.get(..at)?, rest.get(at..)?),
        None => (rest, ""),
    };
    let head = head.trim_end().trim_end_matches(',');
    let (_, inner) = head.split_once('(')?;
    let (comm, _) = match inner.rsplit_once("), UID ") {
        Some(parts) => parts,
        None => inner.rsplit_once(')')?,
    };
    Some(Victim {
        pid: Some(pid),
        comm: Some(comm.to_owned()).filter(|c| !c.is_empty()),
        detail: HostDetail {
            total_vm_kib: scan::number_after(sizes, "total-vm:"),
            anon_rss_kib: scan::number_after(sizes, "anon-rss:"),
            oom_score_adj: scan::after(sizes, "oom_score_adj:")
                .and_then(scan::signed)
                .map(|(n, _)| n),
            ..HostDetail::default()
        },
    })
}
