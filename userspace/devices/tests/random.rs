//! Random bytes to everything that reads text from outside: no panic.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use gtrace_devices::{
    ClockEventReasons, DriverVersion, GpuInfo, GpuSample, NvmlSnapshot, ProcGpu, SampleWatch,
    parsers,
};
use gtrace_event::{Gpu, PciAddress, Timestamp};
use proptest::prelude::*;

fn address() -> PciAddress {
    PciAddress::parse("0000:3b:00.0").unwrap()
}

fn sample(n: &[u64], time: i64) -> GpuSample {
    let mut s = GpuSample::at(Timestamp::from_second(time).unwrap());
    let at = |i: usize| n.get(i).copied().filter(|n| n % 5 != 0);
    s.clock_event_reasons = at(0).map(ClockEventReasons);
    s.violations.power = at(1);
    s.violations.thermal = at(2);
    s.violations.hw_thermal_slowdown = at(3);
    s.pcie_replays = at(4);
    s.ecc.volatile = Some(gtrace_devices::EccErrors {
        corrected: at(5),
        uncorrected: at(6),
    });
    s.ecc.aggregate = Some(gtrace_devices::EccErrors {
        corrected: at(7),
        uncorrected: at(6),
    });
    s.retired_pages.single_bit = at(8);
    s.retired_pages.double_bit = at(9);
    s.remapped_rows.pending = at(10).map(|n| n % 2 == 0);
    s.remapped_rows.correctable = at(11);
    s
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn parsers_take_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = String::from_utf8_lossy(&bytes);
        let _ = parsers::parse_aer(&text);
        let _ = parsers::parse_speed(&text);
        let _ = parsers::parse_state(&text);
        if let Some((rate, _)) = parsers::parse_rate(&text) {
            prop_assert!(rate.is_finite() && rate > 0.0);
        }
        let _ = parsers::parse_response(&bytes);
        let _ = DriverVersion::parse(&text);
        let _ = DriverVersion::parse(&format!("NVRM version: Kernel Module {text}"));
        let _ = ProcGpu::parse(address(), &text);
        let _ = serde_json::from_slice::<NvmlSnapshot>(&bytes);
        let _ = serde_json::from_slice::<GpuInfo>(&bytes);
    }

    #[test]
    fn parsers_take_what_looks_nearly_right(
        text in "[A-Za-z_:. \\t\\n0-9]{0,200}",
        n in any::<u64>(),
    ) {
        let _ = parsers::parse_aer(&format!("{text}\nRxErr {n}\nTOTAL_ERR_COR {n}{n}"));
        let _ = parsers::parse_speed(&format!("{n} GT/s {text}"));
        let _ = parsers::parse_state(&format!("{n}: {text}"));
        let _ = parsers::parse_rate(&format!("{n} Gb/sec ({text}"));
        let _ = parsers::parse_rate(&format!("{n} Gb/sec ({n}X {text})"));
        let line = format!("{{\"id\":{n},\"ok\":{{\"gpus\":[{{\"pci\":\"{text}\"}}]}}}}");
        let _ = parsers::parse_response(line.as_bytes());
        let _ = DriverVersion::parse(&format!("NVRM version: {text} Kernel Module {text}"));
    }

    #[test]
    fn samples_may_jump_as_they_like(
        readings in proptest::collection::vec(
            (proptest::collection::vec(any::<u64>(), 12), -1000_i64..1000), 1..20),
    ) {
        let mut watch = SampleWatch::new();
        for (n, time) in &readings {
            for event in watch.observe(&Gpu::at(address()), &sample(n, *time)) {
                prop_assert!(event.count > 0);
                prop_assert!(!event.occurrence.message.is_empty());
            }
        }
    }

    #[test]
    fn clock_event_reasons_read_back(bits in any::<u64>()) {
        let reasons = ClockEventReasons(bits);
        let json = serde_json::to_string(&reasons).unwrap();
        prop_assert_eq!(serde_json::from_str::<ClockEventReasons>(&json).unwrap(), reasons);
        prop_assert_eq!(reasons.names().len(), bits.count_ones() as usize);
    }
}
