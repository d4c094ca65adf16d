//! How a device is divided in MIG mode, and what its licence as a vGPU is: what NVML shows of them.

use crate::device::Device;

/// Compute instances of a device at most.
pub(crate) const MOST: usize = 7;

/// A compute instance of a GPU instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Instance {
    /// Number of its GPU instance, from 1 on: 0 is the whole device's.
    pub(crate) gi: u32,
    /// Its own number in that.
    pub(crate) ci: u32,
    /// `1g.1gb`, `1c.3g.2gb`.
    pub(crate) profile: String,
    /// Slices of the GPU instance, of 7.
    pub(crate) slices: u32,
    /// Slices of those that it computes with.
    pub(crate) computing: u32,
    /// Memory of the GPU instance as its profile says, GiB.
    gib: u64,
}

impl Instance {
    /// Memory of its GPU instance, bytes: as its profile says, and no more than the device's share for so many slices.
    pub(crate) fn memory(&self, of_device: u64) -> u64 {
        let eighths = if self.slices == 7 {
            8
        } else {
            u64::from(self.slices) + u64::from(self.slices == 3)
        };
        (self.gib << 30).min(of_device / 8 * eighths)
    }

    /// `MIG-` and a UUID that follows from the device and how it is divided.
    pub(crate) fn uuid_text(&self, device: &Device, place: usize) -> String {
        let mut last = 0xcbf2_9ce4_8422_2325_u64;
        let text = format!(
            "{} {} {} {place} {}",
            self.gi, self.ci, self.profile, device.index
        );
        for byte in text.bytes() {
            last = (last ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        format!(
            "MIG-67747261-6365-4d49-8{:03x}-{:012x}",
            last >> 52,
            last & 0xffff_ffff_ffff
        )
    }
}

/// Takes one more GPU instance: the profiles of its compute instances with `+` between them (`1g.1gb`, `1c.3g.2gb+2c.3g.2gb`).
pub(crate) fn add(layout: &mut Vec<Instance>, profiles: &str) -> Option<()> {
    let gi = layout.last().map_or(1, |last| last.gi + 1);
    let mut parsed = Vec::new();
    for (ci, profile) in (0..).zip(profiles.split('+')) {
        let (computing, rest) = match profile.split_once("c.") {
            Some((computing, rest)) => (Some(computing.parse().ok()?), rest),
            None => (None, profile),
        };
        let (slices, memory) = rest.split_once("g.")?;
        let slices: u32 = slices.parse().ok()?;
        let computing = computing.unwrap_or(slices);
        let gib = memory.strip_suffix("gb")?.parse().ok()?;
        if !matches!(slices, 1..=4 | 7) || !(1..=slices).contains(&computing) || gib > 1 << 20 {
            return None;
        }
        let profile = profile.to_owned();
        parsed.push(Instance {
            gi,
            ci,
            profile,
            slices,
            computing,
            gib,
        });
    }
    if layout.len() + parsed.len() > MOST {
        return None;
    }
    layout.append(&mut parsed);
    Some(())
}

/// The licence of a vGPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum License {
    /// It needs one and has none.
    Missing,
    /// It does not end.
    Permanent,
    /// It ends on this day: year, month, day.
    Until(u32, u16, u16),
}

impl License {
    /// `none`, `permanent` or a day, `2027-03-31`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "none" => Some(Self::Missing),
            "permanent" => Some(Self::Permanent),
            day => {
                let mut parts = day.split('-');
                let mut next = || parts.next();
                let (year, month, day) = (next()?, next()?, next()?);
                let (month, day) = (month.parse().ok()?, day.parse().ok()?);
                let is_day =
                    parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
                is_day.then_some(Self::Until(year.parse().ok()?, month, day))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_read_as_nvidia_writes_them() {
        let mut layout = Vec::new();
        add(&mut layout, "1g.1gb").unwrap();
        add(&mut layout, "1c.3g.2gb+2c.3g.2gb").unwrap();
        let found: Vec<_> = layout
            .iter()
            .map(|i| (i.gi, i.ci, i.slices, i.computing))
            .collect();
        assert_eq!(found, [(1, 0, 1, 1), (2, 0, 3, 1), (2, 1, 3, 2)]);
        assert_eq!(layout[1].memory(4 << 30), 2 << 30);
        assert_eq!(layout[0].memory(4 << 30), 512 << 20, "an eighth");
        for wrong in [
            "",
            "1g",
            "5g.1gb",
            "2c.1g.1gb",
            "0c.1g.1gb",
            "1g.1",
            "g.1gb",
            "1g.1gb+",
        ] {
            assert!(add(&mut layout, wrong).is_none(), "{wrong}");
        }
        assert_eq!(layout.len(), 3);
        assert!(add(&mut layout, "1g.1gb+1g.1gb+1g.1gb+1g.1gb+1g.1gb").is_none());
    }

    #[test]
    fn a_licence_is_none_permanent_or_ends_on_a_day() {
        for (text, found) in [
            ("none", Some(License::Missing)),
            ("permanent", Some(License::Permanent)),
            ("2027-03-31", Some(License::Until(2027, 3, 31))),
            ("2027-13-31", None),
            ("2027-03", None),
            ("2027-03-31-1", None),
            ("soon", None),
        ] {
            assert_eq!(License::parse(text), found, "{text}");
        }
    }
}
