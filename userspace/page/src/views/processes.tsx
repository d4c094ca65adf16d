// Processes that use a GPU, and the latency of one of them over time.

import { get } from "../api";
import { Empty, Loading, Stale, Times, Trouble } from "../parts/bits";
import { Heatmap } from "../parts/heatmap";
import { Mark } from "../parts/mark";
import { RangeChoice, spanOf } from "../parts/range";
import { processFits } from "../parts/search";
import { age, bytes, count, duration, plural, shortContainer } from "../format";
import { href, setParams } from "../route";
import { usePolled } from "../use";
import type { CallStats, CudaReport, ProcessUse, SampleHistory } from "../types";

type Column = "memory" | "cpu" | "driver" | "cuda" | "p99";
const BY: Record<Column, (one: ProcessUse) => number> = {
  memory: (one) => one.memory_bytes ?? one.ledger_bytes ?? 0,
  cpu: (one) => one.cpu_seconds,
  driver: (one) => one.driver?.calls ?? 0,
  cuda: (one) => one.api?.calls ?? 0,
  p99: (one) => Math.max(one.driver?.p99_ns ?? 0, one.api?.p99_ns ?? 0),
};

export function Processes({ id, params }: { id: string; params: Record<string, string> }) {
  const read = usePolled("processes", () => get<ProcessUse[]>("/api/v1/processes"), 3_000);
  const pid = Number(id) || undefined;
  if (!read.value) return read.problem ? <Trouble of={read.problem} /> : <Loading />;
  const by = (params.sort && params.sort in BY ? params.sort : "memory") as Column;
  const found = read.value.filter((one) => !params.q || processFits(one, params.q)).sort((a, b) => BY[by](b) - BY[by](a) || a.pid - b.pid);
  const Head = ({ of, children }: { of: Column; children: string }) => <th class="num" aria-sort={by === of ? "descending" : undefined}><button type="button" class="sort" onClick={() => setParams({ sort: of })}>{children}{by === of ? " ▾" : ""}</button></th>;
  return (
    <>
      <Stale of={read.problem} />
      <div class="bar">
        <span><b>{plural(found.length, "process", "processes")}</b> that use a GPU</span>
        <label class="field inline">Filter<input value={params.q ?? ""} placeholder="name, pid, container, nvidia0" onInput={(e) => setParams({ q: e.currentTarget.value || undefined })} /></label>
        <span class="grow" /><RangeChoice span={spanOf(params, "15m")} />
      </div>
      <Latency pid={pid} params={params} name={read.value.find((one) => one.pid === pid)?.comm} />
      {found.length === 0 ? <Empty title={params.q ? "No process passes the filter" : "No process uses a GPU"}>A process appears once it opens one of the driver's devices, makes a driver call, or NVML shows it.</Empty> : (
        <div class="scroll" tabIndex={0}>
          <table>
            <thead><tr><th>Process</th><th>Container</th><th>Devices</th><Head of="memory">GPU memory</Head><Head of="cpu">CPU</Head><Head of="driver">Driver calls</Head><Head of="cuda">CUDA calls</Head><th class="num">Median</th><Head of="p99">p99</Head><th class="num">Longest</th></tr></thead>
            <tbody>{found.slice(0, 500).map((one) => {
              const layer = one.api ?? one.driver;
              return (
                <tr key={one.pid} class={one.pid === pid ? "selected" : ""}>
                  <td><a href={href("processes", String(one.pid), params)} data-row>{one.comm}</a> <small class="muted">{one.pid}</small></td>
                  <td>{one.container ? <a href={href("processes", "", { q: shortContainer(one.container) })}><code>{shortContainer(one.container)}</code></a> : <span class="muted">–</span>}</td>
                  <td class="muted">{one.devices.filter((name) => /^nvidia\d+$/.test(name)).join(" ") || one.devices.slice(0, 2).join(" ")}</td>
                  <td class="num">{one.memory_bytes != null ? bytes(one.memory_bytes) : one.ledger_bytes != null ? `${bytes(one.ledger_bytes)} seen` : "–"}{one.full_in_s != null && <Mark shape="triangle" tone="warning">full in {age(one.full_in_s)}</Mark>}</td>
                  <td class="num">{duration(one.cpu_seconds * 1e9)}</td>
                  <td class="num">{one.driver ? count(one.driver.calls) : "–"}{one.driver && one.driver.errors > 0 && <small class="warning"> {count(one.driver.errors)} failed</small>}</td>
                  <td class="num">{one.api ? count(one.api.calls) : "–"}{one.api && one.api.errors > 0 && <small class="warning"> {count(one.api.errors)} failed</small>}</td>
                  {layer ? <Times p50={layer.p50_ns} p99={layer.p99_ns} max={layer.max_ns} /> : <><td class="num">–</td><td class="num">–</td><td class="num">–</td></>}
                </tr>
              );
            })}</tbody>
          </table>
        </div>
      )}
      {found.length > 500 && <p class="muted">Shown are 500 of {count(found.length)}. Filter, or sort by another column.</p>}
      <Calls pid={pid} />
    </>
  );
}

function Latency({ pid, params, name }: { pid: number | undefined; params: Record<string, string>; name: string | undefined }) {
  const span = spanOf(params, "15m");
  const layer = params.layer === "cuda" ? "cuda" : "driver";
  const metric = layer === "cuda" ? "gtrace_cuda_call_seconds" : "gtrace_driver_call_seconds";
  const call = params.call ?? "";
  const query: [string, string][] = [["metric", metric], ["since", span.since], ["limit", "20000"]];
  if (span.until) query.push(["until", span.until]);
  if (pid) query.push(["label", `pid=${pid}`]);
  const read = usePolled(JSON.stringify(query), () => get<SampleHistory>("/api/v1/samples", query), span.until ? 0 : 10_000);
  const series = read.value?.series ?? [];
  const calls = [...new Set(series.map((one) => one.labels.call ?? ""))].sort();
  const drawn = call ? series.filter((one) => one.labels.call === call) : series;
  return (
    <section>
      <h2>Latency over time<small>{pid ? `${name ?? "process"} ${pid}` : "all processes"}{pid && <> · <a href={href("processes", "", params)}>all</a></>}</small></h2>
      <div class="bar">
        <div class="segments" role="group" aria-label="layer">{(["driver", "cuda"] as const).map((one) => <button type="button" key={one} aria-pressed={layer === one} onClick={() => setParams({ layer: one === "driver" ? undefined : one, call: undefined })}>{one === "driver" ? "Driver calls" : "CUDA calls"}</button>)}</div>
        <label class="field inline">Call<select value={call} onChange={(e) => setParams({ call: e.currentTarget.value || undefined })}><option value="">all</option>{calls.map((one) => <option key={one} value={one}>{one}</option>)}</select></label>
        {(read.value?.left_out ?? 0) > 0 && <Mark shape="triangle" tone="warning">{plural(read.value?.left_out ?? 0, "series", "series")} do not fit: choose a process or a shorter range</Mark>}
      </div>
      {read.problem && !read.value ? <Trouble of={read.problem} /> : !read.value ? <Loading /> : drawn.length === 0
        ? <Empty title="No call was timed in this range">{layer === "cuda" ? "CUDA calls are traced where the daemon runs with cuda_api = true." : "Driver calls are counted while the probes are attached and the driver is loaded."}</Empty>
        : <><Stale of={read.problem} /><Heatmap series={drawn} span={span} step={read.value.step_s ?? 2} /></>}
    </section>
  );
}

function Calls({ pid }: { pid: number | undefined }) {
  const driver = usePolled("driver", () => get<CallStats[]>("/api/v1/histograms"), 5_000);
  const cuda = usePolled("cuda", () => get<CudaReport>("/api/v1/cuda"), 5_000);
  const rows = [
    ...(driver.value ?? []).map((one) => ({ pid: one.pid, comm: one.comm, layer: "driver", name: one.code_name ?? one.op ?? one.ioctl, count: one.count, failed: one.errors + one.failures, total: one.total_ns, p50: one.p50_ns, p99: one.p99_ns, max: one.max_ns })),
    ...(cuda.value?.calls ?? []).map((one) => ({ pid: one.pid ?? 0, comm: one.comm, layer: "CUDA", name: one.function, count: one.calls, failed: one.errors, total: one.total_ns, p50: one.p50_ns, p99: one.p99_ns, max: one.max_ns })),
  ].filter((row) => !pid || row.pid === pid).sort((a, b) => b.total - a.total);
  if (rows.length === 0) return null;
  return (
    <section>
      <h2>Calls<small>by total time, since the daemon started</small></h2>
      <div class="scroll" tabIndex={0}><table>
        <thead><tr><th>Call</th><th>Layer</th><th>Process</th><th class="num">Calls</th><th class="num">Failed</th><th class="num">Total</th><th class="num">Median</th><th class="num">p99</th><th class="num">Longest</th></tr></thead>
        <tbody>{rows.slice(0, 60).map((row) => <tr key={`${row.pid} ${row.layer} ${row.name} ${row.total}`}><td class="break">{row.name}</td><td class="muted">{row.layer}</td><td>{row.comm} <small class="muted">{row.pid || ""}</small></td><td class="num">{count(row.count)}</td><td class={row.failed > 0 ? "num warning" : "num muted"}>{count(row.failed)}</td><td class="num">{duration(row.total)}</td><Times p50={row.p50} p99={row.p99} max={row.max} /></tr>)}</tbody>
      </table></div>
      {rows.length > 60 && <p class="muted">Shown are 60 of {count(rows.length)}: <code>gtrace profile</code> has all.</p>}
    </section>
  );
}
