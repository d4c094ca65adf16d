//! The mlx5 driver of NVIDIA's network adapters. Source:
//! drivers/net/ethernet/mellanox/mlx5/core/{events,health,cmd}.c, Linux 4.9 to 6.18.

use gtrace_event::{Gpu, HostDetail, Kind, Occurrence, PciAddress, Process, Severity};

use crate::record::Line;
use crate::scan;

/// Takes a line of `mlx5_core` at `pci`; `rest` is the text after the address, for example
/// `: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).`
pub(crate) fn parse(line: &Line<'_>, pci: PciAddress, rest: &str) -> Option<Occurrence> {
    // A network interface's name may follow the address.
    let rest = match rest.strip_prefix(": ") {
        Some(rest) => rest,
        None => rest
            .strip_prefix(' ')?
            .split_once(": ")
            .map(|(_, rest)| rest)?,
    };
    let (pid, body) = strip_function(rest);
    let mut host = HostDetail::default();
    let (kind, severity) = recognise(body, &mut host)?;
    let mut occurrence = line.occurrence(kind, severity);
    occurrence.gpu = Some(Gpu::at(pci));
    // 0 is the idle task: an interrupt came while nothing ran.
    occurrence.process = pid.filter(|p| *p != 0).map(|pid| Process {
        pid: Some(pid),
        ..Process::default()
    });
    occurrence.detail.host = host;
    Some(occurrence)
}

/// `mlx5_pcie_event:299:(pid 268269): …`, `poll_health:825: …`
fn strip_function(text: &str) -> (Option<u32>, &str) {
    let parts = || {
        let (head, body) = text.split_once("): ")?;
        let (function, pid) = head.split_once(":(pid ")?;
        let plain = !function.contains(' ');
        plain.then_some((pid.parse().ok(), body))
    };
    // Some lines have no pid.
    let without_pid = || {
        let (head, body) = text.split_once(": ")?;
        let (function, number) = head.split_once(':')?;
        let plain = !function.contains(' ') && number.bytes().all(|b| b.is_ascii_digit());
        plain.then_some((None, body))
    };
    parts().or_else(without_pid).unwrap_or((None, text))
}

fn recognise(body: &str, host: &mut HostDetail) -> Option<(Kind, Severity)> {
    if let Some(rest) = body.strip_prefix("Detected insufficient power on the PCIe slot") {
        host.slot_power_w = rest
            .trim_start()
            .strip_prefix('(')
            .and_then(scan::number)
            .map(|(watts, _)| watts);
        return Some((Kind::Mlx5SlotPower, Severity::Warning));
    }
    if body.starts_with("High temperature on sensors with bit set") {
        return Some((Kind::Mlx5Overheat, Severity::Critical));
    }
    if let Some(event) = body.strip_prefix("Port module event") {
        return port_module(event, host);
    }
    if let Some(found) = command(body, host) {
        return Some(found);
    }
    // `synd 0x8: unrecoverable hardware error`, of the dump that older drivers print without a headline.
    if let Some((syndrome, error)) = body.strip_prefix("synd ").and_then(scan::hex) {
        host.syndrome = Some(syndrome);
        host.error = Some(error.strip_prefix(": ")?.trim_end().to_owned());
        return Some((Kind::Mlx5Health, Severity::Critical));
    }
    health(body).map(|severity| (Kind::Mlx5Health, severity))
}

/// `[error]: module 0, Cable error, High Temperature`, `: module 1, Cable unplugged`. A cable that is plugged in is no event.
fn port_module(event: &str, host: &mut HostDetail) -> Option<(Kind, Severity)> {
    let (faulty, rest) = match event.strip_prefix("[error]") {
        Some(rest) => (true, rest),
        None => (false, event),
    };
    let (module, rest) = scan::number(rest.strip_prefix(": module ")?)?;
    let error = rest.strip_prefix(", ")?.trim_end();
    let known = faulty || error == "Cable unplugged" || error.starts_with("Cable error");
    if !known {
        return None;
    }
    host.port_module = Some(module);
    let error = error.strip_prefix("Cable error, ").unwrap_or(error);
    host.error = Some(error.to_owned());
    Some(match error {
        "High Temperature" => (Kind::Mlx5Overheat, Severity::Critical),
        _ => (Kind::Mlx5PortModule, Severity::Warning),
    })
}

/// `ACCESS_REG(0x805) op_mod(0x1) failed, status bad parameter(0x3), syndrome (0x…), err(-22)`,
/// `[cmd[0]: ]CREATE_MKEY(0x200) [Async, ]timeout. Will cause a leak of a command resource`
fn command(body: &str, host: &mut HostDetail) -> Option<(Kind, Severity)> {
    let body = match body.strip_prefix("cmd[") {
        Some(rest) => rest.split_once("]: ")?.1,
        None => body,
    };
    let (command, rest) = body.split_once(' ')?;
    if !command.ends_with(')') || !command.contains("(0x") {
        return None;
    }
    let rest = rest.strip_prefix("Async, ").unwrap_or(rest);
    let kind = if rest.starts_with("timeout. Will cause a leak")
        || rest.starts_with("canceled on out of queue timeout")
    {
        Kind::Mlx5CmdTimeout
    } else if command.starts_with("ACCESS_REG(") && rest.contains(" failed, status ") {
        host.syndrome = scan::after(rest, "syndrome (")
            .and_then(scan::hex)
            .map(|(s, _)| s);
        host.register = ["reg_id(", "register(", "reg id("]
            .iter()
            .find_map(|p| scan::after(rest, p))
            .and_then(scan::hex)
            .map(|(r, _)| r);
        Kind::Mlx5AccessReg
    } else {
        return None;
    };
    host.command = Some(command.to_owned());
    let severity = match kind {
        Kind::Mlx5CmdTimeout => Severity::Critical,
        _ => Severity::Warning,
    };
    Some((kind, severity))
}

/// What the health poll says. The dump of registers that follows is of the same occurrence.
fn health(body: &str) -> Option<Severity> {
    const ILL: &[&str] = &[
        "Health issue observed, ",
        "device's health compromised",
        "Fatal error ",
        "health recovery failed",
        "health recovery flow aborted",
        "health recovery flow failed",
        "PCI slot is unavailable",
    ];
    const BETTER: &[&str] = &[
        "health recovery succeeded",
        "health recovery flow succeeded",
    ];
    if ILL.iter().any(|b| body.starts_with(b)) {
        Some(Severity::Critical)
    } else if BETTER.iter().any(|b| body.starts_with(b)) {
        Some(Severity::Info)
    } else if body.starts_with("health recovery ") || body.starts_with("starting health recovery") {
        Some(Severity::Warning)
    } else {
        None
    }
}
