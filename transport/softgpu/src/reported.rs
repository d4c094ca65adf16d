//! Readings of NVML that a CPU emulator has no source for, where `GTRACE_SOFTGPU_FAULT` or the control file gives them.

/// Limits of power, watts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PowerLimits {
    /// The one in force.
    pub(crate) current: u32,
    pub(crate) default: u32,
    pub(crate) min: u32,
    pub(crate) max: u32,
}

/// See the module. What was not given is not supported.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reported {
    /// Degrees Celsius up to the slowdown.
    pub(crate) margin: Option<i32>,
    /// Degrees Celsius.
    pub(crate) memory_temperature: Option<u32>,
    /// Watts.
    pub(crate) memory_power: Option<u32>,
    pub(crate) power_limits: Option<PowerLimits>,
    /// Banks with all, many, some, few and no spare rows.
    pub(crate) banks: Option<[u32; 5]>,
    /// Errors of on-chip memory since the start: corrected, by parity, by SEC-DED.
    pub(crate) sram: [u64; 3],
    pub(crate) sram_threshold: bool,
    pub(crate) repair_channel: bool,
    pub(crate) repair_tpc: bool,
    /// Per cent.
    pub(crate) jpeg: Option<u32>,
    pub(crate) ofa: Option<u32>,
    /// What the driver asks for, as NVML numbers it.
    pub(crate) recovery: Option<u32>,
}

impl Reported {
    /// Reads an entry; `None` where it is none of these.
    pub(crate) fn parse(&mut self, entry: &str) -> Option<()> {
        match entry {
            "sram:threshold" => self.sram_threshold = true,
            "repair:channel" => self.repair_channel = true,
            "repair:tpc" => self.repair_tpc = true,
            _ => self.set(entry.split_once('=')?)?,
        }
        Some(())
    }

    fn set(&mut self, (name, value): (&str, &str)) -> Option<()> {
        match name {
            "margin" => self.margin = Some(value.parse().ok()?),
            "memory_temperature" => self.memory_temperature = Some(value.parse().ok()?),
            "memory_power" => self.memory_power = Some(watts(value)?),
            "power_limit" => {
                let [current, default, min, max] = numbers(value)?;
                let all = [current, default, min, max];
                all.iter().all(|w| *w <= MAX_WATTS).then_some(())?;
                self.power_limits = Some(PowerLimits {
                    current,
                    default,
                    min,
                    max,
                });
            }
            "banks" => self.banks = Some(numbers(value)?),
            "sram:corrected" => self.sram[0] = value.parse().ok()?,
            "sram:parity" => self.sram[1] = value.parse().ok()?,
            "sram:sec_ded" => self.sram[2] = value.parse().ok()?,
            "jpeg" => self.jpeg = Some(percent(value)?),
            "ofa" => self.ofa = Some(percent(value)?),
            "recovery" => self.recovery = Some(value.parse().ok()?),
            _ => return None,
        }
        Some(())
    }
}

/// So that milliwatts fit into 32 bits.
const MAX_WATTS: u32 = 1_000_000;

fn watts(text: &str) -> Option<u32> {
    text.parse().ok().filter(|w| *w <= MAX_WATTS)
}

fn percent(text: &str) -> Option<u32> {
    text.parse().ok().filter(|p| *p <= 100)
}

/// Numbers between colons, exactly so many.
fn numbers<const N: usize>(text: &str) -> Option<[u32; N]> {
    let all: Option<Vec<u32>> = text.split(':').map(|n| n.parse().ok()).collect();
    all?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_others_left() {
        let mut found = Reported::default();
        for entry in ["margin=-3", "banks=638:2:0:0:0", "sram:parity=4", "ofa=7"] {
            assert_eq!(found.parse(entry), Some(()), "{entry}");
        }
        assert_eq!(found.parse("power_limit=250:300:100:350"), Some(()));
        assert_eq!((found.margin, found.ofa), (Some(-3), Some(7)));
        assert_eq!(found.banks, Some([638, 2, 0, 0, 0]));
        assert_eq!(
            found.power_limits.map(|l| (l.current, l.max)),
            Some((250, 350))
        );
        assert_eq!(found.sram, [0, 4, 0]);
        for entry in [
            "margin",
            "banks=1:2",
            "jpeg=101",
            "power_limit=9",
            "memory_power=4294968",
        ] {
            assert_eq!(found.parse(entry), None, "{entry}");
        }
    }
}
