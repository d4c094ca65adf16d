//! The programs in CUDA C++, built with NVIDIA's compiler where it was fetched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result, ensure};

use crate::artefacts::{Artefacts, root};

/// Which runtime a program is linked with.
#[derive(Clone, Copy, Debug)]
pub enum Runtime<'a> {
    /// The compiler's own, in the program: its default.
    Static,
    /// As a library: the compiler's own to link with, and the one in this folder to run with. The name
    /// distinguishes programs of several versions.
    Shared(&'a str, &'a Path),
}

/// NVIDIA's compiler.
#[derive(Clone, Debug)]
pub struct Nvcc {
    /// What `nvcc.profile` calls TOP.
    top: PathBuf,
    /// Where programs are built.
    folder: PathBuf,
}

impl Nvcc {
    /// The compiler that `cargo xtask test --frameworks` has fetched, if it did.
    pub fn find(artefacts: &Artefacts) -> Option<Self> {
        let top = artefacts.profile.with_file_name("e2e-nvcc/nvidia/cu13");
        top.join("bin/nvcc").is_file().then(|| Self {
            top,
            folder: artefacts.scratch().join("cuda"),
        })
    }

    /// Builds `programs/cuda/NAME.cu`, with PTX as the only image, unless it is up to date.
    pub fn program(&self, name: &str, runtime: Runtime<'_>, options: &[&str]) -> Result<PathBuf> {
        let sources = root().join("transport/e2e/programs/cuda");
        let source = sources.join(format!("{name}.cu"));
        let program = self.folder.join(match runtime {
            Runtime::Static => name.to_owned(),
            Runtime::Shared(version, _) => format!("{name}-{version}"),
        });
        let newest = [&source, &sources.join("common.h")].map(|file| modified(file));
        if modified(&program) > newest.into_iter().max().flatten() {
            return Ok(program);
        }
        fs::create_dir_all(&self.folder)?;
        static BUILDS: AtomicU32 = AtomicU32::new(0);
        let number = BUILDS.fetch_add(1, Ordering::Relaxed);
        // Built aside and renamed, as another test may be running or building it.
        let aside = program.with_extension(format!("{}-{number}.new", std::process::id()));
        let mut command = Command::new(self.top.join("bin/nvcc"));
        command
            .args(["-std=c++17", "-O2", "--extended-lambda"])
            // Numbers are compared between ways to run, not with those of other compilers.
            .args(["-gencode", "arch=compute_75,code=compute_75"])
            .args(options)
            .arg("-o")
            .arg(&aside)
            .arg(&source);
        command.arg("-L").arg(self.top.join("lib"));
        match runtime {
            Runtime::Static => &mut command,
            Runtime::Shared(_, folder) => command
                .args(["-cudart", "shared", "-L"])
                .arg(self.library_to_link()?)
                .arg("-Xlinker")
                .arg(format!("-rpath={}", folder.display())),
        };
        let result = command.output().context("nvcc could not be started")?;
        ensure!(
            result.status.success(),
            "nvcc, which needs g++: {}{}",
            String::from_utf8_lossy(&result.stdout),
            String::from_utf8_lossy(&result.stderr)
        );
        fs::rename(&aside, &program)?;
        Ok(program)
    }

    /// A folder where the linker finds the runtime under the name that it searches.
    fn library_to_link(&self) -> Result<PathBuf> {
        let folder = self.folder.join("lib");
        fs::create_dir_all(&folder)?;
        let link = folder.join("libcudart.so");
        let library = self.top.join("lib/libcudart.so.13");
        if fs::read_link(&link).is_ok_and(|to| to == library) {
            return Ok(folder);
        }
        let aside = folder.join(format!(".libcudart.so.{}", std::process::id()));
        let _ = fs::remove_file(&aside);
        std::os::unix::fs::symlink(&library, &aside)?;
        fs::rename(&aside, &link)?;
        Ok(folder)
    }
}

fn modified(file: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}
