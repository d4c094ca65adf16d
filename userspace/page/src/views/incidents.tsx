// Incidents, and one of them with its course, causes and evidence.

import { useRef } from "preact/hooks";
import { Problem, get } from "../api";
import { Command, Empty, Loading, Steps, Trouble } from "../parts/bits";
import { EventRow, eventName } from "../parts/event-row";
import { Mark, SeverityMark, StateMark } from "../parts/mark";
import { Timeline } from "../parts/timeline";
import { age, bytes, clock, count, gpuName, plural, shortContainer, stamp, words } from "../format";
import { href, setParams } from "../route";
import { useLive } from "../live";
import { usePolled } from "../use";
import type { CausalLink, Event, Incident } from "../types";

/** Before and after an incident, what its GPUs measured is shown. */
const AROUND_MS = 10 * 60_000;
const EVENTS_READ = 64;
/** Events that are read at a time: a browser gives a host six connections. */
const AT_ONCE = 4;

export function Incidents({ id, params }: { id: string; params: Record<string, string> }) {
  const live = useLive();
  if (id) return <One id={id} key={id} />;
  if (!live.incidents) return <Loading />;
  const found = live.incidents.filter((one) => (params.state !== "open" || one.state !== "resolved") && (params.drills !== "no" || !one.drill));
  const open = live.incidents.filter((one) => one.state !== "resolved").length;
  return (
    <>
      <div class="bar">
        <span><b>{plural(found.length, "incident")}</b>, {open} not resolved</span>
        <button type="button" aria-pressed={params.state === "open"} onClick={() => setParams({ state: params.state === "open" ? undefined : "open" })}>Not resolved only</button>
        <button type="button" aria-pressed={params.drills === "no"} onClick={() => setParams({ drills: params.drills === "no" ? undefined : "no" })}>Without drills</button>
      </div>
      {found.length === 0 ? <Empty title="No incident">Events that belong together become one incident, with what led to what. A drill opens one: gtrace gameday</Empty> : (
        <div class="list">{found.map((one) => <Row key={one.id} incident={one} />)}</div>
      )}
    </>
  );
}

// How cause and effect stand to each other, in words as sure as the link is.
function ledTo(link: CausalLink, events: Event[]): string {
  const time = (id: string) => Date.parse(events.find((one) => one.id === id)?.time ?? "");
  if (time(link.from) > time(link.to)) return "happened at the same time as, and may have led to,";
  if (link.confidence === "high") return "led to";
  return link.confidence === "medium" ? "probably led to" : "happened shortly before, and may have led to,";
}

function Row({ incident }: { incident: Incident }) {
  const { gpus = [], processes = [] } = incident.affected ?? {};
  return (
    <a class="incident" href={href("incidents", incident.id)} data-row>
      <SeverityMark of={incident.severity} />
      <span class="title">{incident.drill && <span class="tag injected">drill</span>}{incident.title}</span>
      <StateMark of={incident.state} />
      <span class="muted small">{words(incident.class)} · {plural(incident.event_count, "event")}{incident.occurrences > incident.event_count ? `, ${count(incident.occurrences)} occurrences` : ""}{gpus.length > 0 && ` · GPU ${gpus.slice(0, 2).map(gpuName).join(", ")}`}{processes[0]?.comm && ` · ${processes[0].comm}`}</span>
      <time class="muted small" title={incident.opened}>{clock(incident.opened)}</time>
    </a>
  );
}

/** Events by their ids, as they are now: those that the live state lacks are read once. Of an incident that grows meanwhile what was read stays. */
function useEvents(ids: string[]): { events: Event[]; reading: boolean; problem: Problem | undefined } {
  const live = useLive();
  const found = useRef(new Map<string, Event>());
  const of = (id: string) => live.event(id) ?? found.current.get(id);
  const { loading, problem } = usePolled(ids.join(" "), async () => {
    const due = ids.filter((id) => !of(id));
    const reader = async () => {
      for (let id = due.shift(); id !== undefined; id = due.shift()) {
        try {
          found.current.set(id, await get<Event>(`/api/v1/events/${encodeURIComponent(id)}`));
        } catch (error) {
          // Retention may have removed it: the list says how many are there.
          if (!(error instanceof Problem && error.status === 404)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, reader));
  });
  return { events: ids.flatMap((id) => of(id) ?? []), reading: loading, problem };
}

function One({ id }: { id: string }) {
  const live = useLive();
  const known = live.incidents?.find((one) => one.id === id);
  const alone = usePolled(`${id} ${known ? "known" : ""}`, async () => known ?? await get<Incident>(`/api/v1/incidents/${encodeURIComponent(id)}`));
  const incident = known ?? alone.value;
  const { events, reading, problem } = useEvents((incident?.events ?? []).slice(0, EVENTS_READ));
  if (!incident) return alone.problem ? <Trouble of={alone.problem} /> : <Loading />;
  const named = (event: string) => {
    const found = events.find((one) => one.id === event);
    return found ? `${clock(found.time, true)} ${eventName(found)}` : event;
  };
  const { gpus = [], processes = [], containers = [], jobs = [], remote_clients: clients = [] } = incident.affected ?? {};
  const end = incident.closed ?? incident.last_time;
  const around = { since: new Date(Date.parse(incident.opened) - AROUND_MS).toISOString(), until: new Date(Date.parse(end) + AROUND_MS).toISOString() };
  return (
    <article class="incident-page">
      <p class="line"><a href={href("incidents")}>Incidents</a> / <code>{incident.id}</code></p>
      <h2 class="headline">{incident.title}</h2>
      <p class="badges"><SeverityMark of={incident.severity} /><StateMark of={incident.state} /><span class="tag">{words(incident.class)}</span>{incident.drill && <span class="tag injected">drill: pages nobody</span>}<span class="muted">opened <time dateTime={incident.opened}>{stamp(incident.opened)}</time>, {incident.closed ? "resolved" : "last event"} {age((Date.parse(end) - Date.parse(incident.opened)) / 1000)} later</span></p>

      <div class="halves wide-left">
        <div>
          <section>
            <h3>Course<small>{plural(incident.event_count, "event")}, {plural(incident.occurrences, "occurrence")}</small></h3>
            {events.length > 0 && <Timeline incident={incident} events={events} />}
            <div class="events">{events.map((event) => <EventRow key={event.id} event={event} />)}</div>
            {problem && <Trouble of={problem} />}
            {!reading && !problem && events.length < incident.event_count && <p class="muted">Shown are {events.length} of {count(incident.event_count)} events; the store has those that retention has left.</p>}
          </section>
          {(incident.chain ?? []).length > 0 && (
            <section><h3>What led to what</h3><ol class="chain">{incident.chain?.map((link) => (
              <li key={link.from + link.to}><a href={href("events", link.from)}>{named(link.from)}</a> <span class="muted">{ledTo(link, events)}</span> <a href={href("events", link.to)}>{named(link.to)}</a><br /><span>{link.why}</span> <span class="tag">{link.confidence} confidence</span> <small class="muted">{link.rule}</small></li>))}</ol></section>
          )}
        </div>
        <div>
          <section><h3>What to do</h3>
            {incident.advice?.meaning && <p>{incident.advice.meaning}</p>}
            <Steps title="Site" steps={incident.advice?.site} /><Steps title="Vendor's advice" steps={incident.advice?.vendor} />
            <p class="muted">This page changes nothing. On the host, as root:</p>
            {incident.state === "open" && <Command line={`gtrace incidents ack ${incident.id} --note "…"`} />}
            <Command line={`gtrace runbook ${incident.id}`} />
            <Command line={`gtrace report --incident ${incident.id}`} />
            {incident.state !== "resolved" && <Command line={`gtrace incidents resolve ${incident.id} --note "…"`} />}
            <p class="muted small">The runbook has the steps, with GPU, port and process of this incident in its commands. The report is one file for the postmortem: course, causes, kernel log, calls, samples and a trace, each with its SHA-256.</p>
          </section>
          <section><h3>Who is affected</h3>
            <dl class="facts wide">
              {gpus.length > 0 && <><dt>GPUs</dt><dd>{gpus.map((gpu) => <a key={gpu.pci} href={href("gpu", gpu.pci, around)}>{gpuName(gpu)}</a>)}</dd></>}
              {processes.length > 0 && <><dt>processes</dt><dd>{processes.slice(0, 12).map((one) => <a key={one.pid} href={href("processes", String(one.pid))}>{one.comm ?? ""} {one.pid}</a>)}</dd></>}
              {containers.length > 0 && <><dt>containers</dt><dd>{containers.slice(0, 6).map((one) => <a key={one} href={href("events", "", { container: one.slice(0, 12) })}><code>{shortContainer(one)}</code></a>)}</dd></>}
              {jobs.length > 0 && <><dt>jobs</dt><dd>{jobs.join(", ")}</dd></>}
              {clients.length > 0 && <><dt>remote clients</dt><dd>{clients.join(", ")}</dd></>}
              {gpus.length + processes.length + containers.length + jobs.length + clients.length === 0 && <><dt>nobody</dt><dd>no device or process is named</dd></>}
            </dl>
          </section>
          <section><h3>Evidence</h3>
            {(incident.evidence ?? []).length === 0 && <p class="muted">None is kept{incident.closed ? "" : " yet"}.</p>}
            <ul class="plain">{incident.evidence?.map((file) => <li key={file.name}><code>{file.name}</code> {bytes(file.bytes)} <small class="muted" title={file.sha256}>SHA-256 {file.sha256.slice(0, 12)}…</small></li>)}
              {incident.missing?.map((gap) => <li key={gap.what}><Mark shape="dash" tone="muted">{gap.what}</Mark> <span class="muted">{gap.why}</span></li>)}</ul>
          </section>
          {(incident.history ?? []).length > 0 && <section><h3>History</h3><ul class="plain">{incident.history?.map((change) => <li key={change.time}>{clock(change.time)} <StateMark of={change.state} /> by {change.by}{change.note && `: ${change.note}`}</li>)}</ul></section>}
        </div>
      </div>
    </article>
  );
}
