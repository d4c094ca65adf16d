//! The correlator: which incident an event belongs to.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use gtrace_event::{Event, EventId, Incident, IncidentId, IncidentState, StateChange, Timestamp};
use jiff::SignedDuration;

use crate::chain::connects;
use crate::live::{AHEAD, Live};
use crate::member::Member;
use crate::rules::Rules;
use crate::storm::Storms;

/// For so long after it was resolved an incident is known: what is learnt late of its events belongs to it, and a repeat of one
/// opens another, which begins then.
pub const RESOLVED_FOR: SignedDuration = SignedDuration::from_hours(1);
/// Events of which it is known to which incident they belong; more than can still change.
const KNOWN_EVENTS: usize = 8192;

/// How far events may lie apart, and how many are kept.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// An event joins an incident whose newest event is no older than this.
    pub window: Duration,
    /// An incident takes other events for no longer than this after its first.
    pub longest: Duration,
    /// The same fault again belongs to the same incident for so long, while nobody has resolved that.
    pub recurs_within: Duration,
    /// Incidents that may still change. Beyond, the oldest of the largest storm are let go of as they are.
    pub incidents: usize,
    /// Events of the last moments that have opened nothing yet.
    pub recent: usize,
    /// Own faults of so many programs on one GPU within `window` are an incident each; those of all further programs are one.
    pub programs: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            window: Duration::from_secs(60),
            longest: Duration::from_secs(30 * 60),
            recurs_within: Duration::from_secs(24 * 3600),
            incidents: 256,
            recent: 512,
            programs: 4,
        }
    }
}

/// See the module.
#[derive(Debug)]
pub struct Correlator {
    rules: Rules,
    options: Options,
    live: BTreeMap<IncidentId, Live>,
    by_event: HashMap<EventId, IncidentId>,
    /// The events in `by_event` in the order in which they came.
    known: VecDeque<EventId>,
    /// Events that belong to no incident so far, the oldest first.
    recent: VecDeque<Arc<Member>>,
    /// Their ids.
    recent_ids: HashSet<EventId>,
    /// The wall clock at the newest tick.
    now: Option<Timestamp>,
    /// The same when it was last set.
    set: Option<Timestamp>,
}

impl Correlator {
    /// No incidents.
    pub fn new(rules: Rules, options: Options) -> Self {
        Self {
            rules,
            options,
            live: BTreeMap::new(),
            by_event: HashMap::new(),
            known: VecDeque::new(),
            recent: VecDeque::new(),
            recent_ids: HashSet::new(),
            now: None,
            set: None,
        }
    }

    /// Takes an event as it is published, and again whenever more is known of it. Gives the incidents that have changed.
    pub fn ingest(&mut self, event: &Event) -> Vec<Incident> {
        let Some(mut member) = Member::new(event, &self.rules) else {
            return Vec::new();
        };
        if let Some(id) = self.by_event.get(&member.id).copied() {
            let Some(live) = self.live.get_mut(&id) else {
                return Vec::new();
            };
            if !live.is_past(&member, self.now) {
                let changed = live.amend(member, &self.rules);
                let incident = changed.then(|| live.incident.clone());
                return incident.into_iter().collect();
            }
            // For another incident it begins now.
            member.time = member.last_time;
        }
        let home = self.home_of(&member);
        if home.is_none() && !member.opens && !self.has_partner(&member) {
            self.remember(Arc::new(member));
            return Vec::new();
        }
        self.take_recent(member.id);
        let member = Arc::new(member);
        match home {
            Some(id) => self.join(id, member).into_iter().collect(),
            None => self.open(member),
        }
    }

    /// Where an event of the last moments stands: most are the newest.
    fn recent_at(&self, id: EventId) -> Option<usize> {
        let known = self.recent_ids.contains(&id);
        known.then(|| self.recent.iter().rposition(|known| known.id == id))?
    }

    fn take_recent(&mut self, id: EventId) -> Option<Arc<Member>> {
        let at = self.recent_at(id)?;
        self.recent_ids.remove(&id);
        self.recent.remove(at)
    }

    /// The incident that an event belongs to: of those that have something in common with it the one that changed last.
    /// Only where there is none the rules are asked, of each event of each incident. An incident of other programs is the
    /// last choice, and none for a program's own fault, until there are too many.
    fn home_of(&self, member: &Member) -> Option<IncidentId> {
        let may_change = |live: &&Live| {
            let incident = &live.incident;
            incident.drill == member.drill && incident.state != IncidentState::Resolved
        };
        let all = || self.live.values().filter(may_change);
        let shares = |live: &&Live| self.is_near(live, member) && member.keys.share(&live.keys);
        let near = || all().filter(shares);
        let takes = |live: &&Live| member.program.is_none() || !live.is_of_others(member);
        let own = near().filter(takes);
        let own = own.max_by_key(|live| (!live.is_of_others(member), live.last));
        let crowd = || {
            let crowds = near().filter(|live| live.is_of_crowd());
            crowds.max_by_key(|live| live.last)
        };
        let by_rule = |live: &&Live| self.is_caused(live, member) || self.recurs(live, member);
        let found = own.or_else(crowd);
        let found = found.or_else(|| all().filter(by_rule).max_by_key(|live| live.last));
        found.map(|live| live.incident.id)
    }

    /// Whether own faults of as many programs as have an incident each are near `member`, which is one more.
    fn is_one_too_many(&self, member: &Member) -> bool {
        let others = self.live.values().filter(|live| {
            live.incident.drill == member.drill
                && live.incident.state != IncidentState::Resolved
                && live.is_of_others(member)
                && self.is_near(live, member)
                && member.keys.share(&live.keys)
        });
        member.program.is_some() && others.count() >= self.options.programs
    }

    fn is_near(&self, live: &Live, member: &Member) -> bool {
        let window = signed(self.options.window);
        let after = member.time.duration_since(live.last);
        let before = live.first.duration_since(member.time);
        let age = member.time.duration_since(live.first);
        after <= window && before <= window && age <= signed(self.options.longest)
    }

    /// Whether a rule says that one of the incident's events led to this one, or the other way round, though they have
    /// nothing in common but the host, or lie further apart.
    fn is_caused(&self, live: &Live, member: &Member) -> bool {
        if member.causes.is_empty() && member.effects.is_empty() {
            return false;
        }
        let mut members = live.members().iter();
        members.any(|known| self.is_cause_or_effect(known, member))
    }

    fn is_cause_or_effect(&self, one: &Member, other: &Member) -> bool {
        connects(one, other, &self.rules).is_some() || connects(other, one, &self.rules).is_some()
    }

    /// Whether it is the same fault of the same device once more.
    fn recurs(&self, live: &Live, member: &Member) -> bool {
        let since = member.time.duration_since(live.last);
        let age = member.time.duration_since(live.stirred());
        let soon = age <= signed(self.options.recurs_within) && since >= SignedDuration::ZERO;
        soon && member.class == live.incident.class && {
            // Another process has made it again if it is a program of the same name, and not at the same time.
            let others = member.program.is_some() && live.is_of_others(member);
            let again = |known: &Arc<Member>| {
                !others || member.has_name_of(known) && since > signed(self.options.window)
            };
            let same = |known: &Arc<Member>| {
                known.kind == member.kind
                    && again(known)
                    && known.weight == member.weight
                    && known.gpus.first().map(|gpu| gpu.pci)
                        == member.gpus.first().map(|gpu| gpu.pci)
                    && known.keys.iter().any(|key| member.keys.has(key))
            };
            live.members().iter().any(same)
        }
    }

    /// Whether an event of the last moments opens an incident together with `member`.
    fn has_partner(&self, member: &Member) -> bool {
        let rules = self.rules.causes();
        let mut of_member = member.causes.iter().chain(&member.effects);
        if !of_member.any(|at| rules.get(*at).is_some_and(|rule| rule.opens)) {
            return false;
        }
        let opens = |known: &&Arc<Member>| {
            let rule = connects(known, member, &self.rules)
                .or_else(|| connects(member, known, &self.rules));
            rule.is_some_and(|rule| rule.opens)
        };
        self.recent.iter().any(|known| opens(&known))
    }

    fn join(&mut self, id: IncidentId, member: Arc<Member>) -> Option<Incident> {
        let live = self.live.get_mut(&id)?;
        live.join(Arc::clone(&member), &self.rules);
        self.belongs(member.id, id);
        self.gather(id, member)
    }

    /// Takes what came before and belongs to the incident now that `newest` does, as often as that brings more. With the
    /// events before the newest each was compared when it came.
    fn gather(&mut self, id: IncidentId, newest: Arc<Member>) -> Option<Incident> {
        let window = signed(self.options.window);
        let mut new = vec![newest];
        while let Some(newest) = new.last() {
            let live = self.live.get(&id)?;
            let belongs = |known: &Arc<Member>| {
                let before = live.first.duration_since(known.last_time);
                known.drill == live.incident.drill
                    && (before <= window
                        && self.is_near(live, known)
                        && known.keys.share(&live.keys)
                        && (known.program.is_none() || !live.is_of_others(known))
                        || self.is_cause_or_effect(newest, known))
            };
            let Some(at) = self.recent.iter().position(belongs) else {
                new.pop();
                continue;
            };
            let member = self.recent.remove(at)?;
            self.recent_ids.remove(&member.id);
            self.belongs(member.id, id);
            self.live
                .get_mut(&id)?
                .join(Arc::clone(&member), &self.rules);
            new.push(member);
        }
        self.live.get(&id).map(|live| live.incident.clone())
    }

    fn open(&mut self, member: Arc<Member>) -> Vec<Incident> {
        let crowd = self.is_one_too_many(&member);
        let live = Live::open(Arc::clone(&member), crowd, &self.rules);
        let id = live.incident.id;
        self.belongs(member.id, id);
        self.live.insert(id, live);
        let opened = self.gather(id, member).map(|mut incident| {
            // Nobody has seen an earlier one.
            incident.revision = 0;
            incident
        });
        if let (Some(live), Some(incident)) = (self.live.get_mut(&id), &opened) {
            live.incident.revision = incident.revision;
        }
        self.let_go();
        opened.into_iter().collect()
    }

    /// Notes whose event it is, so that what becomes known of it later finds the incident.
    fn belongs(&mut self, event: EventId, id: IncidentId) {
        if self.by_event.insert(event, id).is_none() {
            self.known.push_back(event);
        }
        while self.known.len() > KNOWN_EVENTS {
            let oldest = self.known.pop_front();
            oldest.and_then(|event| self.by_event.remove(&event));
        }
    }

    fn forget(&mut self, id: IncidentId) {
        self.live.remove(&id);
        self.by_event.retain(|_, of| *of != id);
        let by_event = &self.by_event;
        self.known.retain(|event| by_event.contains_key(event));
    }

    fn remember(&mut self, member: Arc<Member>) {
        let oldest = member.time;
        let window = signed(self.options.window) * 5;
        match self.recent_at(member.id) {
            Some(at) => self.recent[at] = member,
            None => {
                self.recent_ids.insert(member.id);
                self.recent.push_back(member);
            }
        }
        while self.recent.len() > self.options.recent
            || self
                .recent
                .front()
                .is_some_and(|first| oldest.duration_since(first.last_time) > window)
        {
            let oldest = self.recent.pop_front();
            oldest.map(|member| self.recent_ids.remove(&member.id));
        }
    }

    /// Lets go of incidents beyond the limit: of what is resolved first, then of the largest storm, and of these of the one to which
    /// nothing has happened for longest.
    fn let_go(&mut self) {
        while self.live.len() > self.options.incidents {
            let storms = Storms::of(self.live.values().map(|live| &live.incident));
            let rank = |live: &&Live| {
                let is_open = live.incident.state != IncidentState::Resolved;
                is_open.then(|| (Reverse(storms.size(&live.incident)), live.last))
            };
            let least = self.live.values().min_by_key(rank);
            let Some(id) = least.map(|live| live.incident.id) else {
                break;
            };
            self.forget(id);
        }
    }

    /// The wall clock was set, and shows `now`. How long it has been quiet is counted from then on: times of before say nothing of it.
    pub fn set_clock(&mut self, now: Timestamp) {
        self.set = Some(now);
    }

    /// Resolves what has been quiet for long enough, by its class, and lets go of what was resolved an hour ago.
    pub fn tick(&mut self, now: Timestamp) -> Vec<Incident> {
        self.now = Some(now);
        let mut changed = Vec::new();
        let mut gone = Vec::new();
        for (id, live) in &mut self.live {
            let is_ahead = |time: Timestamp| time.duration_since(now) > AHEAD;
            if is_ahead(live.last) {
                // The clock was set back, perhaps before a restart, or an event of before that has happened again since the tick before.
                live.last = now;
            }
            let stirred = live.stirred();
            let since = if is_ahead(stirred) {
                live.last
            } else {
                stirred
            };
            let since = self.set.map_or(since, |set| since.max(set));
            let quiet = now.duration_since(since).as_secs();
            let incident = &mut live.incident;
            if incident.state == IncidentState::Resolved {
                let is_over = |at| now.duration_since(at) > RESOLVED_FOR;
                if incident.closed.is_none_or(is_over) {
                    gone.push(*id);
                }
                continue;
            }
            let after = match incident.drill {
                true => Some(self.options.longest.as_secs()),
                false => self.rules.resolves_after_s(incident.class).map(u64::from),
            };
            if let Some(after) =
                after.filter(|after| quiet >= i64::try_from(*after).unwrap_or(i64::MAX))
            {
                incident.change_state(StateChange::new(
                    now,
                    IncidentState::Resolved,
                    "gtrace",
                    format!("nothing more has happened for {} minutes", after / 60),
                ));
                changed.push(incident.clone());
            }
        }
        for id in gone {
            self.forget(id);
        }
        changed
    }

    /// Changes an incident from outside: its state, its evidence; `None` if it is not among those that may change.
    pub fn change(
        &mut self,
        id: IncidentId,
        change: impl FnOnce(&mut Incident),
    ) -> Option<Incident> {
        let live = self.live.get_mut(&id)?;
        change(&mut live.incident);
        Some(live.incident.clone())
    }

    /// Takes up an incident of an earlier run, with those of its events that are known, the earliest first. Gives it as it is
    /// now: with what has happened again since its newest record.
    pub fn adopt(&mut self, incident: Incident, events: &[Event]) -> Incident {
        let live = Live::adopt(incident, events, &self.rules);
        let incident = live.incident.clone();
        for event in &incident.events {
            self.belongs(*event, incident.id);
        }
        self.live.insert(incident.id, live);
        self.let_go();
        incident
    }

    /// The incidents that may still change.
    pub fn incidents(&self) -> impl Iterator<Item = &Incident> {
        self.live.values().map(|live| &live.incident)
    }

    /// Whether the event belongs to an incident.
    pub fn has_event(&self, id: EventId) -> bool {
        self.by_event.contains_key(&id)
    }
}

fn signed(duration: Duration) -> SignedDuration {
    SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX)
}
