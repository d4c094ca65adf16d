// What a word finds: GPUs, processes, incidents, events, metrics.

import { get } from "../api";
import { Empty, Trouble } from "../parts/bits";
import { EventRow } from "../parts/event-row";
import { HealthMark, SeverityMark, StateMark } from "../parts/mark";
import { eventFits, gpuFits, incidentFits, processFits } from "../parts/search";
import { bytes, clock, plural, shortPci } from "../format";
import { href } from "../route";
import { useLive } from "../live";
import { usePolled } from "../use";
import { gpuHealth } from "./overview";
import type { ProcessUse, SampleHistory } from "../types";

const EACH = 20;

export function Search({ q }: { q: string }) {
  const live = useLive();
  const processes = usePolled("processes", () => get<ProcessUse[]>("/api/v1/processes"), 5_000);
  const metrics = usePolled("metrics", () => get<SampleHistory>("/api/v1/samples", [["since", "14d"]]));
  if (!q) return <Empty title="Search">Type a GPU (3b:00, GPU-8f3a), a pid, a container, Xid 79, a program's name, a word of a message or a metric.</Empty>;
  const gpus = (live.gpus ?? []).filter((one) => gpuFits(one, q));
  const users = (processes.value ?? []).filter((one) => processFits(one, q));
  const incidents = (live.incidents ?? []).filter((one) => incidentFits(one, q));
  const events = live.events.filter((one) => eventFits(one, q));
  const named = (metrics.value?.metrics ?? []).filter((one) => q.toLowerCase().split(/\s+/).every((word) => one.metric.includes(word)));
  const problem = processes.problem ?? metrics.problem;
  const none = gpus.length + users.length + incidents.length + events.length + named.length === 0;
  return (
    <>
      {problem && <Trouble of={problem} />}
      {none && (processes.value || processes.problem) && (metrics.value || metrics.problem) && live.incidents && live.eventsRead && <Empty title={`Nothing fits “${q}”`}>Searched: GPUs, processes, incidents, metrics, and the {plural(live.events.length, "event")} that this page holds.</Empty>}
      {gpus.length > 0 && <section><h2>GPUs<small>{gpus.length}</small></h2><div class="list">{gpus.map((gpu) => {
        const { state, reasons } = gpuHealth(gpu, live.health, live.incidents ?? []);
        return <div class="attention" key={gpu.pci}><HealthMark of={state} /><span class="grow"><a href={href("gpu", gpu.pci)} data-row><b>{gpu.index === undefined ? "" : `GPU ${gpu.index} · `}{shortPci(gpu.pci)}</b></a> {gpu.name} <span class="muted">{reasons[0] ?? gpu.uuid}</span></span><a href={href("events", "", { gpu: gpu.pci })}>events</a></div>;
      })}</div></section>}
      {users.length > 0 && <section><h2>Processes<small>{users.length}</small></h2><div class="list">{users.slice(0, EACH).map((one) => <a class="attention" key={one.pid} href={href("processes", String(one.pid))} data-row><span class="grow"><b>{one.comm}</b> {one.pid} <span class="muted">{one.devices.join(" ")}</span></span><span class="muted">{one.memory_bytes != null ? bytes(one.memory_bytes) : ""}</span></a>)}</div></section>}
      {incidents.length > 0 && <section><h2>Incidents<small>{incidents.length}</small></h2><div class="list">{incidents.slice(0, EACH).map((one) => <a class="attention" key={one.id} href={href("incidents", one.id)} data-row><SeverityMark of={one.severity} /><span class="grow">{one.drill && <span class="tag injected">drill</span>}{one.title}</span><StateMark of={one.state} /><time class="muted">{clock(one.opened)}</time></a>)}</div></section>}
      {events.length > 0 && <section><h2>Events<small>{events.length}{events.length > EACH && <> · <a href={href("events", "", { q })}>all</a></>}</small></h2><div class="events">{events.slice(0, EACH).map((one) => <EventRow key={one.id} event={one} />)}</div></section>}
      {named.length > 0 && <section><h2>Metrics<small>{named.length}</small></h2><div class="list">{named.slice(0, EACH).map((one) => <a class="attention" key={one.metric} href={href("samples", "", { metric: one.metric })} data-row><span class="grow"><code>{one.metric}</code></span><span class="muted">{plural(one.series, "series", "series")}</span></a>)}</div></section>}
    </>
  );
}
