//! Which GPUs there are, on which server, and which of them suit a container.

use std::collections::{BTreeMap, BTreeSet};

use gtrace_grpc::device_plugin::{Device, HEALTHY, ID_MAX, ListAndWatchResponse, UNHEALTHY};
use serde::{Deserialize, Serialize};

/// A GPU, as its server's NVML names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// `GPU-…`.
    pub uuid: String,
    /// The product.
    pub name: String,
}

/// Between the UUID of a GPU and the number of a share of it.
const SLOT: &str = "::";

/// A server and what it said last.
#[derive(Debug)]
struct Server {
    address: String,
    gpus: Vec<Gpu>,
    /// UUIDs of those that it lists and that are not offered.
    left: Vec<String>,
    /// Why it does not answer; nothing if it does.
    trouble: Option<String>,
}

/// All servers.
#[derive(Debug)]
pub(crate) struct Inventory {
    servers: Vec<Server>,
    slots: u32,
}

/// What a container may use: GPUs of one server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) server: String,
    /// UUIDs, each once.
    pub(crate) gpus: Vec<String>,
}

/// Why a container cannot have the devices that the kubelet chose.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ShareError {
    #[error("there is no device {0}: the server that had it does not list it any more")]
    Unknown(String),
    #[error("no device was asked for")]
    None,
    #[error("the server {server} does not answer: {trouble}")]
    Silent { server: String, trouble: String },
    #[error(
        "the devices are on two servers, {0} and {1}, and a program uses one: ask for as many GPUs as one server has free"
    )]
    TwoServers(String, String),
}

impl Inventory {
    /// Nobody was asked yet.
    pub(crate) fn new(servers: &[String], slots: u32) -> Self {
        let server = |address: &String| Server {
            address: address.clone(),
            gpus: Vec::new(),
            left: Vec::new(),
            trouble: Some("it was not asked yet".to_owned()),
        };
        Self {
            servers: servers.iter().map(server).collect(),
            slots: slots.max(1),
        }
    }

    /// Takes what a server answered. Of one that does not answer, the GPUs are kept and cannot be used, until another server
    /// lists them.
    pub(crate) fn update(&mut self, address: &str, answer: Result<Vec<Gpu>, String>) {
        let (mut own, mut others, mut silent) = (None, Vec::new(), Vec::new());
        for server in &mut self.servers {
            if server.address == address {
                own = Some(server);
            } else if server.trouble.is_some() {
                silent.push(server);
            } else {
                others.extend(server.gpus.iter().map(|gpu| gpu.uuid.clone()));
            }
        }
        let Some(server) = own else {
            return;
        };
        let trouble = match answer {
            Ok(gpus) => {
                let named = |gpu: &Gpu| gpu.uuid.len() + SLOT.len() + 10 <= ID_MAX;
                let (kept, left): (Vec<_>, Vec<_>) = gpus
                    .into_iter()
                    .partition(|gpu| named(gpu) && !others.contains(&gpu.uuid));
                if kept != server.gpus {
                    for gpu in &kept {
                        tracing::info!("{address}: {} ({})", gpu.uuid, gpu.name);
                    }
                }
                let left: Vec<String> = left.into_iter().map(|gpu| gpu.uuid).collect();
                for uuid in left.iter().filter(|uuid| !server.left.contains(uuid)) {
                    tracing::warn!(
                        "{address}: {uuid} is not offered: another server has it, or its name is too long"
                    );
                }
                for other in silent {
                    let is_kept = |gpu: &Gpu| kept.iter().any(|it| it.uuid == gpu.uuid);
                    other.gpus.retain(|gpu| !is_kept(gpu));
                }
                server.left = left;
                server.gpus = kept;
                None
            }
            Err(trouble) => Some(trouble),
        };
        if trouble != server.trouble {
            match &trouble {
                Some(trouble) => tracing::warn!("{address} does not answer: {trouble}"),
                None => tracing::info!("{address} answers"),
            }
        }
        server.trouble = trouble;
    }

    /// Everything, for the kubelet.
    pub(crate) fn devices(&self) -> ListAndWatchResponse {
        let device = |server: &Server, gpu: &Gpu, slot: u32| Device {
            id: match self.slots {
                1 => gpu.uuid.clone(),
                _ => format!("{}{SLOT}{slot}", gpu.uuid),
            },
            health: match server.trouble {
                None => HEALTHY.to_owned(),
                Some(_) => UNHEALTHY.to_owned(),
            },
        };
        let of = |server| move |gpu| (0..self.slots).map(move |slot| device(server, gpu, slot));
        let servers = self.servers.iter();
        ListAndWatchResponse {
            devices: servers
                .flat_map(|server| server.gpus.iter().flat_map(of(server)))
                .collect(),
        }
    }

    /// The server that has a device, and the device's GPU.
    fn find(&self, id: &str) -> Option<(&Server, &Gpu)> {
        let uuid = match id.split_once(SLOT) {
            None if self.slots == 1 => id,
            Some((uuid, slot)) if self.slots > 1 => {
                let number: u32 = slot.parse().ok()?;
                (number < self.slots && number.to_string() == slot).then_some(uuid)?
            }
            _ => return None,
        };
        self.servers.iter().find_map(|server| {
            let gpu = server.gpus.iter().find(|gpu| gpu.uuid == uuid)?;
            Some((server, gpu))
        })
    }

    /// What a container with these devices may use.
    pub(crate) fn share(&self, ids: &[String]) -> Result<Share, ShareError> {
        let mut share: Option<Share> = None;
        for id in ids {
            let (server, gpu) = self
                .find(id)
                .ok_or_else(|| ShareError::Unknown(id.clone()))?;
            if let Some(trouble) = &server.trouble {
                return Err(ShareError::Silent {
                    server: server.address.clone(),
                    trouble: trouble.clone(),
                });
            }
            let share = share.get_or_insert_with(|| Share {
                server: server.address.clone(),
                gpus: Vec::new(),
            });
            if share.server != server.address {
                return Err(ShareError::TwoServers(
                    share.server.clone(),
                    server.address.clone(),
                ));
            }
            if !share.gpus.contains(&gpu.uuid) {
                share.gpus.push(gpu.uuid.clone());
            }
        }
        share.ok_or(ShareError::None)
    }

    /// `size` of `available`, `must` among them: of one server, of as many GPUs as there can be, of those that are used least.
    /// Nothing if no server has so many.
    pub(crate) fn preferred(
        &self,
        available: &[String],
        must: &[String],
        size: usize,
    ) -> Vec<String> {
        let wanted = |server: &Server| {
            must.iter().all(|id| {
                self.find(id)
                    .is_some_and(|(has, _)| has.address == server.address)
            })
        };
        let available: BTreeSet<&String> = available
            .iter()
            .filter(|id| !must.contains(id) && self.find(id).is_some())
            .collect();
        let fits = self.servers.iter().filter(|server| wanted(server));
        let choices = fits.filter_map(|server| {
            let mut free: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
            for id in &available {
                if let Some((has, gpu)) = self.find(id)
                    && has.address == server.address
                {
                    free.entry(&gpu.uuid).or_default().push(id);
                }
            }
            let all: usize = free.values().map(Vec::len).sum();
            let mut chosen: Vec<String> = must.to_vec();
            while chosen.len() < size {
                let used = |uuid: &str| {
                    let of = |id: &&String| self.find(id).is_some_and(|(_, gpu)| gpu.uuid == uuid);
                    chosen.iter().filter(of).count()
                };
                // The GPU of which the container has least, then the one of which most is free.
                let (_, slots) = free
                    .iter_mut()
                    .filter(|(_, slots)| !slots.is_empty())
                    .min_by_key(|(uuid, slots)| (used(uuid), usize::MAX - slots.len()))?;
                chosen.push(slots.remove(0).clone());
            }
            let gpus = self.share_size(&chosen);
            Some((gpus, all, chosen))
        });
        let mut best: Option<(usize, usize, Vec<String>)> = None;
        for choice in choices {
            let better =
                |than: &(usize, usize, Vec<String>)| (choice.0, choice.1) > (than.0, than.1);
            if best.as_ref().is_none_or(better) {
                best = Some(choice);
            }
        }
        best.map(|(.., chosen)| chosen).unwrap_or_default()
    }

    /// Of how many GPUs these devices are.
    fn share_size(&self, ids: &[String]) -> usize {
        let mut gpus: Vec<&str> = ids
            .iter()
            .filter_map(|id| Some(self.find(id)?.1.uuid.as_str()))
            .collect();
        gpus.sort_unstable();
        gpus.dedup();
        gpus.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn gpu(name: &str) -> Gpu {
        Gpu {
            uuid: format!("GPU-{name}"),
            name: "H100".to_owned(),
        }
    }

    fn inventory(slots: u32) -> Inventory {
        let mut inventory = Inventory::new(&["a:7471".to_owned(), "b:7471".to_owned()], slots);
        inventory.update("a:7471", Ok(vec![gpu("a0")]));
        inventory.update("b:7471", Ok(vec![gpu("b0"), gpu("b1")]));
        inventory
    }

    fn ids(inventory: &Inventory) -> Vec<String> {
        let devices = inventory.devices().devices;
        devices.into_iter().map(|device| device.id).collect()
    }

    #[test]
    fn a_server_that_is_silent_keeps_its_devices_and_nobody_gets_them() {
        let mut inventory = inventory(1);
        assert_eq!(ids(&inventory), ["GPU-a0", "GPU-b0", "GPU-b1"]);
        inventory.update("b:7471", Err("refused".to_owned()));
        let health: Vec<_> = inventory
            .devices()
            .devices
            .into_iter()
            .map(|d| d.health)
            .collect();
        assert_eq!(health, [HEALTHY, UNHEALTHY, UNHEALTHY]);
        let error = inventory.share(&["GPU-b0".to_owned()]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the server b:7471 does not answer: refused"
        );
        inventory.update("b:7471", Ok(vec![gpu("b1")]));
        assert_eq!(ids(&inventory), ["GPU-a0", "GPU-b1"]);
        assert_eq!(
            inventory.share(&["GPU-b0".to_owned()]),
            Err(ShareError::Unknown("GPU-b0".to_owned()))
        );
    }

    #[test]
    fn a_container_gets_gpus_of_one_server_each_once() {
        let inventory = inventory(2);
        let share = inventory.share(&["GPU-b1::0".into(), "GPU-b1::1".into(), "GPU-b0::1".into()]);
        let share = share.unwrap();
        assert_eq!((share.server.as_str(), share.gpus.len()), ("b:7471", 2));
        let two = inventory.share(&["GPU-a0::0".into(), "GPU-b0::0".into()]);
        assert!(matches!(two, Err(ShareError::TwoServers(..))));
        assert_eq!(inventory.share(&[]), Err(ShareError::None));
    }

    #[test]
    fn one_gpu_that_two_servers_list_is_offered_once() {
        let mut inventory = inventory(1);
        inventory.update("b:7471", Ok(vec![gpu("a0"), gpu("b0")]));
        assert_eq!(ids(&inventory), ["GPU-a0", "GPU-b0"]);
    }

    #[test]
    fn a_gpu_of_a_silent_server_is_that_of_one_that_answers_and_lists_it() {
        let mut inventory = inventory(1);
        let both = || Ok(vec![gpu("b0"), gpu("b1")]);
        inventory.update("a:7471", both());
        assert_eq!(ids(&inventory), ["GPU-b0", "GPU-b1"]);
        assert_eq!(inventory.servers[0].left, ["GPU-b0", "GPU-b1"]);
        inventory.update("b:7471", Err("refused".to_owned()));
        inventory.update("a:7471", both());
        let share = inventory.share(&["GPU-b0".to_owned()]).unwrap();
        assert_eq!(share.server, "a:7471");
        assert!(inventory.servers[0].left.is_empty());
        // Once it is back, they stay where they are.
        inventory.update("b:7471", both());
        assert_eq!(ids(&inventory), ["GPU-b0", "GPU-b1"]);
        assert_eq!(inventory.servers[1].left, ["GPU-b0", "GPU-b1"]);
    }

    #[test]
    fn two_gpus_are_preferred_to_two_shares_of_one() {
        let inventory = inventory(2);
        let all = ids(&inventory);
        let chosen = inventory.preferred(&all, &[], 2);
        assert_eq!(chosen, ["GPU-b0::0", "GPU-b1::0"]);
        let chosen = inventory.preferred(&all, &["GPU-a0::1".to_owned()], 2);
        assert_eq!(chosen, ["GPU-a0::1", "GPU-a0::0"]);
        assert!(inventory.preferred(&all, &[], 5).is_empty());
    }

    proptest! {
        #[test]
        fn whatever_is_preferred_can_be_had(
            slots in 1_u32..4,
            available in proptest::sample::subsequence((0..9).collect::<Vec<usize>>(), 0..9),
            size in 1_usize..5,
        ) {
            let inventory = inventory(slots);
            let all = ids(&inventory);
            let free: Vec<String> = available.iter().filter_map(|i| all.get(*i).cloned()).collect();
            let chosen = inventory.preferred(&free, &[], size);
            if chosen.is_empty() {
                let of = |at: &str| free.iter().filter(|id| id.contains(at)).count();
                prop_assert!(of("GPU-a") < size && of("GPU-b") < size);
            } else {
                prop_assert_eq!(chosen.len(), size);
                prop_assert!(chosen.iter().all(|id| free.contains(id)));
                prop_assert!(inventory.share(&chosen).is_ok());
                let mut once = chosen.clone();
                once.sort();
                once.dedup();
                prop_assert_eq!(once.len(), size);
            }
        }
    }
}
