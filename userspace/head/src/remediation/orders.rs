//! Carries an order out that is no matter of agents.

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
}

impl Permit<'_> {
    /// Whether the next request may be sent. The first one claims the order; after it the plan has to be as it was then.
    fn check(&mut self) -> Result<(), Outcome> {
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
) -> Outcome {
    let database = match Database::open(place) {
        Ok(database) => database,
        Err(error) => return Outcome::Unsure(error.to_string()),
    };
    let mut permit = Permit {
        order,
        database,
        claimed: None,
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
