//! Which container has which device: the kubelet's API `v1.PodResourcesLister` on its Unix socket.
//!
//! Source: Kubernetes, staging/src/k8s.io/kubelet/pkg/apis/podresources/v1/api.proto. Fields that are not needed are left out,
//! which the encoding allows.

use std::path::Path;
use std::time::Duration;

use prost::Message;

use crate::{CallError, call};

/// Where the kubelet listens.
pub const SOCKET: &str = "/var/lib/kubelet/pod-resources/kubelet.sock";
/// The method.
pub const LIST: &str = "/v1.PodResourcesLister/List";

/// The question has no field.
#[derive(Clone, PartialEq, Message)]
pub struct ListPodResourcesRequest {}

/// Every pod of the node.
#[derive(Clone, PartialEq, Message)]
pub struct ListPodResourcesResponse {
    /// The pods.
    #[prost(message, repeated, tag = "1")]
    pub pod_resources: Vec<PodResources>,
}

/// A pod.
#[derive(Clone, PartialEq, Message)]
pub struct PodResources {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its namespace.
    #[prost(string, tag = "2")]
    pub namespace: String,
    /// Its containers.
    #[prost(message, repeated, tag = "3")]
    pub containers: Vec<ContainerResources>,
}

/// A container.
#[derive(Clone, PartialEq, Message)]
pub struct ContainerResources {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Devices of device plugins.
    #[prost(message, repeated, tag = "2")]
    pub devices: Vec<ContainerDevices>,
    /// Devices of Dynamic Resource Allocation.
    #[prost(message, repeated, tag = "5")]
    pub dynamic_resources: Vec<DynamicResource>,
}

/// Devices of one resource.
#[derive(Clone, PartialEq, Message)]
pub struct ContainerDevices {
    /// `nvidia.com/gpu` and its like.
    #[prost(string, tag = "1")]
    pub resource_name: String,
    /// As the device plugin names them: NVIDIA's by UUID.
    #[prost(string, repeated, tag = "2")]
    pub device_ids: Vec<String>,
}

/// A claim.
#[derive(Clone, PartialEq, Message)]
pub struct DynamicResource {
    /// What it got.
    #[prost(message, repeated, tag = "4")]
    pub claim_resources: Vec<ClaimResource>,
}

/// Devices of a claim.
#[derive(Clone, PartialEq, Message)]
pub struct ClaimResource {
    /// Names of the Container Device Interface: `nvidia.com/gpu=GPU-…`.
    #[prost(message, repeated, tag = "1")]
    pub cdi_devices: Vec<CdiDevice>,
}

/// A device of the Container Device Interface.
#[derive(Clone, PartialEq, Message)]
pub struct CdiDevice {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
}

/// A device that a container has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allocation {
    /// Namespace of the pod.
    pub namespace: String,
    /// Name of the pod.
    pub pod: String,
    /// Name of the container.
    pub container: String,
    /// The device, as its plugin names it.
    pub device: String,
}

/// Asks the kubelet at `socket`.
///
/// # Errors
///
/// Those of [`call`].
pub fn list(socket: &Path, deadline: Duration) -> Result<Vec<Allocation>, CallError> {
    let answer = call(socket, LIST, &ListPodResourcesRequest {}, deadline)?;
    Ok(allocations(answer))
}

/// Every device in an answer.
pub fn allocations(answer: ListPodResourcesResponse) -> Vec<Allocation> {
    let mut all = Vec::new();
    for pod in answer.pod_resources {
        for container in pod.containers {
            let plugged = container.devices.into_iter().flat_map(|d| d.device_ids);
            let claims = container.dynamic_resources.into_iter();
            let claimed = claims
                .flat_map(|claim| claim.claim_resources)
                .flat_map(|resource| resource.cdi_devices)
                .map(|device| device.name);
            all.extend(plugged.chain(claimed).map(|device| Allocation {
                namespace: pod.namespace.clone(),
                pod: pod.name.clone(),
                container: container.name.clone(),
                device,
            }));
        }
    }
    all
}
