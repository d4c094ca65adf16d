//! What a site wants done about which faults, and within which limits.

use std::net::IpAddr;
use std::path::PathBuf;

use gtrace_event::{FailureClass, HealthAction, Incident, Kind, Severity};
use serde::{Deserialize, Serialize};

use crate::fits_host;

/// Most rules of a policy.
const RULES_MAX: usize = 64;
/// Longest name of a rule.
const NAME_MAX: usize = 64;

gtrace_event::named_enum! {
    /// What may be done about a host: a closed list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Step {
        /// Posts the plan to the site's webhook.
        Ticket = "ticket",
        /// Kubernetes: no new pods on the node.
        Cordon = "cordon",
        /// Kubernetes: evicts the pods of the node, by the eviction API, which respects disruption budgets.
        Drain = "drain",
        /// Slurm: no new jobs on the node; those that run go on.
        SlurmDrain = "slurm_drain",
        /// Resets the GPU, by the agent of the host.
        ResetGpu = "reset_gpu",
        /// Reboots the host, by its agent.
        Reboot = "reboot",
        /// Undoes `cordon` and `slurm_drain`, once the host is well.
        Return = "return",
    }
}

impl Step {
    /// Whether the host does less work, or none, after it.
    pub fn takes_out(self) -> bool {
        !matches!(self, Self::Ticket | Self::Return)
    }

    /// Whether what runs on the host ends by it: it needs a host without jobs, and evidence that is saved.
    pub fn is_disruptive(self) -> bool {
        matches!(self, Self::ResetGpu | Self::Reboot)
    }

    /// Whether it can be undone.
    pub fn has_undo(self) -> bool {
        matches!(self, Self::Cordon | Self::SlurmDrain)
    }

    /// Whether it goes on after an interruption: to evict a pod that is gone does nothing. All others are done once at most.
    pub fn is_resumable(self) -> bool {
        self == Self::Drain
    }

    /// How long it may take, in seconds, with its verification.
    pub fn limit_s(self) -> i64 {
        match self {
            Self::Ticket | Self::Cordon | Self::SlurmDrain => 120,
            Self::Drain => 3600,
            Self::ResetGpu => 600,
            Self::Reboot => 1800,
            Self::Return => 600,
        }
    }
}

/// Whether plans are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Plans are made and shown, and nothing is done.
    #[default]
    Dry,
    /// Plans are carried out.
    Act,
}

/// What a site wants.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// Whether anything is done.
    #[serde(default)]
    pub mode: Mode,
    /// Most hosts that are out at the same time, whoever took them out.
    #[serde(default = "one")]
    pub max_out: u32,
    /// The same in percent of the hosts of the fleet. Both hold.
    #[serde(default = "ten")]
    pub max_out_percent: u32,
    /// Plans that may begin within an hour.
    #[serde(default = "four")]
    pub plans_per_hour: u32,
    /// Hours between the beginnings of two plans for one host.
    #[serde(default = "day")]
    pub again_after_h: u32,
    /// Hours for which a plan that has begun waits for its preconditions before it fails.
    #[serde(default = "day")]
    pub wait_h: u32,
    /// Minutes in which a host has to be well after a reset or a reboot.
    #[serde(default = "half_an_hour")]
    pub verify_minutes: u32,
    /// Milliseconds between two looks at what holds while a plan is live.
    #[serde(default = "two_seconds")]
    pub turn_ms: u32,
    /// Seconds in which Kubernetes, scontrol and the webhook have to answer.
    #[serde(default = "ten")]
    pub answer_s: u32,
    /// The cluster of Kubernetes that the hosts are nodes of.
    #[serde(default)]
    pub kubernetes: Option<Service>,
    /// The cluster of Slurm that they are nodes of.
    #[serde(default)]
    pub slurm: Option<Slurm>,
    /// Where tickets go.
    #[serde(default)]
    pub webhook: Option<Service>,
    /// What is done when. The first that matches decides.
    #[serde(default, rename = "rule")]
    pub rules: Vec<Rule>,
}

/// A service of the site over HTTP.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Its URL: `https://`, or `http://` on loopback.
    pub url: String,
    /// File with a bearer token, read for each request.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// Authorities of its certificate (PEM), instead of the system's.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
}

impl Service {
    /// Whether its URL is one that is asked; `key` is what names it.
    ///
    /// # Errors
    /// Why not, and what is.
    pub fn check(&self, key: &str) -> Result<(), String> {
        let rest = self.url.strip_prefix("http://");
        let host = rest.map(|rest| rest.split(['/', '?']).next().unwrap_or(rest));
        let is_loopback = host.is_some_and(|host| {
            let bare = match host.strip_prefix('[') {
                Some(rest) => rest.split(']').next().unwrap_or(rest),
                None => host.rsplit_once(':').map_or(host, |(name, _)| name),
            };
            bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|a| a.is_loopback())
        });
        let is_https = self
            .url
            .strip_prefix("https://")
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('/'));
        match is_https || is_loopback {
            true if !self.url.contains(['@', ' ']) => Ok(()),
            _ => Err(format!(
                "{key} `{}` is neither https://HOST nor http:// on loopback (without TLS others could read and change it)",
                self.url
            )),
        }
    }
}

/// A cluster of Slurm.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slurm {
    /// Its scontrol.
    #[serde(default = "scontrol")]
    pub scontrol: PathBuf,
    /// Its slurm.conf, where that is not the usual one.
    #[serde(default)]
    pub conf: Option<PathBuf>,
}

fn scontrol() -> PathBuf {
    "/usr/bin/scontrol".into()
}

fn one() -> u32 {
    1
}
fn two_seconds() -> u32 {
    2000
}
fn ten() -> u32 {
    10
}
fn four() -> u32 {
    4
}
fn day() -> u32 {
    24
}
fn half_an_hour() -> u32 {
    30
}
fn yes() -> bool {
    true
}

/// When something is done, and what.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Classes of incidents; any without one.
    #[serde(default)]
    pub class: Vec<FailureClass>,
    /// Kinds of events of the incident, of which it has one; any without one.
    #[serde(default)]
    pub kind: Vec<Kind>,
    /// At least so severe; critical by default.
    #[serde(default = "critical")]
    pub severity: Severity,
    /// What the host's health asks for, instead of an incident.
    #[serde(default)]
    pub health: Vec<HealthAction>,
    /// Hosts: names, patterns (`gpu-*`) and labels (`rack=r7`); all without one.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// What is done, in this order.
    pub steps: Vec<Step>,
    /// Whether a person has to approve each plan.
    #[serde(default = "yes")]
    pub approval: bool,
}

fn critical() -> Severity {
    Severity::Critical
}

impl Rule {
    /// Whether it is about health.
    pub fn is_of_health(&self) -> bool {
        !self.health.is_empty()
    }

    /// Whether it is about this incident, its kinds of events aside.
    pub fn fits_incident(&self, incident: &Incident) -> bool {
        !self.is_of_health()
            && incident.severity >= self.severity
            && (self.class.is_empty() || self.class.contains(&incident.class))
    }

    /// Whether it is about this host.
    pub fn fits_host(
        &self,
        name: &str,
        labels: &std::collections::BTreeMap<String, String>,
    ) -> bool {
        let mut wanted = self.hosts.iter();
        self.hosts.is_empty() || wanted.any(|one| fits_host(one, name, labels))
    }

    fn check(&self) -> Result<(), String> {
        let name_fits = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if self.name.is_empty() || self.name.len() > NAME_MAX || !self.name.chars().all(name_fits) {
            return Err(format!(
                "a name has 1 to {NAME_MAX} letters, digits, `-`, `.` and `_`"
            ));
        }
        if self.is_of_health() && !(self.class.is_empty() && self.kind.is_empty()) {
            return Err(
                "`health` is of hosts, `class` and `kind` are of incidents: make two rules"
                    .to_owned(),
            );
        }
        let mild = [
            HealthAction::None,
            HealthAction::Watch,
            HealthAction::RestartApplication,
        ];
        if let Some(action) = self.health.iter().find(|action| mild.contains(action)) {
            return Err(format!(
                "health `{}` asks for nothing to be done about the host",
                action.name()
            ));
        }
        if self.steps.is_empty() {
            return Err("it has no steps".to_owned());
        }
        for (n, step) in self.steps.iter().enumerate() {
            let before = &self.steps[..n];
            if before.contains(step) {
                return Err(format!("`{step}` is there twice"));
            }
            if before.contains(&Step::Return) && *step != Step::Ticket {
                return Err(format!(
                    "`{step}` follows `return`, after which only `ticket` may come"
                ));
            }
            if *step == Step::Drain && !before.contains(&Step::Cordon) {
                return Err("`drain` needs `cordon` before it: new pods would come".to_owned());
            }
            if *step == Step::Return && !before.iter().any(|step| step.has_undo()) {
                return Err("`return` needs `cordon` or `slurm_drain` before it".to_owned());
            }
        }
        Ok(())
    }
}

impl Policy {
    /// What is wrong with it.
    ///
    /// # Errors
    /// The first mistake, with the name of its rule.
    pub fn check(&self) -> Result<(), String> {
        if self.rules.len() > RULES_MAX {
            return Err(format!(
                "{} rules, the most is {RULES_MAX}",
                self.rules.len()
            ));
        }
        if !(1..=100).contains(&self.max_out_percent) || self.max_out == 0 {
            return Err("max_out is 1 or more, max_out_percent 1 to 100".to_owned());
        }
        if self.plans_per_hour == 0 || self.wait_h == 0 || self.verify_minutes == 0 {
            return Err("plans_per_hour, wait_h and verify_minutes are 1 or more".to_owned());
        }
        if !(20..=10_000).contains(&self.turn_ms) || !(1..=20).contains(&self.answer_s) {
            return Err("turn_ms is 20 to 10000, answer_s 1 to 20".to_owned());
        }
        for (service, name) in [(&self.kubernetes, "kubernetes"), (&self.webhook, "webhook")] {
            if let Some(service) = service {
                service.check(&format!("[{name}] url"))?;
            }
        }
        if let Some(slurm) = &self.slurm
            && !slurm.scontrol.is_absolute()
        {
            return Err("[slurm] scontrol is no absolute path".to_owned());
        }
        for (step, there, section) in [
            (Step::Cordon, self.kubernetes.is_some(), "kubernetes"),
            (Step::SlurmDrain, self.slurm.is_some(), "slurm"),
            (Step::Ticket, self.webhook.is_some(), "webhook"),
        ] {
            if self.uses(step) && !there {
                return Err(format!("step `{step}` needs the section [{section}]"));
            }
        }
        let mut names = std::collections::BTreeSet::new();
        for rule in &self.rules {
            rule.check()
                .map_err(|why| format!("rule `{}`: {why}", rule.name))?;
            let keeps_off: Vec<Step> = [
                (Step::Cordon, self.kubernetes.is_some()),
                (Step::SlurmDrain, self.slurm.is_some()),
            ]
            .into_iter()
            .filter_map(|(step, there)| there.then_some(step))
            .collect();
            let disruptive = rule.steps.iter().position(|step| step.is_disruptive());
            if let Some(n) = disruptive.filter(|_| !keeps_off.is_empty())
                && !rule.steps[..n].iter().any(|step| keeps_off.contains(step))
            {
                let names: Vec<String> = keeps_off.iter().map(|step| format!("`{step}`")).collect();
                return Err(format!(
                    "rule `{}`: `{}` needs {} before it: new jobs would come",
                    rule.name,
                    rule.steps[n],
                    names.join(" or ")
                ));
            }
            if !names.insert(&rule.name) {
                return Err(format!("two rules are called `{}`", rule.name));
            }
        }
        Ok(())
    }

    /// In how many seconds all that one look at a manager asks has to be answered.
    pub fn look_s(&self) -> u32 {
        2 * self.answer_s
    }

    /// In how many seconds what is sent for one order has to be sent.
    pub fn order_s(&self) -> u32 {
        4 * self.answer_s
    }

    /// After so many seconds what was sent for an order, by whichever head, can take effect no more.
    pub(super) fn settled_after_s(&self) -> i64 {
        i64::from(self.order_s() + self.answer_s)
    }

    /// Whether a rule has this step.
    pub fn uses(&self, step: Step) -> bool {
        self.rules.iter().any(|rule| rule.steps.contains(&step))
    }
}
