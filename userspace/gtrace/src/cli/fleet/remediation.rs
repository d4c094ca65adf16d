//! `gtrace fleet remediation`: plans that the site's policy makes of faults.

use gtrace_api::client::target;
use gtrace_fleet::remedy::{Mode, Plan, PlanState, StepState};
use gtrace_head::{By, RemediationView};

use super::super::ack::user_name;
use super::super::shared::{self, Exit};
use super::{Asked, failure};
use crate::render;

/// What is done with plans.
#[derive(Clone, Debug, clap::Subcommand)]
pub(super) enum What {
    /// List plans that wait, are carried out, or keep a host out.
    ///
    /// Exit status: 0 nothing needs a person, 1 a plan waits for approval or has failed, or remediation itself does not work; 2 wrong usage,
    /// 3 no head answers, or it refuses to.
    List {
        /// Those that have ended too, and dry ones.
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        asked: Asked,
    },
    /// Show a plan: its steps, why it waits, and what happened.
    Show(One),
    /// Let a plan begin that waits for approval.
    Approve(One),
    /// End a plan that has not begun.
    Refuse(One),
    /// End a plan and take back what it did, as far as that can be.
    Undo(One),
}

/// Which plan.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct One {
    /// Its number.
    plan: i64,
    #[command(flatten)]
    asked: Asked,
}

pub(super) fn run(what: What) -> anyhow::Result<Exit> {
    match what {
        What::List { all, asked } => list(all, &asked),
        What::Show(one) => {
            let path = format!("/fleet/v1/remediation/{}", one.plan);
            let plan = one.asked.get(&path)?;
            show(&plan, &one.asked)
        }
        What::Approve(one) => change(&one, "approve"),
        What::Refuse(one) => change(&one, "refuse"),
        What::Undo(one) => change(&one, "undo"),
    }
}

fn list(all: bool, asked: &Asked) -> anyhow::Result<Exit> {
    let path = target("/fleet/v1/remediation", &[("all", all.to_string())]);
    let found: RemediationView = asked.get_finding(&path)?;
    if !asked.json {
        match (found.mode, &found.problem) {
            (_, Some(problem)) => shared::say(&format!("remediation: {}", render::clean(problem))),
            (None, None) => shared::say(
                "this head has no policy of remediation: `gtrace head --remediation FILE` gives it one",
            ),
            (Some(Mode::Dry), None) => shared::say(
                "the policy is dry: plans are made and nothing is done (`--all` shows them)",
            ),
            (Some(Mode::Act), None) => {}
        }
    }
    shared::show_each(asked.json, &found.plans, line)?;
    for unreadable in &found.unreadable {
        let host = unreadable.host.as_deref().unwrap_or("an unknown host");
        shared::say(&format!(
            "plan {} for {} cannot be read: another version of gtrace wrote it ({})",
            unreadable.id,
            render::clean(host),
            render::clean(&unreadable.why)
        ));
    }
    if found.plans.is_empty() && found.unreadable.is_empty() && !asked.json {
        shared::say("no plans");
    }
    let unplanned = found.unplanned_of_hosts + found.unplanned_of_fleet;
    if unplanned > 0 && !asked.json {
        shared::say(&format!(
            "{unplanned} causes have no plan since the head started: there were as many plans as there may be"
        ));
    }
    let needs_somebody =
        |plan: &Plan| matches!(plan.state, PlanState::Approval | PlanState::Failed);
    let wrong = found.problem.is_some()
        || !found.unreadable.is_empty()
        || found.plans.iter().any(needs_somebody);
    Ok(if wrong { Exit::Problem } else { Exit::Success })
}

fn line(plan: &Plan) -> String {
    let mut text = format!(
        "{:<5} {:<10} {:<20} {:<16} {}{}\n",
        plan.id,
        plan.state,
        plan.host,
        plan.rule,
        render::clean(&plan.cause.text),
        if plan.out { " [out]" } else { "" },
    );
    let last = plan.course.last().map(|line| line.what.as_str());
    let why = plan.waits.as_deref().or(match plan.state {
        PlanState::Failed => last,
        _ => None,
    });
    if let Some(why) = why {
        text += &format!("      {}\n", render::clean(why));
    }
    text
}

fn show(plan: &Plan, asked: &Asked) -> anyhow::Result<Exit> {
    if asked.json {
        shared::print(&shared::json_line(plan)?)?;
        return Ok(Exit::Success);
    }
    let mut text = line(plan);
    for step in &plan.steps {
        let state = match (step.undo, step.state) {
            (StepState::Done, _) => "undone",
            (StepState::Begun | StepState::Acted, _) => "being undone",
            (_, StepState::Pending) => "to do",
            (_, StepState::Begun | StepState::Acted) => "under way",
            (_, StepState::Done) => "done",
            (_, StepState::Failed) => "failed",
            (_, StepState::Skipped) => "not needed",
        };
        text += &format!("      {:<12} {state}", step.step.name());
        if let Some(reported) = &step.reported {
            text += &format!(": {}", render::clean(reported));
        }
        text.push('\n');
    }
    for line in &plan.course {
        text += &format!(
            "  {:.0}  {}: {}\n",
            line.time,
            render::clean(&line.who),
            render::clean(&line.what)
        );
    }
    shared::print(&text)?;
    Ok(Exit::Success)
}

fn change(one: &One, what: &str) -> anyhow::Result<Exit> {
    let path = format!("/fleet/v1/remediation/{}/{what}", one.plan);
    let by = By { by: user_name() };
    let plan: Plan = one.asked.client()?.post(&path, &by).map_err(failure)?;
    shared::show(one.asked.json, &plan, || line(&plan))?;
    Ok(Exit::Success)
}
