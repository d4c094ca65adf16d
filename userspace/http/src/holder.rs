//! Which process has a socket, from /proc. Other users' processes are seen by root only.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

/// State of a listening socket in /proc/net/tcp (TCP_LISTEN of include/net/tcp_states.h).
const LISTEN: &str = "0A";

/// The process that listens on the port of `address`, as `name (pid 1234)`.
pub(super) fn of_tcp_port(address: SocketAddr) -> Option<String> {
    let table = if address.is_ipv4() {
        "/proc/net/tcp"
    } else {
        "/proc/net/tcp6"
    };
    let inode = listening_inode(&fs::read_to_string(table).ok()?, address.port())?;
    of_inode(inode)
}

/// The process that listens on the Unix socket at `path`.
pub(super) fn of_unix_path(path: &Path) -> Option<String> {
    let table = fs::read_to_string("/proc/net/unix").ok()?;
    let path = path.to_str()?;
    // Num RefCount Protocol Flags Type St Inode Path; St 01 is a listening socket.
    let inode = table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let state = fields.nth(5)?;
        let inode = fields.next()?;
        (state == "01" && fields.next()? == path).then(|| inode.parse().ok())?
    })?;
    of_inode(inode)
}

/// Inode of the socket that listens on `port`, in the format of proc_net_tcp.rst.
fn listening_inode(table: &str, port: u16) -> Option<u64> {
    let port = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let listens = fields.get(1)?.ends_with(&port) && *fields.get(3)? == LISTEN;
        listens.then(|| fields.get(9)?.parse().ok())?
    })
}

fn of_inode(inode: u64) -> Option<String> {
    let link = format!("socket:[{inode}]");
    for process in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = process
            .file_name()
            .to_str()
            .and_then(|n| n.parse::<u32>().ok())
        else {
            continue;
        };
        let Ok(files) = fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        let holds = files
            .flatten()
            .any(|fd| fs::read_link(fd.path()).is_ok_and(|to| to.as_os_str() == link.as_str()));
        if holds {
            let comm = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            let comm = gtrace_api::text::clean(comm.trim_end());
            return Some(format!("{comm} (pid {pid})"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_listening_socket_of_a_port_and_not_a_connected_one() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:1D2E 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 111 1 0\n\
            1: 0100007F:1D2E 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 222 1 0\n";
        assert_eq!(listening_inode(table, 7470), Some(222));
        assert_eq!(listening_inode(table, 7471), None);
    }

    #[test]
    fn names_this_process_as_the_holder_of_its_own_socket() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let holder = of_tcp_port(listener.local_addr().unwrap()).unwrap();
        assert!(
            holder.ends_with(&format!("(pid {})", std::process::id())),
            "{holder}"
        );
    }
}
