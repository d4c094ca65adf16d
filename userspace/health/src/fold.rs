//! The state machine: records in, states out.

mod judge;
mod occasions;
mod table;

use std::borrow::Cow;
use std::collections::BTreeMap;

use gtrace_event::{
    Ack, Clearing, Event, HealthNews, HealthReason, HealthRecord, HealthReport, HealthSnapshot,
    HealthState, HealthSubject, Kind, MaintenanceWindow, ReasonStatus, SubjectHealth, SubjectKind,
    Timestamp,
};
use jiff::SignedDuration;

use self::judge::{Shown, judge, overall, shown};
use self::table::Table;
use crate::pattern::code_of;
use crate::reason;
use crate::rules::{Recovery, Rule, Rules, counts};
use crate::subject;

/// The rule of a GPU or NVSwitch that nobody has seen since the host was started.
pub const NOT_SEEN: &str = "not-seen";
/// Two events whose times differ by less from what has passed between them are of a clock that was not set.
const CLOCK_STEP: SignedDuration = SignedDuration::from_secs(1);

/// A part whose health has changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The part as it is now.
    pub now: SubjectHealth,
    /// Its state before.
    pub previous: HealthState,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Fold {
    rules: Rules,
    table: Table,
    boot: Option<String>,
    /// When the boot began, by the wall clock as it was with the newest event.
    began: Option<Timestamp>,
    maintenance: Option<MaintenanceWindow>,
    site: Site,
}

/// The site's rules that hold.
#[derive(Clone, Debug, Default)]
struct Site {
    /// As the records have them.
    text: Option<String>,
    /// Why another version of gtrace wrote rules that this one does not understand.
    refused: Option<String>,
}

/// Parts that something may change, as they were before.
type Touched = BTreeMap<HealthSubject, Option<(Shown, HealthState)>>;

impl Fold {
    /// Nothing known.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            table: Table::default(),
            boot: None,
            began: None,
            maintenance: None,
            site: Site::default(),
        }
    }

    /// The text of the site's rules that hold.
    pub fn site_rules(&self) -> Option<&str> {
        self.site.text.as_deref()
    }

    /// Takes over the site's rules. Ones that are refused, as another version of gtrace may have taken them, leave those
    /// that come with gtrace.
    fn take_rules(&mut self, text: Option<&str>) {
        let rules = match text {
            Some(text) => Rules::with_site("rules of the site", text),
            None => Rules::builtin(),
        };
        let (rules, refused) = match rules {
            Ok(rules) => (Ok(rules), None),
            Err(error) => (Rules::builtin(), Some(error.to_string())),
        };
        if let Ok(rules) = rules {
            self.rules = rules;
        }
        self.site = Site {
            text: text.map(str::to_owned),
            refused,
        };
    }

    /// Takes an event as it is after a record of it: new, or with an amendment applied. Gives the parts that changed.
    pub fn event(&mut self, event: &Event) -> Vec<Change> {
        let mut touched = Touched::new();
        let by_clock = self.by_clock(event);
        let event = &*by_clock;
        let at = event.last_time.unwrap_or(event.time).max(event.time);
        let counts = counts(event);
        let recovery = self.rules.recovery_of(event).cloned();
        let is_fault = counts && recovery.is_none();
        let rule = self.rules.of(event).filter(|_| is_fault).cloned();
        let subjects = match &rule {
            Some(rule) => subject::of(event, rule.part),
            None => Vec::new(),
        };
        // Rules of the site may have made a recovery of what was a fault.
        if self.table.has_event(event.id) {
            self.retract(event, rule.as_ref(), &subjects, &mut touched);
        }
        if let Some(recovery) = recovery.filter(|_| counts) {
            self.recover(&recovery, event, at, &mut touched);
        }
        if let Some(rule) = rule {
            for subject in subjects {
                self.learn(&subject, &rule, event, at, &mut touched);
                self.supersede(&subject, &rule, at);
            }
        }
        self.finish(at, touched)
    }

    /// The event by the wall clock as it stands. Where that was set back in this boot, all that is known moves with it: else what comes
    /// from then on would be taken for older.
    fn by_clock<'a>(&mut self, event: &'a Event) -> Cow<'a, Event> {
        let is_of_boot = event.boot_id.is_some() && event.boot_id == self.boot;
        // What the store writes by itself only a replay sees, and it is made before it is written.
        let says = is_of_boot && event.kind != Kind::RecordsRemoved;
        let since = event.boottime_ns.filter(|_| says);
        let since = since.and_then(|ns| i64::try_from(ns).ok());
        let Some(since) = since.map(SignedDuration::from_nanos) else {
            return Cow::Borrowed(event);
        };
        let Ok(began) = event.time.checked_sub(since) else {
            return Cow::Borrowed(event);
        };
        let known = *self.began.get_or_insert(began);
        let step = began.duration_since(known);
        if step.abs() < CLOCK_STEP {
            return Cow::Borrowed(event);
        }
        if event.revision == 0 {
            self.began = Some(began);
            if began < known {
                self.table.set_back(known, step);
            }
        } else if began > known
            && let Ok(time) = known.checked_add(since)
        {
            // It was published before the clock was set back.
            let mut event = event.clone();
            event.time = time;
            return Cow::Owned(event);
        }
        Cow::Borrowed(event)
    }

    /// Whether `event`, which says how something stands, would change what is known of the parts that it is about: it begins what
    /// no reason of them says, or ends one. Known is also what a person ended in this boot by an acknowledgement, and what has not
    /// happened often enough in it.
    pub fn is_news(&self, event: &Event) -> bool {
        let known = |part| {
            let subjects = subject::of(event, part).into_iter();
            subjects.map(|subject| self.table.get(&subject))
        };
        if let Some(recovery) = self.rules.recovery_of(event) {
            let ends =
                |reason: &HealthReason| recovery.rules.contains(&reason.rule) && !reason.escalated;
            let mut parts = known(recovery.part).flatten();
            return parts.any(|known| known.reasons.iter().any(ends));
        }
        let Some(rule) = self.rules.of(event) else {
            return false;
        };
        let same = |r: &&HealthReason| r.rule == rule.name && r.code == code_of(event);
        let settled = |reason: &HealthReason| {
            let by = reason.cleared.as_ref().map(|cleared| cleared.by);
            let boot = event.boot_id.as_ref();
            (by == Some(Clearing::Acknowledgement) || reason.status == ReasonStatus::Pending)
                && boot.is_some_and(|boot| reason.boots.contains(boot))
        };
        let says = |known: &SubjectHealth| {
            known.reasons.iter().any(|r| same(&r)) || known.past.iter().filter(same).any(settled)
        };
        known(rule.part).any(|known| !known.is_some_and(says))
    }

    /// Takes an acknowledgement.
    pub fn ack(&mut self, ack: &Ack) -> Vec<Change> {
        let mut touched = Touched::new();
        if !self.table.has_event(ack.id) {
            return Vec::new();
        }
        for subject in self.table.subjects() {
            let has = |reason: &HealthReason| {
                reason.status != ReasonStatus::Cleared
                    && reason.events.iter().any(|event| event.id == ack.id)
            };
            if !self.table.any(&subject, has) {
                continue;
            }
            self.touch(&subject, &mut touched);
            let rules = &self.rules;
            self.table.each(&subject, |reason| {
                if !has(reason) {
                    return;
                }
                let rule = rules.named(&reason.rule);
                let ends = rule.is_none_or(|rule| rule.ends_by(Clearing::Acknowledgement));
                match ends || reason.escalated {
                    true => reason::clear(reason, ack.time, Clearing::Acknowledgement),
                    false => reason.acknowledged = Some(ack.time),
                }
            });
        }
        self.finish(ack.time, touched)
    }

    /// Takes a record of health: what was observed, a maintenance window, a snapshot. Of those that follow from others
    /// nothing is taken.
    pub fn record(&mut self, record: &HealthRecord) -> Vec<Change> {
        match &record.news {
            HealthNews::Changed { .. } => Vec::new(),
            HealthNews::Observed { occasion } => self.observe(record.time, occasion),
            HealthNews::Maintenance { window } => {
                self.maintenance = Some(window.clone());
                Vec::new()
            }
            HealthNews::Snapshot { snapshot } => {
                self.restore(snapshot);
                Vec::new()
            }
        }
    }

    /// Begins with all that a snapshot has.
    pub fn restore(&mut self, snapshot: &HealthSnapshot) {
        self.boot.clone_from(&snapshot.boot);
        self.began = snapshot.began;
        self.maintenance.clone_from(&snapshot.maintenance);
        self.table = Table::of(snapshot);
        if self.site.text != snapshot.site_rules {
            self.take_rules(snapshot.site_rules.as_deref());
        }
    }

    /// All that is known.
    pub fn snapshot(&self) -> HealthSnapshot {
        HealthSnapshot {
            boot: self.boot.clone(),
            began: self.began,
            subjects: self.table.all().cloned().collect(),
            maintenance: self.maintenance.clone(),
            dropped: self.table.dropped,
            site_rules: self.site.text.clone(),
        }
    }

    /// The boot that was seen last.
    pub fn boot(&self) -> Option<&str> {
        self.boot.as_deref()
    }

    /// The last maintenance window.
    pub fn maintenance(&self) -> Option<&MaintenanceWindow> {
        self.maintenance.as_ref()
    }

    /// Parts and reasons that found no room.
    pub fn dropped(&self) -> u64 {
        self.table.dropped
    }

    /// The part as it is, if it is known.
    pub fn subject(&self, subject: &HealthSubject) -> Option<&SubjectHealth> {
        self.table.get(subject)
    }

    /// Every part that is known.
    pub fn subjects(&self) -> impl Iterator<Item = &SubjectHealth> {
        self.table.all()
    }

    /// When time alone changes something: a [`gtrace_event::Occasion::Quiet`] is due then.
    pub fn due(&self) -> Option<Timestamp> {
        let reasons = self
            .table
            .all()
            .flat_map(|s| s.reasons.iter().chain(&s.past));
        reasons
            .filter_map(|r| reason::deadline(r, self.rules.named(&r.rule)))
            .min()
    }

    /// The health of the host as of `now`.
    pub fn report(&self, now: Timestamp) -> HealthReport {
        let mut subjects: Vec<SubjectHealth> = self.table.all().cloned().collect();
        for subject in &mut subjects {
            subject.past.clear();
        }
        let host = HealthSubject::host();
        if self.table.get(&host).is_none() {
            let (state, action, confidence) = overall(self.table.all());
            subjects.insert(
                0,
                SubjectHealth {
                    state,
                    action,
                    confidence,
                    ..SubjectHealth::healthy(host, now)
                },
            );
        }
        let (state, action) = subjects
            .first()
            .map_or_else(Default::default, |host| (host.state, host.action));
        HealthReport {
            time: now,
            host: None,
            machine_id: None,
            boot_id: self.boot.clone(),
            state,
            action,
            subjects,
            maintenance: self.maintenance.clone().filter(|window| window.is_on(now)),
            not_checked: self
                .site
                .refused
                .iter()
                .map(|why| format!("rules of the site, without which this is judged: {why}"))
                .collect(),
        }
    }

    fn recover(
        &mut self,
        recovery: &Recovery,
        event: &Event,
        at: Timestamp,
        touched: &mut Touched,
    ) {
        for subject in subject::of(event, recovery.part) {
            // A port's recovery is that of its adapter too.
            let device = subject
                .name
                .split_once('/')
                .map(|(device, _)| HealthSubject::new(subject.part, device));
            for subject in [Some(subject), device].into_iter().flatten() {
                self.touch(&subject, touched);
                let rules = &self.rules;
                self.table.each(&subject, |reason| {
                    let rule = rules.named(&reason.rule);
                    let named = recovery.rules.contains(&reason.rule);
                    let as_by = recovery.as_by.is_some_and(|by| ends(reason, rule, by));
                    // What happened after it is not over by it.
                    if (named || as_by)
                        && reason.status == ReasonStatus::Active
                        && !reason.escalated
                        && reason.last <= at
                    {
                        reason::clear(reason, at, Clearing::Recovery);
                    }
                });
            }
        }
    }

    fn learn(
        &mut self,
        subject: &HealthSubject,
        rule: &Rule,
        event: &Event,
        at: Timestamp,
        touched: &mut Touched,
    ) {
        self.touch(subject, touched);
        let known = self.table.entry(subject, at);
        let Some(known) = known else { return };
        if subject.part == SubjectKind::Gpu
            && let Some(uuid) = event.gpu.as_ref().and_then(|gpu| gpu.uuid.as_ref())
            && known.uuid.is_none()
        {
            known.uuid = Some(uuid.clone());
        }
        if event.kind != Kind::GpuLost {
            // What reports a fault is there.
            self.table.remove(subject, NOT_SEEN);
        }
        let code = code_of(event);
        self.table.learn(subject, rule, code, event);
    }

    /// Ends what other rules of the topic say: it was said before. What only a person ends stays.
    fn supersede(&mut self, subject: &HealthSubject, rule: &Rule, at: Timestamp) {
        if rule.topic.is_none() {
            return;
        }
        let rules = &self.rules;
        self.table.each(subject, |reason| {
            let other = rules.named(&reason.rule);
            let other = other.filter(|other| other.name != rule.name);
            if other.is_some_and(|other| other.topic == rule.topic)
                && reason.status == ReasonStatus::Active
                && !reason.escalated
                && reason.last < at
            {
                reason::clear(reason, at, Clearing::Recovery);
            }
        });
    }

    /// An event is no longer what it was: takes it back where it does not belong any more.
    fn retract(
        &mut self,
        event: &Event,
        rule: Option<&Rule>,
        subjects: &[HealthSubject],
        touched: &mut Touched,
    ) {
        let code = code_of(event);
        let stays = |subject: &HealthSubject, reason: &HealthReason| {
            subjects.contains(subject)
                && reason.code == code
                && rule.is_some_and(|rule| rule.name == reason.rule)
        };
        for subject in self.table.subjects() {
            let wrong = |reason: &HealthReason| {
                reason.events.iter().any(|known| known.id == event.id) && !stays(&subject, reason)
            };
            if !self.table.any(&subject, wrong) {
                continue;
            }
            self.touch(&subject, touched);
            self.table
                .retain(&subject, |r| !wrong(r) || reason::retract(r, event.id));
        }
        self.table.count_events();
    }

    fn touch(&self, subject: &HealthSubject, touched: &mut Touched) {
        if !touched.contains_key(subject) {
            let before = self.table.get(subject).map(|s| (shown(s), s.state));
            touched.insert(subject.clone(), before);
        }
    }

    /// Judges what was touched, and the host by it.
    fn finish(&mut self, at: Timestamp, touched: Touched) -> Vec<Change> {
        let mut changes = Vec::new();
        let host = HealthSubject::host();
        let host_before = match touched.get(&host) {
            Some(before) => before.clone(),
            None => self.table.get(&host).map(|s| (shown(s), s.state)),
        };
        for (subject, before) in &touched {
            let Some(known) = self.table.get_mut(subject) else {
                continue;
            };
            let (state, action, confidence) = judge(known);
            if known.state != state {
                known.since = at;
            }
            (known.state, known.action, known.confidence) = (state, action, confidence);
            if *subject != host {
                changes.extend(change(known, before.as_ref()));
            }
        }
        if touched.is_empty() || self.table.is_empty() {
            return changes;
        }
        let (state, action, confidence) = overall(self.table.all());
        let Some(known) = self.table.entry(&host, at) else {
            return changes;
        };
        if known.state != state || host_before.is_none() {
            known.since = at;
        }
        (known.state, known.action, known.confidence) = (state, action, confidence);
        changes.extend(change(known, host_before.as_ref()));
        changes
    }
}

fn change(known: &SubjectHealth, before: Option<&(Shown, HealthState)>) -> Option<Change> {
    let same = before.is_some_and(|(before, _)| *before == shown(known));
    (!same).then(|| Change {
        now: SubjectHealth {
            past: Vec::new(),
            ..known.clone()
        },
        previous: before.map_or(HealthState::Unknown, |(_, state)| *state),
    })
}

/// Whether `by` ends a reason. One of a rule that there is no more ends with the boot, so that nothing stays for ever;
/// one without an event ends when whoever judged takes it back.
fn ends(reason: &HealthReason, rule: Option<&Rule>, by: Clearing) -> bool {
    match rule {
        Some(rule) => rule.ends_by(by),
        None => by == Clearing::Reboot && !reason.events.is_empty(),
    }
}
