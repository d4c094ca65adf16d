//! Carries an order out that is no matter of agents.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gtrace_event::Timestamp;
use gtrace_fleet::remedy::{Order, Outcome, Policy, Step};

use super::kubernetes::{Kubernetes, Named};
use super::slurm::Slurm;
use super::{answer_within, ticket};
use crate::db::{Database, Place};

/// Says whether an order may still be carried out.
struct Permit<'a> {
    order: &'a Order,
    database: Database,
    /// Version of the plan once the order was claimed.
    claimed: Option<i64>,
    /// Whether the policy has become dry.
    is_dry: &'a AtomicBool,
}

impl Permit<'_> {
    /// Whether the next request may be sent. The first one claims the order; after it the plan has to be as it was then.
    fn check(&mut self) -> Result<(), Outcome> {
        // An undo that somebody asks for is still done.
        if !self.order.undo && self.is_dry.load(Ordering::Relaxed) {
            return Err(match self.claimed {
                None => Outcome::Withdrawn,
                Some(_) => Outcome::Unsure("the policy is dry".to_owned()),
            });
        }
        let Some(version) = self.claimed else {
            return match self.database.claim(self.order, Timestamp::now()) {
                Ok(Some(version)) => {
                    self.claimed = Some(version);
                    Ok(())
                }
                Ok(None) => Err(Outcome::Withdrawn),
                // Nothing was sent, and if it was noted that it was, its effect shows that.
                Err(error) => Err(Outcome::Unsure(error.to_string())),
            };
        };
        match self.database.is_version(self.order.plan, version) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Outcome::Unsure("the plan was changed meanwhile".to_owned())),
            Err(error) => Err(Outcome::Unsure(error.to_string())),
        }
    }
}

/// Carries it out. `machine`: that of the host.
pub(super) fn carry_out(
    order: &Order,
    policy: &Policy,
    machine: Option<String>,
    place: &Place,
    is_dry: &AtomicBool,
) -> Outcome {
    let database = match Database::open(place) {
        Ok(database) => database,
        Err(error) => return Outcome::Unsure(error.to_string()),
    };
    let mut permit = Permit {
        order,
        database,
        claimed: None,
        is_dry,
    };
    let may = &mut || permit.check();
    let (answer, all) = (
        answer_within(policy),
        Duration::from_secs(policy.order_s().into()),
    );
    let plan = order.plan;
    let host = Named {
        name: order.host.clone(),
        machine,
    };
    let none =
        |what: &str| Outcome::Refused(format!("the policy has no section [{what}] any more"));
    match order.step {
        Step::Cordon | Step::Drain => {
            let api = policy.kubernetes.as_ref();
            match api.map(|service| Kubernetes::new(service, answer, all)) {
                Some(Ok(api)) => match (order.step, order.undo) {
                    (Step::Drain, _) => api.drain(&host, may),
                    (_, false) => api.cordon(&host, plan, may),
                    (_, true) => api.uncordon(&host, plan, may),
                },
                // A file with a token or a certificate cannot be read: it may be being replaced.
                Some(Err(why)) => Outcome::Unsure(why),
                None => none("kubernetes"),
            }
        }
        Step::SlurmDrain => match &policy.slurm {
            Some(access) => {
                let slurm = Slurm::new(access, answer, all);
                match order.undo {
                    false => slurm.drain(&host.name, plan, &order.cause.text, may),
                    true => slurm.resume(&host.name, plan, may),
                }
            }
            None => none("slurm"),
        },
        Step::Ticket => match &policy.webhook {
            Some(webhook) => ticket::post(webhook, order, answer, may),
            None => none("webhook"),
        },
        Step::ResetGpu | Step::Reboot | Step::Return => {
            Outcome::Refused("that is not done by the head".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use gtrace_fleet::remedy::{Cause, Facts, HostFacts};

    use super::*;
    use crate::db::Wish;

    #[test]
    fn a_policy_that_turns_dry_stops_what_is_not_sent() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::File(dir.path().join("fleet.db"));
        let mut db = Database::open(&place).unwrap();
        // Nobody listens there.
        let policy: Policy = serde_json::from_value(serde_json::json!({
            "mode": "act", "answer_s": 1, "max_out_percent": 100, "webhook": { "url": "http://127.0.0.1:1" },
        }))
        .unwrap();
        let wish = Wish {
            host: "a".to_owned(),
            rule: "r".to_owned(),
            cause: Cause::default(),
            steps: vec![Step::Ticket],
            approval: false,
            drill: false,
        };
        let mut turn = |wishes: &[Wish], version| {
            let known = HostFacts {
                version,
                ..HostFacts::default()
            };
            let facts = Facts {
                now: Timestamp::now(),
                hosts: 1,
                out: Default::default(),
                out_unknown: None,
                of: [(1, known)].into(),
            };
            let none = Default::default();
            let turned = db.remediate("o", &policy, wishes, facts, &none, true);
            turned.unwrap().unwrap().orders
        };
        assert_eq!(turn(&[wish], 0), []);
        let order = turn(&[], 1).remove(0);
        let is_dry = AtomicBool::new(true);
        let carry_out = |is_dry: &AtomicBool| carry_out(&order, &policy, None, &place, is_dry);
        assert_eq!(carry_out(&is_dry), Outcome::Withdrawn);
        let sent = || {
            let mut db = Database::open(&place).unwrap();
            db.plan(1).unwrap().unwrap().unwrap().steps[0].sent
        };
        assert_eq!(sent(), None);
        let mut permit = Permit {
            order: &order,
            database: Database::open(&place).unwrap(),
            claimed: None,
            is_dry: &is_dry,
        };
        is_dry.store(false, Ordering::Relaxed);
        assert_eq!(permit.check(), Ok(()));
        // Amid what it is about, as between two evictions.
        is_dry.store(true, Ordering::Relaxed);
        let dry = Outcome::Unsure("the policy is dry".to_owned());
        assert_eq!(permit.check(), Err(dry));
        assert!(sent().is_some());
    }
}
