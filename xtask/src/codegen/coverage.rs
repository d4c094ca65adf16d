//! docs/cuda-coverage.md: which functions there are, and who answers them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context as _, Result};
use gtrace_cuda::{Api, Class, Function, Hand, find, functions, names, signatures};

use crate::calls::Calls;

/// Programs that are named in a row; how many more there are is reported.
const NAMED: usize = 4;

/// The page.
pub(super) fn page(calls: &Calls) -> Result<String> {
    let mut out = String::from(
        "<!-- Written by `cargo xtask codegen` from transport/cuda; changes by hand are lost. -->

# Coverage of the CUDA driver API and NVML

Which functions a program finds on a remote GPU, and who answers them.

* **local**: the client answers, from what it learnt when it connected, from its caches or its own
  state. **one-way**: sent and not awaited; an error is reported by a later call. **waiting**: sent
  and awaited.
* Synchronising functions wait for work on the device.
* Since: the CUDA version whose headers have the symbol first; blank if 11.4 or older.
* How: generated from the description on both sides, or written by hand on the client's, the
  server's, or both.
* Called by: programs of the end-to-end tests, on the CPU emulator (`transport/e2e`, as
  `cargo xtask test` last recorded it). Blank: by none of them. Every function of NVML is called besides
  by `gpu-check`, which compares its answers with direct ones; a rehearsal of that is one of the tests.

A function of the driver that is not covered is exported, so that programs can be linked with it,
and answers `CUDA_ERROR_NOT_SUPPORTED`; `cuGetProcAddress` does not find it. A function of NVML that
is not covered is exported too, and answers as a driver that refuses: `NVML_ERROR_NO_PERMISSION` where it
would change the device, which is the server's. A server that is older than the client answers what it does not know with `CUDA_ERROR_NOT_SUPPORTED`
(`NVML_ERROR_NOT_SUPPORTED`).
",
    );
    for (api, title) in [(Api::Driver, "CUDA driver API"), (Api::Nvml, "NVML")] {
        let all: Vec<_> = functions::all(api).collect();
        writeln!(out, "\n## {title}: {} functions\n", all.len())?;
        out.push_str(
            "| function | class | synchronising | since | how | called by |\n|---|---|---|---|---|---|\n",
        );
        let absent = absent(api, &all);
        let mut rows = Vec::new();
        for function in all {
            rows.push(row(api, function, calls)?);
        }
        rows.sort();
        // NVML's are of few kinds, the driver's of many.
        match api {
            Api::Driver => rows
                .iter()
                .try_for_each(|(names, cells)| writeln!(out, "| {names} |{cells}"))?,
            Api::Nvml => {
                for (cells, names) in grouped(rows.into_iter().map(|(names, cells)| (cells, names)))
                {
                    writeln!(out, "| {names} |{cells}")?;
                }
            }
        }
        writeln!(
            out,
            "\n### {title}: {} functions that are not covered\n",
            absent.len()
        )?;
        not_covered(&mut out, api, &absent)?;
    }
    Ok(out)
}

/// Names that belong to the same thing, in one line.
fn grouped<K: Ord>(named: impl Iterator<Item = (K, String)>) -> BTreeMap<K, String> {
    let mut groups: BTreeMap<K, String> = BTreeMap::new();
    for (key, name) in named {
        let names = groups.entry(key).or_default();
        let comma = if names.is_empty() { "" } else { ", " };
        *names += &format!("{comma}{name}");
    }
    groups
}

/// The functions that are not covered, and why, where that is said of each.
fn not_covered(out: &mut String, api: Api, absent: &[&str]) -> Result<()> {
    let quoted = |name: &str| format!("`{name}`");
    if api == Api::Nvml {
        let mut refusals = Vec::new();
        for name in absent {
            let refusal = functions::refusal(name);
            let (refusal, why) =
                refusal.with_context(|| format!("{name} is not described, and nobody says why"))?;
            refusals.push(((refusal, why), quoted(name)));
        }
        writeln!(out, "| answer | why | functions |\n|---|---|---|")?;
        for ((refusal, why), names) in grouped(refusals.into_iter()) {
            writeln!(out, "| `{}` | {why} | {names} |", refusal.name())?;
        }
        return Ok(());
    }
    let mut reasons = Vec::new();
    for name in absent {
        let why = functions::why_absent(name)
            .with_context(|| format!("{name} is not described, and nobody says why"))?;
        reasons.push((why, quoted(name)));
    }
    writeln!(out, "| why not | functions |\n|---|---|")?;
    for (why, names) in grouped(reasons.into_iter()) {
        writeln!(out, "| {why} | {names} |")?;
    }
    Ok(())
}

/// Functions of the headers that are not described.
fn absent(api: Api, described: &[&Function]) -> Vec<&'static str> {
    let unknown = match api {
        Api::Driver => functions::WITHOUT_SIGNATURE,
        Api::Nvml => &[],
    };
    let mut names: Vec<_> = signatures::table(api)
        .iter()
        .map(|signature| signature.name)
        .filter(|name| described.iter().all(|function| function.name != *name))
        .chain(unknown.iter().copied())
        .collect();
    names.sort_unstable();
    names
}

/// The programs that call any of the symbols.
fn callers(symbols: &[&str], calls: &Calls) -> String {
    let mut programs: Vec<_> = symbols
        .iter()
        .filter_map(|&symbol| calls.get(symbol))
        .flatten()
        .collect();
    programs.sort_unstable();
    programs.dedup();
    let named: Vec<_> = programs.iter().take(NAMED).map(|p| p.as_str()).collect();
    match programs.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

/// A function's names, and the other cells of its row.
fn row(api: Api, function: &Function, calls: &Calls) -> Result<(String, String)> {
    let class = match function.class {
        Class::Local => "local",
        Class::OneWay => "one-way",
        Class::Waiting => "waiting",
    };
    let how = match (function.class, function.hand) {
        (Class::Local, _) => "client by hand",
        (_, Hand::None) => "generated",
        (_, Hand::Client) => "client by hand",
        (_, Hand::Server) => "server by hand",
        (_, Hand::Both) => "by hand",
    };
    let signature = find(signatures::table(api), function.name)
        .with_context(|| format!("{} has no signature", function.name))?;
    let since = match signature.since {
        0 => String::new(),
        since => format!("{}.{}", since / 1000, since % 1000 / 10),
    };
    let synchronising = if function.attributes.synchronising {
        "yes"
    } else {
        ""
    };
    let symbols = match api {
        Api::Driver => names::symbols(function.name),
        Api::Nvml => Vec::new(),
    };
    let others = symbols.iter().skip(1);
    let others: String = others.map(|(symbol, _)| format!(", `{symbol}`")).collect();
    let name = function.name;
    let mut all = vec![name];
    all.extend(symbols.iter().map(|(symbol, _)| symbol.as_str()));
    let callers = callers(&all, calls);
    Ok((
        format!("`{name}`{others}"),
        format!(" {class} | {synchronising} | {since} | {how} | {callers} |"),
    ))
}
