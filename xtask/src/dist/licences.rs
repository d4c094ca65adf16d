//! What of others is in the binary: a file of licences, and a bill of materials in SPDX 2.3.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::VERSION;
use crate::context::Context;
use crate::ebpf::LOG_FEATURE;
use crate::shell;

/// The workspace's packages whose code is in the binary: it itself and the libraries that it carries.
const ROOTS: [&str; 5] = [
    "gtrace",
    "gtrace-cupti",
    "gtrace-shim",
    "gtrace-softgpu",
    "gtrace-trace",
];
/// The same of the probes' workspace.
const PROBES: [&str; 1] = ["gtrace-probes"];
/// How names of files with licences begin.
const TEXTS: [&str; 6] = [
    "licen",
    "copying",
    "notice",
    "unlicense",
    "copyright",
    "lgpl",
];
/// A longer file is no licence, bytes.
const TEXT_MAX: u64 = 200_000;
/// Sources of C lie so deep in their packages.
const DEEP: usize = 4;

/// A package that the binary has code of.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Component {
    name: String,
    version: String,
    licence: String,
    /// Where it comes from: `pkg:cargo` or `pkg:npm`.
    purl: String,
    download: String,
    sha256: Option<String>,
    authors: Vec<String>,
    /// What its licence files say, each with its name.
    texts: Vec<(String, String)>,
}

/// What of others is in the binary.
#[derive(Debug)]
pub(super) struct Licences {
    components: Vec<Component>,
    /// Notices of the standard library, HTML.
    pub(super) standard_library: Option<PathBuf>,
}

impl Licences {
    /// Asks cargo, and reads the files in the packages' sources.
    pub(super) fn gather(context: &Context) -> Result<Self> {
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let mut components = BTreeMap::new();
        for (manifest, roots, features) in [
            (context.root.join("Cargo.toml"), &ROOTS[..], None),
            (
                context.root.join("ebpf/Cargo.toml"),
                &PROBES[..],
                Some(LOG_FEATURE),
            ),
        ] {
            let lock = fs::read_to_string(manifest.with_file_name("Cargo.lock"))?;
            let sums = checksums(&lock);
            let cargo = |what: &str| {
                let mut cargo = shell::clean(&context.cargo);
                cargo
                    .args([what, "--locked", "--manifest-path"])
                    .arg(&manifest)
                    .args(features);
                cargo
            };
            let metadata = shell::read(cargo("metadata").args([
                "--format-version=1",
                "--filter-platform",
                &platform,
            ]))?;
            // What is only run while building, or while testing, is not among them.
            let tree = shell::read(
                cargo("tree")
                    .args(["--edges=normal,no-proc-macro", "--prefix=none"])
                    .args(["--color=never", "--target", &platform])
                    .args(roots.iter().flat_map(|root| ["--package", root])),
            )?;
            for package in linked(&serde_json::from_str(&metadata)?, &tree) {
                let component = component(package, &sums)?;
                components.insert(
                    (component.name.clone(), component.version.clone()),
                    component,
                );
            }
        }
        let mut components: Vec<_> = components.into_values().collect();
        components.extend(of_page(&context.root)?);
        let sysroot = shell::read(shell::clean("rustc").args(["--print", "sysroot"]))?;
        let notices = Path::new(sysroot.trim()).join("share/doc/rust/COPYRIGHT-library.html");
        Ok(Self {
            components,
            standard_library: notices.is_file().then_some(notices),
        })
    }

    /// The file of licences: a table, then each text once.
    pub(super) fn text(&self) -> String {
        let mut out = format!(
            "Software of others in gtrace {VERSION}\n\n\
             The program contains code of the packages below, under the licences that stand beside them. Each text follows\n\
             once, with the packages that it is of. Where a package offers a choice, gtrace takes the permissive one. The\n\
             standard library of Rust is under MIT or Apache-2.0; its notices are in rust-standard-library.html. libelf and\n\
             zlib are not contained: the program uses those of the host.\n\n"
        );
        for component in &self.components {
            let (name, version, licence) =
                (&component.name, &component.version, &component.licence);
            out.push_str(&format!("{name} {version}  {licence}\n"));
        }
        let mut texts = BTreeMap::<&str, BTreeSet<String>>::new();
        let mut bare = Vec::new();
        for component in &self.components {
            let of = format!("{} {}", component.name, component.version);
            for (name, text) in &component.texts {
                texts
                    .entry(text)
                    .or_default()
                    .insert(format!("{of} ({name})"));
            }
            if component.texts.is_empty() {
                bare.push((of, component));
            }
        }
        for (text, of) in texts {
            let of: Vec<_> = of.into_iter().collect();
            let line = "=".repeat(100);
            out.push_str(&format!("\n{line}\n{}\n{line}\n\n{text}\n", of.join(", ")));
        }
        if !bare.is_empty() {
            out.push_str(
                "\nPackages whose sources have no file of a licence; the texts above apply:\n\n",
            );
        }
        for (of, component) in bare {
            let authors = match component.authors.as_slice() {
                [] => format!("the authors of {}", component.name),
                some => some.join(", "),
            };
            out.push_str(&format!(
                "{of}  {}  Copyright {authors}\n",
                component.licence
            ));
        }
        out
    }

    /// The bill of materials, SPDX 2.3 as JSON. `created` is RFC 3339, `binary` the SHA-256 of the program.
    pub(super) fn spdx(&self, created: &str, binary: &str) -> Result<String> {
        let mut packages = vec![json!({
            "SPDXID": "SPDXRef-gtrace",
            "name": "gtrace",
            "versionInfo": VERSION,
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": false,
            "licenseConcluded": "MIT OR Apache-2.0",
            "licenseDeclared": "MIT OR Apache-2.0",
            "copyrightText": "The gtrace developers",
            "primaryPackagePurpose": "APPLICATION",
            "checksums": [{ "algorithm": "SHA256", "checksumValue": binary }],
        })];
        let mut relations = vec![json!({
            "spdxElementId": "SPDXRef-DOCUMENT",
            "relationshipType": "DESCRIBES",
            "relatedSpdxElement": "SPDXRef-gtrace",
        })];
        for component in &self.components {
            let id = format!("SPDXRef-{}-{}", component.name, component.version);
            let id: String = id
                .chars()
                .map(|c| {
                    if c.is_ascii_alphanumeric() || c == '.' {
                        c
                    } else {
                        '-'
                    }
                })
                .collect();
            let sums: Vec<_> = component
                .sha256
                .iter()
                .map(|sum| json!({ "algorithm": "SHA256", "checksumValue": sum }))
                .collect();
            packages.push(json!({
                "SPDXID": id,
                "name": component.name,
                "versionInfo": component.version,
                "downloadLocation": component.download,
                "filesAnalyzed": false,
                "licenseConcluded": "NOASSERTION",
                "licenseDeclared": component.licence,
                "copyrightText": "NOASSERTION",
                "checksums": sums,
                "externalRefs": [{
                    "referenceCategory": "PACKAGE-MANAGER",
                    "referenceType": "purl",
                    "referenceLocator": component.purl,
                }],
            }));
            relations.push(json!({
                "spdxElementId": "SPDXRef-gtrace",
                "relationshipType": "STATIC_LINK",
                "relatedSpdxElement": id,
            }));
        }
        let document = json!({
            "spdxVersion": "SPDX-2.3",
            "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": format!("gtrace-{VERSION}"),
            // A name that is unique, as the format asks for; nothing has to lie there.
            "documentNamespace": format!("https://spdx.org/spdxdocs/gtrace-{VERSION}-{binary}"),
            "creationInfo": { "created": created, "creators": [format!("Tool: gtrace-xtask-{VERSION}")] },
            "packages": packages,
            "relationships": relations,
        });
        Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
    }
}

/// The packages of others among those that `cargo tree` names: `anyhow v1.0.104`.
fn linked<'a>(metadata: &'a Value, tree: &str) -> Vec<&'a Value> {
    let named: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| line.split_once(" v"))
        .map(|(name, rest)| (name, rest.split(' ').next().unwrap_or(rest)))
        .collect();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| {
            let text = |key: &str| package[key].as_str().unwrap_or_default();
            !package["source"].is_null() && named.contains(&(text("name"), text("version")))
        })
        .collect()
}

fn component(package: &Value, sums: &BTreeMap<(String, String), String>) -> Result<Component> {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let (name, version) = (text("name"), text("version"));
    // Old packages separate by a slash what SPDX separates by OR.
    let mut licence = text("license").replace('/', " OR ").replace("  ", " ");
    let manifest = PathBuf::from(text("manifest_path"));
    let folder = manifest.parent().context("a folder")?;
    if licence.is_empty() {
        let file = fs::read_to_string(folder.join(text("license_file"))).unwrap_or_default();
        licence = by_text(&file)
            .with_context(|| format!("{name} {version} names no licence that is known here"))?
            .to_owned();
    }
    let mut texts = Vec::new();
    collect(folder, folder, DEEP, &mut texts);
    texts.sort();
    let authors = package["authors"].as_array().into_iter().flatten();
    Ok(Component {
        purl: format!("pkg:cargo/{name}@{version}"),
        download: format!("https://crates.io/crates/{name}/{version}"),
        sha256: sums.get(&(name.clone(), version.clone())).cloned(),
        authors: authors
            .filter_map(|it| it.as_str().map(without_address))
            .collect(),
        licence,
        texts,
        name,
        version,
    })
}

/// The licence of a package that has only a file of it. A text that is changed is none.
fn by_text(file: &str) -> Option<&'static str> {
    const GRANT: &str =
        "Permission is hereby granted, free of charge, to any person obtaining a copy";
    const CONDITION: &str =
        "The above copyright notice and this permission notice shall be included in all";
    let is_mit =
        file.starts_with("MIT License") && file.contains(GRANT) && file.contains(CONDITION);
    is_mit.then_some("MIT")
}

/// An author without an address of mail.
fn without_address(author: &str) -> String {
    author
        .split('<')
        .next()
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// Files with licences below `folder`.
fn collect(base: &Path, folder: &Path, deep: usize, texts: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if path.is_dir() {
            if deep > 1 && !matches!(name.as_str(), "target" | "tests" | "testdata" | ".git") {
                collect(base, &path, deep - 1, texts);
            }
            continue;
        }
        let ends = path
            .extension()
            .and_then(|it| it.to_str())
            .unwrap_or_default();
        let is_code = matches!(ends, "rs" | "c" | "h" | "py" | "toml" | "json" | "s");
        let is_text = TEXTS.iter().any(|start| name.starts_with(start)) && !is_code;
        let is_short = entry.metadata().is_ok_and(|it| it.len() <= TEXT_MAX);
        if !is_text || !is_short {
            continue;
        }
        let Ok(text) = fs::read(&path) else {
            continue;
        };
        let text = String::from_utf8_lossy(&text);
        let text = text
            .lines()
            .map(str::trim_end)
            .collect::<Vec<_>>()
            .join("\n");
        let text = text.trim_matches('\n').to_owned();
        let shown = path
            .strip_prefix(base)
            .unwrap_or(&path)
            .display()
            .to_string();
        // Files that only point to another one.
        if text.len() > 80 {
            texts.push((shown, text));
        }
    }
}

/// What the page has of npm. Its packages are not there when the page is not built anew, so their licences lie beside ours.
fn of_page(root: &Path) -> Result<Vec<Component>> {
    let lock = fs::read_to_string(root.join("userspace/page/package-lock.json"))?;
    let lock: Value = serde_json::from_str(&lock)?;
    let mut found = Vec::new();
    for (path, package) in lock["packages"].as_object().into_iter().flatten() {
        let Some(name) = path.strip_prefix("node_modules/") else {
            continue;
        };
        if package["dev"] == true {
            continue;
        }
        let version = package["version"].as_str().unwrap_or_default();
        let file = format!("packaging/licences/{name}-{version}.txt");
        let text = fs::read_to_string(root.join(&file))
            .with_context(|| format!("{file}: put the licence of {name} {version} there"))?;
        found.push(Component {
            name: name.to_owned(),
            version: version.to_owned(),
            licence: package["license"].as_str().unwrap_or("MIT").to_owned(),
            purl: format!("pkg:npm/{name}@{version}"),
            download: package["resolved"]
                .as_str()
                .unwrap_or("NOASSERTION")
                .to_owned(),
            sha256: None,
            authors: Vec::new(),
            texts: vec![("LICENSE".to_owned(), text.trim().to_owned())],
        });
    }
    Ok(found)
}

/// The checksums in a Cargo.lock, by name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.strip_prefix(key))?;
        Some(
            line.trim_start_matches([' ', '='])
                .trim_matches('"')
                .to_owned(),
        )
    };
    lock.split("[[package]]")
        .filter_map(|block| {
            let name = value(block, "name")?;
            Some(((name, value(block, "version")?), value(block, "checksum")?))
        })
        .collect()
}

/// The SHA-256 of a file.
pub(super) fn sha256(file: &Path) -> Result<String> {
    let sum = shell::read(Command::new("sha256sum").arg(file))?;
    Ok(sum.split_whitespace().next().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_linked_is_named() {
        let package = |name: &str, source: Option<&str>| json!({ "name": name, "version": "1.0.0", "source": source });
        let metadata = json!({ "packages": [
            package("root", None), package("linked", Some("r")), package("optional", Some("r")),
        ] });
        let tree = "root v1.0.0 (/checkout)\nlinked v1.0.0\nlinked v1.0.0 (*)\nlinked v2.0.0\n";
        let names: Vec<_> = linked(&metadata, tree)
            .into_iter()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["linked"]);
    }

    #[test]
    fn what_the_page_contains_has_its_licence_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let names: Vec<_> = of_page(&root)
            .unwrap()
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(names, ["preact", "uplot"]);
    }

    #[test]
    fn checksums_are_read() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n\n[[package]]\nname = \"b\"\n\
                    version = \"2.0.0\"\nsource = \"registry\"\nchecksum = \"07\"\n";
        let sums = checksums(lock);
        assert_eq!(sums.len(), 1);
        assert_eq!(sums[&("b".to_owned(), "2.0.0".to_owned())], "07");
    }
}
