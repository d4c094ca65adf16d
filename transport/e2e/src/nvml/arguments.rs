//! Which arguments the functions of NVML are called with.

use gtrace_cuda::{Function, Pass};

/// Functions that are not asked, and why.
const SKIPPED: [(&str, &str); 5] = [
    (
        "nvmlDeviceGetConfComputeGpuAttestationReport",
        "takes seconds, and has a number of the moment in it",
    ),
    ("nvmlDeviceGetConfComputeGpuCertificate", "takes seconds"),
    (
        "nvmlDeviceGetHandleByUUIDV",
        "nvmlDeviceGetHandleByUUID is asked",
    ),
    (
        "nvmlDeviceQueryDrainState",
        "takes a structure, and is for those who drain a device",
    ),
    (
        "nvmlDeviceGetFieldValues",
        "asked for each field by itself, with its own form of line",
    ),
];

pub(super) fn is_skipped(name: &str) -> bool {
    SKIPPED.iter().any(|(skipped, _)| *skipped == name)
}

/// Every combination of values for the arguments that are numbers, in their order.
pub(super) fn combinations(function: &Function, memory_clock: u32) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for argument in function.arguments {
        if argument.pass != Pass::Value {
            continue;
        }
        let values = values(function.name, argument.name, memory_clock);
        all = all
            .iter()
            .flat_map(|before| {
                values.iter().map(move |value| {
                    let mut row = before.clone();
                    row.push(*value);
                    row
                })
            })
            .collect();
    }
    all
}

/// Values of one argument: those of its enumeration, and for what is counted the first few.
fn values(function: &str, argument: &str, memory_clock: u32) -> Vec<u64> {
    let up_to = |end: u64| (0..end).collect();
    match argument {
        "length" => vec![96],
        // Elements of the CPU and node masks.
        "cpuSetSize" | "nodeSetSize" => vec![16],
        // Bytes.
        "size" => vec![64],
        "type_" if function == "nvmlDeviceGetSamples" => up_to(9),
        "clockType" | "clockId" | "type_" => up_to(4),
        "fan" | "errorType" | "counterType" | "cause" | "apiType" | "scope" | "index" => up_to(2),
        // NVML_THERMAL_TARGET_ALL.
        "sensorIndex" => vec![15],
        "thresholdType" | "locationType" => up_to(8),
        "pstate" => vec![0, 2, 8],
        "perfPolicyType" => up_to(7),
        "link" => up_to(18),
        "capability" | "p2pIndex" => up_to(6),
        "counter" => up_to(5),
        // nvmlGpuTopologyLevel_t.
        "level" => vec![0, 10, 20, 30, 40, 50],
        "object" | "encoderQueryType" => up_to(3),
        // One that there is not: a worker of the server sees no other process, whoever asks without a server does.
        "pid" => vec![0x7fff_fffe],
        "memoryClockMHz" => vec![u64::from(memory_clock)],
        _ => vec![0],
    }
}

#[cfg(test)]
mod tests {
    use gtrace_cuda::functions::NVML;

    use super::*;

    #[test]
    fn what_is_left_out_exists() {
        for (name, why) in SKIPPED {
            let exists = NVML
                .iter()
                .copied()
                .flatten()
                .any(|function| function.name == name);
            assert!(exists && !why.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_value_goes_with_every_other() {
        let function = NVML
            .iter()
            .copied()
            .flatten()
            .find(|function| function.name == "nvmlDeviceGetNvLinkErrorCounter")
            .expect("it is described");
        let all = combinations(function, 0);
        assert_eq!(all.len(), 18 * 5);
        assert_eq!(
            (all[0].as_slice(), all[89].as_slice()),
            (&[0, 0][..], &[17, 4][..])
        );
    }
}
