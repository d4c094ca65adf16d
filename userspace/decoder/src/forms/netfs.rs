//! Network file systems whose server does not answer. Source: net/sunrpc/clnt.c, fs/smb/client/connect.c,
//! net/ceph/mon_client.c and fs/ceph/mds_client.c, Lustre's ptlrpc/import.c.

use gtrace_event::{Kind, Occurrence, Severity};

use crate::record::Line;
use crate::scan;

/// Longest name of a server that is believed.
const MAX_SERVER: usize = 255;

/// `nfs: server n1 not responding, still trying`, `… timed out`, `nfs: server n1 OK`; lockd likewise.
pub(crate) fn nfs(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let rest = text
        .strip_prefix("nfs: server ")
        .or_else(|| text.strip_prefix("lockd: server "))?;
    let (server, end) = rest.split_once(' ')?;
    match end.trim_end() {
        "not responding, still trying" => stalled(line, server, "not responding"),
        "not responding, timed out" => stalled(line, server, "timed out"),
        "OK" => restored(line, server),
        _ => None,
    }
}

/// `CIFS: VFS: \\n1 has not responded in 180 seconds. Reconnecting...`, before 5.3 `CIFS VFS: Server n1 has …`.
pub(crate) fn cifs(line: &Line<'_>) -> Option<Occurrence> {
    let text = line.text;
    let rest = text
        .strip_prefix("CIFS: VFS: ")
        .or_else(|| text.strip_prefix("CIFS VFS: "))?;
    let rest = rest.strip_prefix("Server ").unwrap_or(rest);
    let (server, rest) = rest.split_once(" has not responded in ")?;
    let (seconds, rest) = scan::number(rest)?;
    if !rest.starts_with(" seconds") {
        return None;
    }
    let mut occurrence = stalled(line, server.trim_start_matches('\\'), "not responding")?;
    occurrence.detail.host.seconds = Some(seconds);
    Some(occurrence)
}

/// `ceph: mds0 hung`, since 6.5 `ceph: [fsid gid]: mds0 hung`; `mds0 came back`.
pub(crate) fn ceph(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("ceph: ")?;
    let rest = match rest.strip_prefix('[') {
        Some(rest) => rest.split_once("]: ")?.1,
        None => rest,
    };
    let (server, end) = rest.split_once(' ')?;
    scan::number::<u32>(server.strip_prefix("mds")?).filter(|(_, rest)| rest.is_empty())?;
    match end.trim_end() {
        "hung" => stalled(line, server, "not responding"),
        "came back" => restored(line, server),
        _ => None,
    }
}

/// `Lustre: fs-OST0000-osc-ffff88: Connection to fs-OST0000 (at 10.0.0.1@o2ib) was lost; in progress operations …`,
/// `Lustre: …: Connection restored to 10.0.0.1@o2ib (at …)`.
pub(crate) fn lustre(line: &Line<'_>) -> Option<Occurrence> {
    let rest = line.text.strip_prefix("Lustre: ")?;
    let (_, body) = rest.split_once(": Connection ")?;
    if let Some(target) = body.strip_prefix("to ") {
        let (target, rest) = target.split_once(" (at ")?;
        let (_, rest) = rest.split_once(") ")?;
        return rest
            .starts_with("was lost")
            .then(|| stalled(line, target, "connection lost"))?;
    }
    let server = body.strip_prefix("restored to ")?;
    restored(line, scan::word(server))
}

fn stalled(line: &Line<'_>, server: &str, error: &str) -> Option<Occurrence> {
    of_server(line, server, error, Severity::Warning)
}

fn restored(line: &Line<'_>, server: &str) -> Option<Occurrence> {
    of_server(line, server, "answers again", Severity::Info)
}

fn of_server(line: &Line<'_>, server: &str, error: &str, severity: Severity) -> Option<Occurrence> {
    if server.is_empty() || server.len() > MAX_SERVER || server.contains(' ') {
        return None;
    }
    let mut occurrence = line.occurrence(Kind::NetfsStall, severity);
    occurrence.detail.host.server = Some(server.to_owned());
    occurrence.detail.host.error = Some(error.to_owned());
    Some(occurrence)
}
