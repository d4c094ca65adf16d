// Samples of the past: choose a metric and a range, zoom, compare.

import { useMemo } from "preact/hooks";
import { get } from "../api";
import { Empty, Loading, Trouble } from "../parts/bits";
import { Chart, HUES, type Line } from "../parts/chart";
import { line, names, title, unitOf } from "../parts/series";
import { Mark } from "../parts/mark";
import { RangeChoice, bounds, spanOf } from "../parts/range";
import { ago, inUnit, plural } from "../format";
import { href, setParams } from "../route";
import { usePolled } from "../use";
import type { SampleHistory, SampleMetric } from "../types";

const SHOWN = 24;
const FIRST = ["gtrace_gpu_utilization_ratio", "gtrace_pressure_ratio"];

export function Samples({ params }: { params: Record<string, string> }) {
  const list = usePolled("metrics", () => get<SampleHistory>("/api/v1/samples", [["since", "14d"]]), 30_000);
  const metrics = list.value?.metrics ?? [];
  const chosen = params.metric ?? FIRST.find((name) => metrics.some((one) => one.metric === name)) ?? metrics[0]?.metric ?? "";
  const needle = (params.find ?? "").toLowerCase();
  const found = metrics.filter((one) => title(one.metric).includes(needle) || one.metric.includes(needle));
  if (!list.value) return list.problem ? <Trouble of={list.problem} /> : <Loading />;
  if (metrics.length === 0) return <Empty title="No samples yet">The first come within seconds of the daemon's start. <code>sample_history = true</code> keeps them.</Empty>;
  return (
    <div class="picker">
      <nav class="metrics" aria-label="metrics">
        <input type="search" value={params.find ?? ""} placeholder={`find in ${metrics.length} metrics`} aria-label="find a metric" onInput={(e) => setParams({ find: e.currentTarget.value || undefined })} />
        <label class="field small-only">Metric<select value={chosen} onChange={(e) => setParams({ metric: e.currentTarget.value, hide: undefined })}>{found.map((one) => <option key={one.metric} value={one.metric}>{title(one.metric)}</option>)}</select></label>
        <ul>{found.map((one) => <li key={one.metric}><a href={href("samples", "", { ...params, metric: one.metric, hide: undefined })} aria-current={one.metric === chosen ? "true" : undefined} data-row>{title(one.metric)}<small>{one.series}</small></a></li>)}</ul>
      </nav>
      <div class="pane">{chosen && <One metric={metrics.find((one) => one.metric === chosen)} name={chosen} params={params} />}</div>
    </div>
  );
}

function One({ metric, name, params }: { metric: SampleMetric | undefined; name: string; params: Record<string, string> }) {
  const span = spanOf(params, "1h");
  const query: [string, string][] = [["metric", name], ["since", span.since], ["limit", "12000"]];
  if (span.until) query.push(["until", span.until]);
  if (params.gpu) query.push(["gpu", params.gpu]);
  const read = usePolled(JSON.stringify(query), () => get<SampleHistory>("/api/v1/samples", query), span.until ? 0 : 10_000);
  const series = read.value?.series ?? [];
  const hidden = new Set((params.hide ?? "").split(",").filter(Boolean));
  const named = useMemo(() => names(series), [read.value]);
  const lines = useMemo(() => series.map((one, at) => line(one, named[at] ?? "")), [read.value]);
  const order = lines.map((_, at) => at).slice(0, SHOWN);
  const visible = useMemo(() => order.filter((at) => !hidden.has(String(at))).map((at) => lines[at]).filter((one) => one !== undefined), [read.value, params.hide]);
  const unit = unitOf(metric);
  const [from, to] = useMemo(() => bounds(span), [read.value, span.since, span.until]);
  const toggle = (at: number) => {
    const next = new Set(hidden);
    if (!next.delete(String(at))) next.add(String(at));
    setParams({ hide: [...next].join(",") || undefined });
  };
  const what = metric?.kind === "counter" ? "rise a second" : metric?.kind === "histogram" ? "99th percentile" : "mean of each step";
  return (
    <>
      <div class="bar"><h2>{title(name)}<small>{what}{read.value?.step_s ? `, ${read.value.step_s} s a point` : ""}</small></h2><span class="grow" /><RangeChoice span={span} /></div>
      {read.problem && <Trouble of={read.problem} />}
      {!read.value ? !read.problem && <Loading /> : series.length === 0 ? <Empty title="No sample in this range">{metric ? `The newest is ${ago(metric.until)}.` : "There is no such metric."}</Empty> : (
        <>
          <Chart lines={visible} unit={unit} from={from} to={to} label={`${title(name)}, ${plural(visible.length, "line")}`} />
          {(read.value.left_out ?? 0) > 0 && <Mark shape="triangle" tone="warning">{plural(read.value.left_out ?? 0, "series", "series")} do not fit into an answer: choose a GPU or a shorter range</Mark>}
          {(read.value.damaged ?? 0) > 0 && <Mark shape="triangle" tone="warning">{plural(read.value.damaged ?? 0, "block")} on disk cannot be read</Mark>}
          <div class="scroll" tabIndex={0}><table class="legend">
            <thead><tr><th>Series</th><th class="num">Last</th><th class="num">Smallest</th><th class="num">Mean</th><th class="num">Largest</th></tr></thead>
            <tbody>{order.map((at) => {
              const values = (lines[at]?.points ?? []).flatMap(([, value]) => (value === null || !Number.isFinite(value) ? [] : [value]));
              const drawn = visible.indexOf(lines[at] as Line);
              const ranges = series[at]?.points.flatMap((point) => point.range ?? []) ?? [];
              const low = Math.min(...values, ...(metric?.kind === "gauge" ? ranges.map((one) => one.min) : []));
              const high = Math.max(...values, ...(metric?.kind === "gauge" ? ranges.map((one) => one.max) : []));
              return (
                <tr key={at} class={hidden.has(String(at)) ? "hidden-line" : ""}>
                  <td><label class="check"><input type="checkbox" checked={!hidden.has(String(at))} onChange={() => toggle(at)} /><svg class={drawn >= 0 ? `key ${HUES[drawn % HUES.length]}` : "key"} viewBox="0 0 18 4" aria-hidden="true"><line x1="0" x2="18" y1="2" y2="2" stroke-dasharray={["", "5 2", "2 2", "6 2 1 2"][Math.floor(Math.max(0, drawn) / HUES.length) % 4]} /></svg>{named[at]}</label></td>
                  <td class="num">{inUnit(values.at(-1) ?? Number.NaN, unit)}</td><td class="num">{inUnit(low, unit)}</td><td class="num">{inUnit(values.reduce((sum, value) => sum + value, 0) / values.length, unit)}</td><td class="num">{inUnit(high, unit)}</td>
                </tr>
              );
            })}</tbody>
          </table></div>
          {lines.length > SHOWN && <p class="muted">Shown are {SHOWN} of {lines.length} series: add a GPU to the address, as in <code>&amp;gpu=3b:00</code>.</p>}
        </>
      )}
    </>
  );
}
