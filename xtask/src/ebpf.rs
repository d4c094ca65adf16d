//! Builds the eBPF objects: the probes in Rust, in production form and with logging, and the
//! programs in C that need relocations against kernel structures (CO-RE).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use object::build::elf::{Builder, SectionData};
use object::elf::SHT_STRTAB;

use crate::context::Context;
use crate::linker;
use crate::packages;
use crate::shell::{self, clean, step};
use crate::stamp::Hash;
use crate::toolchain::{Core, TARGET, Toolchain};

/// Counts up when the way of building changes, so that old stamps no longer match.
const RECIPE: &str = "4";

/// Names the architecture whose registers the probes read, for aya too, where it is not this machine's.
const ARCHITECTURE: &str = "AYA_BPF_TARGET_ARCH";

/// Which of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Production,
    Log,
    Core,
    CudaApi,
}

/// For cargo: what the object that logs is built with.
pub(crate) const LOG_FEATURE: &str = "--features=log";

impl Variant {
    const RUST: [Self; 2] = [Self::Production, Self::Log];
    /// Those in C, with their sources.
    const C: [(Self, &'static str); 2] = [
        (Self::Core, "report_error.bpf.c"),
        (Self::CudaApi, "cuda_api.bpf.c"),
    ];
    const ALL: [Self; 4] = [Self::Production, Self::Log, Self::Core, Self::CudaApi];

    fn path(self, context: &Context) -> PathBuf {
        match self {
            Self::Production => context.object(),
            Self::Log => context.object_log(),
            Self::Core => context.object_core(),
            Self::CudaApi => context.object_cuda_api(),
        }
    }

    fn cargo_args(self) -> &'static [&'static str] {
        match self {
            Self::Production | Self::Core | Self::CudaApi => &[],
            Self::Log => &[LOG_FEATURE],
        }
    }
}

/// Builds all objects unless they are there and nothing changed since.
pub(crate) fn build(context: &Context) -> Result<()> {
    let manifest = manifest(context);
    if !manifest.is_file() {
        bail!(
            "{} is missing: this checkout is not whole",
            manifest.display()
        );
    }
    let toolchain = Toolchain::ensure(context)?;
    let clang = clang()?;
    let stamp_file = context.bpf.join("stamp");
    let stamp = stamp(context, &toolchain, &clang)?;
    let fresh = Variant::ALL.iter().all(|v| v.path(context).is_file())
        && fs::read_to_string(&stamp_file).is_ok_and(|old| old == stamp);
    if fresh {
        step(format!(
            "eBPF probes are up to date: {}",
            context.short(&context.object())
        ));
        return Ok(());
    }
    fs::create_dir_all(&context.bpf)
        .with_context(|| format!("cannot create {}", context.bpf.display()))?;
    let result = build_all(context, &toolchain).and_then(|()| {
        fs::write(&stamp_file, stamp)
            .with_context(|| format!("cannot write {}", stamp_file.display()))
    });
    if result.is_err() {
        // An object of older sources would be embedded in silence.
        for file in Variant::ALL.iter().map(|v| v.path(context)) {
            let _ = fs::remove_file(file);
        }
        let _ = fs::remove_file(&stamp_file);
    }
    result
}

/// Builds all objects anew and refuses a difference: the same sources give the same bytes.
pub(crate) fn release_check(context: &Context) -> Result<()> {
    build(context)?;
    let toolchain = Toolchain::ensure(context)?;
    step("compiling the eBPF probes again from nothing, to compare");
    let outputs = output_dir(context);
    fs::remove_dir_all(&outputs).with_context(|| format!("cannot clear {}", outputs.display()))?;
    for (path, object) in compile(context, &toolchain)? {
        let before = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        if before != object {
            bail!(
                "{} differs from what the same sources give now: remove {} and build again",
                path.display(),
                context.bpf.display()
            );
        }
    }
    step("all objects are reproducible");
    Ok(())
}

fn build_all(context: &Context, toolchain: &Toolchain) -> Result<()> {
    let start = Instant::now();
    for (path, object) in compile(context, toolchain)? {
        replace(&path, &object).with_context(|| format!("cannot write {}", path.display()))?;
        step(format!(
            "wrote {} ({} KiB)",
            context.short(&path),
            object.len().div_ceil(1024)
        ));
    }
    step(format!("eBPF probes built in {:.1?}", start.elapsed()));
    Ok(())
}

/// Each object with the place where it belongs. All are there, or none.
fn compile(context: &Context, toolchain: &Toolchain) -> Result<Vec<(PathBuf, Vec<u8>)>> {
    let linker = linker::ensure(context, toolchain)?;
    step(format!(
        "building eBPF probes with {}",
        toolchain.describe()
    ));
    let file = output_dir(context)
        .join(TARGET)
        .join("release/gtrace-probes");
    let build_one = |variant: &Variant| -> Result<(PathBuf, Vec<u8>)> {
        let mut command = cargo_command(context, toolchain, &linker);
        shell::run(command.args(variant.cargo_args())).context("the eBPF probes do not build")?;
        let object =
            fs::read(&file).with_context(|| format!("cargo did not write {}", file.display()))?;
        let object = finished(&object, *variant)
            .with_context(|| format!("{} is no good", file.display()))?;
        Ok((variant.path(context), object))
    };
    let mut built = Vec::new();
    for (variant, source) in Variant::C {
        built.push((variant.path(context), compile_c(context, variant, source)?));
    }
    for variant in &Variant::RUST {
        built.push(build_one(variant)?);
    }
    Ok(built)
}

/// A source of programs in C. Only clang emits the relocations (`preserve_access_index`); gcc has them from
/// 14 on.
fn compile_c(context: &Context, variant: Variant, source: &str) -> Result<Vec<u8>> {
    let clang = clang()?;
    let outputs = output_dir(context);
    fs::create_dir_all(&outputs).with_context(|| format!("cannot create {}", outputs.display()))?;
    let object = outputs.join(source).with_extension("o");
    let mut command = Command::new(clang);
    command
        .current_dir(context.root.join("ebpf/core"))
        .args(["-g", "-O2", "-target", "bpf", "-mcpu=v3", "-fno-addrsig"])
        .args(["-Wall", "-Wextra", "-Werror"])
        .arg(format!("-D__TARGET_ARCH_{}", core_arch(&architecture())?))
        .arg(format!(
            "-ffile-prefix-map={}=gtrace",
            context.root.display()
        ))
        .arg(format!(
            "-fdebug-prefix-map={}=gtrace",
            context.root.display()
        ))
        .args(["-c", source, "-o"])
        .arg(&object);
    shell::run(&mut command).context("the programs in ebpf/core do not build")?;
    let bytes =
        fs::read(&object).with_context(|| format!("clang did not write {}", object.display()))?;
    finished(&bytes, variant).with_context(|| format!("{} is no good", object.display()))
}

/// The architecture that the probes are for, as rustc names it.
fn architecture() -> String {
    std::env::var(ARCHITECTURE).unwrap_or_else(|_| std::env::consts::ARCH.to_owned())
}

/// An architecture's name in `__TARGET_ARCH_*`, as libbpf's headers have it.
fn core_arch(architecture: &str) -> Result<&'static str> {
    match architecture {
        "x86_64" => Ok("x86"),
        "aarch64" => Ok("arm64"),
        other => {
            bail!("the registers that hold arguments are known of x86-64 and arm64, not of {other}")
        }
    }
}

/// A clang that compiles for BPF, installed where it is missing. `CLANG` names another.
pub(crate) fn clang() -> Result<PathBuf> {
    if let Some(clang) = std::env::var_os("CLANG") {
        return Ok(clang.into());
    }
    if !shell::in_path("clang") {
        packages::ensure(
            &["clang"],
            "clang is needed to compile the eBPF programs in C",
        )?;
    }
    Ok("clang".into())
}

fn manifest(context: &Context) -> PathBuf {
    context.root.join("ebpf/Cargo.toml")
}

fn output_dir(context: &Context) -> PathBuf {
    context.bpf.join("build")
}

fn cargo_command(context: &Context, toolchain: &Toolchain, linker: &Path) -> Command {
    let manifest = manifest(context);
    let mut command = clean(&toolchain.cargo);
    command
        .args(["build", "--release", "--quiet", "--target", TARGET])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(output_dir(context))
        .env("RUSTC", &toolchain.rustc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env(ARCHITECTURE, architecture())
        .env("CARGO_TARGET_BPFEL_UNKNOWN_NONE_LINKER", linker)
        .env("CARGO_ENCODED_RUSTFLAGS", rustflags(context).join("\x1f"))
        .env_remove("RUSTFLAGS")
        .env_remove("RUSTC_WRAPPER")
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_TARGET_DIR")
        .env_remove("CARGO_BUILD_TARGET");
    if manifest.with_file_name("Cargo.lock").is_file() {
        command.arg("--locked");
    }
    if toolchain.core == Core::BuildStd {
        command.arg("-Zbuild-std=core");
    }
    command
}

/// BTF describes the maps (`#[btf_map]`) and is made from debug information. Paths of this
/// machine are taken out of it, so that the same sources give the same object everywhere.
fn rustflags(context: &Context) -> Vec<String> {
    let mut flags = vec![
        "-Cdebuginfo=2".to_owned(),
        "-Clink-arg=--btf".to_owned(),
        format!("--remap-path-prefix={}=gtrace", context.root.display()),
    ];
    let cargo_home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    if let Some(home) = cargo_home {
        flags.push(format!("--remap-path-prefix={}=cargo", home.display()));
    }
    flags
}

/// The object as it is embedded: without DWARF, most of its bytes, which BTF is made from and nothing reads any more.
fn finished(object: &[u8], variant: Variant) -> Result<Vec<u8>> {
    check(object, variant)?;
    let mut builder = Builder::read(object)?;
    for section in &mut builder.sections {
        let name = section.name.as_slice();
        section.delete = [&b".debug_"[..], b".rel.debug_"]
            .iter()
            .any(|debug| name.starts_with(debug));
    }
    // What clang writes has one table for the names of sections and of symbols, which the builder does not know.
    let names = builder.sections.add();
    names.name = b".shstrtab"[..].into();
    names.sh_type = SHT_STRTAB;
    names.data = SectionData::SectionString;
    let mut finished = Vec::new();
    builder.write(&mut finished)?;
    check(&finished, variant)?;
    Ok(finished)
}

/// Refuses an object that the loader would refuse, or that must not be shipped.
fn check(object: &[u8], variant: Variant) -> Result<()> {
    /// `e_machine` of BPF, elf(5).
    const EM_BPF: [u8; 2] = 247_u16.to_le_bytes();
    let has = |name: &str| object.windows(name.len()).any(|at| at == name.as_bytes());
    if !object.starts_with(b"\x7fELF") || object.get(18..20) != Some(&EM_BPF[..]) {
        bail!("it is no ELF file for BPF: bpf-linker was not used");
    }
    if !has(".BTF\0") {
        bail!("it has no BTF, without which its maps cannot be created");
    }
    if variant != Variant::Log && has("AYA_LOG") {
        bail!("the production object logs with aya-log, which loses records: use the feature log");
    }
    Ok(())
}

/// Writes `content` to `path` at once or not at all; an equal file keeps its time, so that cargo
/// does not rebuild what embeds it.
fn replace(path: &Path, content: &[u8]) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    let half = path.with_extension("o.tmp");
    fs::write(&half, content)?;
    fs::rename(&half, path)
}

fn stamp(context: &Context, toolchain: &Toolchain, clang: &Path) -> Result<String> {
    let sources = Hash::new()
        .tree(&context.root, &context.root.join("ebpf"))
        .and_then(|hash| hash.tree(&context.root, &context.root.join("Cargo.toml")))
        .context("cannot read the sources in ebpf/")?;
    let clang_version = shell::read(Command::new(clang).arg("--version"))
        .context("clang does not say its version: CLANG may name something else")?;
    Ok(format!(
        "recipe {RECIPE}\narchitecture {}\nflags {}\nlinker {}\ncompiler {} {:?}\n{}\nclang {}\n{}\nsources {}\n",
        architecture(),
        rustflags(context).join(" "),
        std::env::var("BPF_LINKER").unwrap_or_default(),
        toolchain.rustc.display(),
        toolchain.core,
        toolchain.version.text,
        clang.display(),
        clang_version.trim(),
        sources.finish()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(machine: u16, rest: &[u8]) -> Vec<u8> {
        let mut object = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x01\0".to_vec();
        object.extend(machine.to_le_bytes());
        object.extend(rest);
        object
    }

    #[test]
    fn an_object_must_be_bpf_with_btf() {
        check(&object(247, b"\0.BTF\0"), Variant::Production).unwrap();
        check(&object(62, b"\0.BTF\0"), Variant::Production).unwrap_err();
        check(&object(247, b"\0.text\0"), Variant::Production).unwrap_err();
        check(b"", Variant::Production).unwrap_err();
    }

    #[test]
    fn programs_in_c_are_for_the_architecture_that_gtrace_is_for() {
        assert_eq!(core_arch("x86_64").unwrap(), "x86");
        assert_eq!(core_arch("aarch64").unwrap(), "arm64");
        // Another one's arguments would be read from x86-64's registers.
        core_arch("riscv64").unwrap_err();
    }

    #[test]
    fn only_the_log_object_may_log() {
        let logging = object(247, b"\0.BTF\0AYA_LOGS\0");
        check(&logging, Variant::Log).unwrap();
        check(&logging, Variant::Production).unwrap_err();
    }

    #[test]
    fn an_equal_object_is_not_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("probes.o");
        replace(&path, b"one").unwrap();
        let time = path.metadata().unwrap().modified().unwrap();
        replace(&path, b"one").unwrap();
        assert_eq!(path.metadata().unwrap().modified().unwrap(), time);
        replace(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(!dir.path().join("probes.o.tmp").exists());
    }
}
