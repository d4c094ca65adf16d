//! Which modules of a crate import which: no two may import each other, directly or through others.
//!
//! The modules of each folder are compared. Read from the text of the sources, which rustfmt has laid out:
//! every path that begins with `crate::` or `super::` counts, in tests too. The root of a folder (`lib.rs`,
//! `main.rs`, `mod.rs`) is no module here; what it re-exports from a module counts as that module's.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Imports of each module of a folder.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// Checks every crate below `userspace` of the repository at `root`.
pub(crate) fn check(root: &Path) -> Result<()> {
    let mut cycles = Vec::new();
    let folder = root.join("userspace");
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let source = entry?.path().join("src");
        if !source.is_dir() {
            continue;
        }
        let mut files = Vec::new();
        read(&source, &mut Vec::new(), &mut files)?;
        for (folder, imports) in imports(&files) {
            for cycle in cycles_of(&imports) {
                let at = source.join(folder.join("/"));
                cycles.push(format!("{}: {}", at.display(), cycle.join(" -> ")));
            }
        }
    }
    if !cycles.is_empty() {
        bail!(
            "modules import each other, move what both need below them: {}",
            cycles.join("; ")
        );
    }
    Ok(())
}

/// A source file: the path of its module, and its text.
type File = (Vec<String>, String);

/// Every source file below `folder`, which is the module `at`.
fn read(folder: &Path, at: &mut Vec<String>, files: &mut Vec<File>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.into_owned();
        if path.is_dir() {
            at.push(name);
            read(&path, at, files)?;
            at.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            let mut module = at.clone();
            if !matches!(name.as_str(), "mod" | "lib" | "main") {
                module.push(name);
            }
            files.push((module, text));
        }
    }
    Ok(())
}

/// Imports of each folder's modules.
fn imports(files: &[File]) -> BTreeMap<Vec<String>, Imports> {
    let mut folders = BTreeMap::<Vec<String>, Imports>::new();
    for (module, _) in files {
        for depth in 0..module.len() {
            let folder = folders.entry(module[..depth].to_vec()).or_default();
            folder.entry(module[depth].clone()).or_default();
        }
    }
    let mut exported = BTreeMap::new();
    for (root, text) in files {
        for mut path in text.split("pub use ").skip(1).flat_map(leaves) {
            path.retain(|part| part != "self");
            if let [from, .., name] = &path[..] {
                exported.insert((root.clone(), name.clone()), from.clone());
            }
        }
    }
    for (module, text) in files {
        for path in used(module, text) {
            let pairs = module.iter().zip(&path);
            let depth = pairs.take_while(|(one, other)| one == other).count();
            let (Some(own), Some(name)) = (module.get(depth), path.get(depth)) else {
                continue;
            };
            let folder = module[..depth].to_vec();
            let name = exported
                .get(&(folder.clone(), name.clone()))
                .unwrap_or(name);
            if let Some(imports) = folders.get_mut(&folder)
                && imports.contains_key(name)
                && name != own
            {
                imports.entry(own.clone()).or_default().insert(name.clone());
            }
        }
    }
    folders
}

/// Paths, from the crate's root, that a file of `module` uses.
fn used(module: &[String], text: &str) -> BTreeSet<Vec<String>> {
    let mut used = BTreeSet::new();
    let text: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect();
    // Modules written out in the file, with the column they begin at.
    let mut inline: Vec<(usize, String)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let column = line.len() - line.trim_start().len();
        if line.trim_end() == format!("{}}}", " ".repeat(column)) {
            inline.retain(|(begun, _)| *begun < column);
        }
        if let Some(name) = line.trim_end().strip_suffix(" {")
            && let Some((before, name)) = name.rsplit_once("mod ")
            && (before.trim().is_empty() || before.trim_start().starts_with("pub"))
        {
            inline.push((column, name.to_owned()));
        }
        let inner = inline.iter().map(|(_, name)| name.clone());
        let within: Vec<_> = module.iter().cloned().chain(inner).collect();
        for word in ["crate::", "super::"] {
            let mut rest = 0;
            while let Some(found) = line[rest..].find(word) {
                let start = rest + found;
                rest = start + word.len();
                let before = line[..start].chars().next_back();
                if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$' || c == ':') {
                    continue;
                }
                let mut path = &text[at + start..];
                let mut base = within.as_slice();
                while let Some(below) = path.strip_prefix("super::") {
                    base = &base[..base.len().saturating_sub(1)];
                    path = below;
                }
                if let Some(below) = path.strip_prefix("crate::") {
                    base = &[];
                    path = below;
                }
                used.extend(leaves(path).into_iter().map(|path| [base, &path].concat()));
            }
        }
        at += line.len();
    }
    used
}

/// The paths that `text` begins with: one, or those of a list in braces.
fn leaves(text: &str) -> Vec<Vec<String>> {
    let mut done = Vec::new();
    leaves_of(text, &[], &mut done);
    done
}

/// Reads what [`leaves`] reads, below `prefix`, and answers with what is left of the text.
fn leaves_of<'a>(text: &'a str, prefix: &[String], done: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = prefix.to_vec();
    let mut text = text.trim_start();
    loop {
        if let Some(mut list) = text.strip_prefix('{') {
            loop {
                list = list.trim_start().trim_start_matches(',').trim_start();
                if let Some(rest) = list.strip_prefix('}') {
                    return rest;
                }
                let rest = leaves_of(list, &path, done);
                if rest.len() == list.len() {
                    // No list of paths after all.
                    return rest;
                }
                list = rest;
            }
        }
        let end = text
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(text.len());
        if end > 0 {
            path.push(text[..end].to_owned());
            text = &text[end..];
        }
        match text.strip_prefix("::") {
            Some(rest) => text = rest,
            None => break,
        }
    }
    if path.len() > prefix.len() {
        done.push(path);
    }
    let text = text.trim_start();
    // A new name is of no interest.
    match text.strip_prefix("as ") {
        Some(rest) => rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'),
        None => text,
    }
}

/// Cycles, each as the shortest way from its first module back to it; no module is in two of them.
fn cycles_of(imports: &Imports) -> Vec<Vec<String>> {
    let mut cycles: Vec<Vec<String>> = Vec::new();
    for start in imports.keys() {
        if cycles.iter().any(|cycle| cycle.contains(start)) {
            continue;
        }
        cycles.extend(way_back(imports, start));
    }
    cycles
}

fn way_back(imports: &Imports, start: &String) -> Option<Vec<String>> {
    let mut ways = VecDeque::from([vec![start.clone()]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in imports.get(way.last()?).into_iter().flatten() {
            let mut way = way.clone();
            way.push(next.clone());
            if next == start {
                return Some(way);
            }
            if seen.insert(next.clone()) {
                ways.push_back(way);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(module: &str, text: &str) -> File {
        let parts = module.split("::").filter(|part| !part.is_empty());
        (parts.map(str::to_owned).collect(), text.to_owned())
    }

    fn cycles(files: &[File]) -> Vec<String> {
        let folders = imports(files);
        let cycles = folders.values().flat_map(cycles_of);
        cycles.map(|cycle| cycle.join(" ")).collect()
    }

    #[test]
    fn modules_that_import_each_other_are_found_however_it_is_written() {
        let hub = file("hub", "use crate::{clock, cuda::Tally};\n");
        let clock = file("clock", "//! Not [`crate::hub`].\nuse std::time;\n");
        for cuda in [
            file("cuda::service", "use crate::hub::Hub;\n"),
            file("cuda::service", "use super::super::hub::Hub;\n"),
            file(
                "cuda",
                "use super::{\n    clock,\n    hub::{self as h, Hub},\n};\n",
            ),
            file("cuda", "fn f(hub: &crate::hub::Hub) {}\n"),
            file("cuda", "mod tests {\n    use super::super::hub;\n}\n"),
        ] {
            let files = [hub.clone(), clock.clone(), cuda];
            assert_eq!(cycles(&files), ["cuda hub cuda"], "{:?}", files[2]);
        }
        let other = file(
            "cuda",
            "mod tests {\n    use super::hub;\n}\nuse super::clock;\n",
        );
        assert!(cycles(&[hub, clock, other]).is_empty());
    }

    #[test]
    fn modules_of_a_folder_within_are_compared_too() {
        let files = [
            file("", "pub use sources::probes;\n"),
            file("sources", "pub use users::Users;\n"),
            file("sources::probes", "use super::{table, Users};\n"),
            file("sources::table", "use crate::sources::probes::reason_of;\n"),
            file("sources::users", "use crate::hub::Hub;\n"),
            file("hub", "use crate::clock;\n"),
        ];
        assert_eq!(cycles(&files), ["probes table probes"]);
    }

    #[test]
    fn a_cycle_through_a_third_module_or_through_the_root_is_one() {
        let root = file("", "pub use query::{Limit, Query};\n");
        let files = [
            root,
            file("routes", "use super::handlers;\n"),
            file("handlers", "use super::{State, openapi};\n"),
            file("openapi", "use super::Limit;\n"),
            file("query", "use crate::routes::ROUTES;\n"),
        ];
        let found = cycles(&files);
        assert_eq!(found, ["handlers openapi query routes handlers"]);
    }

    #[test]
    fn no_two_modules_of_a_crate_of_this_repository_import_each_other() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    }
}
