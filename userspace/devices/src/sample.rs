use std::fmt;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{C2cLinkSample, ClockEventReasons, Fabric, NvLinkSample};

macro_rules! section {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        ///
        /// Every reading that this GPU or driver does not support is `None`.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none", default)]
                pub $field: Option<$type>,
            )*
        }
    };
}

section! {
    /// What does not change while the driver is loaded.
    GpuBoard {
        /// Serial number of the board.
        serial: String,
        /// Part number of the board.
        part_number: String,
        /// Version of the VBIOS.
        vbios: String,
        /// Version of the GSP firmware.
        firmware: String,
        /// The InfoROM, which keeps the GPU's faults over its life, has the right checksum.
        inforom_valid: bool,
        /// Confidential computing is on, in production mode, and the GPU takes work. A fact of the whole host.
        confidential_computing: bool,
        /// The power limit that it starts with, watts.
        power_limit_default_w: f64,
        /// The lowest power limit that can be set, watts.
        power_limit_min_w: f64,
        /// The highest power limit that can be set, watts.
        power_limit_max_w: f64,
    }
}

impl GpuBoard {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

section! {
    /// Share of the last sample period (1/6 s to 1 s, by product) in which a unit was busy.
    Utilization {
        /// One or more kernels ran, percent.
        gpu: u32,
        /// Device memory was read or written, percent.
        memory: u32,
        /// The video encoder worked, percent.
        encoder: u32,
        /// The video decoder worked, percent.
        decoder: u32,
        /// The decoder of JPEG worked, percent.
        jpeg: u32,
        /// The optical flow accelerator worked, percent.
        ofa: u32,
    }
}

section! {
    /// Device memory, bytes.
    GpuMemory {
        /// All of it.
        total: u64,
        /// Allocated, without what the driver reserves.
        used: u64,
        /// Free.
        free: u64,
        /// Reserved by driver and firmware.
        reserved: u64,
    }
}

section! {
    /// The window through which the host reaches device memory over PCIe (BAR1), bytes.
    Bar1 {
        /// All of it.
        total: u64,
        /// Mapped.
        used: u64,
        /// Free.
        free: u64,
    }
}

section! {
    /// Temperatures, degrees Celsius.
    Temperature {
        /// GPU die.
        gpu: u32,
        /// Device memory.
        memory: u32,
        /// Clocks are lowered from here on.
        slowdown_limit: u32,
        /// The GPU shuts down from here on.
        shutdown_limit: u32,
        /// Highest memory temperature in normal operation.
        memory_limit: u32,
        /// Up to the nearest temperature at which clocks are lowered (T.Limit); negative beyond it.
        margin: i32,
    }
}

section! {
    /// Power.
    Power {
        /// Drawn now (or over the last second, by product), watts.
        draw_w: f64,
        /// Drawn by the device memory, mean of a second where NVML has it, watts.
        memory_w: f64,
        /// Drawn by the module that the GPU is on, with what else is on it, watts.
        module_w: f64,
        /// The limit that is enforced, watts.
        limit_w: f64,
        /// The limit that was set (`nvidia-smi -pl`), watts.
        requested_limit_w: f64,
        /// Drawn since the driver was loaded, joules. A counter.
        energy_j: f64,
    }
}

section! {
    /// Clocks, MHz.
    Clocks {
        /// Graphics domain.
        graphics: u32,
        /// Streaming multiprocessors.
        sm: u32,
        /// Device memory.
        memory: u32,
        /// Highest graphics clock.
        max_graphics: u32,
        /// Highest SM clock.
        max_sm: u32,
        /// Highest memory clock.
        max_memory: u32,
    }
}

section! {
    /// For how long a policy or reason held the clocks down since the driver was loaded,
    /// nanoseconds. Counters.
    Violations {
        /// Power policy (the power cap).
        power: u64,
        /// Thermal policy.
        thermal: u64,
        /// Sync boost group.
        sync_boost: u64,
        /// Board limit.
        board_limit: u64,
        /// Low utilisation.
        low_utilization: u64,
        /// Voltage and reliability.
        reliability: u64,
        /// Anything that kept the clocks below the application clocks.
        total_app_clocks: u64,
        /// Anything that kept the clocks below the base clocks.
        total_base_clocks: u64,
        /// Reason `SwThermalSlowdown` was active.
        sw_thermal_slowdown: u64,
        /// Reason `HwThermalSlowdown` was active.
        hw_thermal_slowdown: u64,
        /// Reason `HwPowerBrakeSlowdown` was active.
        hw_power_brake_slowdown: u64,
    }
}

section! {
    /// ECC errors by kind.
    EccErrors {
        /// Single-bit errors that were corrected.
        corrected: u64,
        /// Errors that were not.
        uncorrected: u64,
    }
}

section! {
    /// Errors of on-chip memory by kind. Counters.
    SramErrors {
        /// Corrected.
        corrected: u64,
        /// Found by parity, and not corrected.
        parity: u64,
        /// Found by an error-correcting code (SEC-DED), and not corrected.
        sec_ded: u64,
    }
}

section! {
    /// Where errors of on-chip memory were that were not corrected, over the life of the GPU. Counters.
    SramSources {
        /// L2 cache.
        l2: u64,
        /// Multiprocessors.
        sm: u64,
        /// Microcontrollers.
        microcontroller: u64,
        /// PCIe unit.
        pcie: u64,
        /// Any other unit.
        other: u64,
    }
}

section! {
    /// Errors of on-chip memory (SRAM).
    SramEcc {
        /// Since the driver was loaded.
        volatile: SramErrors,
        /// Over the life of the GPU.
        aggregate: SramErrors,
        /// The aggregate of uncorrected errors by place.
        sources: SramSources,
        /// There were more uncorrected errors than NVIDIA allows a GPU to have.
        threshold_exceeded: bool,
    }
}

section! {
    /// ECC errors. Counters.
    EccCounts {
        /// Whether ECC is switched on.
        enabled: bool,
        /// Since the driver was loaded.
        volatile: EccErrors,
        /// Over the life of the GPU.
        aggregate: EccErrors,
        /// Those of on-chip memory.
        sram: SramEcc,
    }
}

section! {
    /// Banks of device memory by the spare rows that they have left.
    SpareRows {
        /// With all of them.
        max: u32,
        /// With many.
        high: u32,
        /// With some.
        partial: u32,
        /// With few.
        low: u32,
        /// With none.
        none: u32,
    }
}

section! {
    /// What a reset of the GPU repairs.
    Repair {
        /// A channel of device memory waits for it.
        channel_pending: bool,
        /// A group of multiprocessors (TPC) waits for it.
        tpc_pending: bool,
    }
}

section! {
    /// Rows of device memory that were replaced by spare ones (Ampere on).
    RemappedRows {
        /// For correctable errors. A counter.
        correctable: u64,
        /// For uncorrectable errors. A counter.
        uncorrectable: u64,
        /// A row waits for a GPU reset to be remapped.
        pending: bool,
        /// A remapping failed: no spare row was left.
        failure: bool,
        /// What is left of spare rows.
        spare: SpareRows,
    }
}

section! {
    /// Pages of device memory taken out of use (before Ampere).
    RetiredPages {
        /// For several single-bit errors in a page.
        single_bit: u64,
        /// For a double-bit error.
        double_bit: u64,
        /// A page waits for the driver to be loaded anew to be retired.
        pending: bool,
    }
}

impl RetiredPages {
    /// For either reason.
    pub fn total(&self) -> Option<u64> {
        match (self.single_bit, self.double_bit) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
        }
    }
}

section! {
    /// Shares of the time since the sample before, from 0 to 1, by GPU performance monitoring (Hopper and later), and NVLink traffic.
    Activity {
        /// The graphics and compute engine was active.
        graphics: f64,
        /// A multiprocessor had a warp, mean of all.
        sm: f64,
        /// Warps of the most that there can be, mean of all multiprocessors.
        sm_occupancy: f64,
        /// Tensor cores were active.
        tensor: f64,
        /// Bandwidth of device memory in use.
        dram: f64,
        /// Pipe of 64-bit floating point.
        fp64: f64,
        /// Pipe of 32-bit floating point.
        fp32: f64,
        /// Pipe of 16-bit floating point.
        fp16: f64,
        /// Integer pipe.
        integer: f64,
        /// Sent over all NVLinks, bytes a second.
        nvlink_tx: u64,
        /// Received over all NVLinks, bytes a second.
        nvlink_rx: u64,
    }
}

/// How a process uses a GPU.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ProcessType {
    /// It has a compute context (CUDA).
    Compute,
    /// It has a graphics context.
    Graphics,
    /// Both.
    ComputeAndGraphics,
    /// It computes through an MPS server.
    Mps,
}

/// A process that uses a GPU.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GpuProcess {
    /// Process id.
    pub pid: u32,
    /// Process name, where /proc shows it.
    pub comm: Option<String>,
    /// Device memory in use, bytes.
    pub used_memory: Option<u64>,
    /// What it uses the GPU for.
    #[serde(rename = "type")]
    pub kind: ProcessType,
    /// MIG GPU instance.
    pub mig_gi: Option<u32>,
    /// MIG compute instance.
    pub mig_ci: Option<u32>,
}

/// MIG mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MigMode {
    /// Switched on.
    pub enabled: bool,
    /// Switched on after the next GPU reset.
    pub pending: bool,
}

/// Where programs run in a GPU in MIG mode (Multi-Instance GPU): a compute instance of one of its GPU instances, which NVML
/// and nvidia-smi call a MIG device.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MigInstance {
    /// Number of its GPU instance, which has the memory.
    pub gi: u32,
    /// Number of its compute instance within that.
    pub ci: u32,
    /// `1g.10gb`, `3g.40gb`, `1c.3g.40gb`, as nvidia-smi names it.
    pub profile: Option<String>,
    /// `MIG-…`.
    pub uuid: Option<String>,
    /// Device memory of its GPU instance: compute instances of one share it.
    #[serde(default)]
    pub memory: GpuMemory,
    /// Multiprocessors that it has.
    pub multiprocessors: Option<u32>,
    /// How busy parts of its GPU instance were. NVML has no other use of instances.
    #[serde(skip_serializing_if = "Activity::is_empty", default)]
    pub activity: Activity,
}

/// When the licence of a vGPU ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LicenseTerm {
    /// It does not end.
    Permanent,
    /// It ends at `expiry`, unless it is renewed: leases are.
    Limited,
    /// It has ended, or NVML calls its date invalid.
    Invalid,
}

/// The licence of a vGPU, as its guest's driver has it (NVIDIA vGPU software).
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VgpuLicense {
    /// Whether the driver holds one. Without it the driver restricts the vGPU, the more the longer that lasts.
    pub licensed: bool,
    /// The product: `NVIDIA Virtual Compute Server`, `NVIDIA RTX Virtual Workstation`.
    pub product: Option<String>,
    /// Whether it ends.
    pub term: Option<LicenseTerm>,
    /// When it ends.
    pub expiry: Option<Timestamp>,
}

impl VgpuLicense {
    /// Whether it is there and holds at `now`.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.fault(now).is_none()
    }

    /// What is wrong at `now`; `None` where all is well.
    pub fn fault(&self, now: Timestamp) -> Option<String> {
        let product = self.product.as_deref().unwrap_or("vGPU software");
        if !self.licensed {
            return Some(format!("the vGPU has no licence of {product}"));
        }
        if self.term == Some(LicenseTerm::Invalid) {
            return Some(format!("the licence of {product} has no valid date"));
        }
        let over = self.expiry.filter(|end| *end <= now)?;
        Some(format!("the licence of {product} ended at {over}"))
    }
}

/// What the driver of a GPU asks for, as NVML numbers it (`nvmlDeviceGpuRecoveryAction_t`, since driver 565).
///
/// It is shown by the name that the driver gives it in an Xid 154. Of those after 4 no such line is public, and the name is that
/// of NVML: 5 since driver 595, 6 and 7 since 615 (change log of NVML; values: NVIDIA's cuda.bindings.nvml). Others are
/// `unknown (8)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecoveryAction(pub u32);

impl RecoveryAction {
    /// Nothing.
    pub const NONE: Self = Self(0);

    /// Whether the GPU takes no work before it: a reset or a reboot.
    pub fn is_fatal(self) -> bool {
        matches!(self.0, 1 | 2 | 6 | 7)
    }
}

impl fmt::Display for RecoveryAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            0 => "None",
            1 => "GPU Reset Required",
            2 => "Node Reboot Required",
            3 => "Drain P2P",
            4 => "Drain and Reset",
            5 => "Recover IMEX Domain",
            6 => "Bus Reset",
            7 => "System Reboot",
            other => return write!(f, "unknown ({other})"),
        })
    }
}

/// What NVML says of one GPU at one moment. Source: nvml.h.
///
/// A reading that this GPU or driver does not support is `None`, or absent from its section.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GpuSample {
    /// When it was taken.
    pub time: Timestamp,
    /// Utilisation.
    #[serde(default)]
    pub utilization: Utilization,
    /// Device memory.
    #[serde(default)]
    pub memory: GpuMemory,
    /// The window to device memory.
    #[serde(default)]
    pub bar1: Bar1,
    /// Temperatures and their limits.
    #[serde(default)]
    pub temperature: Temperature,
    /// Power and energy.
    #[serde(default)]
    pub power: Power,
    /// Clocks.
    #[serde(default)]
    pub clocks: Clocks,
    /// Why the clocks are what they are.
    pub clock_event_reasons: Option<ClockEventReasons>,
    /// For how long clocks were held down.
    #[serde(default)]
    pub violations: Violations,
    /// ECC.
    #[serde(default)]
    pub ecc: EccCounts,
    /// Row remapping.
    #[serde(default)]
    pub remapped_rows: RemappedRows,
    /// Page retirement.
    #[serde(default)]
    pub retired_pages: RetiredPages,
    /// Repairs that wait for a reset.
    #[serde(default)]
    pub repair: Repair,
    /// PCIe replays. A counter.
    pub pcie_replays: Option<u64>,
    /// PCIe data sent by the GPU, bytes a second over 20 ms.
    pub pcie_tx: Option<u64>,
    /// PCIe data received by the GPU, bytes a second over 20 ms.
    pub pcie_rx: Option<u64>,
    /// Bytes sent over all NVLinks, as the driver counts them. A counter.
    pub nvlink_tx_bytes: Option<u64>,
    /// Bytes received over all NVLinks, as the driver counts them. A counter.
    pub nvlink_rx_bytes: Option<u64>,
    /// NVLinks.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub nvlinks: Vec<NvLinkSample>,
    /// Links to the CPU on the same module (NVLink-C2C).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub c2c_links: Vec<C2cLinkSample>,
    /// Processes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub processes: Vec<GpuProcess>,
    /// Performance state, 0 (fastest) to 15.
    pub performance_state: Option<u32>,
    /// MIG mode.
    pub mig: Option<MigMode>,
    /// Its instances in MIG mode, by number.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub mig_instances: Vec<MigInstance>,
    /// Which instances there are could not be read: an empty list says nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub mig_instances_unread: bool,
    /// The licence of a vGPU; absent where none is needed.
    pub vgpu_license: Option<VgpuLicense>,
    /// Whether a licence is needed could not be read: that it is absent says nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub vgpu_license_unread: bool,
    /// What the driver asks for, by the numbers of [`RecoveryAction`].
    pub recovery_action: Option<u32>,
    /// Whether the driver keeps the GPU initialised with no client.
    pub persistence_mode: Option<bool>,
    /// Fan speed, percent of its maximum; the fastest of several.
    pub fan: Option<u32>,
    /// How busy its parts were.
    #[serde(default)]
    pub activity: Activity,
    /// The NVLink fabric.
    pub fabric: Option<Fabric>,
}

impl Activity {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl MigInstance {
    /// Profile of the GPU instance that it is in: that of `1c.3g.40gb` is `3g.40gb`.
    pub fn gpu_profile(&self) -> Option<&str> {
        let profile = self.profile.as_deref()?;
        let slices = profile.find("c.").filter(|end| {
            let digits = profile.get(..*end).unwrap_or_default();
            !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
        });
        slices.map_or(Some(profile), |end| profile.get(end + 2..))
    }
}

impl GpuSample {
    /// The GPU instances in MIG mode, each once: by its first compute instance.
    pub fn gpu_instances(&self) -> impl Iterator<Item = &MigInstance> {
        let mut last = None;
        let all = self.mig_instances.iter();
        all.filter(move |instance| last.replace(instance.gi) != Some(instance.gi))
    }

    /// Profiles of the instances in MIG mode, sorted; `None` of a GPU that is not in it, while one has no name, and where they
    /// could not be listed.
    pub fn mig_layout(&self) -> Option<Vec<String>> {
        self.mig
            .filter(|mig| mig.enabled && !self.mig_instances_unread)?;
        let profiles = self.mig_instances.iter().map(|i| i.profile.clone());
        let mut profiles: Vec<String> = profiles.collect::<Option<_>>()?;
        profiles.sort();
        Some(profiles)
    }

    /// Processes in a compute instance.
    pub fn processes_of(&self, instance: &MigInstance) -> impl Iterator<Item = &GpuProcess> {
        let (gi, ci) = (Some(instance.gi), Some(instance.ci));
        let all = self.processes.iter();
        all.filter(move |process| process.mig_gi == gi && process.mig_ci == ci)
    }

    /// A sample taken at `time` with no reading.
    pub fn at(time: Timestamp) -> Self {
        Self {
            time,
            ..Self::default()
        }
    }
}
