//! Two machines on two networks: one between their cards, which can be cut, and one by which the first has
//! the second run commands.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use gtrace_vm_tests::layout::PEER_ARG;
use tempfile::TempDir;

use super::machine::{Boot, Machine, Seat};

/// How long QEMU takes to listen.
const LIMIT: Duration = Duration::from_secs(30);

/// The network between the cards, and the one for commands.
const NETWORKS: [&str; 2] = ["cards", "commands"];

/// The second machine of a scenario.
pub(super) struct Peer {
    pub(super) machine: Machine,
    /// Holds the sockets of both networks.
    _sockets: TempDir,
}

/// Starts the second machine and then the first, which connects to it.
pub(super) fn start(boot: &Boot<'_>) -> Result<Machine> {
    let sockets = super::machine::socket_dir()?;
    let console = beside(boot.console);
    let second = Boot {
        console: &console,
        ..*boot
    };
    let mut peer = Machine::start_at(&second, &seat(sockets.path(), true))?;
    let deadline = Instant::now() + LIMIT;
    while !NETWORKS
        .iter()
        .all(|name| sockets.path().join(name).exists())
    {
        if peer.wait(Duration::ZERO)?.is_some() || Instant::now() > deadline {
            bail!(
                "the second machine does not listen for the first: QEMU has to be 7.2 or later\n{}",
                peer.console_end()
            );
        }
        thread::sleep(Duration::from_millis(20));
    }
    let mut first = Machine::start_at(boot, &seat(sockets.path(), false))?;
    first.peer = Some(Box::new(Peer {
        machine: peer,
        _sockets: sockets,
    }));
    Ok(first)
}

/// `6.12-rdma-two-1.log` is beside `6.12-rdma-two-1-peer.log`.
fn beside(console: &Path) -> PathBuf {
    let stem = console.file_stem().unwrap_or_default().to_string_lossy();
    console.with_file_name(format!("{stem}-peer.log"))
}

/// Cards and networks of one of the two. What is called `n0` lies between a hub and the network, so that the
/// card does not learn when it is switched off.
fn seat(sockets: &Path, peer: bool) -> Seat {
    let network = |id: &str, name: &str| {
        let path = sockets.join(name).display().to_string().replace(',', ",,");
        let server = if peer { "on" } else { "off" };
        format!("stream,id={id},server={server},addr.type=unix,addr.path={path}")
    };
    let mac = |network: u8| format!("52:54:00:67:0{network}:0{}", if peer { 2 } else { 1 });
    let [cards, commands] = NETWORKS;
    let args = [
        "-netdev",
        &network("n0", cards),
        "-netdev",
        "hubport,id=h0,hubid=0",
        "-netdev",
        "hubport,id=h1,hubid=0,netdev=n0",
        "-device",
        &format!("virtio-net-pci,bus=rp0,netdev=h0,id=gpu0,mac={}", mac(0)),
        // Behind a port of its own, so that the kernel finds it after the other.
        "-device",
        "pcie-root-port,id=rp1,bus=pcie.0,chassis=2,slot=2",
        "-netdev",
        &network("c0", commands),
        "-device",
        &format!("virtio-net-pci,bus=rp1,netdev=c0,mac={}", mac(1)),
    ];
    Seat {
        args: args.map(str::to_owned).to_vec(),
        kernel_arg: peer.then_some(PEER_ARG),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_are_distinguished_and_meet() {
        let dir = Path::new("/tmp/a,b");
        let [first, second] = [false, true].map(|peer| seat(dir, peer));
        assert_eq!(first.args.len(), second.args.len());
        let differ = first.args.iter().zip(&second.args).filter(|(a, b)| a != b);
        assert_eq!(differ.count(), 4, "two networks and two addresses");
        assert!(first.args[1].ends_with("server=off,addr.type=unix,addr.path=/tmp/a,,b/cards"));
        assert_eq!(
            (first.kernel_arg, second.kernel_arg),
            (None, Some(PEER_ARG))
        );
        let beside = beside(Path::new("/logs/6.12-rdma-two-1.log"));
        assert_eq!(beside, Path::new("/logs/6.12-rdma-two-1-peer.log"));
    }
}
