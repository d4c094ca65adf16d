//! What is no event and changes health: boots, resets, devices that are found, judgements, time.

use std::collections::BTreeSet;

use gtrace_event::{
    Clearing, HealthAction, HealthReason, HealthState, HealthSubject, Occasion, ReasonStatus,
    SubjectKind, Timestamp,
};

use super::judge::shown;
use super::{Change, Fold, NOT_SEEN, Touched, ends};
use crate::reason;

impl Fold {
    pub(super) fn observe(&mut self, time: Timestamp, occasion: &Occasion) -> Vec<Change> {
        let mut touched = Touched::new();
        match occasion {
            Occasion::Boot { boot } => self.start(time, boot, &mut touched),
            Occasion::DriverReload => {
                self.clear_all(None, time, Clearing::DriverReload, &mut touched);
            }
            Occasion::GpuReset { subject } => {
                self.clear_all(Some(subject), time, Clearing::GpuReset, &mut touched);
            }
            Occasion::Found { subject, uuid } => {
                self.find(time, subject, uuid.as_deref(), &mut touched);
            }
            Occasion::Judged { subject, .. } => {
                self.touch(subject, &mut touched);
                self.judged(time, occasion);
            }
            // The host is what its parts are.
            Occasion::Forgotten { subject } if *subject != HealthSubject::host() => {
                self.touch(subject, &mut touched);
                self.table.forget(subject);
            }
            Occasion::Forgotten { .. } => {}
            Occasion::Quiet => self.quiet(time, &mut touched),
            Occasion::Rules { site } => self.follow_rules(site.as_deref(), &mut touched),
        }
        self.finish(time, touched)
    }

    /// The host was started.
    fn start(&mut self, time: Timestamp, boot: &str, touched: &mut Touched) {
        if self.boot.as_deref() == Some(boot) {
            return;
        }
        self.began = None;
        if self.boot.replace(boot.to_owned()).is_none() {
            // It is learned which boot this is; none has ended.
            return;
        }
        self.clear_all(None, time, Clearing::Reboot, touched);
        for subject in self.table.subjects() {
            if matches!(subject.part, SubjectKind::Gpu | SubjectKind::Nvswitch) {
                self.touch(&subject, touched);
                let text = "nobody has seen it since the host was started";
                let reason = HealthReason::own(
                    NOT_SEEN,
                    HealthState::Unknown,
                    HealthAction::None,
                    text,
                    time,
                );
                self.table.put(&subject, reason, time);
            }
        }
    }

    fn find(
        &mut self,
        time: Timestamp,
        subject: &HealthSubject,
        uuid: Option<&str>,
        touched: &mut Touched,
    ) {
        self.touch(subject, touched);
        let Some(known) = self.table.entry(subject, time) else {
            return;
        };
        let another = known
            .uuid
            .as_deref()
            .zip(uuid)
            .is_some_and(|(old, new)| old != new);
        if let Some(uuid) = uuid {
            known.uuid = Some(uuid.to_owned());
        }
        let rules = &self.rules;
        self.table.each(subject, |reason| {
            let by_rule = rules
                .named(&reason.rule)
                .is_some_and(|rule| rule.ends_by(Clearing::Found));
            let ends = reason.rule == NOT_SEEN || by_rule && !reason.escalated;
            if reason.status == ReasonStatus::Active {
                if another {
                    reason::clear(reason, time, Clearing::Replacement);
                } else if ends {
                    reason::clear(reason, time, Clearing::Found);
                }
            }
        });
        // What was of the other device says nothing of this one.
        if another {
            self.table.forget_past(subject);
        }
    }

    fn judged(&mut self, time: Timestamp, occasion: &Occasion) {
        let Occasion::Judged {
            subject,
            rule,
            state,
            action,
            text,
        } = occasion
        else {
            return;
        };
        if self.table.entry(subject, time).is_none() {
            return;
        }
        match state {
            HealthState::Healthy => self.table.remove(subject, rule),
            state => self.table.put(
                subject,
                HealthReason::own(rule, *state, *action, text, time),
                time,
            ),
        }
    }

    fn quiet(&mut self, time: Timestamp, touched: &mut Touched) {
        let rules = &self.rules;
        let is_due = |reason: &HealthReason| {
            let deadline = reason::deadline(reason, rules.named(&reason.rule));
            deadline.is_some_and(|at| at <= time)
        };
        let due: BTreeSet<HealthSubject> = self
            .table
            .all()
            .filter(|s| s.reasons.iter().chain(&s.past).any(is_due))
            .map(|s| s.subject.clone())
            .collect();
        for subject in due {
            let before = self.table.get(&subject).map(|s| (shown(s), s.state));
            touched.insert(subject.clone(), before);
            self.table.retain(&subject, |reason| {
                if !is_due(reason) {
                    return true;
                }
                let holds = reason.status == ReasonStatus::Active;
                if holds {
                    reason::clear(reason, time, Clearing::Quiet);
                }
                holds
            });
        }
    }

    /// Other rules of the site hold from here on. Each reason is judged anew by the rule of its name; one of a rule that
    /// is gone or switched off goes with it.
    fn follow_rules(&mut self, site: Option<&str>, touched: &mut Touched) {
        self.take_rules(site);
        for subject in self.table.subjects() {
            self.touch(&subject, touched);
            let rules = &self.rules;
            self.table.retain(&subject, |r| {
                let rule = rules.named(&r.rule);
                reason::rejudge(r, rule)
            });
        }
    }

    /// Ends what `by` ends, of one part or of all.
    fn clear_all(
        &mut self,
        only: Option<&HealthSubject>,
        time: Timestamp,
        by: Clearing,
        touched: &mut Touched,
    ) {
        let subjects = match only {
            Some(subject) => vec![subject.clone()],
            None => self.table.subjects(),
        };
        for subject in subjects {
            self.touch(&subject, touched);
            let rules = &self.rules;
            self.table.each(&subject, |reason| {
                let rule = rules.named(&reason.rule);
                if reason.status == ReasonStatus::Active
                    && !reason.escalated
                    && ends(reason, rule, by)
                {
                    reason::clear(reason, time, by);
                }
            });
        }
    }
}
