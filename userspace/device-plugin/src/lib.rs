//! A device plugin of Kubernetes that offers GPUs of other hosts: a pod asks for `gtrace.dev/remote-gpu` as for any device, and
//! its containers find a `libcuda.so.1` and the address of a server of `gtrace serve`.
//!
//! [`run`] asks each server for its GPUs, reports to the kubelet which there are and which can be used, and says what a container
//! that gets one is started with.
#![forbid(unsafe_code)]

mod answers;
mod inventory;
mod list;
mod registration;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use gtrace_grpc::device_plugin::Mount;
use gtrace_grpc::{CallError, frame};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;

pub use self::answers::Plugin;
pub use self::inventory::Gpu;
pub use self::list::{Lister, child_main};

use self::inventory::Inventory;

/// What is offered, and where.
#[derive(Clone, Debug)]
pub struct Options {
    /// Addresses of servers, as `GTRACE_REMOTE` takes them.
    pub servers: Vec<String>,
    /// How many containers share each GPU.
    pub slots: u32,
    /// What pods ask for: `gtrace.dev/remote-gpu`.
    pub resource: String,
    /// The kubelet's folder of sockets.
    pub folder: PathBuf,
    /// Time between two looks at the servers.
    pub interval: Duration,
    /// Asks a server for its GPUs.
    pub lister: Lister,
    /// What each container gets beside the address of its server and its devices.
    pub container: Container,
}

/// What each container is started with, whatever its devices are.
#[derive(Clone, Debug, Default)]
pub struct Container {
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// What of the host it sees.
    pub mounts: Vec<Mount>,
}

/// Why devices can no longer be offered.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// No socket can be made for the kubelet.
    #[error("{path} cannot be made: {cause}; is there a kubelet on this host?", path = path.display())]
    Socket {
        /// The socket.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The kubelet does not take the plugin.
    #[error("the kubelet refuses {resource}: {cause}")]
    Refused {
        /// The resource.
        resource: String,
        /// In its words.
        cause: CallError,
    },
}

/// The socket of this plugin: the last part of the resource's name, as far as a path has room for it, and a sum of the whole
/// name (FNV-1a), so that several plugins have several.
fn endpoint(resource: &str) -> String {
    let name = resource.rsplit('/').next().unwrap_or(resource);
    let name: String = name.chars().take(40).collect();
    let sum = resource.bytes().fold(0x811c_9dc5_u32, |sum, byte| {
        (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    });
    format!("gtrace-{name}-{sum:08x}.sock")
}

/// Offers GPUs until it is dropped. The socket is removed then.
///
/// # Errors
///
/// If there is no place for the socket, or the kubelet refuses.
pub async fn run(options: Options) -> Result<Infallible, PluginError> {
    let inventory = Inventory::new(&options.servers, options.slots);
    let (changed, devices) = watch::channel(frame(&inventory.devices()));
    let inventory = Arc::new(Mutex::new(inventory));
    let watched = Arc::new(AtomicBool::new(false));
    let answers = Arc::new(Plugin {
        inventory: Arc::clone(&inventory),
        devices,
        container: options.container.clone(),
        watched: Arc::clone(&watched),
    });
    let own = options.folder.join(endpoint(&options.resource));
    let _removed = registration::Socket(own.clone());
    let asked = Notify::new();
    // A kubelet that learns of no device gives the pods up that have them: it learns of devices once the servers were asked.
    let offer = async {
        let _ = tokio::time::timeout(list::DEADLINE, asked.notified()).await;
        let resource = &options.resource;
        registration::offer(&options.folder, &own, resource, answers, &changed, &watched).await
    };
    tokio::select! {
        never = look(&options, &inventory, &changed, &asked) => match never {},
        ended = offer => ended,
    }
}

/// Asks the servers again and again. `asked_all`: after each round.
async fn look(
    options: &Options,
    inventory: &Mutex<Inventory>,
    changed: &watch::Sender<Bytes>,
    asked_all: &Notify,
) -> Infallible {
    loop {
        let mut asked = JoinSet::new();
        for server in &options.servers {
            let (lister, server) = (options.lister.clone(), server.clone());
            asked.spawn(async move {
                let gpus = lister.list(server.clone()).await;
                (server, gpus)
            });
        }
        while let Some(answered) = asked.join_next().await {
            // A task that panicked has no answer: the next look asks again.
            let Ok((server, gpus)) = answered else {
                continue;
            };
            let mut inventory = inventory.lock().unwrap_or_else(PoisonError::into_inner);
            inventory.update(&server, gpus);
            let devices = frame(&inventory.devices());
            drop(inventory);
            changed.send_if_modified(|before| {
                let differs = *before != devices;
                *before = devices;
                differs
            });
        }
        asked_all.notify_one();
        tokio::time::sleep(options.interval).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_of_one_last_part_have_sockets_of_their_own_that_fit_a_path() {
        let name = "x".repeat(63);
        let [one, other] =
            ["a.example", "b.example"].map(|domain| endpoint(&format!("{domain}/{name}")));
        assert_ne!(one, other);
        let longest = std::path::Path::new(gtrace_grpc::device_plugin::FOLDER).join(one);
        assert!(longest.as_os_str().len() < 108, "{}", longest.display());
    }
}
