use std::path::Path;

use crate::{PcieLink, sysfs};

/// Reads `16.0 GT/s PCIe` and, from kernels before 5.8, `16 GT/s`; `Unknown` is `None`.
pub fn parse_speed(text: &str) -> Option<f64> {
    let (speed, rest) = text.trim().split_once(' ')?;
    let speed: f64 = speed.parse().ok()?;
    (rest.starts_with("GT/s") && speed.is_finite() && speed > 0.0).then_some(speed)
}

fn speed(path: &Path) -> Option<f64> {
    parse_speed(&sysfs::text(path)?)
}

/// A width of 0 means that the link is not known (a device on a root complex has none), 255 that
/// the register reads all ones.
fn width(path: &Path) -> Option<u32> {
    sysfs::number(path).filter(|w| (1..=32).contains(w))
}

/// The link of the device at `dir` below the port at `port`.
///
/// `max_*` of a device are what it could do itself; a x16 GPU in a x8 slot is no fault, so the
/// port's own maximum counts too.
pub(crate) fn read(dir: &Path, port: Option<&Path>) -> Option<PcieLink> {
    let least = |own: Option<f64>, ports: Option<f64>| match (own, ports) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (own, _) => own,
    };
    let max_speed = least(
        speed(&dir.join("max_link_speed")),
        port.and_then(|p| speed(&p.join("max_link_speed"))),
    );
    let own_width = width(&dir.join("max_link_width"));
    let max_width = match port.and_then(|p| width(&p.join("max_link_width"))) {
        Some(ports) => own_width.map(|w| w.min(ports)),
        None => own_width,
    };
    let link = PcieLink {
        speed: speed(&dir.join("current_link_speed")),
        max_speed,
        width: width(&dir.join("current_link_width")),
        max_width,
    };
    (link != PcieLink::default()).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_speeds_of_old_and_new_kernels() {
        assert_eq!(parse_speed("16.0 GT/s PCIe"), Some(16.0));
        assert_eq!(parse_speed("2.5 GT/s PCIe\n"), Some(2.5));
        assert_eq!(parse_speed("8 GT/s"), Some(8.0));
        for text in [
            "Unknown",
            "Unknown speed",
            "",
            "16.0",
            "NaN GT/s",
            "inf GT/s",
            "-1 GT/s",
        ] {
            assert_eq!(parse_speed(text), None, "{text}");
        }
    }
}
