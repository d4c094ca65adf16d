//! Percentiles before, during and after, and which of them shifted.

use gtrace_profile::text::duration;
use maud::{Markup, html};

use crate::files::Phase;
use crate::material::{LatencyRow, Material};
use crate::shift::{self, Shift};
use crate::{missing, words};

/// Rows of the table, at most: those with most calls.
const ROWS_MAX: usize = 40;
/// Shifts, at most.
const SHIFTS_MAX: usize = 20;

pub(super) fn section(material: &Material) -> Markup {
    if material.latency.is_empty() {
        return super::section("latency", &super::not_recorded(material, missing::LATENCY));
    }
    let shifts = shift::since_before(&material.latency, Phase::During);
    let mut rows: Vec<&LatencyRow> = material.latency.iter().collect();
    let calls = |row: &LatencyRow| {
        Phase::ALL
            .map(|phase| phase.counts(row).calls)
            .iter()
            .sum::<u64>()
    };
    rows.sort_by_key(|row| std::cmp::Reverse(calls(row)));
    let more = rows.len().saturating_sub(ROWS_MAX);
    rows.truncate(ROWS_MAX);
    let content = html! {
        @if material.why_missing(missing::LATENCY).is_some() { (super::not_recorded(material, missing::LATENCY)) }
        (shifted(&shifts))
        div.wide {
            table {
                caption { "Latency by function and process; p50 / p99 / longest, and the number of calls." }
                thead {
                    tr {
                        th { "Function" } th { "Process" }
                        th.num { "Before" } th.num { "During" } th.num { "After" }
                    }
                }
                tbody { @for row in rows { (row_of(row)) } }
            }
        }
        @if more > 0 { p.muted { "Not shown: " (words::count(more as u64, "row")) " with fewer calls; all are in histograms.hlog." } }
    };
    super::section("latency", &content)
}

fn shifted(shifts: &[Shift]) -> Markup {
    if shifts.is_empty() {
        return html! { p.muted { "Nothing can be compared: calls of one of the two times are missing." } };
    }
    let slower = shifts.iter().filter(|shift| shift.slower).count();
    html! {
        p {
            @if slower == 0 { "No function is shown to be slower during the incident than before." }
            @else { b { (words::count(slower as u64, "function")) } " became slower during the incident, and that is no chance." }
            " Tested: medians, p90, p99 and Cliff's delta, at 95 %, corrected for the number of tests (Holm)."
        }
        div.wide {
            table {
                thead { tr { th { "Function" } th { "During, against before" } th { "Ratio (interval)" } } }
                tbody {
                    @for shift in shifts.iter().take(SHIFTS_MAX) {
                        tr {
                            td.mono.message { (shift.function) }
                            td { @if shift.slower { span.up { "▲ " (shift.verdict) } } @else { (shift.verdict) } }
                            td { (shift.text) }
                        }
                    }
                }
            }
        }
        @if shifts.len() > SHIFTS_MAX {
            p.muted { "Not shown: " (words::count((shifts.len() - SHIFTS_MAX) as u64, "function")) "." }
        }
    }
}

fn row_of(row: &LatencyRow) -> Markup {
    let process = &row.key.process;
    html! {
        tr {
            td.mono.message { (row.key.layer.name()) " " (row.key.function) }
            td { (process.comm) @if process.pid > 0 { " " span.muted { (process.pid) } } }
            @for phase in Phase::ALL {
                @let counts = phase.counts(row);
                td.num {
                    @if counts.calls == 0 { span.muted { "no call" } } @else {
                        @let of = |q: f64| duration(counts.histogram.quantile(q));
                        (of(0.5)) " / " (of(0.99)) " / " (duration(counts.histogram.max_ns())) br;
                        span.muted { (words::count(counts.calls, "call")) }
                        @if let Some(errors) = counts.errors.filter(|errors| *errors > 0) {
                            ", " span.up { (errors) " failed" }
                        }
                    }
                }
            }
        }
    }
}
