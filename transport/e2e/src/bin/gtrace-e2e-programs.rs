//! Runs every program of `gtrace_e2e::compatibility` and writes docs/programs.md, or runs those named and writes the rows of those
//! that work. Ends with 1 where a fault is remoting's.
//!
//! ```text
//! gtrace-e2e-programs [ID...]
//! ```

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use gtrace_e2e::artefacts::{self, Artefacts};
use gtrace_e2e::case::Ground;
use gtrace_e2e::compatibility::{PROGRAMS, page, with_rows};
use gtrace_e2e::server::Gpu;

fn main() -> Result<ExitCode> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let artefacts = Artefacts::get()?;
    let ground = Ground {
        gtrace: artefacts.gtrace.clone(),
        gpu: Gpu::default(),
        direct: artefacts.softgpu_folder.clone().into(),
        kernels: artefacts::kernels(),
        real: false,
        limit: std::time::Duration::from_secs(900),
    };
    for id in &wanted {
        let known = PROGRAMS.iter().any(|program| program.id == id);
        let ids: Vec<_> = PROGRAMS.iter().map(|program| program.id).collect();
        ensure!(known, "no program {id}: there are {}", ids.join(", "));
    }
    let (mut rows, mut absent) = (Vec::new(), Vec::new());
    for program in PROGRAMS {
        if !wanted.is_empty() && !wanted.iter().any(|id| id == program.id) {
            continue;
        }
        match program.run(artefacts, &ground)? {
            Ok(row) => {
                println!("{}: {:?}, {:?}", program.id, row.directly, row.remotely);
                rows.push(row);
            }
            Err(why) => {
                println!("{}: {why}", program.id);
                absent.push((program.name, why));
            }
        }
    }
    let file = artefacts::root().join("docs/programs.md");
    let named = || file.display().to_string();
    let text = match wanted.is_empty() {
        true => page(&rows, &absent),
        false => with_rows(&std::fs::read_to_string(&file).with_context(named)?, &rows),
    };
    std::fs::write(&file, text).with_context(named)?;
    let faults = rows.iter().filter(|row| row.is_of_remoting());
    let faults: Vec<_> = faults.map(|row| row.program.id).collect();
    if faults.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("works directly and not remotely: {}", faults.join(", "));
    Ok(ExitCode::FAILURE)
}
