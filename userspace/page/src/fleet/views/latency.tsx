// How long driver and CUDA calls take: of all hosts together, and of one call by host, version or label.

import { get } from "../../api";
import { Empty, Loading, Trouble } from "../../parts/bits";
import { count, duration } from "../../format";
import { href, setParams } from "../../route";
import { usePolled } from "../../use";
import { useFleet } from "../live";
import { labelNames } from "../map";
import type { Latency, LatencyLine } from "../types";

const DAYS: [string, string][] = [["0", "today"], ["1", "2 days"], ["6", "7 days"], ["29", "30 days"]];

/** Median to 99th percentile as a bar, from there to the longest as a line; times are logarithmic. */
function Spread({ of, least, most }: { of: LatencyLine; least: number; most: number }) {
  const x = (ns: number): number => 2 + (196 * Math.log(Math.max(ns, least) / least)) / Math.max(1e-9, Math.log(most / least));
  const text = `p50 ${duration(of.p50_ns)}, p99 ${duration(of.p99_ns)}, longest ${duration(of.max_ns)}`;
  return (
    <svg class="spread" viewBox="0 0 200 14" preserveAspectRatio="none" role="img" aria-label={text}><title>{text}</title>
      <line class="longest" x1={x(of.p50_ns)} x2={x(of.max_ns)} y1="7" y2="7" /><rect class="most" x={x(of.p50_ns)} width={Math.max(2, x(of.p99_ns) - x(of.p50_ns))} y="3" height="8" />
    </svg>
  );
}

export function LatencyView({ call, params }: { call: string; params: Record<string, string> }) {
  const { hosts = [] } = useFleet();
  const by = call ? (params.by ?? "host") : "call", days = params.days ?? "1";
  const query: [string, string][] = [["by", by], ["limit", "200"], ["since", new Date(Date.now() - Number(days) * 86_400_000).toISOString()]];
  if (call) query.push(["call", call]);
  if (call && params.layer) query.push(["layer", params.layer]);
  const read = usePolled(`latency ${call} ${params.layer} ${by} ${days}`, () => get<Latency>("/fleet/v1/latency", query), 60_000);
  const units = ["host", "driver", "kernel", "model", ...labelNames(hosts).filter((name) => !["driver", "kernel", "agent"].includes(name))];
  const found = read.value;
  // Of one call the slowest come first, of all those that take the most time.
  const lines = call ? [...(found?.lines ?? [])].sort((a, b) => b.p99_ns - a.p99_ns) : (found?.lines ?? []);
  const least = Math.max(1, Math.min(...lines.map((one) => one.p50_ns))), most = Math.max(2, ...lines.map((one) => one.max_ns));
  return (
    <>
      <div class="bar"><h2>{call ? <><a href={href("latency")}>Latency</a> of <code>{call}</code></> : <>Latency<small>of driver and CUDA calls of all hosts</small></>}</h2>
        <label class="field inline">days <select value={days} onChange={(e) => setParams({ days: e.currentTarget.value })}>{DAYS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
        {call && <label class="field inline">by <select value={by} onChange={(e) => setParams({ by: e.currentTarget.value })}>{units.map((name) => <option key={name}>{name}</option>)}</select></label>}</div>
      {read.problem && <Trouble of={read.problem} />}
      {!found ? !read.problem && <Loading /> : lines.length === 0 ? <Empty title="No call was timed">Daemons with probes time calls; their agents send histograms every five minutes.</Empty> : (
        <>
          <p class="muted">{found.since} to {found.until} (UTC). Histograms of hosts are added up: percentiles are those of all calls together. Bars go from the median to the 99th percentile, lines to the longest; the scale is logarithmic.</p>
          <div class="scroll" tabIndex={0}><table><thead><tr><th>{by[0]?.toUpperCase()}{by.slice(1)}</th>{!call && <th>Layer</th>}<th class="num">Calls</th><th class="num">p50</th><th class="num">p90</th><th class="num">p99</th><th class="num">p99.9</th><th class="num">Longest</th><th>Spread</th><th class="num">Together</th>{by !== "host" && <th class="num">Hosts</th>}</tr></thead>
            <tbody>{lines.map((one) => (
              <tr key={`${one.name} ${one.layer}`}><td class="break call">{call ? (by === "host" ? <a href={href("hosts", one.name)}><code>{one.name}</code></a> : <code>{one.name}</code>) : <a href={href("latency", one.name, { layer: one.layer, days })}><code>{one.name}</code></a>}</td>{!call && <td>{one.layer}</td>}
                <td class="num">{count(one.calls)}</td><td class="num">{duration(one.p50_ns)}</td><td class="num">{duration(one.p90_ns)}</td><td class="num">{duration(one.p99_ns)}</td><td class="num">{duration(one.p999_ns)}</td><td class="num">{duration(one.max_ns)}</td>
                <td><Spread of={one} least={least} most={most} /></td><td class="num">{duration(one.total_ns)}</td>{by !== "host" && <td class="num">{one.hosts}</td>}</tr>))}</tbody></table></div>
        </>)}
    </>
  );
}
