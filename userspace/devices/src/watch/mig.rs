use gtrace_event::{Kind, Severity};

use super::{Findings, Reading};
use crate::{GpuSample, MigInstance};

/// How the GPU was divided when that was last known for certain.
#[derive(Debug, Default)]
pub(super) struct Division(Option<Known>);

#[derive(Debug)]
struct Known {
    enabled: bool,
    layout: Vec<String>,
    instances: Vec<MigInstance>,
}

impl Division {
    /// Reports that MIG mode was switched, and that there are other instances.
    pub(super) fn observe(&mut self, now: &GpuSample, found: &mut Findings<'_>) {
        let Some(mode) = now.mig else { return };
        let layout = now.mig_layout();
        let before = match self.0.take() {
            Some(before) => before,
            // The first that is certain is nothing that happened.
            None => {
                let certain = !mode.enabled || layout.is_some();
                self.0 = certain.then(|| Known {
                    enabled: mode.enabled,
                    layout: layout.unwrap_or_default(),
                    instances: now.mig_instances.clone(),
                });
                return;
            }
        };
        let old = listed(&before.layout);
        let text = match (before.enabled, mode.enabled, &layout) {
            (false, false, _) => None,
            (false, true, Some(new)) => Some(format!("MIG mode was switched on: {}", listed(new))),
            // Which instances it then has is the next event.
            (false, true, None) => Some("MIG mode was switched on".to_owned()),
            (true, false, _) => Some(format!("MIG mode was switched off, before: {old}")),
            (true, true, None) => {
                self.0 = Some(before);
                return;
            }
            (true, true, Some(new)) if before.layout != *new => Some(format!(
                "the MIG instances are now: {}; before: {old}",
                listed(new)
            )),
            (true, true, Some(new)) => {
                let same = same(&before.instances, &now.mig_instances);
                (!same).then(|| format!("MIG instances were made anew: {}", listed(new)))
            }
        };
        let new = layout.unwrap_or_default();
        if let Some(text) = text {
            let reading = Reading {
                value: Some(f64::from(u8::from(mode.enabled))),
                previous: Some(f64::from(u8::from(before.enabled))),
                ..Reading::of("gtrace_gpu_mig_enabled")
            };
            let event = found.add((Kind::MigLayout, Severity::Info), text, reading, 1);
            let detail = &mut event.detail.mig;
            detail.mig_enabled = Some(mode.enabled);
            detail.mig_instances.clone_from(&new);
            detail.mig_instances_before = before.layout;
        }
        self.0 = Some(Known {
            enabled: mode.enabled,
            layout: new,
            instances: named(&before.instances, &now.mig_instances),
        });
    }
}

/// Whether these are the same instances: one that was made anew may have another UUID.
fn same(before: &[MigInstance], now: &[MigInstance]) -> bool {
    let differs = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
    let mut pairs = before.iter().zip(now);
    pairs.all(|(a, b)| (a.gi, a.ci) == (b.gi, b.ci) && !differs(&a.uuid, &b.uuid))
}

/// Those of `now`; one whose UUID could not be read keeps that of before.
fn named(before: &[MigInstance], now: &[MigInstance]) -> Vec<MigInstance> {
    let mut all = now.to_vec();
    for instance in all.iter_mut().filter(|instance| instance.uuid.is_none()) {
        let mut old = before.iter();
        let old = old.find(|old| (old.gi, old.ci) == (instance.gi, instance.ci));
        instance.uuid = old.and_then(|old| old.uuid.clone());
    }
    all
}

fn listed(profiles: &[String]) -> String {
    match profiles.is_empty() {
        true => "no instances".to_owned(),
        false => profiles.join(" "),
    }
}
