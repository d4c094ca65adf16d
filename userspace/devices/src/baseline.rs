//! What a host should be: expectations of its driver, its GPUs and how many devices it has, and what differs from them.

use std::collections::BTreeMap;
use std::fmt;

use gtrace_event::PciAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{DeviceReport, GpuInfo};

/// The driver rounds a power limit that is set; a difference of so many watts is none.
const SAME_POWER_W: f64 = 1.0;

/// One value, or a list of those that are allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Expected<T> {
    /// This one.
    One(T),
    /// One of these.
    AnyOf(Vec<T>),
}

impl<T: PartialEq> Expected<T> {
    fn allows(&self, is: impl Fn(&T) -> bool) -> bool {
        match self {
            Self::One(value) => is(value),
            Self::AnyOf(values) => values.iter().any(is),
        }
    }
}

impl<T: fmt::Display> fmt::Display for Expected<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(value) => write!(f, "{value}"),
            Self::AnyOf(values) => {
                for (number, value) in values.iter().enumerate() {
                    let between = if number == 0 { "" } else { " or " };
                    write!(f, "{between}{value}")?;
                }
                Ok(())
            }
        }
    }
}

gtrace_event::named_enum! {
    /// What is compared.
    #[derive(
        Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
    )]
    pub enum Setting {
        /// Version of the loaded driver.
        Driver = "driver",
        /// How many GPUs PCI shows.
        Gpus = "gpus",
        /// How many NVSwitches PCI shows.
        Nvswitches = "nvswitches",
        /// How many RDMA ports are active.
        RdmaPorts = "rdma_ports",
        /// Product name.
        Name = "name",
        /// Version of the VBIOS.
        Vbios = "vbios",
        /// Version of the GSP firmware.
        Firmware = "firmware",
        /// Enforced power limit.
        PowerLimit = "power_limit_w",
        /// Whether ECC is on.
        Ecc = "ecc",
        /// Whether MIG mode is on.
        Mig = "mig",
        /// Profiles of the instances in MIG mode.
        MigInstances = "mig_instances",
        /// Whether persistence mode is on.
        Persistence = "persistence",
        /// Whether confidential computing is on and ready.
        ConfidentialComputing = "confidential_computing",
        /// How many NVLinks are up.
        Nvlinks = "nvlinks",
    }
}

impl Setting {
    /// Whether less of it than expected means that something is missing.
    const fn is_count(self) -> bool {
        matches!(
            self,
            Self::Gpus | Self::Nvswitches | Self::RdmaPorts | Self::Nvlinks
        )
    }
}

macro_rules! expectations {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$meta])*
        ///
        /// What is not given may be anything.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $(
                $(#[$doc])*
                #[serde(skip_serializing_if = "Option::is_none")]
                pub $field: Option<$type>,
            )*
        }

        impl $name {
            /// Whether nothing is expected.
            pub fn is_empty(&self) -> bool {
                *self == Self::default()
            }

            /// These, and those of `lower` where these say nothing.
            #[must_use]
            pub fn over(&self, lower: &Self) -> Self {
                Self { $($field: self.$field.clone().or_else(|| lower.$field.clone()),)* }
            }

            /// What all of `several` have alike.
            fn common(several: &[Self]) -> Self {
                let Some((first, others)) = several.split_first() else {
                    return Self::default();
                };
                Self { $($field: first.$field.clone().filter(|value| {
                    others.iter().all(|other| other.$field.as_ref() == Some(value))
                }),)* }
            }

            /// What these have that `common` has not.
            fn beyond(&self, common: &Self) -> Self {
                Self { $($field: self.$field.clone().filter(|value| common.$field.as_ref() != Some(value)),)* }
            }
        }
    };
}

/// What is expected of the host as a whole.
///
/// What is not given may be anything.
#[serde_with::skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct HostBaseline {
    /// Version of the loaded driver.
    pub driver: Option<Expected<String>>,
    /// GPUs that PCI shows.
    pub gpus: Option<u32>,
    /// NVSwitches that PCI shows.
    pub nvswitches: Option<u32>,
    /// Active RDMA ports.
    pub rdma_ports: Option<u32>,
}

impl HostBaseline {
    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

expectations! {
    /// What is expected of a GPU.
    GpuBaseline {
        /// Product name.
        name: Expected<String>,
        /// Version of the VBIOS.
        vbios: Expected<String>,
        /// Version of the GSP firmware.
        firmware: Expected<String>,
        /// Enforced power limit, watts.
        power_limit_w: f64,
        /// Whether ECC is on.
        ecc: bool,
        /// Whether MIG mode is on.
        mig: bool,
        /// Profiles of the instances in MIG mode, in any order.
        mig_instances: Vec<String>,
        /// Whether persistence mode is on.
        persistence: bool,
        /// Whether confidential computing is on, in production mode, and the GPU takes work.
        confidential_computing: bool,
        /// NVLinks that are up.
        nvlinks: u32,
    }
}

/// What is expected of a host. One file in TOML.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Baseline {
    /// The host.
    #[serde(skip_serializing_if = "HostBaseline::is_empty")]
    pub host: HostBaseline,
    /// Every GPU.
    #[serde(skip_serializing_if = "GpuBaseline::is_empty")]
    pub gpu: GpuBaseline,
    /// One GPU, by its PCI address: wins over `gpu`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gpus: BTreeMap<PciAddress, GpuBaseline>,
}

/// Something that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Difference {
    /// What.
    pub setting: Setting,
    /// What is expected.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// There is less than expected, so that something is missing.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub missing: bool,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            setting,
            expected,
            found,
            ..
        } = self;
        write!(f, "{setting} {found}, expected {expected}")
    }
}

/// What was found, as far as it could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BaselineFacts {
    /// Version of the loaded driver.
    pub driver: Option<String>,
    /// GPUs among the PCI devices; `None` where they could not be listed.
    pub pci_gpus: Option<u32>,
    /// NVSwitches among them.
    pub nvswitches: Option<u32>,
    /// Active RDMA ports; `None` where one could not be read.
    pub rdma_ports: Option<u32>,
    /// Every GPU.
    pub gpus: Vec<GpuInfo>,
}

impl BaselineFacts {
    /// What a poll of everything has found.
    pub fn of(report: &DeviceReport) -> Self {
        let on_pci = report.gpus.iter().filter(|gpu| gpu.present_in.pci).count();
        let rdma = report.rdma.as_ref();
        let nvswitches = report.nvswitches.as_ref();
        let nvswitches = nvswitches.filter(|_| report.pci_error.is_none());
        Self {
            driver: report.driver.as_ref().map(|driver| driver.version.clone()),
            pci_gpus: nvswitches.and_then(|_| u32::try_from(on_pci).ok()),
            nvswitches: nvswitches.and_then(|known| u32::try_from(known.len()).ok()),
            rdma_ports: rdma
                .filter(|health| health.unanswered.is_empty())
                .map(|health| health.active_ports),
            gpus: report.gpus.clone(),
        }
    }

    fn of_gpu(&self, gpu: &GpuInfo) -> GpuBaseline {
        let one = |text: &Option<String>| text.clone().map(Expected::One);
        let sample = gpu.sample.as_ref();
        GpuBaseline {
            name: one(&gpu.name),
            vbios: one(&gpu.board.vbios),
            firmware: one(&gpu.board.firmware),
            power_limit_w: sample.and_then(|s| s.power.limit_w),
            ecc: sample.and_then(|s| s.ecc.enabled),
            mig: sample.and_then(|s| s.mig).map(|mig| mig.enabled),
            mig_instances: sample.and_then(crate::GpuSample::mig_layout),
            persistence: sample.and_then(|s| s.persistence_mode),
            confidential_computing: gpu.board.confidential_computing,
            nvlinks: sample.and_then(active_links),
        }
    }
}

/// NVLinks that are up; `None` where the GPU has none.
fn active_links(sample: &crate::GpuSample) -> Option<u32> {
    let up = |link: &&crate::NvLinkSample| link.active == Some(true);
    let links = (!sample.nvlinks.is_empty()).then_some(&sample.nvlinks)?;
    u32::try_from(links.iter().filter(up).count()).ok()
}

/// A layout of MIG as text: its order says nothing.
fn layout(mut profiles: Vec<String>) -> String {
    profiles.sort();
    match profiles.is_empty() {
        true => "none".to_owned(),
        false => profiles.join(" "),
    }
}

/// What a comparison of one part came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// What differs.
    pub differences: Vec<Difference>,
    /// What is as expected.
    pub same: Vec<Setting>,
    /// What could not be read now.
    pub unread: Vec<Setting>,
}

impl Comparison {
    fn take<E: fmt::Display, F: fmt::Display>(
        &mut self,
        setting: Setting,
        expected: Option<&E>,
        found: Option<&F>,
        same: impl Fn(&E, &F) -> bool,
    ) {
        let Some(expected) = expected else { return };
        let Some(found) = found else {
            self.unread.push(setting);
            return;
        };
        if same(expected, found) {
            self.same.push(setting);
            return;
        }
        self.differences.push(Difference {
            setting,
            expected: expected.to_string(),
            found: found.to_string(),
            missing: setting.is_count(),
        });
    }

    fn text(&mut self, setting: Setting, want: Option<&Expected<String>>, found: Option<&String>) {
        self.take(setting, want, found, |want, found| {
            want.allows(|value| value == found)
        });
    }

    fn flag(&mut self, setting: Setting, want: Option<bool>, found: Option<bool>) {
        let word = |on: bool| if on { "on" } else { "off" };
        let (want, found) = (want.map(word), found.map(word));
        self.take(setting, want.as_ref(), found.as_ref(), |a, b| a == b);
    }

    fn count(&mut self, setting: Setting, want: Option<u32>, found: Option<u32>) {
        self.take(setting, want.as_ref(), found.as_ref(), |a, b| a == b);
        // More than expected is a difference too, and nothing is missing.
        if let (Some(want), Some(found)) = (want, found)
            && found > want
            && let Some(last) = self.differences.last_mut()
            && last.setting == setting
        {
            last.missing = false;
        }
    }
}

impl Baseline {
    /// Everything that was found, as expectations: what all GPUs have alike in `gpu`, the rest by address.
    pub fn of(facts: &BaselineFacts) -> Self {
        let gpus: Vec<_> = facts.gpus.iter().filter(|gpu| gpu.present_in.pci).collect();
        let all: Vec<_> = gpus.iter().map(|gpu| facts.of_gpu(gpu)).collect();
        let common = GpuBaseline::common(&all);
        let own = gpus.iter().zip(&all);
        let own = own.map(|(gpu, of_gpu)| (gpu.pci, of_gpu.beyond(&common)));
        Self {
            host: HostBaseline {
                driver: facts.driver.clone().map(Expected::One),
                gpus: facts.pci_gpus,
                nvswitches: facts.nvswitches,
                rdma_ports: facts.rdma_ports,
            },
            gpus: own.filter(|(_, own)| !own.is_empty()).collect(),
            gpu: common,
        }
    }

    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        self.host.is_empty() && self.gpu.is_empty() && self.gpus.is_empty()
    }

    /// The host as found against what is expected of it.
    pub fn compare_host(&self, facts: &BaselineFacts) -> Comparison {
        let (want, mut found) = (&self.host, Comparison::default());
        found.text(Setting::Driver, want.driver.as_ref(), facts.driver.as_ref());
        found.count(Setting::Gpus, want.gpus, facts.pci_gpus);
        found.count(Setting::Nvswitches, want.nvswitches, facts.nvswitches);
        found.count(Setting::RdmaPorts, want.rdma_ports, facts.rdma_ports);
        found
    }

    /// What is expected of the GPU at `pci`.
    pub fn of_gpu(&self, pci: PciAddress) -> GpuBaseline {
        match self.gpus.get(&pci) {
            Some(own) => own.over(&self.gpu),
            None => self.gpu.clone(),
        }
    }

    /// A GPU as found against what is expected of it.
    pub fn compare_gpu(&self, facts: &BaselineFacts, gpu: &GpuInfo) -> Comparison {
        let (want, have) = (self.of_gpu(gpu.pci), facts.of_gpu(gpu));
        let one = |found: &Option<Expected<String>>| match found {
            Some(Expected::One(text)) => Some(text.clone()),
            _ => None,
        };
        let mut found = Comparison::default();
        let name = one(&have.name);
        found.text(Setting::Name, want.name.as_ref(), name.as_ref());
        let vbios = one(&have.vbios);
        found.text(Setting::Vbios, want.vbios.as_ref(), vbios.as_ref());
        let firmware = one(&have.firmware);
        found.text(Setting::Firmware, want.firmware.as_ref(), firmware.as_ref());
        found.take(
            Setting::PowerLimit,
            want.power_limit_w.as_ref(),
            have.power_limit_w.as_ref(),
            |a, b| (a - b).abs() <= SAME_POWER_W,
        );
        found.flag(Setting::Ecc, want.ecc, have.ecc);
        found.flag(Setting::Mig, want.mig, have.mig);
        found.take(
            Setting::MigInstances,
            want.mig_instances.map(layout).as_ref(),
            have.mig_instances.map(layout).as_ref(),
            |a, b| a == b,
        );
        found.flag(Setting::Persistence, want.persistence, have.persistence);
        found.flag(
            Setting::ConfidentialComputing,
            want.confidential_computing,
            have.confidential_computing,
        );
        found.count(Setting::Nvlinks, want.nvlinks, have.nvlinks);
        found
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::Timestamp;

    use super::*;
    use crate::{GpuSample, NvLinkSample, PresentIn};

    fn gpu(at: &str, vbios: &str) -> GpuInfo {
        let mut gpu = GpuInfo::at(at.parse().unwrap());
        gpu.present_in = PresentIn {
            pci: true,
            ..PresentIn::default()
        };
        gpu.name = Some("NVIDIA H100".to_owned());
        gpu.board.vbios = Some(vbios.to_owned());
        let mut sample = GpuSample::at(Timestamp::UNIX_EPOCH);
        sample.power.limit_w = Some(700.0);
        sample.ecc.enabled = Some(true);
        sample.persistence_mode = Some(true);
        sample.nvlinks = (0..18)
            .map(|link| NvLinkSample {
                link,
                active: Some(true),
                ..NvLinkSample::default()
            })
            .collect();
        gpu.sample = Some(sample);
        gpu
    }

    fn facts() -> BaselineFacts {
        BaselineFacts {
            driver: Some("550.54.15".to_owned()),
            pci_gpus: Some(3),
            nvswitches: Some(4),
            rdma_ports: Some(8),
            gpus: vec![
                gpu("0000:3b:00.0", "96.1"),
                gpu("0000:86:00.0", "96.1"),
                gpu("0000:af:00.0", "96.2"),
            ],
        }
    }

    #[test]
    fn what_was_saved_differs_in_nothing_and_names_the_odd_one() {
        let facts = facts();
        let saved = Baseline::of(&facts);
        assert_eq!(saved.gpu.nvlinks, Some(18));
        // The GPUs differ in it, so it is expected of each by itself.
        assert_eq!(saved.gpu.vbios, None);
        assert_eq!(saved.gpus.len(), 3);
        assert_eq!(saved.gpu.mig, None, "nobody could read it");
        let text = serde_json::to_string(&saved).unwrap();
        let saved: Baseline = serde_json::from_str(&text).unwrap();
        assert_eq!(saved.compare_host(&facts).differences, []);
        for gpu in &facts.gpus {
            let found = saved.compare_gpu(&facts, gpu);
            assert_eq!((found.differences, found.unread), (vec![], vec![]));
        }
    }

    #[test]
    fn another_layout_of_mig_differs_and_its_order_does_not() {
        let of = |profiles: Option<&[&str]>| {
            let mut found = gpu("0000:3b:00.0", "1");
            let sample = found.sample.as_mut().unwrap();
            sample.mig = Some(crate::MigMode {
                enabled: profiles.is_some(),
                pending: false,
            });
            let profiles = (1..).zip(profiles.unwrap_or_default());
            sample.mig_instances = profiles
                .map(|(gi, profile)| crate::MigInstance {
                    gi,
                    profile: Some((*profile).to_owned()),
                    ..crate::MigInstance::default()
                })
                .collect();
            BaselineFacts {
                gpus: vec![found],
                ..BaselineFacts::default()
            }
        };
        let saved = Baseline::of(&of(Some(&["3g.40gb", "1g.10gb"])));
        let compare = |facts: &BaselineFacts| {
            let found = saved.compare_gpu(facts, &facts.gpus[0]);
            let differences: Vec<_> = found.differences.iter().map(ToString::to_string).collect();
            (differences, found.unread)
        };
        let same = of(Some(&["1g.10gb", "3g.40gb"]));
        assert_eq!(compare(&same), (Vec::new(), Vec::new()));
        let other = of(Some(&["1g.10gb"]));
        let differs = "mig_instances 1g.10gb, expected 1g.10gb 3g.40gb";
        assert_eq!(compare(&other).0, [differs]);
        let none = "mig_instances none, expected 1g.10gb 3g.40gb";
        assert_eq!(compare(&of(Some(&[]))).0, [none]);
        // A GPU that is not in MIG mode differs by that.
        let (off, unread) = compare(&of(None));
        assert_eq!(off, ["mig off, expected on"]);
        assert_eq!(unread, [Setting::MigInstances]);
        assert_eq!(Baseline::of(&of(None)).gpu.mig_instances, None);
    }

    #[test]
    fn each_difference_says_what_is_and_what_should_be() {
        let mut facts = facts();
        let mut saved = Baseline::of(&facts);
        saved.gpu.vbios = Some(Expected::AnyOf(vec!["96.0".into(), "96.1".into()]));
        saved.gpus.clear();
        saved.gpu.confidential_computing = Some(false);
        facts.driver = Some("535.1".to_owned());
        facts.pci_gpus = Some(2);
        facts.rdma_ports = Some(9);
        facts.nvswitches = None;
        let sample = facts.gpus[2].sample.as_mut().unwrap();
        sample.power.limit_w = Some(699.5);
        sample.ecc.enabled = Some(false);
        sample.nvlinks[3].active = Some(false);
        let host = saved.compare_host(&facts);
        let lines: Vec<_> = host.differences.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "driver 535.1, expected 550.54.15",
                "gpus 2, expected 3",
                "rdma_ports 9, expected 8",
            ]
        );
        let missing: Vec<_> = host.differences.iter().map(|d| d.missing).collect();
        assert_eq!(missing, [false, true, false]);
        assert_eq!(host.unread, [Setting::Nvswitches]);
        let gpu = saved.compare_gpu(&facts, &facts.gpus[2]);
        let lines: Vec<_> = gpu.differences.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            [
                "vbios 96.2, expected 96.0 or 96.1",
                "ecc off, expected on",
                "nvlinks 17, expected 18",
            ]
        );
        assert_eq!(gpu.unread, [Setting::ConfidentialComputing]);
        assert_eq!(
            gpu.same,
            [Setting::Name, Setting::PowerLimit, Setting::Persistence]
        );
    }
}
