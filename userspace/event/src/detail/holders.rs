use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

section! {
    /// Who had the GPU.
    HolderDetail {
        /// Who had the GPU of the event, or whose process it is about; at most 16.
        holders: Vec<Holder>,
    }
}

/// A container or a job that has a GPU, as far as it is known.
#[serde_with::skip_serializing_none]
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct Holder {
    /// Namespace of the Kubernetes pod.
    pub namespace: Option<String>,
    /// Name of the Kubernetes pod.
    pub pod: Option<String>,
    /// Name of the container: in the pod, or of Docker or Podman.
    pub container_name: Option<String>,
    /// The job of a scheduler: `slurm:4711`, `pod:UID`.
    pub job: Option<String>,
    /// Step of a Slurm job: `0`, `batch`, `extern`.
    pub step: Option<String>,
    /// User of a Slurm job, as the job's own environment says.
    pub user: Option<String>,
    /// The client on another host, where the process is a worker of `gtrace serve`: `HOST: PROGRAM (PID)`, in the client's
    /// own words.
    pub remote_client: Option<String>,
}

impl Holder {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        match (&self.namespace, &self.pod) {
            (Some(namespace), Some(pod)) => parts.push(format!("pod {namespace}/{pod}")),
            (None, Some(pod)) => parts.push(format!("pod {pod}")),
            _ => {}
        }
        parts.extend(
            self.container_name
                .as_ref()
                .map(|name| format!("container {name}")),
        );
        if let Some(job) = self.job.as_ref().filter(|_| self.pod.is_none()) {
            let step = self.step.as_ref().map(|step| format!(" step {step}"));
            parts.push(format!("{job}{}", step.unwrap_or_default()));
        }
        parts.extend(self.user.as_ref().map(|user| format!("user {user}")));
        let client = self.remote_client.as_ref();
        parts.extend(client.map(|client| format!("remote client {client}")));
        f.pad(&parts.join("  "))
    }
}
