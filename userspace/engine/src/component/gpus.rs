//! What the component `nvml` judges GPUs by: their NVLink fabric and their InfoROM.

use gtrace_api::HealthState;
use gtrace_devices::{FabricState, GpuInfo, GpuSample};

/// Unhealthy where a GPU is not registered with its NVLink fabric, lacks links of it, or the fabric says that something is wrong: work on it, or
/// over several GPUs, fails or is slow. Degraded where the InfoROM of one is corrupted.
pub fn judge_gpus(gpus: &[GpuInfo]) -> (HealthState, Vec<String>) {
    let fabric = gpus.iter().filter_map(|gpu| {
        let fault = gpu.sample.as_ref()?.fabric.as_ref()?.fault();
        let fault = fault.or_else(|| lacks_links(gpu, gpus))?;
        Some(format!("GPU {}: {fault}", gpu.pci))
    });
    let fabric: Vec<String> = fabric.collect();
    let corrupted = gpus
        .iter()
        .filter(|gpu| gpu.board.inforom_valid == Some(false));
    let corrupted = corrupted.map(|gpu| {
        let pci = gpu.pci;
        format!("GPU {pci}: its InfoROM is corrupted, and what it keeps of faults may be lost: have it written anew")
    });
    let corrupted: Vec<String> = corrupted.collect();
    let state = match (fabric.is_empty(), corrupted.is_empty()) {
        (false, _) => HealthState::Unhealthy,
        (true, false) => HealthState::Degraded,
        (true, true) => HealthState::Healthy,
    };
    (state, [fabric, corrupted].concat())
}

/// All GPUs of a model and a clique are connected with NVSwitches alike. Without NVSwitches a link may be free, as of a card without a bridge, and a
/// link whose state could not be read is not down.
fn lacks_links(gpu: &GpuInfo, gpus: &[GpuInfo]) -> Option<String> {
    let sample = gpu.sample.as_ref()?;
    let (name, active) = (gpu.name.as_ref()?, active_links(sample)?);
    let clique = |of: &GpuSample| {
        let fabric = of.fabric.as_ref();
        fabric.map(|fabric| (fabric.clique, fabric.cluster.clone()))
    };
    let of_model = gpus
        .iter()
        .filter(|other| other.name.as_ref() == Some(name));
    let alike = of_model
        .filter_map(|other| other.sample.as_ref())
        .filter(|other| {
            other.nvlinks.len() == sample.nvlinks.len() && clique(other) == clique(sample)
        });
    let most = alike.filter_map(active_links).max()?;
    (active < most).then(|| {
        format!("{active} of its NVLinks are active, and {most} of another GPU of its model")
    })
}

/// NVLinks to NVSwitches that are up. In MIG mode a GPU may do without.
fn active_links(sample: &GpuSample) -> Option<usize> {
    let fabric = sample.fabric.as_ref()?;
    let in_mig_mode = sample.mig.is_some_and(|mig| mig.enabled);
    if fabric.state != FabricState::Completed || in_mig_mode || sample.nvlinks.is_empty() {
        return None;
    }
    let links: Option<Vec<bool>> = sample.nvlinks.iter().map(|link| link.active).collect();
    Some(links?.into_iter().filter(|active| *active).count())
}

#[cfg(test)]
mod tests {
    use gtrace_devices::{Fabric, MigMode, NvLinkSample};
    use gtrace_event::Timestamp;

    use super::*;

    /// A GPU of an NVSwitch system with so many links up of four.
    fn gpu(pci: &str, active: usize) -> GpuInfo {
        let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
        sample.fabric = Some(Fabric {
            state: FabricState::Completed,
            waiting_s: None,
            status: Some(0),
            clique: Some(1),
            cluster: None,
            faults: Vec::new(),
        });
        let link = |n: usize| NvLinkSample {
            active: Some(n < active),
            ..NvLinkSample::default()
        };
        sample.nvlinks = (0..4).map(link).collect();
        let mut gpu = GpuInfo::at(pci.parse().unwrap());
        gpu.name = Some("NVIDIA B200".to_owned());
        gpu.sample = Some(sample);
        gpu
    }

    fn change(gpu: &mut GpuInfo, with: impl FnOnce(&mut GpuSample)) {
        with(gpu.sample.as_mut().unwrap());
    }

    #[test]
    fn a_gpu_with_fewer_links_to_its_nvswitches_than_another_is_a_fault() {
        let gpus = [gpu("0000:18:00.0", 4), gpu("0000:29:00.0", 0)];
        let (state, reasons) = judge_gpus(&gpus);
        assert_eq!(state, HealthState::Unhealthy);
        let text =
            "GPU 0000:29:00.0: 0 of its NVLinks are active, and 4 of another GPU of its model";
        assert_eq!(reasons, [text]);
        // All have as many, as of a model that uses no more.
        let gpus = [gpu("0000:18:00.0", 3), gpu("0000:29:00.0", 3)];
        assert_eq!(judge_gpus(&gpus), (HealthState::Healthy, Vec::new()));
    }

    #[test]
    fn links_are_not_compared_where_they_may_differ() {
        let whole = gpu("0000:18:00.0", 4);
        let lacks = gpu("0000:29:00.0", 2);
        let healthy = |other: GpuInfo| {
            let (state, reasons) = judge_gpus(&[whole.clone(), other]);
            assert_eq!(state, HealthState::Healthy, "{reasons:?}");
        };
        let mut of_other_model = lacks.clone();
        of_other_model.name = Some("NVIDIA T4".to_owned());
        healthy(of_other_model);
        let mut without_nvswitch = lacks.clone();
        change(&mut without_nvswitch, |sample| sample.fabric = None);
        healthy(without_nvswitch);
        let mut in_mig_mode = lacks.clone();
        change(&mut in_mig_mode, |sample| {
            sample.mig = Some(MigMode {
                enabled: true,
                pending: true,
            });
        });
        healthy(in_mig_mode);
        let mut of_other_clique = lacks.clone();
        change(&mut of_other_clique, |sample| {
            sample.fabric.as_mut().unwrap().clique = Some(2);
        });
        healthy(of_other_clique);
        let mut unnamed = [whole.clone(), lacks.clone()];
        unnamed.iter_mut().for_each(|gpu| gpu.name = None);
        assert_eq!(judge_gpus(&unnamed).0, HealthState::Healthy);
        let mut unread = lacks;
        change(&mut unread, |sample| sample.nvlinks[3].active = None);
        healthy(unread);
    }

    #[test]
    fn a_link_whose_state_could_not_be_read_is_not_down() {
        // NVML did not answer for it, or it sleeps: the sample is without it.
        let mut unread = gpu("0000:29:00.0", 4);
        change(&mut unread, |sample| {
            sample.nvlinks.pop();
        });
        let (state, reasons) = judge_gpus(&[gpu("0000:18:00.0", 4), unread]);
        assert_eq!(state, HealthState::Healthy, "{reasons:?}");
    }
}
