//! Rules of health of the site: their file is read again when it changes, and the core takes them over.

use std::time::Duration;

use gtrace_api::{ComponentHealth, SourceState};

use super::{About, Component, Context, Snapshot, show, start_unless_off};
use crate::health_rules;
use crate::hub::Command as HubCommand;
use crate::site_file::Changes;
use crate::supervise::{Task, names};

/// Name of the component.
pub const NAME: &str = "health_rules";
/// Between looks at the file.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A reader that hangs, as on a network file system, is replaced after this.
const SILENCE: Duration = Duration::from_secs(60);
/// The core gets them again every so many looks: it may have had no room for a record.
const ACKNOWLEDGE_EVERY: u32 = 12;

/// The component.
#[derive(Clone, Copy, Debug)]
pub struct HealthRules;

impl Component for HealthRules {
    fn about(&self) -> About {
        About {
            name: NAME,
            gives: "rules of health of the site, beside those that come with gtrace",
            needs: "the file that `health_rules` names",
            remedy: "`gtrace config check` says what is wrong with the file; docs/health.md explains it",
            task: names::RULES,
        }
    }

    fn supported(&self, context: &Context) -> Result<(), String> {
        match health_rules::load(&context.health_rules) {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(absent(context)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn start(&self, context: &Context) -> std::io::Result<()> {
        let task = Task::optional(names::RULES, SILENCE);
        start_unless_off(context, NAME, task, |context, pulse| {
            let mut changes = Changes::new(context.health_rules.clone());
            let (mut looks, mut sent) = (0_u32, None);
            while !pulse.is_stopping() {
                let again = looks.is_multiple_of(ACKNOWLEDGE_EVERY);
                // One that was refused may be readable by now.
                if changes.settled() || again && sent.is_none() {
                    sent = follow(context);
                } else if again && let Some(text) = &sent {
                    send(context, text.clone());
                }
                looks = looks.wrapping_add(1);
                pulse.wait_for_next(LOOK_EVERY);
            }
        })
    }

    fn check(&self, context: &Context, _now: &Snapshot) -> ComponentHealth {
        context.rules_read.judge("the file was not read yet")
    }
}

fn absent(context: &Context) -> String {
    format!("there is no {}", context.health_rules.display())
}

fn send(context: &Context, text: Option<String>) {
    // The core ends after everything that sends it something.
    let _ = context.hub.command(HubCommand::SiteRules(text));
}

/// Reads the file, and has the core take its rules over; gives what was sent. What is refused leaves those that hold.
fn follow(context: &Context) -> Option<Option<String>> {
    let (hub, kept) = (&context.hub, &context.rules_read);
    let mut sent = None;
    let (state, reason) = match health_rules::load(&context.health_rules) {
        Ok(text) => {
            let state = match &text {
                Some(_) => (SourceState::Active, None),
                None => (SourceState::Absent, Some(absent(context))),
            };
            kept.set(None);
            send(context, text.clone());
            sent = Some(text);
            state
        }
        Err(error) => {
            let text = error.to_string();
            if kept.set([format!("the rules before hold: {text}")]) {
                tracing::warn!("{text}");
            }
            (SourceState::Degraded, Some(text))
        }
    };
    show(hub, NAME, state, reason);
    sent
}

#[cfg(test)]
mod tests {
    use gtrace_api::HealthState;

    use super::*;
    use crate::hub::Hub;

    #[test]
    fn a_file_that_is_refused_leaves_the_rules_before_and_one_that_goes_takes_them_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("health-rules.toml");
        let (hub, mut commands) = Hub::new(crate::hub::bare_status());
        hub.update_status(|status| status.sources = crate::component::initial());
        let mut context = Context::bare(hub);
        context.health_rules.clone_from(&path);
        let good = "[[rule]]\nname = \"off-the-bus\"\naction = \"drain\"\n";
        let mut sent = |context: &Context| {
            follow(context);
            let state = context.checked(NAME).state;
            let sent = std::iter::from_fn(|| commands.try_recv().ok());
            let sent = sent.filter_map(|command| match command {
                HubCommand::SiteRules(text) => Some(text),
                _ => None,
            });
            let sent: Vec<_> = sent.collect();
            (sent, state)
        };
        assert_eq!(sent(&context), (vec![None], HealthState::Unknown));
        std::fs::write(&path, good).unwrap();
        let took = sent(&context);
        assert_eq!(took, (vec![Some(good.to_owned())], HealthState::Healthy));
        std::fs::write(
            &path,
            "[[rule]]\nname = \"off-the-bus\"\naction = \"shout\"\n",
        )
        .unwrap();
        assert_eq!(sent(&context), (Vec::new(), HealthState::Degraded));
        let why = &context.hub.health(NAME).unwrap().reasons[0];
        assert!(
            why.contains("line 3") && why.contains("shout") && why.contains("remedy"),
            "{why}"
        );
        std::fs::remove_file(&path).unwrap();
        assert_eq!(sent(&context), (vec![None], HealthState::Unknown));
    }
}
