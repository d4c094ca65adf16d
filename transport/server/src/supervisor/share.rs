//! What a client gets of the server: what everybody gets, or less by its credential.

use gtrace_tls::GpuShare;

use super::status::Device;
use crate::options::{Limits, Options};

/// The part of a client.
#[derive(Debug)]
pub(super) struct Share {
    pub(super) limits: Limits,
    /// Devices that NVML shows.
    pub(super) permitted: Vec<Device>,
    /// Variables of its worker in addition to the supervisor's own.
    pub(super) environment: Vec<(String, String)>,
}

/// The part of somebody who is given `given`; `devices` are those that the server gives.
///
/// # Errors
///
/// None of the devices that it is given is there.
pub(super) fn of(
    given: Option<&GpuShare>,
    options: &Options,
    devices: &[Device],
) -> Result<Share, String> {
    let mut share = Share {
        limits: options.limits.clone(),
        permitted: devices.to_vec(),
        environment: options.environment.clone(),
    };
    let Some(given) = given else {
        share.show_devices();
        return Ok(share);
    };
    let memory = [share.limits.max_memory, given.memory()];
    share.limits.max_memory = memory.into_iter().flatten().min();
    if let Some(gpus) = &given.gpus {
        // As the server names them to CUDA: by its own list, or by their numbers.
        let names: Vec<String> = match &options.limits.gpus {
            Some(list) => list.split(',').map(|name| name.trim().to_owned()).collect(),
            None => (0..devices.len())
                .map(|number| number.to_string())
                .collect(),
        };
        let wanted = |name: &str| match name.parse::<usize>() {
            Ok(number) => Some(number),
            Err(_) => devices
                .iter()
                .position(|device| name.len() > 4 && device.uuid.starts_with(name)),
        };
        let mut places: Vec<usize> = gpus
            .split(',')
            .filter_map(|name| wanted(name.trim()))
            .collect();
        places.retain(|place| *place < devices.len() && *place < names.len());
        places.dedup();
        if places.is_empty() {
            return Err(format!(
                "none of the devices `{gpus}` of this credential is served here"
            ));
        }
        share.permitted = places
            .iter()
            .filter_map(|place| devices.get(*place).cloned())
            .collect();
        let names: Vec<&str> = places
            .iter()
            .filter_map(|place| Some(names.get(*place)?.as_str()))
            .collect();
        share.limits.gpus = Some(names.join(","));
    }
    share.show_devices();
    Ok(share)
}

impl Share {
    fn show_devices(&mut self) {
        if let Some(gpus) = &self.limits.gpus {
            self.environment
                .push(("CUDA_VISIBLE_DEVICES".into(), gpus.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_gets_less_than_all_and_never_more() {
        let devices: Vec<Device> = ["GPU-aaaa", "GPU-bbbb", "GPU-cccc"]
            .iter()
            .map(|uuid| Device {
                uuid: (*uuid).into(),
                ..Device::default()
            })
            .collect();
        let mut options = Options::default();
        options.limits.max_memory = Some(1 << 30);
        let of = |gpus: &str, memory: &str, options: &Options| {
            let given = GpuShare {
                gpus: Some(gpus.into()),
                max_memory: Some(memory.into()),
                max_clients: None,
            };
            super::of(Some(&given), options, &devices)
        };
        let share = of("2, GPU-aaaa", "512M", &options).unwrap();
        assert_eq!(share.limits.max_memory, Some(512 << 20));
        assert_eq!(
            share.environment,
            [("CUDA_VISIBLE_DEVICES".into(), "2,0".into())]
        );
        assert_eq!(share.permitted[0].uuid, "GPU-cccc");
        // Numbers are those of what the server gives.
        options.limits.gpus = Some("5,7,GPU-cccc".into());
        let share = of("1", "4G", &options).unwrap();
        assert_eq!(share.limits.max_memory, Some(1 << 30));
        assert_eq!(share.environment[0].1, "7");
        for none in ["3", "GPU-dddd", "", "GPU-"] {
            assert!(of(none, "1G", &options).is_err(), "{none}");
        }
        let all = super::of(None, &options, &devices).unwrap();
        assert_eq!(
            (all.permitted.len(), all.environment[0].1.as_str()),
            (3, "5,7,GPU-cccc")
        );
    }
}
