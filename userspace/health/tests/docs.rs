//! docs/health.md has a line for each rule, as the rule files have it.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use gtrace_health::Rules;

/// Without the marks before the lines that a site takes over.
fn uncommented(text: &str) -> String {
    let lines = text.lines().filter_map(|line| line.strip_prefix("#: "));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_examples_of_rules_of_a_site_are_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example =
        std::fs::read_to_string(root.join("packaging/health-rules.example.toml")).unwrap();
    let builtin = Rules::builtin().unwrap().rows();
    let as_it_is = Rules::with_site("example", &example).unwrap().rows();
    assert_eq!(
        as_it_is, builtin,
        "nothing of it holds before somebody chooses"
    );
    let taken = Rules::with_site("example", &uncommented(&example))
        .unwrap()
        .rows();
    let changed = taken.iter().filter(|row| !builtin.contains(row)).count();
    assert_eq!(changed, 4, "{taken:#?}");
    let page = std::fs::read_to_string(root.join("docs/health.md")).unwrap();
    let section = page.split("### Rules of the site").nth(1).unwrap();
    let block = section.split("```toml\n").nth(1).unwrap();
    let block = block.split("```").next().unwrap();
    Rules::with_site("docs/health.md", block).unwrap();
}

#[test]
fn the_table_of_the_documentation_has_each_rule_as_it_is() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/health.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows: Vec<String> = Rules::builtin()
        .unwrap()
        .rows()
        .into_iter()
        .map(|row| {
            format!(
                "| `{}` | {} | {} | {} | {} | {} |",
                row.name, row.part, row.state, row.action, row.clears, row.escalates
            )
        })
        .collect();
    let missing: Vec<&String> = rows
        .iter()
        .filter(|row| !page.contains(row.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/health.md:\n{}",
        missing
            .iter()
            .map(|r| r.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    );
    let of_table = page
        .lines()
        .filter(|line| line.starts_with("| `") && line.matches(" | ").count() == 5);
    let unknown: Vec<&str> = of_table
        .filter(|line| !rows.iter().any(|row| row == line))
        .collect();
    assert!(
        unknown.is_empty(),
        "no rule says so:\n{}",
        unknown.join("\n")
    );
}

/// GPUd's components as of August 2026.
const GPUD: [&str; 35] = [
    "accelerator-nvidia-bad-envs",
    "accelerator-nvidia-clock-speed",
    "accelerator-nvidia-ecc",
    "accelerator-nvidia-error-sxid",
    "accelerator-nvidia-error-xid",
    "accelerator-nvidia-fabric-manager",
    "accelerator-nvidia-gpm",
    "accelerator-nvidia-gsp-firmware",
    "accelerator-nvidia-gpu-counts",
    "accelerator-nvidia-hw-slowdown",
    "accelerator-nvidia-infiniband",
    "accelerator-nvidia-memory",
    "accelerator-nvidia-nccl",
    "accelerator-nvidia-nvlink",
    "accelerator-nvidia-peermem",
    "accelerator-nvidia-persistence-mode",
    "accelerator-nvidia-power",
    "accelerator-nvidia-processes",
    "accelerator-nvidia-remapped-rows",
    "accelerator-nvidia-temperature",
    "accelerator-nvidia-utilization",
    "containerd",
    "docker",
    "kubelet",
    "cpu",
    "disk",
    "fuse",
    "kernel-module",
    "library",
    "memory",
    "network-latency",
    "nfs",
    "os",
    "pci",
    "tailscale",
];

/// The parts of a text between pairs of backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn the_table_of_gpuds_components_has_each_of_them_and_names_nothing_that_is_not() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |name: &str| std::fs::read_to_string(root.join(name)).unwrap();
    let page = read("health.md");
    let (before, table) = page.split_once("## GPUd's components").unwrap();
    let rows: Vec<(&str, &str)> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | "))
        .filter(|(component, _)| *component != "GPUd")
        .collect();
    for component in GPUD {
        let named = |(names, _): &&(&str, &str)| names.split(", ").any(|name| name == component);
        assert_eq!(rows.iter().filter(named).count(), 1, "{component}");
    }
    let pages = [before, &read("gpu-samples.md"), &read("api.md")].concat();
    let rules = Rules::builtin().unwrap().rows();
    for (component, answer) in rows {
        for name in quoted(answer) {
            // `ecc-*`, `gtrace_gpu_memory_*_bytes`, `gtrace_x{label="y"}`; `_limit_watts` goes on from the name before it.
            let (stem, end) = name.split_once(['*', '{']).unwrap_or((name, ""));
            let of_rules = rules.iter().any(|row| match name.strip_suffix('*') {
                Some(stem) => row.name.starts_with(stem),
                None => row.name.split(' ').next() == Some(name),
            });
            let is_kind = gtrace_event::Kind::ALL
                .iter()
                .any(|kind| kind.name() == name);
            let documented = match stem.starts_with("gtrace_") {
                true => pages.contains(stem.trim_end_matches("_total")),
                false => pages.contains(stem),
            };
            assert!(
                of_rules || is_kind || documented || name.starts_with('_'),
                "{component}: nothing is called {name} ({stem}, {end})"
            );
        }
        // Where there is no answer, the list of limitations says why.
        if answer.starts_with("not answered") {
            let short = component.trim_start_matches("accelerator-nvidia-");
            let reason = format!("`{short}`");
            assert!(read("limitations.md").contains(&reason), "{component}");
        }
    }
}
