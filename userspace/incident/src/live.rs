//! An incident that may still change.

use std::collections::BTreeSet;
use std::sync::Arc;

use gtrace_event::{Event, FailureClass, Incident, IncidentState, Process, Severity, Timestamp};
use jiff::SignedDuration;

use crate::chain::chain;
use crate::member::{Keys, Member};
use crate::rules::Rules;
use crate::title::{CROWD, of_crowd, title};

/// Events that are kept with all that decides about causes.
const MEMBERS: usize = 64;
/// Events that an incident names.
const EVENTS: usize = 256;
/// GPUs, processes, containers and jobs that an incident names.
const AFFECTED: usize = 64;
/// Things that further events may have in common with it.
const KEYS: usize = 512;
/// What happened or was resolved so long after the newest tick was so by a clock that was set back since: ticks come every few seconds.
pub(crate) const AHEAD: SignedDuration = SignedDuration::from_secs(60);

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) incident: Incident,
    /// Its first events.
    members: Vec<Arc<Member>>,
    /// What it has in common with events that belong to it.
    pub(crate) keys: Keys,
    /// The processes whose own faults belong to it.
    programs: BTreeSet<u32>,
    /// It takes the own faults of all further programs of its GPU.
    crowd: bool,
    /// When the first member was seen, by the time of events.
    pub(crate) first: Timestamp,
    pub(crate) last: Timestamp,
    /// Occurrences of events that are no members.
    beyond: u64,
}

impl Live {
    /// An incident of one event; of a `crowd` if it is to take the own faults of further programs too.
    pub(crate) fn open(member: Arc<Member>, crowd: bool, rules: &Rules) -> Self {
        let incident = Incident {
            time: member.last_time,
            last_time: member.last_time,
            drill: member.drill,
            host: member.host.clone(),
            machine_id: member.machine_id.clone(),
            boot_id: member.boot_id.clone(),
            ..Incident::new(member.time, member.class, member.severity)
        };
        let mut live = Self {
            incident,
            members: Vec::new(),
            keys: Keys::default(),
            programs: BTreeSet::new(),
            crowd,
            first: member.time,
            last: member.last_time,
            beyond: 0,
        };
        live.join(member, rules);
        live.incident.revision = 0;
        live
    }

    /// An incident of an earlier run, with those of its events that are known. Its record may be older than theirs.
    pub(crate) fn adopt(mut incident: Incident, events: &[Event], rules: &Rules) -> Self {
        let members: Vec<Arc<Member>> = events
            .iter()
            .filter_map(|event| Member::new(event, rules))
            .take(MEMBERS)
            .map(Arc::new)
            .collect();
        let known: u64 = members.iter().map(|member| member.occurrences).sum();
        let beyond = incident.occurrences.saturating_sub(known);
        if incident.state != IncidentState::Resolved && incident.occurrences < known {
            let last = members.iter().map(|member| member.last_time).max();
            incident.occurrences = known;
            incident.last_time = incident.last_time.max(last.unwrap_or_default());
            incident.time = incident.time.max(incident.last_time);
            incident.revision += 1;
        }
        let keys = members
            .iter()
            .flat_map(|member| member.keys.iter().cloned());
        Self {
            keys: keys.take(KEYS).collect(),
            programs: members.iter().filter_map(|m| m.program).collect(),
            crowd: incident.title.starts_with(CROWD),
            first: incident.opened,
            last: incident.last_time,
            beyond,
            members,
            incident,
        }
    }

    /// When something last happened to it, or a person opened it again.
    pub(crate) fn stirred(&self) -> Timestamp {
        let last = self.incident.history.last();
        let reopened = last.filter(|change| change.state == IncidentState::Open);
        reopened.map_or(self.last, |change| self.last.max(change.time))
    }

    /// Whether it is about own faults of programs, which no fault of the GPU or its driver explains.
    pub(crate) fn is_of_programs(&self) -> bool {
        self.incident.class == FailureClass::Application && !self.programs.is_empty()
    }

    /// Whether it is the incident of many programs.
    pub(crate) fn is_of_crowd(&self) -> bool {
        self.crowd && self.is_of_programs()
    }

    /// Whether it is about programs, and `member` is about none of these.
    pub(crate) fn is_of_others(&self, member: &Member) -> bool {
        let pid = member.process.as_ref().and_then(|process| process.pid);
        let known = pid.is_some_and(|pid| self.programs.contains(&pid));
        self.is_of_programs() && !known && !member.keys.share_job(&self.keys)
    }

    /// Whether it was resolved, and one of its events has happened again since. `now`: when the newest tick was.
    pub(crate) fn is_past(&self, member: &Member, now: Option<Timestamp>) -> bool {
        let is_ahead = |closed: Timestamp| now.is_some_and(|at| closed.duration_since(at) > AHEAD);
        let since = |closed: Timestamp| closed < member.last_time || is_ahead(closed);
        let known = self.members.iter().find(|known| known.id == member.id);
        self.incident.closed.is_some_and(since)
            && known.is_none_or(|known| known.occurrences < member.occurrences)
    }

    /// Its members in the order in which they happened.
    pub(crate) fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    /// One more event belongs to it.
    pub(crate) fn join(&mut self, member: Arc<Member>, rules: &Rules) {
        self.incident.event_count += 1;
        if self.incident.events.len() < EVENTS {
            let at = self
                .members
                .partition_point(|known| known.time <= member.time);
            // Beyond the members, in the order in which they came.
            let at = if at < self.members.len() {
                at
            } else {
                self.incident.events.len()
            };
            self.incident.events.insert(at, member.id);
        }
        self.first = self.first.min(member.time);
        self.touch(&member);
        if self.members.len() >= MEMBERS {
            self.beyond = self.beyond.saturating_add(member.occurrences);
            self.revise(&member);
            return;
        }
        let at = self
            .members
            .partition_point(|known| known.time <= member.time);
        self.members.insert(at, Arc::clone(&member));
        self.conclude(rules);
        self.revise(&member);
    }

    /// More is known of one of its events. False if that changes nothing.
    pub(crate) fn amend(&mut self, mut member: Member, rules: &Rules) -> bool {
        let Some(at) = self.members.iter().position(|known| known.id == member.id) else {
            // One of many: its repeats are not counted one by one, and the incident goes on with them.
            let goes_on = member.last_time > self.last;
            if goes_on {
                self.last = member.last_time;
                self.revise(&member);
            }
            return goes_on;
        };
        let known = &self.members[at];
        let counts_alone = known.keys == member.keys
            && known.severity == member.severity
            && known.title == member.title
            && known.class == member.class
            && known.process == member.process
            && known.advice == member.advice;
        if counts_alone && known.occurrences == member.occurrences {
            return false;
        }
        // An event never begins at another time, but here it may have begun with a repeat.
        member.time = known.time;
        let member = Arc::new(member);
        self.members[at] = Arc::clone(&member);
        self.touch(&member);
        if !counts_alone {
            self.conclude(rules);
        }
        self.revise(&member);
        true
    }

    fn touch(&mut self, member: &Member) {
        self.last = self.last.max(member.last_time);
        if self.programs.len() < KEYS {
            self.programs.extend(member.program);
        }
        for key in member.keys.iter() {
            self.keys.insert(key, KEYS);
        }
        let affected = &mut self.incident.affected;
        for gpu in &member.gpus {
            match affected.gpus.iter_mut().find(|known| known.pci == gpu.pci) {
                Some(known) if known.uuid.is_none() => known.clone_from(gpu),
                Some(_) => {}
                None => add(&mut affected.gpus, gpu.clone()),
            }
        }
        if let Some(process) = member.process.as_ref().filter(|p| p.pid.is_some()) {
            match affected
                .processes
                .iter_mut()
                .find(|known| known.pid == process.pid)
            {
                Some(known) => complete(known, process),
                None => add(&mut affected.processes, process.clone()),
            }
            affected_once(&mut affected.containers, process.container.iter());
        }
        affected_once(&mut affected.jobs, member.jobs.iter());
        affected_once(&mut affected.remote_clients, member.remote_clients.iter());
    }

    /// Class, title, causes and advice of what is known now.
    fn conclude(&mut self, rules: &Rules) {
        let incident = &mut self.incident;
        incident.chain = chain(&self.members, rules);
        let main = self.members.iter().rev().max_by_key(|member| member.weight);
        if let Some(main) = main {
            incident.class = main.class;
            incident.title = match self.crowd && main.class == FailureClass::Application {
                true => of_crowd(main),
                false => title(main, &self.members, &incident.chain),
            };
        }
        let gravest = self
            .members
            .iter()
            .rev()
            .max_by_key(|m| (m.severity, m.weight));
        if let Some(gravest) = gravest {
            incident.severity = gravest.severity;
            incident.advice.clone_from(&gravest.advice);
        }
    }

    fn revise(&mut self, member: &Member) {
        let incident = &mut self.incident;
        incident.severity = incident.severity.max(member.severity.min(Severity::Fatal));
        incident.opened = self.first;
        incident.last_time = self.last;
        incident.time = incident.time.max(self.last);
        let known: u64 = self.members.iter().map(|member| member.occurrences).sum();
        incident.occurrences = self.beyond.saturating_add(known);
        incident.revision += 1;
    }
}

fn add<T>(list: &mut Vec<T>, item: T) {
    if list.len() < AFFECTED {
        list.push(item);
    }
}

fn affected_once<'a>(list: &mut Vec<String>, items: impl Iterator<Item = &'a String>) {
    for item in items {
        if !list.contains(item) {
            add(list, item.clone());
        }
    }
}

fn complete(known: &mut Process, more: &Process) {
    let Process {
        pid: _,
        comm,
        cgroup,
        container,
    } = more;
    for (known, more) in [
        (&mut known.comm, comm),
        (&mut known.cgroup, cgroup),
        (&mut known.container, container),
    ] {
        if known.is_none() {
            known.clone_from(more);
        }
    }
}
