//! NVIDIA's own programs while the daemon's probes are in the driver: they run as without.

use anyhow::{Result, ensure};

use super::real_gsp::{NAME, SAMPLE, UUID, daemon, smi};
use crate::guest::Guest;

cases! {
    Real "real_gsp_nvidia_smi_under_the_daemon" => all, patience(240);
}

/// What is run, and something that it prints of this GPU.
const RUNS: &[(&[&str], &str)] = &[
    (&[], "H100"),
    (&["-L"], UUID),
    (&["-q"], NAME),
    (&["-q", "-x"], "</nvidia_smi_log>"),
    (&["dmon", "-c", "2"], "# gpu"),
    (&["pmon", "-c", "1"], "# gpu"),
    (&["topo", "-m"], "GPU0"),
    (&["nvlink", "-s"], ""),
];

fn all(guest: &mut Guest) -> Result<()> {
    let _open = guest.load_answering()?;
    let daemon = daemon(guest, SAMPLE)?;
    for (args, has) in RUNS {
        let printed = smi(args)?;
        guest.note(format!("nvidia-smi {}: {printed}", args.join(" ")))?;
        ensure!(printed.contains(has), "nvidia-smi {args:?}: {printed}");
    }
    // The daemon answers after all of them.
    daemon.get_text("/metrics").map(drop)
}
