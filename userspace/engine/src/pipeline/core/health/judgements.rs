//! What the baseline and plugins of the site judge of the host's parts.

use std::collections::BTreeSet;

use gtrace_event::{HealthState, HealthSubject, Occasion, SubjectKind, WitnessName};

use super::State;
use crate::baseline::{self, Judgement};
use crate::checks::{self, Checked, Judged, Looked};

impl State {
    /// What differs from the baseline is a reason until it does so no more, and an event when it is news.
    pub(in crate::pipeline::core) fn judge_baseline(&mut self, judgements: &[Judgement]) {
        if self.must_wait() {
            // Each poll compares again, and this would be news each time.
            return;
        }
        for judgement in judgements {
            let subject = &judgement.subject;
            let text = judgement.text();
            if self.judged(subject, baseline::RULE).1 == text {
                continue;
            }
            let (state, action) = judgement.health();
            if state != HealthState::Healthy {
                self.ingest_one(WitnessName::Gtrace, judgement.occurrence(), 1);
            }
            self.observe_health(Occasion::Judged {
                subject: subject.clone(),
                rule: baseline::RULE.to_owned(),
                state,
                action,
                text,
            });
        }
        self.send_batch();
    }

    /// What a plugin of the site found: reasons until it finds them no more, and an event where the state of a check is news. Of a
    /// plugin that fails nothing is known: what it found of GPUs stands.
    pub(in crate::pipeline::core) fn judge_checks(&mut self, checked: &Checked) {
        if self.must_wait() {
            // Each run finds it again, and this would be news each time.
            return;
        }
        let subject = checked.subject();
        let (checks, failure) = match &checked.outcome {
            Ok(checks) => (checks.as_slice(), None),
            Err(why) => (&[][..], Some(why.as_str())),
        };
        for check in checks {
            let judged = checked.judge(check);
            let (before, text) = self.judged(&judged.subject, &judged.rule);
            // What is well has no reason, whatever it says.
            let same_text = text == judged.text || judged.state == HealthState::Healthy;
            if before == judged.state && same_text {
                continue;
            }
            let news =
                judged.state.is_bad() || before.is_bad() && judged.state == HealthState::Healthy;
            if news && before != judged.state {
                self.ingest_one(WitnessName::Gtrace, checked.occurrence(check), 1);
            }
            self.judge(judged);
        }
        if failure.is_none() && checked.is_complete {
            let named = checks.iter().chain(&checked.of_unknown);
            let named: Vec<Judged> = named.map(|check| checked.judge(check)).collect();
            let known = self.health.fold.subjects().flat_map(|known| {
                let own = known
                    .reasons
                    .iter()
                    .filter(|reason| checked.is_own(&reason.rule));
                own.map(|reason| (known.subject.clone(), reason.rule.clone()))
            });
            let gone: Vec<_> = known
                .filter(|(subject, rule)| {
                    !named
                        .iter()
                        .any(|judged| judged.subject == *subject && judged.rule == *rule)
                })
                .collect();
            for (subject, rule) in gone {
                self.judge(Judged {
                    subject,
                    rule,
                    state: HealthState::Healthy,
                    text: String::new(),
                });
            }
        }
        let runs = Judged {
            subject,
            rule: checked.rule(),
            state: failure.map_or(HealthState::Healthy, |_| HealthState::Unknown),
            text: failure.unwrap_or_default().to_owned(),
        };
        // One that is not known yet becomes a part with its first run.
        let is_new = self.health.fold.subject(&runs.subject).is_none();
        let before = self.judged(&runs.subject, &runs.rule);
        if is_new || before != (runs.state, runs.text.clone()) {
            self.judge(runs);
        }
        self.send_batch();
    }

    /// Which plugins there are. Of one that is not run nothing is known; what is known of one that is not there, also since
    /// before a restart, goes.
    pub(in crate::pipeline::core) fn look_at_plugins(&mut self, looked: &Looked) {
        let mut known = BTreeSet::new();
        for part in self.health.fold.subjects() {
            let own = (part.subject.part == SubjectKind::Component).then_some(&part.subject.name);
            let rules = part.reasons.iter().map(|reason| &reason.rule);
            known.extend(
                own.into_iter()
                    .chain(rules)
                    .filter_map(|name| checks::plugin_of(name)),
            );
        }
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        for name in known {
            let not_run = match &looked.there {
                Err(why) => Some(why),
                Ok(there) if !there.contains(&name) => {
                    self.forget_plugin(&name);
                    continue;
                }
                Ok(_) => looked.refused.get(&name),
            };
            if let Some(why) = not_run {
                self.judge_checks(&Checked::new(&name, Err(why.clone())));
            }
        }
    }

    fn forget_plugin(&mut self, name: &str) {
        let nothing = Checked::new(name, Ok(Vec::new()));
        self.judge_checks(&nothing);
        self.observe_health(Occasion::Forgotten {
            subject: nothing.subject(),
        });
        self.show_health();
        self.send_batch();
    }

    /// How a judgement of this name was last, and why.
    fn judged(&self, subject: &HealthSubject, rule: &str) -> (HealthState, String) {
        let known = self.health.fold.subject(subject);
        let mut reasons = known.iter().flat_map(|known| &known.reasons);
        let before = reasons.find(|reason| reason.rule == rule);
        before.map_or((HealthState::Healthy, String::new()), |reason| {
            (reason.state, reason.text.clone())
        })
    }

    fn judge(&mut self, judged: Judged) {
        let action = judged.action();
        let Judged {
            subject,
            rule,
            state,
            text,
        } = judged;
        self.observe_health(Occasion::Judged {
            subject,
            rule,
            state,
            action,
            text,
        });
    }
}
