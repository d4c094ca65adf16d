//! A plan: what is to be done about one host, how far it is, and who had a part in it.

use gtrace_event::{HealthAction, IncidentId, Timestamp};
use serde::{Deserialize, Serialize};

use super::Step;

/// Lines of a plan's course that are kept, the first and the newest.
const COURSE_MAX: usize = 100;
/// Longest text of a cause, in characters: hosts write it.
const TEXT_MAX: usize = 300;

/// Why a plan was made.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// What it is about: of two plans for the same there is one.
    pub key: String,
    /// In words.
    pub text: String,
    /// The incident; absent where it is the host's health.
    pub incident: Option<IncidentId>,
    /// What the host's health asked for, where it is that.
    pub health: Option<HealthAction>,
    /// PCI address of the GPU, where it is one.
    pub gpu: Option<String>,
}

impl Cause {
    /// What a host wrote of it, as one line of bounded length.
    pub fn text_of(text: &str) -> String {
        let mut text: String = text.chars().take(TEXT_MAX + 1).collect();
        if text.chars().count() > TEXT_MAX {
            text = text.chars().take(TEXT_MAX - 1).collect();
            text.push('…');
        }
        text.replace(char::is_control, " ")
    }

    /// What a plan for an incident of `host` is about.
    pub fn key_of_incident(host: &str, id: &str) -> String {
        format!("incident:{host}:{id}")
    }

    /// What a plan for the health of `host` is about: what it asks for, `since` when.
    pub fn key_of_health(host: &str, action: HealthAction, since: Timestamp) -> String {
        format!("health:{host}:{}:{since}", action.name())
    }
}

gtrace_event::named_enum! {
    /// How far a plan is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum PlanState {
        /// It shows what would be done. It has ended.
        Dry = "dry",
        /// Somebody has to approve it.
        Approval = "approval",
        /// It waits for its turn: limits, preconditions.
        Waiting = "waiting",
        /// Its steps are being done.
        Acting = "acting",
        /// All steps are done; the host has to be well.
        Verifying = "verifying",
        /// What can be undone is being undone, as somebody asked for it.
        Undoing = "undoing",
        /// It was carried out and verified.
        Done = "done",
        /// A step failed. The host stays as it is until somebody has looked.
        Failed = "failed",
        /// Somebody refused it.
        Refused = "refused",
        /// It was undone.
        Undone = "undone",
        /// Its cause was gone before it began.
        Lapsed = "lapsed",
    }
}

impl PlanState {
    /// Whether something may still be done by itself.
    pub fn is_live(self) -> bool {
        self == Self::Approval || self.is_busy()
    }

    /// Whether it takes its host's place: another plan for the host would be in its way. One that nobody has approved does not.
    pub fn is_busy(self) -> bool {
        matches!(
            self,
            Self::Waiting | Self::Acting | Self::Verifying | Self::Undoing
        )
    }
}

/// How far a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It was not begun.
    #[default]
    Pending,
    /// It is recorded that it is done now.
    Begun,
    /// It was done, and its effect is awaited.
    Acted,
    /// Its effect was seen.
    Done,
    /// It failed, or whether it was done is not known.
    Failed,
    /// It was not needed any more.
    Skipped,
}

/// One step of a plan.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// Which.
    pub step: Step,
    /// How far it is.
    pub state: StepState,
    /// How far its undoing is.
    #[serde(default)]
    pub undo: StepState,
    /// When it was begun, or its undoing.
    pub began: Option<Timestamp>,
    /// When it was sent, or its undoing. From then on only its effect shows whether it was done; before, it was not.
    pub sent: Option<Timestamp>,
    /// When its effect was seen.
    pub seen: Option<Timestamp>,
    /// When the host had found out what was known of its health then, by its own clock.
    #[serde(alias = "heard")]
    pub health_time: Option<Timestamp>,
    /// The host's boot before a reboot.
    pub boot: Option<String>,
    /// What came of it.
    #[serde(alias = "said")]
    pub reported: Option<String>,
}

impl PlanStep {
    /// Whether it was begun and never sent: a head ended in between, or it is about to be.
    pub(super) fn is_unsent(&self) -> bool {
        let is_undone = self.undo != StepState::Pending;
        self.state == StepState::Begun && self.sent.is_none() && !is_undone
    }
}

/// Something to do, once the plan that it is of is written down, and claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Number of the plan.
    pub plan: i64,
    /// Version of the plan for which it holds.
    pub version: i64,
    /// The host.
    pub host: String,
    /// Which of the plan's steps.
    pub index: usize,
    /// What it is.
    pub step: Step,
    /// Whether it is to be taken back.
    pub undo: bool,
    /// Why the plan was made.
    pub cause: Cause,
}

/// A line of a plan's course.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Course {
    /// When.
    pub time: Timestamp,
    /// Who: a person as they named themselves, or the rule.
    pub who: String,
    /// What.
    pub what: String,
}

/// What is to be done about one host.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its number.
    pub id: i64,
    /// Counts its changes, but for why it waits. What was decided, or found out, for one version holds for no other.
    #[serde(default)]
    pub version: i64,
    /// The host's name in the fleet.
    pub host: String,
    /// The rule that made it.
    pub rule: String,
    /// Why.
    pub cause: Cause,
    /// How far it is.
    pub state: PlanState,
    /// What is done.
    pub steps: Vec<PlanStep>,
    /// When it was made.
    pub made: Timestamp,
    /// When it changed last.
    pub changed: Timestamp,
    /// When its first step was begun.
    pub began: Option<Timestamp>,
    /// Since when it waits for what the next step needs.
    pub waiting_since: Option<Timestamp>,
    /// Whether it keeps the host out.
    #[serde(default)]
    pub out: bool,
    /// Why it does not go on.
    pub waits: Option<String>,
    /// What happened to it.
    #[serde(default)]
    pub course: Vec<Course>,
}

impl Plan {
    /// A new one.
    pub fn new(
        id: i64,
        host: &str,
        rule: &str,
        cause: Cause,
        steps: &[Step],
        state: PlanState,
        now: Timestamp,
    ) -> Self {
        let step = |step: &Step| PlanStep {
            step: *step,
            state: StepState::Pending,
            undo: StepState::Pending,
            began: None,
            sent: None,
            seen: None,
            health_time: None,
            boot: None,
            reported: None,
        };
        let mut plan = Self {
            id,
            version: 1,
            host: host.to_owned(),
            rule: rule.to_owned(),
            cause,
            state,
            steps: steps.iter().map(step).collect(),
            made: now,
            changed: now,
            began: None,
            waiting_since: None,
            out: false,
            waits: None,
            course: Vec::new(),
        };
        let what = match state {
            PlanState::Dry => "planned; nothing is done, as this is dry",
            PlanState::Approval => "planned; somebody has to approve it",
            _ => "planned",
        };
        plan.note(now, &plan.by_rule(), what);
        plan
    }

    pub(super) fn by_rule(&self) -> String {
        format!("rule {}", self.rule)
    }

    pub(super) fn note(&mut self, now: Timestamp, who: &str, what: &str) {
        self.changed = now;
        self.course.push(Course {
            time: now,
            who: who.to_owned(),
            what: what.to_owned(),
        });
        if self.course.len() > COURSE_MAX {
            self.course.remove(COURSE_MAX / 2);
        }
    }

    /// Counts a change since `before`.
    pub(super) fn count(&mut self, before: &Self) {
        self.version = before.version;
        let mut same = before.clone();
        same.waits.clone_from(&self.waits);
        same.waiting_since = self.waiting_since;
        if *self != same {
            self.version += 1;
        }
    }

    /// What an order says is about to be sent; whether it may be: nobody has changed the plan since it was decided.
    pub fn claim(&mut self, order: &Order, now: Timestamp) -> bool {
        if self.version != order.version {
            return false;
        }
        let before = self.clone();
        let Some(step) = self.steps.get_mut(order.index) else {
            return false;
        };
        let state = if order.undo { step.undo } else { step.state };
        if state != StepState::Begun {
            return false;
        }
        step.sent = Some(now);
        self.count(&before);
        true
    }

    pub(super) fn enter(&mut self, now: Timestamp, who: &str, state: PlanState, what: &str) {
        self.state = state;
        self.waits = None;
        self.waiting_since = None;
        self.note(now, who, what);
    }

    /// Somebody approves it.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn approve(&mut self, who: &str, now: Timestamp) -> Result<(), String> {
        if self.state != PlanState::Approval {
            return Err(format!(
                "plan {} is {}: there is nothing to approve",
                self.id, self.state
            ));
        }
        let before = self.clone();
        self.enter(now, who, PlanState::Waiting, "approved");
        self.count(&before);
        Ok(())
    }

    /// Somebody refuses it.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn refuse(&mut self, who: &str, now: Timestamp) -> Result<(), String> {
        match self.state {
            PlanState::Approval | PlanState::Waiting => {
                let before = self.clone();
                self.enter(now, who, PlanState::Refused, "refused");
                self.count(&before);
                Ok(())
            }
            state if state.is_live() => Err(format!(
                "plan {} has begun; `gtrace fleet remediation undo {}` ends it and takes back what can be",
                self.id, self.id
            )),
            state => Err(format!("plan {} is {state} already", self.id)),
        }
    }

    /// Somebody wants what it did taken back, as far as that can be.
    ///
    /// # Errors
    /// Why it cannot be.
    pub fn undo(&mut self, who: &str, now: Timestamp) -> Result<(), String> {
        let begun = self
            .steps
            .iter()
            .any(|step| !matches!(step.state, StepState::Pending | StepState::Skipped));
        if !begun {
            return Err(format!(
                "plan {} has done nothing; `gtrace fleet remediation refuse {}` ends it",
                self.id, self.id
            ));
        }
        match self.state {
            PlanState::Undoing => Err(format!("plan {} is being undone", self.id)),
            PlanState::Undone => Err(format!("plan {} was undone", self.id)),
            _ => {
                let before = self.clone();
                for step in &mut self.steps {
                    // It was not sent, and is not any more.
                    if step.is_unsent() {
                        step.state = StepState::Pending;
                    }
                    // One that failed is tried anew, as somebody asks for it.
                    if step.undo == StepState::Failed {
                        step.undo = StepState::Pending;
                    }
                }
                self.enter(now, who, PlanState::Undoing, "to be undone");
                self.count(&before);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_an_earlier_head_wrote_is_read() {
        let text = r#"{"step":"reboot","state":"acted","heard":"2026-01-01T00:00:00Z","said":"no answer"}"#;
        let step: PlanStep = serde_json::from_str(text).unwrap();
        assert!(step.health_time.is_some());
        assert_eq!(step.reported.as_deref(), Some("no answer"));
    }
}
