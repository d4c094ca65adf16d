//! `gtrace runbook`: the steps for a class of failure, a kind of event, or an incident.

use std::process::ExitCode;

use gtrace_catalogue::Catalogue;
use gtrace_event::{Event, FailureClass, Incident, Kind, PciAddress};

use super::explain::{Explanation, Subject};
use super::ids::SHORTEST_PART;
use super::incidents;
use super::other_host::ReadPlace;
use super::shared::{self, Exit, Failure};
use crate::render::{self, ColorChoice, Style};

/// Print the steps for a class of failure (such as pcie), a kind of event (such as xid), a code (xid 79) or an incident.
///
/// For an incident, $GPU, $PORT and $PID in its commands are what the incident names. On a terminal the page is laid out; a
/// pipe or file gets it as Markdown.
///
/// Exit status: 0 it is printed, 1 this version has no entry for the code, or there is no such incident, 2 wrong usage,
/// 3 not possible.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A class, a kind, a code (`xid 79`, `xid:79`, `79`), or the id of an incident; without it the classes are listed.
    #[arg(num_args = 0..=2)]
    subject: Vec<String>,
    /// Where daemon and store are, for an incident.
    #[command(flatten)]
    place: ReadPlace,
    /// When to use colours.
    #[arg(long, value_enum, default_value_t, value_name = "WHEN")]
    color: ColorChoice,
}

macro_rules! pages {
    ($folder:literal: $($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../../docs/", $folder, "/", $name, ".md")))),*]
    };
}

const CLASSES: &[(&str, &str)] = &pages!("runbooks":
    "gpu_oom" "thermal" "driver_crash" "pcie" "noisy_neighbour" "memory_leak" "library_mismatch" "starvation"
    "gpu_memory" "nvlink" "network" "application" "host" "monitoring" "unknown");

const KINDS: &[(&str, &str)] = &pages!("events":
    "xid" "sxid" "aer" "gpu_lost" "driver_init_failed" "driver_mismatch" "oom_kill" "hung_task" "soft_lockup"
    "nccl_segfault" "peermem_error" "mlx5_slot_power" "mlx5_overheat" "mlx5_access_reg" "mlx5_health"
    "mlx5_cmd_timeout" "fs_readonly" "nvme_timeout" "gpu_process_exit" "slow_call" "api_error" "throttle" "ecc"
    "gpu_hang" "iommu_fault" "cpu_stall" "cpu_throttle" "machine_check" "dimm_error" "kernel_panic" "kernel_oops"
    "file_limit" "mlx5_port_module" "net_timeout" "efa_error" "netfs_stall" "disk_lost" "raid_degraded" "io_error"
    "fs_error" "host_restart" "memory_growth" "gpu_contended" "gpu_starved" "mig_layout" "vgpu_license" "baseline_drift"
    "recovery_action" "service_failed"
    "row_remap" "nvlink" "pcie_link" "pcie_hotplug" "rdma_port" "rdma_errors" "rdma_lost" "source_lost"
    "records_removed" "site_trigger" "plugin_check" "capture");

fn page(pages: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    pages
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

/// The page of that name. Where a word is both, as `nvlink`, the steps of the class say more.
pub(super) fn known(name: &str) -> Option<&'static str> {
    page(CLASSES, name).or_else(|| page(KINDS, name))
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some(subject) = args.subject.first() else {
        let lines = FailureClass::ALL
            .into_iter()
            .map(|class| format!("{:<17} {}\n", class.name(), class.title()));
        shared::print(&lines.collect::<String>())?;
        return Ok(Exit::Success.into());
    };
    if let Some(code @ (Subject::Xid(_) | Subject::Sxid(_))) = Subject::parse(&args.subject) {
        return of_code(code, args.color);
    }
    if args.subject.len() > 1 {
        say!(
            "`{}` is no code; give `xid CODE` or `sxid CODE`",
            args.subject.join(" ")
        );
        return Ok(Exit::Usage.into());
    }
    let name = subject.to_ascii_lowercase().replace('-', "_");
    let text = match known(&name) {
        Some(text) => text.to_owned(),
        None => of_incident(subject, &args)?,
    };
    shared::print(&laid_out(&text, args.color))?;
    Ok(Exit::Success.into())
}

/// The page for a terminal; for a pipe or a file as it is.
fn laid_out(text: &str, color: ColorChoice) -> String {
    let style = Style::of_stdout(color);
    match style.width {
        Some(_) => render::markdown(text, &style, &linked),
        None => text.to_owned(),
    }
}

/// What stands behind a link to `destination`: the command that prints that page, or where it is.
fn linked(destination: &str) -> Option<String> {
    let file = destination.split('#').next().unwrap_or_default();
    let name = file
        .rsplit('/')
        .next()
        .and_then(|name| name.strip_suffix(".md"));
    match (name.and_then(known), name) {
        (Some(_), Some(name)) => Some(format!("gtrace runbook {name}")),
        _ if file.is_empty() => None,
        _ if destination.contains("://") => Some(destination.to_owned()),
        _ => Some(
            match (file.strip_prefix("../../"), file.strip_prefix("../")) {
                (Some(path), _) => path.to_owned(),
                (None, Some(path)) => format!("docs/{path}"),
                (None, None) => format!("docs/runbooks/{file}"),
            },
        ),
    }
}

/// What the code means, and the steps for the class of its incidents.
fn of_code(code: Subject, color: ColorChoice) -> anyhow::Result<ExitCode> {
    let explanation = Explanation::of(code, &Catalogue::builtin())?;
    let steps = page(CLASSES, explanation.class.name()).unwrap_or_default();
    let steps = laid_out(steps, color);
    shared::print(&format!("{}\n{steps}", explanation.text()))?;
    Ok(match explanation.known {
        true => Exit::Success.into(),
        false => Exit::Problem.into(),
    })
}

fn of_incident(subject: &str, args: &Args) -> Result<String, Failure> {
    // A word in small letters was meant as a name, as was what is too short for a part of an id.
    let is_word = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '-');
    if subject.len() < SHORTEST_PART || subject.chars().all(is_word) {
        let classes: Vec<_> = FailureClass::ALL.iter().map(|class| class.name()).collect();
        let kinds: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        let why = format!(
            "there is no runbook `{subject}`; classes: {}; kinds of events: {}",
            classes.join(", "),
            kinds.join(", ")
        );
        return Err(Failure(Exit::Usage, why));
    }
    let instance = args
        .place
        .resolve()
        .map_err(|error| Failure(shared::exit_of(&error), error.to_string()))?;
    let incident = incidents::lookup(subject, &instance)?;
    let page = page(CLASSES, incident.class.name())
        .ok_or_else(|| Failure::not_possible(format!("class {} has no runbook", incident.class)))?;
    let events = incidents::events_of(&incident, &instance);
    Ok(filled(page, &incident, &events))
}

/// The page with what the incident names in place of $GPU, $PORT and $PID, and a paragraph that says what they are.
fn filled(page: &str, incident: &Incident, events: &[Event]) -> String {
    let affected = &incident.affected;
    let gpus: Vec<PciAddress> = affected.gpus.iter().filter_map(|gpu| gpu.pci).collect();
    // Of errors and links of the GPU the other end, which is on another bus: functions of the card itself are not.
    let is_of_gpu = |event: &&Event| {
        let gpu = event.gpu.as_ref().and_then(|gpu| gpu.pci);
        matches!(event.kind, Kind::Aer | Kind::PcieLink | Kind::PcieHotplug)
            && gpu.is_some()
            && gpu == gpus.first().copied()
    };
    let mut devices = events
        .iter()
        .filter(is_of_gpu)
        .filter_map(|event| event.detail.pcie.pci_device);
    let port = devices.find(|device| {
        let is_same = |gpu: &PciAddress| (gpu.domain, gpu.bus) == (device.domain, device.bus);
        !gpus.iter().any(is_same)
    });
    let pids: Vec<u32> = affected
        .processes
        .iter()
        .filter_map(|process| process.pid)
        .collect();
    let values = [
        ("$GPU", gpus.first().map(ToString::to_string), "a GPU"),
        (
            "$PORT",
            port.map(|port| port.to_string()),
            "a port above the GPU",
        ),
        ("$PID", pids.first().map(ToString::to_string), "a process"),
    ];
    let mut text = page.to_owned();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for (name, value, what) in values {
        if !page.contains(name) {
            continue;
        }
        match value {
            Some(value) => {
                text = text.replace(name, &value);
                known.push(format!("{name} is {value}"));
            }
            None => unknown.push(format!("no event names {what}: {name} is left as it is")),
        }
    }
    for (name, variable, count) in [
        ("GPUs", "$GPU", gpus.len()),
        ("processes", "$PID", pids.len()),
    ] {
        if count > 1 && page.contains(variable) {
            known.push(format!("the first of {count} {name}"));
        }
    }
    known.extend(unknown);
    let about = match known.is_empty() {
        true => String::new(),
        false => format!(" Filled in: {}.", known.join(", ")),
    };
    let about = format!(
        "For incident {}: {}.{about}\n\n",
        incident.id,
        render::clean(&incident.title)
    );
    // Below the heading.
    match text.split_once("\n\n") {
        Some((heading, rest)) => format!("{heading}\n\n{about}{rest}"),
        None => format!("{about}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use gtrace_event::{Gpu, Occurrence, Provenance, Severity, Timestamp, WitnessName};
    use gtrace_incident::{Correlator, Options, Rules};

    use super::*;

    #[test]
    fn commands_of_a_page_name_the_devices_of_the_incident() {
        let time: Timestamp = "2026-03-03T03:12:00Z".parse().unwrap();
        let event = |kind, severity, device: &str, message: &str| {
            let mut occurrence = Occurrence::new(kind, severity, message);
            occurrence.provenance = Provenance::Kernel;
            occurrence.gpu = Some(Gpu::at("0000:3b:00.0".parse().unwrap()));
            occurrence.detail.pcie.pci_device = device.parse().ok();
            Event::seen(time, WitnessName::Kmsg, 1, occurrence)
        };
        let port = event(Kind::Aer, Severity::Critical, "0000:3a:00.0", "AER");
        let mut lost = event(Kind::Xid, Severity::Fatal, "", "fell off the bus");
        lost.detail.xid.xid = Some(79);
        let mut correlator = Correlator::new(Rules::builtin().unwrap(), Options::default());
        correlator.ingest(&port);
        let incident = correlator.ingest(&lost).remove(0);
        let text = filled(known("pcie").unwrap(), &incident, &[port, lost]);
        for part in [
            &format!("\n\nFor incident {}: ", incident.id)[..],
            "$GPU is 0000:3b:00.0",
            "`lspci -s 0000:3b:00.0`",
            "`setpci -s 0000:3a:00.0 CAP_EXP+12.w`",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        assert!(
            !text.contains("-s $") && text.starts_with("# pcie: "),
            "{text}"
        );
        let text = filled(known("memory_leak").unwrap(), &incident, &[]);
        assert!(
            text.contains("no event names a process: $PID is left as it is"),
            "{text}"
        );
        assert!(text.contains("--pid $PID"), "{text}");
    }

    #[test]
    fn a_link_to_another_page_is_the_command_that_prints_it() {
        for (destination, shown) in [
            ("thermal.md", Some("gtrace runbook thermal")),
            ("../events/xid.md#detail", Some("gtrace runbook xid")),
            (
                "README.md#how-to-use-a-page",
                Some("docs/runbooks/README.md"),
            ),
            ("../gameday.md", Some("docs/gameday.md")),
            ("../../packaging/x.toml", Some("packaging/x.toml")),
            ("https://docs.nvidia.com/", Some("https://docs.nvidia.com/")),
            ("#limits", None),
        ] {
            assert_eq!(linked(destination).as_deref(), shown, "{destination}");
        }
    }

    #[test]
    fn every_class_and_every_kind_has_a_page() {
        for class in FailureClass::ALL {
            let text = page(CLASSES, class.name()).unwrap_or_else(|| panic!("{class}"));
            assert!(text.starts_with("# "), "{class}");
        }
        for kind in Kind::ALL {
            assert!(page(KINDS, kind.name()).is_some(), "{kind}");
        }
    }
}
