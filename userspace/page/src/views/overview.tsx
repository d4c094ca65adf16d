// The host at a glance: what needs somebody, the GPUs, pressure, what happened last.

import { get } from "../api";
import { Empty, Loading, Meter, memory } from "../parts/bits";
import { EventRow } from "../parts/event-row";
import { HealthMark, Mark, SEVERITIES, SeverityMark, StateMark } from "../parts/mark";
import { Sparkline, type Spark } from "../parts/spark";
import { ago, bytes, clock, count, number, percent, plural, shortPci, words } from "../format";
import { href } from "../route";
import { useLive } from "../live";
import { usePolled } from "../use";
import type { GpuInfo, GpuSample, HealthState, Incident, SampleHistory, SampleSeries, SubjectHealth, VgpuLicense } from "../types";

const SPAN_MS = 15 * 60_000;
/** Incidents that are shown. */
const SHOWN = 6;
const SAMPLES = ["gtrace_gpu_utilization_ratio", "gtrace_gpu_memory_used_bytes", "gtrace_gpu_temperature_celsius", "gtrace_gpu_power_watts", "gtrace_pressure_ratio"];

/** Reasons that lower clocks to protect the GPU. */
const PROTECTIVE = new Set(["HwSlowdown", "SwThermalSlowdown", "HwThermalSlowdown", "HwPowerBrakeSlowdown"]);

const spark = (series: SampleSeries | undefined): Spark => {
  const points = (series?.points ?? []).flatMap((point) => {
    const value = point.range?.mean ?? point.last;
    return value === undefined ? [] : [[Date.parse(point.time), value] as const];
  });
  return { times: points.map(([time]) => time), values: points.map(([, value]) => value) };
};

const subjectName = (one: SubjectHealth): string => [one.subject.part === "component" ? "" : one.subject.part, one.subject.name].filter(Boolean).join(" ");
const texts = (one: SubjectHealth): string[] => (one.reasons ?? []).filter((reason) => reason.state !== "healthy").map((reason) => reason.text);

interface Judged { state: HealthState; reasons: string[]; action?: string | undefined }

/** As the daemon judges a GPU; else as its open incidents and its sample say. */
export function gpuHealth(gpu: GpuInfo, health: SubjectHealth[] | undefined, incidents: Incident[]): Judged {
  const judged = health?.find((one) => one.subject.part === "gpu" && (one.subject.name === gpu.pci || (gpu.uuid !== undefined && one.subject.name === gpu.uuid)));
  if (judged) return { state: judged.state, reasons: texts(judged), action: judged.action };
  const reasons: string[] = [];
  let state: HealthState = "healthy";
  const lower = (to: HealthState, why: string) => {
    reasons.push(why);
    if (to === "unhealthy" || state === "healthy") state = to;
  };
  for (const incident of incidents) {
    if (incident.drill || incident.state === "resolved" || !incident.affected?.gpus?.some((one) => one.pci === gpu.pci)) continue;
    lower(incident.severity === "fatal" || incident.severity === "critical" ? "unhealthy" : "degraded", incident.title);
  }
  const throttled = gpu.sample?.clock_event_reasons?.names.filter((name) => PROTECTIVE.has(name)) ?? [];
  if (throttled.length > 0) lower("degraded", `clocks lowered: ${throttled.join(", ")}`);
  if (gpu.sample?.remapped_rows?.failure) lower("unhealthy", "a memory row could not be remapped");
  else if (gpu.sample?.remapped_rows?.pending) lower("degraded", "a remapped memory row waits for a reset");
  if (gpu.unanswered) lower("degraded", "does not answer on PCI");
  if (gpu.link?.width && gpu.link.max_width && gpu.link.width < gpu.link.max_width) lower("degraded", `PCIe x${gpu.link.width} of x${gpu.link.max_width}`);
  if (!gpu.sample && state === "healthy") return { state: "unknown", reasons: [gpu.nvml_error ?? "NVML gives no sample"] };
  if (gpu.nvml_error) lower("degraded", gpu.nvml_error);
  return { state, reasons };
}

/** The instances of a GPU in MIG mode: memory of each, which those of one GPU instance share, and its processes. */
function Instances({ of: sample }: { of: GpuSample }) {
  const all = sample.mig_instances ?? [];
  if (all.length === 0) return null;
  return (
    <div class="meters instances">
      {all.map((one) => {
        const inside = (sample.processes ?? []).filter((process) => process.mig_gi === one.gi && process.mig_ci === one.ci);
        const { used, total } = one.memory ?? {};
        const busy = one.activity?.graphics;
        return (
          <div key={`${one.gi}/${one.ci}`} title={[`GPU instance ${one.gi}, compute instance ${one.ci}`, one.uuid].filter(Boolean).join("\n")}>
            <Meter label={one.profile ?? "instance"} share={used !== undefined && total ? used / total : undefined} text={memory(used, total)} high={0.95} />
            <p class="muted line">GI {one.gi} CI {one.ci}{busy !== undefined && ` · ${percent(busy)} busy`} · {inside[0] ? <a href={href("processes", String(inside[0].pid))}>{inside[0].comm ?? inside[0].pid}{inside[0].used_memory ? ` ${bytes(inside[0].used_memory)}` : ""}</a> : "no process"}{inside.length > 1 && ` + ${inside.length - 1}`}</p>
          </div>
        );
      })}
    </div>
  );
}

/** The licence of a vGPU: one that ended before the sample counts as none. */
function License({ of: { licensed, term, product, expiry }, at }: { of: VgpuLicense; at: string }) {
  const ended = term === "invalid" || (expiry !== undefined && Date.parse(expiry) <= Date.parse(at));
  if (licensed && !ended) return <>{product ?? "vGPU"}{expiry && ` until ${clock(expiry)}`}</>;
  return <Mark shape="triangle" tone="warning">{licensed ? "ended" : "none"}{product && ` of ${product}`}</Mark>;
}

/** Its driver; where only sysfs shows the GPU and nothing is bound to it, that there is none. */
function driverOf({ driver_bound: bound, driver_version: version, present_in: { pci, nvml, proc } }: GpuInfo): string {
  if (bound && bound !== "nvidia") return `bound to ${bound}`;
  if (version) return `driver ${version}`;
  return pci && !bound && !nvml && !proc ? "no driver bound" : "";
}

export function GpuCard({ gpu, judged, series }: { gpu: GpuInfo; judged: Judged; series: SampleSeries[] }) {
  const sample = gpu.sample;
  const driver = driverOf(gpu);
  const of = (metric: string, sensor?: string) => spark(series.find((one) => one.metric === metric && one.labels.gpu === gpu.pci && (!sensor || one.labels.sensor === sensor)));
  const now = Date.now();
  const { used, total } = sample?.memory ?? {};
  const { draw_w: draw, limit_w: limit } = sample?.power ?? {};
  const { gpu: celsius, slowdown_limit: hot } = sample?.temperature ?? {};
  const names = sample?.clock_event_reasons?.names.filter((name) => name !== "GpuIdle" && name !== "ApplicationsClocksSetting") ?? [];
  const divided = sample?.mig?.enabled === true;
  // Those of instances stand with them.
  const allInside = divided && (sample?.processes ?? []).every((one) => sample?.mig_instances?.some((part) => part.gi === one.mig_gi && part.ci === one.mig_ci));
  const processes = [...(sample?.processes ?? [])].sort((a, b) => (b.used_memory ?? 0) - (a.used_memory ?? 0));
  return (
    <article class={`card gpu ${judged.state}`}>
      <header>
        <h3><a href={href("gpu", gpu.pci)} data-row>{gpu.index === undefined ? "GPU" : `GPU ${gpu.index}`}</a></h3>
        <HealthMark of={judged.state} />
      </header>
      <p class="muted line"><code>{shortPci(gpu.pci)}</code> · {gpu.name ?? "name not known"}</p>
      {driver && <p class="muted line">{driver}</p>}
      {judged.reasons.length > 0 && <ul class="reasons">{judged.reasons.slice(0, 3).map((reason) => <li key={reason}>{reason}</li>)}{judged.reasons.length > 3 && <li>and {judged.reasons.length - 3} more</li>}</ul>}
      {judged.action && judged.action !== "none" && <p class="line">To do: <strong>{words(judged.action)}</strong></p>}
      {sample && (
        <>
          <div class="meters">
            {!divided && <Meter label="busy" share={sample.utilization?.gpu === undefined ? undefined : sample.utilization.gpu / 100} text={sample.utilization?.gpu === undefined ? "–" : `${sample.utilization.gpu} %`} />}
            <Meter label="memory" share={used !== undefined && total ? used / total : undefined} text={memory(used, total)} high={0.95} />
            <Meter label="power" share={draw !== undefined && limit ? draw / limit : undefined} text={draw === undefined ? "–" : `${draw.toFixed(0)}${limit ? ` of ${limit.toFixed(0)}` : ""} W`} high={0.99} />
            <Meter label="heat" share={celsius !== undefined && hot ? celsius / hot : undefined} text={celsius === undefined ? "–" : `${celsius}${hot ? ` of ${hot}` : ""} °C`} high={0.97} />
          </div>
          {divided && <Instances of={sample} />}
          {series.length > 0 && <div class="sparks">
            {!divided && <figure><Sparkline label="busy over 15 minutes" data={of("gtrace_gpu_utilization_ratio")} top={1} from={now - SPAN_MS} to={now} /><figcaption>busy, 15 min</figcaption></figure>}
            <figure><Sparkline label="power over 15 minutes" data={of("gtrace_gpu_power_watts")} top={limit} from={now - SPAN_MS} to={now} /><figcaption>{divided ? "power, 15 min" : "power"}</figcaption></figure>
            <figure><Sparkline label="temperature over 15 minutes" data={of("gtrace_gpu_temperature_celsius", "gpu")} top={hot} from={now - SPAN_MS} to={now} /><figcaption>heat</figcaption></figure>
          </div>}
          <dl class="facts">
            {sample.clocks?.sm !== undefined && <><dt>SM clock</dt><dd>{sample.clocks.sm}{sample.clocks.max_sm ? ` of ${sample.clocks.max_sm}` : ""} MHz</dd></>}
            {names.length > 0 && <><dt>clocks held by</dt><dd>{names.join(", ")}</dd></>}
            {gpu.link?.width !== undefined && <><dt>PCIe</dt><dd>x{gpu.link.width}{gpu.link.speed ? ` at ${gpu.link.speed} GT/s` : ""}</dd></>}
            {sample.ecc?.volatile && <><dt>ECC errors</dt><dd>{count(sample.ecc.volatile.corrected ?? 0)} corrected, {count(sample.ecc.volatile.uncorrected ?? 0)} not</dd></>}
            {sample.mig && (sample.mig.enabled || sample.mig.pending) && <><dt>MIG</dt><dd>{!sample.mig.enabled ? "off" : sample.mig_instances_unread ? "instances unread" : plural(sample.mig_instances?.length ?? 0, "instance")}{sample.mig.enabled !== sample.mig.pending && `, ${sample.mig.pending ? "on" : "off"} after a reset`}</dd></>}
            {sample.vgpu_license && <><dt>licence</dt><dd><License of={sample.vgpu_license} at={sample.time} /></dd></>}
            {!allInside && <><dt>processes</dt><dd>{processes.length === 0 ? "none" : processes.slice(0, 3).map((one) => <a key={one.pid} href={href("processes", String(one.pid))}>{one.comm ?? one.pid}{one.used_memory ? ` ${bytes(one.used_memory)}` : ""}</a>)}{processes.length > 3 && ` and ${processes.length - 3} more`}</dd></>}
          </dl>
          {gpu.stale && <p class="line"><Mark shape="triangle" tone="warning">the sample is old: {ago(sample.time)}</Mark></p>}
        </>
      )}
    </article>
  );
}

export function Overview() {
  const live = useLive();
  const samples = usePolled("samples", () => get<SampleHistory>("/api/v1/samples", [
    ...SAMPLES.map((metric): [string, string] => ["metric", metric]), ["since", "15m"], ["limit", "8000"],
  ]), 15_000);
  const { status, gpus, incidents = [], health } = live;
  if (!status) return <Loading />;
  const series = samples.value?.series ?? [];
  const judged = (gpus ?? []).map((gpu) => gpuHealth(gpu, health, incidents));
  const opened = incidents.filter((one) => one.state !== "resolved");
  const faults = opened.filter((one) => !one.drill);
  const drills = opened.length - faults.length;
  const lost = status.sources.reduce((sum, source) => sum + source.lost, 0);
  const failed = status.sources.filter((source) => source.state === "failed");
  const hostState = live.report?.state ?? status.host_health?.state ?? "unknown";
  const pressure = ["memory", "cpu", "io"].map((resource) => series.find((one) => one.metric === "gtrace_pressure_ratio" && one.labels.resource === resource && one.labels.kind === "some" && one.labels.window === "10s"));
  const now = Date.now();
  const uptime = (now - Date.parse(status.started)) / 1000;
  // A GPU that is gone has no card.
  const hasCard = (one: SubjectHealth) => one.subject.part === "gpu" && (gpus ?? []).some((gpu) => one.subject.name === gpu.pci || one.subject.name === gpu.uuid);
  const others = (health ?? []).filter((one) => !hasCard(one) && one.subject.part !== "host" && (one.state === "degraded" || one.state === "unhealthy"));
  // The worst first, and of one severity the newest.
  const gravity = (one: Incident) => SEVERITIES.indexOf(one.severity);
  const worst = [...faults].sort((a, b) => gravity(b) - gravity(a));
  const attention = [
    ...worst.slice(0, SHOWN).map((incident) => ({
      weight: 2 * gravity(incident),
      row: <a class="attention" key={incident.id} href={href("incidents", incident.id)} data-row>
        <SeverityMark of={incident.severity} /><span class="grow">{incident.title}</span><StateMark of={incident.state} /><time class="muted" title={incident.opened}>{clock(incident.opened)}</time>
      </a>,
    })),
    ...others.map((one) => ({
      weight: one.state === "unhealthy" ? 5 : 1,
      row: <div class="attention" key={subjectName(one)}><HealthMark of={one.state} /><span class="grow">{one.subject.part === "gpu" ? <a href={href("gpu", one.subject.name)}>{subjectName(one)}</a> : subjectName(one)}: {texts(one).join("; ")}</span><span class="muted">{one.action !== "none" ? words(one.action) : ""}</span></div>,
    })),
  ].sort((a, b) => b.weight - a.weight);
  const whole = health?.find((one) => one.subject.part === "host");
  const why = health?.find((one) => one.subject.part !== "host" && one.state === whole?.state);
  const maintenance = live.report?.maintenance;
  return (
    <>
      <section class="tiles" aria-label="summary">
        <a class="tile" href={href("sources")}><span>host</span><b><HealthMark of={hostState} /></b><small>{maintenance ? `maintenance until ${clock(maintenance.until)} by ${maintenance.by}` : hostState === "healthy" ? "every part that is watched" : why ? `${subjectName(why)}: ${texts(why)[0] ?? why.state}` : status.host_health?.reasons?.[0] ?? "by its components"}</small></a>
        <a class="tile" href={href("incidents", "", { state: "open" })}><span>incidents not resolved</span><b class={faults.length > 0 ? "critical" : ""}>{faults.length > 0 ? <Mark shape="diamond" tone="critical">{count(faults.length)}</Mark> : live.incidents ? "none" : "–"}</b><small>{!live.incidents ? "not read yet" : drills > 0 ? `and ${plural(drills, "drill")}` : "no drills"}</small></a>
        <a class="tile" href={href("events")}><span>events not acknowledged</span><b class="row">{SEVERITIES.slice(1).reverse().map((severity) => (
          <span key={severity} class={status.events[severity] ? "" : "none"} title={severity}><SeverityMark of={severity} label={false} />{count(status.events[severity] ?? 0)}</span>))}</b><small>fatal, critical, warning; by the kernel</small></a>
        <a class="tile" href={href("sources")}><span>capture</span><b>{status.paused ? <Mark shape="pause" tone="warning">paused</Mark> : failed.length > 0 ? <Mark shape="octagon" tone="fatal">{plural(failed.length, "source")} failed</Mark> : <Mark shape="check" tone="ok">working</Mark>}</b><small>{lost > 0 ? `${plural(lost, "record")} lost` : "no record lost"}</small></a>
        <div class="tile"><span>gtrace itself</span><b>{percent(status.footprint.cpu_seconds / Math.max(1, uptime), 1)} of a core</b><small>{bytes(status.footprint.rss_anon_bytes)}, up {ago(status.started).replace(" ago", "")}</small></div>
      </section>

      {(faults.length > 0 || others.length > 0 || status.store_problem) && (
        <section>
          <h2>Needs somebody</h2>
          <div class="list">
            {status.store_problem && <div class="attention"><Mark shape="octagon" tone="fatal">store</Mark><span class="grow">{status.store_problem}</span></div>}
            {attention.map((one) => one.row)}
          </div>
          {faults.length > SHOWN && <p><a href={href("incidents", "", { state: "open" })}>All {faults.length} incidents</a></p>}
        </section>
      )}

      <section>
        <h2>GPUs{gpus && gpus.length > 0 ? <small>{plural(gpus.length, "GPU")}{judged.some((one) => one.state !== "healthy") ? `, ${judged.filter((one) => one.state !== "healthy").length} not healthy` : ", all healthy"}</small> : null}</h2>
        {!gpus ? <Loading /> : gpus.length === 0
          ? <Empty title="No GPU in this host">PCI, the driver and NVML show none. A GPU that comes into a slot appears here by itself; <code>gtrace doctor</code> says what each source sees.</Empty>
          : <div class="cards">{gpus.map((gpu, at) => <GpuCard key={gpu.pci} gpu={gpu} judged={judged[at] ?? { state: "unknown", reasons: [] }} series={series} />)}</div>}
      </section>

      <div class="halves">
        <section>
          <h2>Newest events<small><a href={href("events")}>all</a></small></h2>
          {live.events.length === 0 ? <Empty title={live.eventsRead ? "No event yet" : "Loading…"}>{live.eventsRead ? "What the kernel reports appears here at once." : undefined}</Empty>
            : <div class="events brief">{live.events.slice(0, 8).map((event) => <EventRow key={event.id} event={event} />)}</div>}
        </section>
        <section>
          <h2>Pressure<small>share of time in which a task waited, 15 min</small></h2>
          <div class="list">{["memory", "cpu", "io"].map((resource, at) => {
            const data = spark(pressure[at]);
            const value = data.values.at(-1);
            return <div class="pressure" key={resource}><span>{resource}</span><Sparkline label={`${resource} pressure`} data={data} top={Math.max(0.1, ...data.values)} from={now - SPAN_MS} to={now} /><b>{value === undefined ? "–" : `${number(value * 100)} %`}</b></div>;
          })}</div>
          {samples.problem && <p class="muted">No samples: {samples.problem.reason || samples.problem.message}</p>}
        </section>
      </div>
    </>
  );
}
