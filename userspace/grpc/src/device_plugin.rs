//! The kubelet's device-plugin API `v1beta1`: a plugin registers at the kubelet's socket, then serves on one of its own.
//!
//! Source: Kubernetes, staging/src/k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1/api.proto and constants.go. Fields that are not
//! needed are left out, which the encoding allows.

use std::collections::HashMap;

use prost::Message;

/// The folder with the kubelet's socket, where plugins put theirs.
pub const FOLDER: &str = "/var/lib/kubelet/device-plugins";
/// The kubelet's socket in it.
pub const KUBELET: &str = "kubelet.sock";
/// The version of this API.
pub const VERSION: &str = "v1beta1";
/// Most bytes of a device's id.
pub const ID_MAX: usize = 63;
/// Health of a device that can be allocated.
pub const HEALTHY: &str = "Healthy";
/// Health of one that cannot.
pub const UNHEALTHY: &str = "Unhealthy";

/// Served by the kubelet: [`RegisterRequest`] to [`Empty`].
pub const REGISTER: &str = "/v1beta1.Registration/Register";
/// Served by a plugin: [`Empty`] to [`Options`].
pub const OPTIONS: &str = "/v1beta1.DevicePlugin/GetDevicePluginOptions";
/// Served by a plugin: [`Empty`] to a stream of [`ListAndWatchResponse`].
pub const LIST_AND_WATCH: &str = "/v1beta1.DevicePlugin/ListAndWatch";
/// Served by a plugin: [`PreferredRequest`] to [`PreferredResponse`].
pub const PREFERRED: &str = "/v1beta1.DevicePlugin/GetPreferredAllocation";
/// Served by a plugin: [`AllocateRequest`] to [`AllocateResponse`].
pub const ALLOCATE: &str = "/v1beta1.DevicePlugin/Allocate";
/// Served by a plugin: devices to [`Empty`], asked only if [`Options`] says so.
pub const PRE_START: &str = "/v1beta1.DevicePlugin/PreStartContainer";

/// A message without fields.
#[derive(Clone, PartialEq, Message)]
pub struct Empty {}

/// What of the API a plugin implements.
#[derive(Clone, PartialEq, Message)]
pub struct Options {
    /// Whether [`PRE_START`] is to be called.
    #[prost(bool, tag = "1")]
    pub pre_start_required: bool,
    /// Whether [`PREFERRED`] is to be called.
    #[prost(bool, tag = "2")]
    pub preferred_allocation: bool,
}

/// A plugin makes itself known.
#[derive(Clone, PartialEq, Message)]
pub struct RegisterRequest {
    /// [`VERSION`].
    #[prost(string, tag = "1")]
    pub version: String,
    /// Name of the plugin's socket in the kubelet's folder.
    #[prost(string, tag = "2")]
    pub endpoint: String,
    /// What pods ask for: `gtrace.dev/remote-gpu`.
    #[prost(string, tag = "3")]
    pub resource_name: String,
    /// The same as the answer to [`OPTIONS`].
    #[prost(message, optional, tag = "4")]
    pub options: Option<Options>,
}

/// All devices of a plugin.
#[derive(Clone, PartialEq, Message)]
pub struct ListAndWatchResponse {
    /// Each once.
    #[prost(message, repeated, tag = "1")]
    pub devices: Vec<Device>,
}

/// A device.
#[derive(Clone, PartialEq, Message)]
pub struct Device {
    /// At most [`ID_MAX`] bytes.
    #[prost(string, tag = "1")]
    pub id: String,
    /// [`HEALTHY`] or [`UNHEALTHY`].
    #[prost(string, tag = "2")]
    pub health: String,
}

/// Which devices would suit containers best.
#[derive(Clone, PartialEq, Message)]
pub struct PreferredRequest {
    /// For each container.
    #[prost(message, repeated, tag = "1")]
    pub containers: Vec<ContainerPreferredRequest>,
}

/// What one container may get.
#[derive(Clone, PartialEq, Message)]
pub struct ContainerPreferredRequest {
    /// Devices to choose from.
    #[prost(string, repeated, tag = "1")]
    pub available: Vec<String>,
    /// Devices that have to be among those chosen.
    #[prost(string, repeated, tag = "2")]
    pub must_include: Vec<String>,
    /// How many.
    #[prost(int32, tag = "3")]
    pub size: i32,
}

/// The answer, which the kubelet need not follow.
#[derive(Clone, PartialEq, Message)]
pub struct PreferredResponse {
    /// In the order of the question.
    #[prost(message, repeated, tag = "1")]
    pub containers: Vec<ContainerPreferredResponse>,
}

/// The devices for one container.
#[derive(Clone, PartialEq, Message)]
pub struct ContainerPreferredResponse {
    /// Their ids.
    #[prost(string, repeated, tag = "1")]
    pub devices: Vec<String>,
}

/// What containers get of the plugin.
#[derive(Clone, PartialEq, Message)]
pub struct AllocateRequest {
    /// For each container.
    #[prost(message, repeated, tag = "1")]
    pub containers: Vec<ContainerAllocateRequest>,
}

/// The devices that one container gets.
#[derive(Clone, PartialEq, Message)]
pub struct ContainerAllocateRequest {
    /// Their ids.
    #[prost(string, repeated, tag = "1")]
    pub devices: Vec<String>,
}

/// How containers reach their devices.
#[derive(Clone, PartialEq, Message)]
pub struct AllocateResponse {
    /// In the order of the question.
    #[prost(message, repeated, tag = "1")]
    pub containers: Vec<ContainerAllocateResponse>,
}

/// What one container is started with.
#[derive(Clone, PartialEq, Message)]
pub struct ContainerAllocateResponse {
    /// Variables of its environment.
    #[prost(map = "string, string", tag = "1")]
    pub envs: HashMap<String, String>,
    /// What of the host it sees.
    #[prost(message, repeated, tag = "2")]
    pub mounts: Vec<Mount>,
}

/// A file or folder of the host in a container.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct Mount {
    /// Where it is in the container.
    #[prost(string, tag = "1")]
    pub container_path: String,
    /// Where it is on the host.
    #[prost(string, tag = "2")]
    pub host_path: String,
    /// Whether the container may only read it.
    #[prost(bool, tag = "3")]
    pub read_only: bool,
}
