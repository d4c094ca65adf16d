//! Turns NVML calls into a snapshot. Runs in the child only.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use gtrace_event::{PciAddress, Timestamp};
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{
    Clock, EccCounter, MemoryError, PcieUtilCounter, PerformancePolicy, RetirementCause,
    TemperatureSensor, TemperatureThreshold,
};
use nvml_wrapper::enum_wrappers::nv_link::ErrorCounter;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::sys_exports::field_id as field;
use nvml_wrapper::{Device, Nvml};

use super::fabric::FabricReader;
use super::fields::Fields;
use super::gpm::Gpm;
use super::links::LinkErrors;
use super::protocol::{Answer, Asked, NvmlGpu, NvmlSnapshot, Op, Request, UnreadableGpu};
use super::reader::{Reader, is_lost};
use super::{beyond, license, mig, processes};
use crate::{
    Bar1, ClockEventReasons, Clocks, EccCounts, EccErrors, GpuBoard, GpuMemory, GpuSample, MigMode,
    NvLinkSample, Power, RemappedRows, RetiredPages, Temperature, Utilization, Violations,
};

/// What is read beside the wrapper's calls, and kept from one request to the next.
pub(crate) struct Beside {
    pub(super) gpm: Gpm,
    pub(super) fabric: FabricReader,
    pub(super) boards: Boards,
    pub(super) links: LinkErrors,
}

/// A board is read again after so long: another firmware may have been written to it.
const BOARD_AGE: Duration = Duration::from_secs(3600);

/// What does not change while the driver is loaded: a child ends with that.
#[derive(Default)]
pub(super) struct Boards(BTreeMap<PciAddress, Board>);

struct Board {
    uuid: Option<String>,
    read: Instant,
    board: GpuBoard,
}

impl Boards {
    fn read(&mut self, reader: &mut Reader<'_, '_>, gpu: &NvmlGpu) -> GpuBoard {
        let known = self.0.get(&gpu.pci);
        let known =
            known.filter(|known| known.uuid == gpu.uuid && known.read.elapsed() < BOARD_AGE);
        if let Some(known) = known {
            return known.board.clone();
        }
        let errors = reader.errors.len();
        let board = reader.board();
        if !reader.lost && reader.errors.len() == errors {
            let known = Board {
                uuid: gpu.uuid.clone(),
                read: Instant::now(),
                board: board.clone(),
            };
            self.0.insert(gpu.pci, known);
        }
        board
    }
}

impl Beside {
    fn read(&mut self, nvml: &Nvml, device: &Device<'_>, gpu: &mut NvmlGpu) {
        let index = gpu.index;
        let mut reader = Reader::new(device);
        gpu.board = self.boards.read(&mut reader, gpu);
        // GPUs before Hopper have none.
        let activity = reader.may(|device| self.gpm.read(nvml, device, index));
        gpu.sample.activity = activity.unwrap_or_default();
        if !reader.lost {
            gpu.sample.fabric = self.fabric.read(device, gpu.pci);
            self.links.read(&mut reader, gpu);
        }
        let license = reader.must("licence of the vGPU", |device| license::read(nvml, device));
        gpu.sample.vgpu_license_unread = license.is_none();
        gpu.sample.vgpu_license = license.flatten();
        let Reader { lost, errors, .. } = reader;
        gpu.errors.extend(errors);
        gpu.lost = lost;
        match gpu.sample.mig {
            Some(mode) if mode.enabled && !lost => {
                mig::read(nvml, &mut self.gpm, device, index, gpu)
            }
            Some(mode) if !mode.enabled => self.gpm.keep_instances(nvml, index, &[]),
            _ => {}
        }
    }
}

/// Reads every GPU that `request` does not leave out. What each says is given to `send` before the next is asked; what is
/// not about one of them is returned.
///
/// # Errors
/// If NVML cannot even count the GPUs.
pub(crate) fn snapshot(
    nvml: &Nvml,
    beside: &mut Beside,
    request: &Request,
    mut send: impl FnMut(Answer),
) -> Result<NvmlSnapshot, NvmlError> {
    let quick = match request.op {
        Op::Sample => None,
        Op::Quick { pcie, nvlink } => Some((pcie, nvlink)),
    };
    let snapshot = match quick {
        Some(_) => NvmlSnapshot::default(),
        None => versions(nvml),
    };
    let count = nvml.device_count()?;
    let mut order: Vec<u32> = (0..count).filter(|n| !request.skip.contains(n)).collect();
    order.sort_by_key(|n| request.last.contains(n));
    for index in order {
        send(Answer::Asks(Asked { index, count }));
        let opened = nvml
            .device_by_index(index)
            .and_then(|d| Ok((address(&d)?, d)));
        let read = |pci, device: &Device<'_>| match quick {
            Some((of, nvlink)) => {
                let pcie = is_turn(request.id, of, index, count);
                Reader::new(device).quick(pci, index, pcie, nvlink)
            }
            None => Reader::new(device).gpu(pci, index),
        };
        send(match opened {
            Ok((pci, device)) => {
                let mut gpu = read(pci, &device);
                // Of a lost GPU every further call could hang.
                if !gpu.lost && quick.is_none() {
                    beside.read(nvml, &device, &mut gpu);
                }
                Answer::Gpu(Box::new(gpu))
            }
            Err(error) => Answer::Unreadable(UnreadableGpu {
                index,
                lost: is_lost(&error),
                error: error.to_string(),
                ..UnreadableGpu::default()
            }),
        });
    }
    Ok(snapshot)
}

/// Whether it is the turn of the GPU `index` where each reading has `of` of `count`: GPUs that are measured for 40 ms one after
/// the other would make each reading long.
fn is_turn(reading: u64, of: u32, index: u32, count: u32) -> bool {
    let count = u64::from(count.max(1));
    let first = reading.wrapping_mul(u64::from(of)) % count;
    (u64::from(index) + count - first) % count < u64::from(of)
}

fn versions(nvml: &Nvml) -> NvmlSnapshot {
    NvmlSnapshot {
        driver_version: nvml.sys_driver_version().ok(),
        nvml_version: nvml.sys_nvml_version().ok(),
        cuda_version: nvml
            .sys_cuda_driver_version()
            .ok()
            .map(|v| format!("{}.{}", v / 1000, v % 1000 / 10)),
        ..NvmlSnapshot::default()
    }
}

fn address(device: &Device<'_>) -> Result<PciAddress, NvmlError> {
    let info = device.pci_info()?;
    PciAddress::parse(&info.bus_id).ok_or(NvmlError::GetPciInfoFailed)
}

impl Reader<'_, '_> {
    fn gpu(mut self, pci: PciAddress, index: u32) -> NvmlGpu {
        let uuid = self.get("uuid", Device::uuid);
        let name = self.get("name", Device::name);
        let sample = self.sample();
        NvmlGpu {
            pci,
            index,
            uuid,
            name,
            lost: self.lost,
            errors: self.errors,
            sample,
            ..NvmlGpu::default()
        }
    }

    /// What changes within milliseconds, in a dozen calls.
    fn quick(mut self, pci: PciAddress, index: u32, pcie: bool, nvlink: bool) -> NvmlGpu {
        let name = self.get("name", Device::name);
        let mut sample = GpuSample::at(Timestamp::now());
        sample.utilization = self.utilization();
        sample.memory = self.memory();
        sample.temperature.gpu = self.get("temperature", |d| d.temperature(TemperatureSensor::Gpu));
        sample.power.draw_w = self.get("power", Device::power_usage).map(watts);
        sample.clocks.sm = self.get("clock", |d| d.clock_info(Clock::SM));
        sample.clocks.memory = self.get("clock", |d| d.clock_info(Clock::Memory));
        if nvlink {
            let fields = Fields::of_traffic(&mut self);
            // A rate is made of two readings, each at its time.
            sample.time = Timestamp::now();
            (sample.nvlink_tx_bytes, sample.nvlink_rx_bytes) = fields.nvlink_bytes(&mut self);
        }
        if pcie {
            (sample.pcie_tx, sample.pcie_rx) = self.pcie();
        }
        NvmlGpu {
            pci,
            index,
            name,
            lost: self.lost,
            errors: self.errors,
            sample,
            ..NvmlGpu::default()
        }
    }

    fn utilization(&mut self) -> Utilization {
        let rates = self.get("utilization", Device::utilization_rates);
        rates.map_or_else(Utilization::default, |u| Utilization {
            gpu: Some(u.gpu),
            memory: Some(u.memory),
            ..Utilization::default()
        })
    }

    fn memory(&mut self) -> GpuMemory {
        let info = self.get("memory", Device::memory_info);
        info.map_or_else(GpuMemory::default, |m| GpuMemory {
            total: Some(m.total),
            used: Some(m.used),
            free: Some(m.free),
            reserved: Some(m.reserved),
        })
    }

    fn bar1(&mut self) -> Bar1 {
        let info = self.get("BAR1", Device::bar1_memory_info);
        info.map_or_else(Bar1::default, |b| Bar1 {
            total: Some(b.total),
            used: Some(b.used),
            free: Some(b.free),
        })
    }

    /// Bytes a second from and to the GPU. Each call measures for 20 ms, and for up to 220 ms where no bytes move.
    fn pcie(&mut self) -> (Option<u64>, Option<u64>) {
        let mut rate = |counter| {
            let kib = self.get("PCIe throughput", |d| d.pcie_throughput(counter));
            kib.map(|kib| u64::from(kib) * 1024)
        };
        (rate(PcieUtilCounter::Send), rate(PcieUtilCounter::Receive))
    }

    fn board(&mut self) -> GpuBoard {
        let range = self.get(
            "range of power limits",
            Device::power_management_limit_constraints,
        );
        let default = self.get(
            "default power limit",
            Device::power_management_limit_default,
        );
        GpuBoard {
            serial: self.get("serial number", Device::serial),
            part_number: self.get("part number", Device::board_part_number),
            vbios: self.get("VBIOS version", Device::vbios_version),
            firmware: self.get("GSP firmware version", Device::gsp_firmware_version),
            inforom_valid: self.may(beyond::inforom),
            confidential_computing: self.get(
                "confidential computing",
                Device::check_confidential_compute_status,
            ),
            power_limit_default_w: default.map(watts),
            power_limit_min_w: range.as_ref().map(|r| watts(r.min_limit)),
            power_limit_max_w: range.as_ref().map(|r| watts(r.max_limit)),
        }
    }

    fn sample(&mut self) -> GpuSample {
        let mut sample = GpuSample::at(Timestamp::now());
        let fields = Fields::read(self);
        sample.utilization = self.utilization();
        sample.utilization.encoder = self
            .get("encoder utilization", Device::encoder_utilization)
            .map(|u| u.utilization);
        sample.utilization.decoder = self
            .get("decoder utilization", Device::decoder_utilization)
            .map(|u| u.utilization);
        sample.utilization.jpeg = self.get("JPEG utilization", beyond::jpeg);
        sample.utilization.ofa = self.get("OFA utilization", beyond::ofa);
        sample.memory = self.memory();
        sample.bar1 = self.bar1();
        sample.temperature = self.temperature(&fields);
        sample.power = self.power(&fields);
        sample.clocks = self.clocks();
        sample.clock_event_reasons = self
            .get("clock event reasons", Device::current_throttle_reasons)
            .map(|r: ThrottleReasons| ClockEventReasons(r.bits()));
        sample.violations = self.violations(&fields);
        sample.ecc = self.ecc();
        sample.remapped_rows = RemappedRows {
            correctable: fields.get(field::NVML_FI_DEV_REMAPPED_COR),
            uncorrectable: fields.get(field::NVML_FI_DEV_REMAPPED_UNC),
            pending: fields
                .get(field::NVML_FI_DEV_REMAPPED_PENDING)
                .map(|n| n != 0),
            failure: fields
                .get(field::NVML_FI_DEV_REMAPPED_FAILURE)
                .map(|n| n != 0),
            spare: self.get("spare rows", beyond::spare_rows),
        };
        sample.retired_pages = self.retired_pages();
        sample.repair = self.get("repairs", beyond::repair).unwrap_or_default();
        sample.pcie_replays = self
            .get("PCIe replay counter", Device::pcie_replay_counter)
            .map(u64::from);
        (sample.pcie_tx, sample.pcie_rx) = self.pcie();
        let links = 0..fields.links();
        sample.nvlinks = links.filter_map(|link| self.nvlink(link)).collect();
        Fields::nvlink_recoveries(self, &mut sample.nvlinks);
        sample.c2c_links = fields.c2c_links(self);
        (sample.nvlink_tx_bytes, sample.nvlink_rx_bytes) = fields.nvlink_bytes(self);
        sample.processes = processes::of_gpu(self);
        // 32 is "unknown".
        sample.performance_state = self
            .get("performance state", Device::performance_state)
            .map(|s| s.as_c())
            .filter(|&s| s <= 15);
        sample.mig = self.get("MIG mode", Device::mig_mode).map(|m| MigMode {
            enabled: m.current == 1,
            pending: m.pending == 1,
        });
        sample.recovery_action = fields
            .get(field::NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)
            .and_then(|action| u32::try_from(action).ok());
        sample.persistence_mode = self.get("persistence mode", Device::is_in_persistent_mode);
        let fans = self.get("fans", Device::num_fans).unwrap_or(0).min(16);
        sample.fan = (0..fans)
            .filter_map(|n| self.get("fan", |d| d.fan_speed(n)))
            .max();
        sample
    }

    fn temperature(&mut self, fields: &Fields) -> Temperature {
        let mut threshold = |t| {
            self.get("temperature threshold", |d| d.temperature_threshold(t))
                .filter(|&c| c > 0)
        };
        Temperature {
            slowdown_limit: threshold(TemperatureThreshold::Slowdown),
            shutdown_limit: threshold(TemperatureThreshold::Shutdown),
            memory_limit: threshold(TemperatureThreshold::MemoryMax),
            gpu: self.get("temperature", |d| d.temperature(TemperatureSensor::Gpu)),
            // 0 where the memory has no sensor.
            memory: fields
                .get(field::NVML_FI_DEV_MEMORY_TEMP)
                .and_then(|c| u32::try_from(c).ok())
                .filter(|&c| c > 0),
            margin: self.get("temperature margin", beyond::margin),
        }
    }

    fn power(&mut self, fields: &Fields) -> Power {
        Power {
            draw_w: self.get("power", Device::power_usage).map(watts),
            memory_w: fields.memory_power().map(watts),
            module_w: fields.module_power().map(watts),
            limit_w: self
                .get("power limit", Device::enforced_power_limit)
                .map(watts),
            requested_limit_w: self
                .get("requested power limit", Device::power_management_limit)
                .map(watts),
            energy_j: self
                .get("energy", Device::total_energy_consumption)
                .map(|mj| mj as f64 / 1000.0),
        }
    }

    fn clocks(&mut self) -> Clocks {
        let mut now = |c| self.get("clock", |d| d.clock_info(c));
        let (graphics, sm, memory) = (now(Clock::Graphics), now(Clock::SM), now(Clock::Memory));
        let mut max = |c| self.get("clock limit", |d| d.max_clock_info(c));
        Clocks {
            graphics,
            sm,
            memory,
            max_graphics: max(Clock::Graphics),
            max_sm: max(Clock::SM),
            max_memory: max(Clock::Memory),
        }
    }

    fn violations(&mut self, fields: &Fields) -> Violations {
        let mut time = |p| {
            self.get("violation time", |d| d.violation_status(p))
                .map(|v| v.violation_time)
        };
        Violations {
            power: time(PerformancePolicy::Power),
            thermal: time(PerformancePolicy::Thermal),
            sync_boost: time(PerformancePolicy::SyncBoost),
            board_limit: time(PerformancePolicy::BoardLimit),
            low_utilization: time(PerformancePolicy::LowUtilization),
            reliability: time(PerformancePolicy::Reliability),
            total_app_clocks: time(PerformancePolicy::TotalAppClocks),
            total_base_clocks: time(PerformancePolicy::TotalBaseClocks),
            sw_thermal_slowdown: fields
                .get(field::NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN),
            hw_thermal_slowdown: fields
                .get(field::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN),
            hw_power_brake_slowdown: fields
                .get(field::NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN),
        }
    }

    fn ecc(&mut self) -> EccCounts {
        let enabled = self
            .get("ECC mode", Device::is_ecc_enabled)
            .map(|m| m.currently_enabled);
        let mut errors = |counter: EccCounter| {
            let mut count =
                |kind: MemoryError| self.get("ECC errors", |d| d.total_ecc_errors(kind, counter));
            let errors = EccErrors {
                corrected: count(MemoryError::Corrected),
                uncorrected: count(MemoryError::Uncorrected),
            };
            (errors != EccErrors::default()).then_some(errors)
        };
        let (volatile, aggregate) = (errors(EccCounter::Volatile), errors(EccCounter::Aggregate));
        EccCounts {
            enabled,
            volatile,
            aggregate,
            sram: self.get("errors of SRAM", beyond::sram),
        }
    }

    fn retired_pages(&mut self) -> RetiredPages {
        let mut pages = |cause: RetirementCause| {
            self.get("retired pages", |d| d.retired_pages(cause))
                .map(|p| p.len() as u64)
        };
        RetiredPages {
            single_bit: pages(RetirementCause::MultipleSingleBitEccErrors),
            double_bit: pages(RetirementCause::DoubleBitEccError),
            pending: self.get("retired pages", Device::are_pages_pending_retired),
        }
    }

    fn nvlink(&mut self, link: u32) -> Option<NvLinkSample> {
        let active = self.get("NVLink state", |d| d.link_wrapper_for(link).is_active())?;
        let mut sample = NvLinkSample {
            link,
            active: Some(active),
            ..NvLinkSample::default()
        };
        if active {
            let mut count = |c| {
                self.get("NVLink errors", |d| {
                    d.link_wrapper_for(link).error_counter(c)
                })
            };
            sample.replay = count(ErrorCounter::DlReplay);
            sample.recovery = count(ErrorCounter::DlRecovery);
            sample.crc_flit = count(ErrorCounter::DlCrcFlit);
            sample.crc_data = count(ErrorCounter::DlCrcData);
            sample.version = self.get("NVLink version", |d| d.link_wrapper_for(link).version());
        }
        Some(sample)
    }
}

fn watts(milli: u32) -> f64 {
    f64::from(milli) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::is_turn;

    #[test]
    fn every_gpu_has_its_turn() {
        for (of, count) in [(1, 1), (1, 8), (3, 8), (8, 3)] {
            let turns = |index| (0..24).filter(|n| is_turn(*n, of, index, count)).count();
            let expected = 24 * of.min(count) as usize / count as usize;
            assert!(
                (0..count).all(|index| turns(index) == expected),
                "{of} of {count}"
            );
        }
    }
}
