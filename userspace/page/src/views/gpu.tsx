// One GPU: how it is, and what it measured beside what happened to it, on one axis of time.

import { useMemo } from "preact/hooks";
import { get } from "../api";
import { Empty, Loading, Trouble } from "../parts/bits";
import { Chart, type Moment } from "../parts/chart";
import { EventRow } from "../parts/event-row";
import { Mark, SEVERITIES, SeverityMark, StateMark } from "../parts/mark";
import { RangeChoice, bounds, spanOf } from "../parts/range";
import { line, names, title, unitOf } from "../parts/series";
import { clock, compareTimes, count, plural, shortPci } from "../format";
import { href } from "../route";
import { useLive } from "../live";
import { usePolled } from "../use";
import { GpuCard, gpuHealth } from "./overview";
import type { Event, SampleHistory } from "../types";

/** What is drawn, where the host has it: what a fault shows in first. */
const METRICS = [
  "gtrace_gpu_utilization_ratio", "gtrace_gpu_activity_ratio", "gtrace_gpu_memory_used_bytes", "gtrace_gpu_power_watts", "gtrace_gpu_temperature_celsius",
  "gtrace_gpu_clock_hertz", "gtrace_gpu_violation_seconds", "gtrace_gpu_pcie_throughput_bytes_per_second", "gtrace_gpu_nvlink_throughput_bytes_per_second",
  "gtrace_gpu_ecc_errors", "gtrace_pci_aer_errors", "gtrace_gpu_pcie_replays", "gtrace_gpu_nvlink_errors", "gtrace_gpu_processes", "gtrace_driver_call_seconds",
];
/** The most severe is drawn last. */
const ORDER: string[] = SEVERITIES;
/** A chart's axis has the unit. */
const short = (metric: string): string => title(metric).replace(/^gpu /, "").replace(/ (ratio|bytes|watts|celsius|hertz|seconds|bytes per second)$/, "");
const EVENTS = 200;
/** Lines that one small chart can show. */
const LINES = 8;

export function Gpu({ pci, params }: { pci: string; params: Record<string, string> }) {
  const live = useLive();
  const span = spanOf(params, "1h");
  const range: [string, string][] = [["gpu", pci], ["since", span.since], ...(span.until ? [["until", span.until] as [string, string]] : [])];
  const every = span.until ? 0 : 10_000;
  const key = JSON.stringify(range);
  const samples = usePolled(`samples ${key}`, () => get<SampleHistory>("/api/v1/samples", [...METRICS.map((name): [string, string] => ["metric", name]), ...range, ["limit", "20000"]]), every);
  const newest = live.events.find((event) => event.gpu?.pci === pci)?.id ?? "";
  const happened = usePolled(`events ${key} ${span.until ? "" : newest}`, () => get<Event[]>("/api/v1/events", [...range, ["limit", String(EVENTS)]]));
  const events = useMemo(() => [...(happened.value ?? [])].sort((a, b) => compareTimes(b.time, a.time)), [happened.value]);
  const moments = useMemo(() => events.filter((event) => event.severity !== "info").map((event): Moment => ({ at: Date.parse(event.time), tone: event.severity })).sort((a, b) => ORDER.indexOf(a.tone) - ORDER.indexOf(b.tone)), [events]);
  const charts = useMemo(() => METRICS.flatMap((name) => {
    const series = (samples.value?.series ?? []).filter((one) => one.metric === name);
    const metric = samples.value?.metrics?.find((one) => one.metric === name) ?? series[0];
    // What stayed at nothing throughout says so in a row, and needs no chart.
    const named = names(series);
    const all = series.map((one, at) => line(one, series.length > 1 ? named[at] ?? "" : ""));
    const quiet = metric?.kind === "counter" && all.every((one) => one.points.every(([, value]) => !value));
    return series.length === 0 ? [] : [{ name, kind: metric?.kind, unit: unitOf(metric), lines: all.slice(0, LINES), more: all.length - LINES, quiet }];
  }), [samples.value]);
  const [from, to] = useMemo(() => bounds(span), [samples.value, span.since, span.until]);
  const gpu = live.gpus?.find((one) => one.pci === pci);
  const { serial, part_number: part, vbios, firmware } = gpu?.board ?? {};
  const board = [["serial number", serial], ["part number", part], ["VBIOS", vbios], ["GSP firmware", firmware]];
  const incidents = (live.incidents ?? []).filter((one) => one.affected?.gpus?.some((other) => other.pci === pci));
  const drawn = charts.filter((one) => !one.quiet);
  const quiet = charts.filter((one) => one.quiet);
  return (
    <>
      <div class="bar"><h2>{gpu?.index === undefined ? "GPU" : `GPU ${gpu.index}`}<small><code>{shortPci(pci)}</code>{gpu?.name && ` · ${gpu.name}`}{gpu?.uuid && ` · ${gpu.uuid}`}</small></h2><span class="grow" /><RangeChoice span={span} /></div>
      <div class="beside">
        <div>
          {gpu ? <GpuCard gpu={gpu} judged={gpuHealth(gpu, live.health, live.incidents ?? [])} series={[]} />
            : live.gpus ? <Empty title="This GPU is not there now">Nothing shows it: it fell off the bus, or was taken out. What it measured and what happened to it are kept.</Empty> : <Loading />}
          {board.some(([, value]) => value) && <section><h3>Board</h3><dl class="facts wide">{board.map(([name, value]) => value && <><dt>{name}</dt><dd><code>{value}</code></dd></>)}</dl></section>}
          {incidents.length > 0 && <section><h3>Incidents<small>{incidents.length}</small></h3><div class="list">{incidents.slice(0, 6).map((one) => (
            <a class="attention narrow" key={one.id} href={href("incidents", one.id)} data-row><SeverityMark of={one.severity} /><span class="grow">{one.drill && <span class="tag injected">drill</span>}{one.title}</span><StateMark of={one.state} /><time class="muted">{clock(one.opened)}</time></a>))}</div></section>}
        </div>
        <div>
          {samples.problem && <Trouble of={samples.problem} />}
          {!samples.value ? !samples.problem && <Loading /> : drawn.length === 0 ? <Empty title="No sample in this range">Choose a longer one; <code>gtrace doctor</code> says what NVML gives.</Empty> : (
            <div class="charts">{drawn.map(({ name, kind, unit, lines, more }) => (
              <figure key={name}>
                <figcaption><a href={href("samples", "", { metric: name, gpu: pci, since: params.since, until: params.until })}>{short(name)}{kind === "counter" ? ", rise a second" : kind === "histogram" ? ", 99th percentile" : ""}{more > 0 && `, the first ${LINES} of ${LINES + more}`}</a></figcaption>
                <Chart lines={lines} unit={unit} from={from} to={to} height={150} label={`${title(name)}, ${plural(lines.length, "line")}`} moments={moments} sync="gpu" />
              </figure>))}</div>
          )}
          {quiet.length > 0 && <p class="muted">No rise in this range: {quiet.map((one) => short(one.name)).join(", ")}.</p>}
          {(samples.value?.left_out ?? 0) > 0 && <Mark shape="triangle" tone="warning">{plural(samples.value?.left_out ?? 0, "series", "series")} do not fit into an answer: choose a shorter range</Mark>}
          <section><h3>What happened to it<small>{plural(events.length, "event")}{events.length === EVENTS ? ", the newest" : ""} in this range{moments.length > 0 && ": lines in the charts"} · <a href={href("events", "", { gpu: pci })}>all</a></small></h3>
            {happened.problem && <Trouble of={happened.problem} />}
            {happened.value && events.length === 0 ? <p class="muted">Nothing.</p> : <div class="events">{events.slice(0, 40).map((event) => <EventRow key={event.id} event={event} />)}</div>}
            {events.length > 40 && <p class="muted">Shown are 40 of {count(events.length)}.</p>}
          </section>
        </div>
      </div>
    </>
  );
}
