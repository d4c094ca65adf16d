// Versions beside each other: does the new one fail more often?

import { get } from "../../api";
import { Command, Empty, Loading, Trouble } from "../../parts/bits";
import { Mark, type Shape } from "../../parts/mark";
import { count, word } from "../../format";
import { setParams } from "../../route";
import { usePolled } from "../../use";
import { useFleet } from "../live";
import { labelNames } from "../map";
import type { Cohort, Comparison } from "../types";

const FACTORS = ["driver", "kernel", "vbios", "firmware"];
const VERDICTS: Record<Comparison["verdict"], [Shape, string, string]> = {
  not_worse: ["check", "ok", "not worse"], worse: ["octagon", "fatal", "worse"], undecided: ["question", "muted", "undecided"],
};

const rate = (value: number): string => value.toFixed(value < 1 ? 4 : 2);

export function Cohorts({ params }: { params: Record<string, string> }) {
  const { hosts = [] } = useFleet();
  const by = params.by ?? "driver";
  const read = usePolled(`cohorts ${by}`, () => get<Cohort[]>("/fleet/v1/cohorts", [["by", by]]), 60_000);
  const cohorts = read.value ?? [];
  // Without a choice: what most hosts have, and the last of the others.
  const byHours = [...cohorts].sort((a, b) => b.hours - a.hours);
  const old = params.old ?? byHours[0]?.version;
  const next = params.new ?? cohorts.map((one) => one.version).filter((one) => one !== old).at(-1);
  const factors = [...FACTORS, ...labelNames(hosts).filter((name) => ![...FACTORS, "agent"].includes(name))];
  const choose = (name: "old" | "new", value: string | undefined) => (
    <label class="field inline">{name === "old" ? "runs" : "is to replace it"} <select value={value} onChange={(e) => setParams({ [name]: e.currentTarget.value })}>{cohorts.map((one) => <option key={one.version}>{one.version}</option>)}</select></label>);
  return (
    <>
      <div class="bar"><h2>Versions<small>failures of hardware while hosts had them</small></h2>
        <label class="field inline">by <select value={by} onChange={(e) => setParams({ by: e.currentTarget.value, old: undefined, new: undefined })}>{factors.map((name) => <option key={name}>{name}</option>)}</select></label></div>
      {read.problem && <Trouble of={read.problem} />}
      {!read.value ? !read.problem && <Loading /> : cohorts.length === 0 ? <Empty title={`No ${by} is known`}>Agents within daemons say which GPUs there are, and what runs them.</Empty> : (
        <>
          <div class="scroll" tabIndex={0}><table><thead><tr><th>Version</th><th class="num">Hosts</th><th class="num">Failures</th><th class="num">GPU-hours</th><th class="num">In 1000 h</th></tr></thead>
            <tbody>{cohorts.map((one) => <tr key={one.version}><td><code>{one.version}</code></td><td class="num">{count(one.hosts)}</td><td class="num">{count(one.failures)}</td><td class="num">{count(Math.round(one.hours))}</td><td class="num">{rate(one.rate)}</td></tr>)}</tbody></table></div>
          {old && next && <section class="compare"><div class="bar">{choose("old", old)}{choose("new", next)}</div><Verdict by={by} old={old} next={next} /></section>}
        </>)}
    </>
  );
}

function Verdict({ by, old, next }: { by: string; old: string; next: string }) {
  const read = usePolled(`compare ${by} ${old} ${next}`, () => get<Comparison>("/fleet/v1/compare", [["by", by], ["old", old], ["new", next]]), 60_000);
  const found = read.value;
  if (!found) return read.problem ? <Trouble of={read.problem} /> : <Loading />;
  const [shape, tone, text] = VERDICTS[found.verdict];
  return (
    <div class="card">
      <header><h3><code>{found.new.version}</code> against <code>{found.old.version}</code></h3><Mark shape={shape} tone={tone}>{text}</Mark></header>
      <Ratio of={found} />
      <p>Ratio of rates {found.ratio === undefined ? "unknown" : found.ratio.toFixed(2)}, 95 % interval {found.low.toFixed(2)} to {found.high === undefined ? "no upper end" : found.high.toFixed(2)}; it may fail {found.margin} times as often.</p>
      {found.why && <p class="muted">{found.why}{found.needs_hours !== undefined && `; with about ${count(Math.round(found.needs_hours))} GPU-hours of the new version (now ${count(Math.round(found.new.hours))}) it may be decided, about as likely as not, if both fail alike`}</p>}
      <Command line={`gtrace fleet compare --by ${word(by)} ${word(found.old.version)} ${word(found.new.version)}`} />
      <p class="muted small">Exit status 0 not worse, 1 worse, 3 undecided: a gate for rollouts.</p>
    </div>
  );
}

/** The interval on an axis of ratios from a tenth to ten. */
function Ratio({ of }: { of: Comparison }) {
  const x = (ratio: number): number => 4 + 392 * Math.min(1, Math.max(0, (Math.log10(Math.max(ratio, 1e-9)) + 1) / 2));
  return (
    <svg class="ratio" viewBox="0 0 400 34" role="img" aria-label={`interval of the ratio ${of.low.toFixed(2)} to ${of.high?.toFixed(2) ?? "no end"}`}>
      {[0.1, 0.2, 0.5, 1, 2, 5, 10].map((tick) => <g key={tick}><line class={tick === 1 ? "one" : "tick"} x1={x(tick)} x2={x(tick)} y1="0" y2="20" /><text x={x(tick)} y="32" text-anchor={tick === 0.1 ? "start" : tick === 10 ? "end" : "middle"}>{tick}</text></g>)}
      <line class="margin" x1={x(of.margin)} x2={x(of.margin)} y1="0" y2="20" />
      <line class="range" x1={x(of.low)} x2={x(of.high ?? 1e9)} y1="10" y2="10" />
      {of.ratio !== undefined && <rect class="at" x={x(of.ratio) - 2.5} width="5" y="4" height="12" />}
    </svg>
  );
}
