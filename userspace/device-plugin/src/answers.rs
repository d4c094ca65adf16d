//! What the kubelet is answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use gtrace_grpc::device_plugin::{
    ALLOCATE, AllocateRequest, AllocateResponse, ContainerAllocateResponse,
    ContainerPreferredResponse, Empty, LIST_AND_WATCH, OPTIONS, Options, PRE_START, PREFERRED,
    PreferredRequest, PreferredResponse,
};
use gtrace_grpc::server::{Reply, Service, code};
use gtrace_grpc::{frame, parse};
use prost::Message;
use tokio::sync::watch;

use crate::Container;
use crate::inventory::{Gpu, Inventory, Share, ShareError};

/// What this plugin implements.
pub(crate) const IMPLEMENTED: Options = Options {
    pre_start_required: false,
    preferred_allocation: true,
};

/// Answers the kubelet.
pub struct Plugin {
    pub(crate) inventory: Arc<Mutex<Inventory>>,
    /// The list of devices, as it is sent.
    pub(crate) devices: watch::Receiver<Bytes>,
    pub(crate) container: Container,
    /// Set by a call of ListAndWatch.
    pub(crate) watched: Arc<AtomicBool>,
}

impl Plugin {
    /// One whose servers have answered with these GPUs, and are not asked again: for tests of the answers alone.
    pub fn with_gpus(servers: &[(&str, &[&str])], slots: u32) -> Self {
        let addresses: Vec<String> = servers.iter().map(|(at, _)| (*at).to_owned()).collect();
        let mut inventory = Inventory::new(&addresses, slots);
        for (address, gpus) in servers {
            let gpu = |uuid: &&str| Gpu {
                uuid: (*uuid).to_owned(),
                name: String::new(),
            };
            inventory.update(address, Ok(gpus.iter().map(gpu).collect()));
        }
        let (_, devices) = watch::channel(frame(&inventory.devices()));
        Self {
            inventory: Arc::new(Mutex::new(inventory)),
            devices,
            container: Container::default(),
            watched: Arc::default(),
        }
    }
}

impl Service for Plugin {
    fn call(&self, method: &str, question: &[u8]) -> Reply {
        match method {
            OPTIONS => Reply::Message(frame(&IMPLEMENTED)),
            LIST_AND_WATCH => {
                let devices = self.devices.clone();
                self.watched.store(true, Ordering::Release);
                Reply::Stream(devices)
            }
            PREFERRED => asked(question, |question| Ok(self.preferred(question))),
            ALLOCATE => asked(question, |question| self.allocate(question)),
            PRE_START => Reply::Message(frame(&Empty {})),
            other => Reply::Refusal {
                code: code::UNIMPLEMENTED,
                reason: format!("no method {other}"),
            },
        }
    }
}

fn asked<Question: Message + Default, Answer: Message>(
    question: &[u8],
    answer: impl FnOnce(Question) -> Result<Answer, Reply>,
) -> Reply {
    match parse(question) {
        Ok(question) => match answer(question) {
            Ok(answer) => Reply::Message(frame(&answer)),
            Err(refusal) => refusal,
        },
        Err(error) => Reply::Refusal {
            code: code::INVALID_ARGUMENT,
            reason: error.to_string(),
        },
    }
}

impl Plugin {
    fn preferred(&self, question: PreferredRequest) -> PreferredResponse {
        let inventory = self
            .inventory
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let containers = question.containers.iter().map(|asked| {
            let size = usize::try_from(asked.size).unwrap_or(0);
            ContainerPreferredResponse {
                devices: inventory.preferred(&asked.available, &asked.must_include, size),
            }
        });
        PreferredResponse {
            containers: containers.collect(),
        }
    }

    fn allocate(&self, question: AllocateRequest) -> Result<AllocateResponse, Reply> {
        let inventory = self
            .inventory
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let containers: Result<Vec<_>, ShareError> = question
            .containers
            .iter()
            .map(|asked| Ok(self.started_with(&inventory.share(&asked.devices)?)))
            .collect();
        match containers {
            Ok(containers) => Ok(AllocateResponse { containers }),
            Err(error) => {
                tracing::warn!("a pod gets no remote GPU: {error}");
                Err(Reply::Refusal {
                    code: match error {
                        ShareError::Silent { .. } => code::UNAVAILABLE,
                        ShareError::None => code::INVALID_ARGUMENT,
                        _ => code::FAILED_PRECONDITION,
                    },
                    reason: error.to_string(),
                })
            }
        }
    }

    fn started_with(&self, share: &Share) -> ContainerAllocateResponse {
        let own = [
            ("GTRACE_REMOTE", share.server.clone()),
            ("CUDA_VISIBLE_DEVICES", share.gpus.join(",")),
        ];
        let environment = self.container.environment.clone().into_iter();
        ContainerAllocateResponse {
            envs: environment
                .chain(own.map(|(name, value)| (name.to_owned(), value)))
                .collect(),
            mounts: self.container.mounts.clone(),
        }
    }
}
