//! What the results say of the machine.

use std::fs;
use std::process::Command;

use super::place::Place;
use crate::nvml::compare::{Answers, answers};
use crate::process;

/// A machine.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// Whether the device is the CPU emulator.
    pub cpu_emulator: bool,
    /// The devices' names.
    pub gpus: Vec<String>,
    /// Of the kernel module and the libraries.
    pub driver: String,
    /// That the driver speaks, such as 12040.
    pub cuda: String,
    /// Of Linux.
    pub kernel: String,
    /// Its name, and how many.
    pub cpu: String,
    /// When the check began, UTC.
    pub date: String,
    /// gtrace's version.
    pub gtrace: String,
    /// Paths of the driver's libraries.
    pub libraries: String,
}

impl Machine {
    /// Asks NVML, the kernel and the clock; what cannot be found out is empty.
    pub fn find(place: &Place) -> Self {
        let mut nvml = place.direct(&place.parts.client);
        nvml.arg("nvml");
        let output = process::run(&mut nvml, place.ground.limit);
        let answers = output.map_or(Answers::new(), |outcome| answers(&outcome.stdout));
        let text = |key: &str| {
            let value = answers.get(key).map_or("", |answer| answer.value.as_str());
            quoted(value)
        };
        let gpus = (0..)
            .map(|index| text(&format!("nvmlDeviceGetName(device {index}, 96)")))
            .take_while(|name| !name.is_empty());
        let mut version = Command::new(&place.ground.gtrace);
        version.arg("--version");
        if let Some(search) = &place.ground.gpu.search {
            version.env("LD_LIBRARY_PATH", search);
        }
        let cuda = answers
            .get("nvmlSystemGetCudaDriverVersion_v2()")
            .and_then(|answer| Some(answer.value.rsplit_once('=')?.1.to_owned()));
        let driver = text("nvmlSystemGetDriverVersion(96)");
        Self {
            // Whoever names the CPU emulator's library as the driver's has a rehearsal all the same.
            cpu_emulator: !place.ground.real || driver.contains("softgpu"),
            gpus: gpus.collect(),
            driver,
            cuda: cuda.unwrap_or_default(),
            kernel: read("/proc/sys/kernel/osrelease"),
            cpu: cpu(),
            date: output_of(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"])),
            gtrace: output_of(&mut version),
            libraries: format!(
                "{}, {}",
                place.libraries.libcuda.display(),
                place.libraries.libnvml.display()
            ),
        }
    }

    /// For a table.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let gpu = match self.cpu_emulator {
            true => format!("CPU EMULATOR: {}", self.gpus.join(", ")),
            false => self.gpus.join(", "),
        };
        vec![
            ("GPU", gpu),
            ("driver", self.driver.clone()),
            ("CUDA of the driver", self.cuda.clone()),
            ("libraries", self.libraries.clone()),
            ("kernel", self.kernel.clone()),
            ("CPU", self.cpu.clone()),
            ("gtrace", self.gtrace.clone()),
            ("date", self.date.clone()),
        ]
    }
}

/// What stands between the first and the last quotation mark.
fn quoted(text: &str) -> String {
    let inner = text
        .split_once('"')
        .and_then(|(_, rest)| rest.rsplit_once('"'));
    inner.map_or(String::new(), |(inner, _)| inner.to_owned())
}

fn read(path: &str) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

fn cpu() -> String {
    let text = read("/proc/cpuinfo");
    let names = text.lines().filter(|line| line.starts_with("model name"));
    let name = names
        .filter_map(|line| Some(line.split_once(": ")?.1))
        .next();
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    format!("{} x {}", count, name.unwrap_or("unknown"))
}

fn output_of(command: &mut Command) -> String {
    let output = command.output();
    output.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_is_quoted() {
        assert_eq!(
            quoted("Success name=\"NVIDIA \\\"X\\\"\""),
            "NVIDIA \\\"X\\\""
        );
        assert_eq!(quoted("Not Supported"), "");
    }
}
