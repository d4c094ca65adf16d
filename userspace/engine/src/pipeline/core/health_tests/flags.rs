//! Flags of NVML that stay set, over restarts of the daemon and resets of the GPU.

use super::*;

fn waits(samples: &mut Samples<'_>, joules: f64) {
    samples.take(|sample| {
        sample.remapped_rows.pending = Some(true);
        sample.power.energy_j = Some(joules);
    });
}

#[test]
fn a_row_that_waits_for_a_reset_is_one_event_over_restarts_and_a_reason_until_a_reset_helps() {
    let world = World::new(tree());
    waits(&mut Samples::new(&world), 10.0);
    assert_eq!(rules(&world), ["remap-pending"]);
    let world = world.restart(tree());
    let mut samples = Samples::new(&world);
    waits(&mut samples, 20.0);
    waits(&mut samples, 30.0);
    assert_eq!(rules(&world), ["remap-pending"]);
    assert_eq!(world.happened(Kind::RowRemap), 1, "it is known");
    // By its energy counter the GPU is reset, and the row still waits.
    waits(&mut samples, 3.0);
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    waits(&mut samples, 30.0);
    assert_eq!(rules(&world), ["remap-pending"]);
}

#[test]
fn a_gpu_whose_worn_out_memory_somebody_has_acknowledged_stays_so_over_a_restart() {
    let wears = |samples: &mut Samples<'_>| {
        samples.take(|sample| {
            sample.ecc.sram = Some(gtrace_devices::SramEcc {
                threshold_exceeded: Some(true),
                ..gtrace_devices::SramEcc::default()
            });
        });
    };
    let world = World::new(tree());
    wears(&mut Samples::new(&world));
    assert_eq!(rules(&world), ["sram-worn-out"]);
    assert_eq!(gpu(&world).action, HealthAction::Replace);
    let mut events = world.stored(None).into_iter();
    let event = events.find(|event| event.kind == Kind::Ecc).unwrap();
    world.acknowledged(&event);
    let world = world.restart(tree());
    wears(&mut Samples::new(&world));
    assert_eq!(gpu(&world).state, HealthState::Healthy);
    assert_eq!(world.happened(Kind::Ecc), 1);
}
