//! The state of `gtrace serve` as text: its clients on other hosts, and what they call.

use std::fmt::Write as _;

use gtrace_api::text::clean;
use gtrace_profile::text::bytes;
use gtrace_server::stats::Times;
use gtrace_server::{ServerStatus, SessionStatus};

/// Operations shown of each session.
const OPERATIONS: usize = 5;

/// The status for people.
pub fn text(status: &ServerStatus) -> String {
    let mut text = String::new();
    let totals = status.totals();
    let driver = &status.driver;
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "server    gtrace {} (pid {}) on {}, up {}",
        clean(&status.version),
        status.pid,
        clean(&status.host),
        duration(status.uptime_s)
    );
    let _ = writeln!(text, "listen    {}", clean(&status.listen.join(", ")));
    let yes = |what: bool| if what { "required" } else { "none" };
    let or = match status.certificates {
        true => " or certificate",
        false => "",
    };
    let _ = writeln!(
        text,
        "security  token{or} {}, TLS {}, sandbox {}",
        yes(status.token),
        yes(status.tls),
        status.sandbox
    );
    for layer in status.layers.iter().filter(|layer| !layer.active) {
        let (name, note) = (clean(&layer.name), clean(&layer.note));
        let _ = writeln!(text, "          not in force: {name}: {note}");
    }
    if let Some(error) = &status.credentials_error {
        let _ = writeln!(
            text,
            "          {}; what was read before holds",
            clean(error)
        );
    }
    let _ = writeln!(
        text,
        "driver    CUDA {}.{}, {}",
        driver.version / 1000,
        driver.version % 1000 / 10,
        clean(&driver.libcuda)
    );
    for device in &driver.devices {
        let _ = writeln!(
            text,
            "device    {} {} {}, {}",
            clean(&device.pci),
            clean(&device.uuid),
            clean(&device.name),
            bytes(device.memory)
        );
    }
    let refused: u64 = totals.refused.values().sum();
    let _ = writeln!(
        text,
        "so far    {} connections, {} clients, {} frames, {} in, {} out, {refused} refused",
        totals.accepted,
        totals.sessions,
        totals.frames,
        bytes(totals.bytes_in),
        bytes(totals.bytes_out)
    );
    for (reason, count) in &totals.refused {
        let _ = writeln!(text, "refused   {count} {}", clean(reason));
    }
    for (name, count) in &totals.by_credential {
        let _ = writeln!(text, "let in    {count} by the {}", clean(name));
    }
    if totals.sessions_revoked > 0 {
        let _ = writeln!(
            text,
            "revoked   {} clients whose credential was good no longer",
            totals.sessions_revoked
        );
    }
    if totals.workers_failed > 0 {
        let _ = writeln!(text, "failed    {} workers", totals.workers_failed);
    }
    let _ = writeln!(
        text,
        "clients   {} of at most {}",
        status.sessions.len(),
        status.max_clients
    );
    sessions(&mut text, &status.sessions);
    text
}

fn sessions(text: &mut String, sessions: &[SessionStatus]) {
    if sessions.is_empty() {
        return;
    }
    let _ = writeln!(
        text,
        "\n{:<8} {:<24} {:>7} {:<16} {:<8} {:>5} {:>10} {:>9} {:>17} {:>17}",
        "SESSION",
        "CLIENT",
        "PID",
        "PROGRAM",
        "LINK",
        "LANES",
        "MEMORY",
        "CALLS/s",
        "QUEUE p50/p99",
        "DRIVER p50/p99"
    );
    for session in sessions {
        let stats = &session.stats;
        let Some(client) = &session.client else {
            let _ = writeln!(text, "{:<8} (handshake)", session.id);
            continue;
        };
        let _ = writeln!(
            text,
            "{:<8} {:<24} {:>7} {:<16} {:<8} {:>5} {:>10} {:>9.0} {:>17} {:>17}",
            session.id,
            clean(&client.host),
            client.pid,
            clean(&client.program),
            stats.links.join(","),
            stats.lanes,
            bytes(stats.memory),
            session.calls_per_second,
            quantiles(&stats.queue),
            quantiles(&stats.driver)
        );
        if let Some(credential) = &client.credential {
            let _ = writeln!(text, "         by the {}", clean(credential));
        }
        if stats.lasting_error != 0 {
            let _ = writeln!(
                text,
                "         every call answers CUDA error {} until the program ends",
                stats.lasting_error
            );
        }
        for reason in &stats.fallbacks {
            let _ = writeln!(text, "         {}", clean(reason));
        }
        for op in stats.ops.iter().take(OPERATIONS) {
            let _ = writeln!(
                text,
                "         {:<40} {:>9} calls {:>17} {:>17}",
                clean(&op.name),
                op.driver.count,
                quantiles(&op.queue),
                quantiles(&op.driver)
            );
        }
    }
}

fn quantiles(times: &Times) -> String {
    if times.count == 0 {
        return "-".into();
    }
    format!("{}/{}", time(times.p50_ns), time(times.p99_ns))
}

/// A time in three digits.
fn time(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", ns as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} ms", ns as f64 / 1e6),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

fn duration(seconds: f64) -> String {
    let seconds = seconds as u64;
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86400 => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{} d {} h", seconds / 86400, seconds % 86400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gtrace_server::{Client, DriverInfo, Layer};

    #[test]
    fn a_client_is_a_line_and_what_it_says_of_itself_cannot_reach_the_terminal() {
        let mut session = SessionStatus {
            id: "01020304".into(),
            client: Some(Client {
                host: "laptop".into(),
                pid: 42,
                program: "python3\u{1b}[2J".into(),
                peer: "10.0.0.2:5".into(),
                credential: Some("token alice".into()),
            }),
            ..SessionStatus::default()
        };
        session.stats.memory = 3 << 20;
        session.stats.driver = Times {
            count: 2,
            p50_ns: 1_500,
            p99_ns: 2_000_000,
            ..Times::default()
        };
        let status = ServerStatus {
            driver: DriverInfo {
                version: 13_020,
                ..DriverInfo::default()
            },
            sessions: vec![session],
            layers: vec![
                Layer {
                    name: "files".into(),
                    active: true,
                    note: "Landlock".into(),
                },
                Layer {
                    name: "cgroup".into(),
                    active: false,
                    note: "not delegated".into(),
                },
            ],
            ..ServerStatus::default()
        };
        let text = text(&status);
        for wanted in [
            "CUDA 13.2",
            "laptop",
            "42",
            "3.0 MiB",
            "1.5 us/2.0 ms",
            "by the token alice",
            "not in force: cgroup: not delegated",
        ] {
            assert!(text.contains(wanted), "{wanted}: {text}");
        }
        assert!(!text.contains("Landlock") && !text.contains('\u{1b}'));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(time(999), "999 ns");
        assert_eq!(time(1_500), "1.5 us");
        assert_eq!(duration(7300.0), "2 h 1 min");
    }
}
