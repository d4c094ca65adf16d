// Incidents of all hosts on one line of time, and one of them.

import { get } from "../../api";
import { Command, Empty, Loading, Steps, Trouble } from "../../parts/bits";
import { eventName } from "../../parts/event-row";
import { Mark, ProvenanceTag, SeverityMark, StateMark } from "../../parts/mark";
import { bounds, RangeChoice, spanOf } from "../../parts/range";
import { Timeline } from "../../parts/timeline";
import { age, bytes, clock, count, gpuName, plural, stamp, words } from "../../format";
import { href, setParams } from "../../route";
import { usePolled } from "../../use";
import { IncidentRow, OutbreakRow } from "../bits";
import { useFleet } from "../live";
import { labelNames } from "../map";
import { FleetTimeline } from "../timeline";
import type { Incident } from "../../types";
import type { FleetEvent, FleetIncident } from "../types";

const SHOWN = 200;

export function Incidents({ id, params }: { id: string; params: Record<string, string> }) {
  const { incidents, hosts = [], outbreaks = [] } = useFleet();
  if (id) return <One id={id} key={id} />;
  if (!incidents) return <Loading />;
  const span = spanOf(params, "24h");
  const [from, to] = bounds(span);
  const inside = (begin: string, end: string): boolean => Date.parse(begin) <= to && Date.parse(end) >= from;
  const classes = [...new Set(incidents.map(({ incident }) => incident.class))].sort();
  const open = params.state === "open";
  // What nobody has resolved lasts: where that is asked for, it is there however long ago its last event was.
  const within = (incident: Incident): boolean => (open ? incident.state !== "resolved" && Date.parse(incident.opened) <= to : inside(incident.opened, incident.closed ?? incident.last_time));
  const found = incidents.filter(({ incident }) => within(incident) && (params.drills !== "no" || !incident.drill) && (!params.class || incident.class === params.class));
  const together = outbreaks.filter((one) => inside(one.first, one.last) && (params.drills !== "no" || !one.drill) && (!params.class || one.class === params.class));
  return (
    <>
      <div class="bar">
        <span><b>{plural(found.length, "incident")}</b> on {plural(new Set(found.map((one) => one.fleet_host)).size, "host")}</span>
        <RangeChoice span={span} />
        <label class="field inline">class <select value={params.class ?? ""} onChange={(e) => setParams({ class: e.currentTarget.value || undefined })}><option value="">all</option>{classes.map((name) => <option key={name} value={name}>{words(name)}</option>)}</select></label>
        <button type="button" aria-pressed={open} onClick={() => setParams({ state: open ? undefined : "open" })}>Not resolved only</button>
        <button type="button" aria-pressed={params.drills === "no"} onClick={() => setParams({ drills: params.drills === "no" ? undefined : "no" })}>Without drills</button>
      </div>
      {together.length > 0 && <section><h2>Outbreaks<small>one cause on many hosts, beyond what chance gives</small></h2><div class="list">{together.slice(0, 12).map((one) => <OutbreakRow key={`${one.class} ${one.first} ${one.labels.join()}`} of={one} />)}</div></section>}
      {found.length === 0 ? <Empty title="No incident in this time">Choose a longer range. Of older ones this page holds the newest 1,000, and those that nobody has resolved.</Empty> : (
        <>
          <FleetTimeline incidents={found} outbreaks={together} hosts={hosts} label={labelNames(hosts)[0]} from={from} to={to} />
          <div class="list">{found.slice(0, SHOWN).map((one) => <IncidentRow key={`${one.fleet_host} ${one.incident.id}`} of={one} />)}</div>
          {found.length > SHOWN && <p class="muted">Listed are {SHOWN} of {count(found.length)}: narrow the range.</p>}
        </>)}
    </>
  );
}

function One({ id }: { id: string }) {
  const { incidents, outbreaks = [] } = useFleet();
  const [host = "", number = ""] = id.split("~");
  const known = incidents?.find((one) => one.fleet_host === host && one.incident.id === number);
  // A revision can come again, of another time.
  const read = usePolled(`${id} ${known?.incident.revision ?? ""} ${known?.incident.time ?? ""}`, async () => {
    const found = known ?? await get<FleetIncident>(`/fleet/v1/hosts/${encodeURIComponent(host)}/incidents/${encodeURIComponent(number)}`);
    const [begin, end] = [Date.parse(found.incident.opened) - 600e3, Date.parse(found.incident.last_time) + 1000].map((time) => new Date(time).toISOString());
    const all = await get<FleetEvent[]>("/fleet/v1/events", [["host", host], ["since", begin ?? ""], ["until", end ?? ""], ["limit", "2000"]]);
    const ids = new Set(found.incident.events);
    return { incident: found.incident, events: all.map((one) => one.event).filter((event) => ids.has(event.id)) };
  });
  if (!read.value) return read.problem ? <Trouble of={read.problem} /> : <Loading />;
  const { incident, events } = read.value;
  const together = outbreaks.filter((one) => one.members.some((member) => member.host === host && member.incident === number));
  const { gpus = [], processes = [], containers = [], jobs = [], remote_clients: clients = [] } = incident.affected ?? {};
  const end = incident.closed ?? incident.last_time;
  return (
    <article class="incident-page">
      <p class="line"><a href={href("incidents")}>Incidents</a> / <a href={href("hosts", host)}>{host}</a> / <code>{incident.id}</code></p>
      <h2 class="headline">{incident.title}</h2>
      <p class="badges"><SeverityMark of={incident.severity} /><StateMark of={incident.state} /><span class="tag">{words(incident.class)}</span>{incident.drill && <span class="tag injected">drill: pages nobody</span>}<span class="muted">opened <time dateTime={incident.opened}>{stamp(incident.opened)}</time>, {incident.closed ? "resolved" : "last event"} {age((Date.parse(end) - Date.parse(incident.opened)) / 1000)} later</span></p>
      {together.length > 0 && <section><h3>Part of an outbreak</h3><div class="list">{together.map((one) => <OutbreakRow key={one.first} of={one} />)}</div></section>}
      <div class="halves wide-left">
        <div>
          <section><h3>Course<small>{plural(incident.event_count, "event")}, {plural(incident.occurrences, "occurrence")}</small></h3>
            {events.length > 0 && <Timeline incident={incident} events={events} link={() => href("hosts", host)} />}
            {events.length > 0 && <div class="scroll" tabIndex={0}><table><tbody>{events.map((event) => (
              <tr key={event.id}><td class="num muted">{clock(event.time, true)}</td><td><SeverityMark of={event.severity} /></td><td><b>{eventName(event)}</b></td><td>{gpuName(event.gpu)}</td><td class="break"><ProvenanceTag of={event.provenance} />{event.message}</td></tr>))}</tbody></table></div>}
            {events.length < incident.event_count && <p class="muted">Shown are {events.length} of {count(incident.event_count)} events.</p>}
          </section>
          {(incident.chain ?? []).length > 0 && <section><h3>What led to what</h3><ol class="chain">{incident.chain?.map((link) => <li key={link.from + link.to}>{link.why} <span class="tag">{link.confidence} confidence</span></li>)}</ol></section>}
        </div>
        <div>
          <section><h3>What to do</h3>
            {incident.advice?.meaning && <p>{incident.advice.meaning}</p>}
            <Steps title="Site" steps={incident.advice?.site} /><Steps title="Vendor's advice" steps={incident.advice?.vendor} />
            <p class="muted">This page changes nothing. As root of the host:</p>
            {incident.state === "open" && <Command line={`ssh ${host} 'gtrace incidents ack ${incident.id} --note "…"'`} />}
            <Command line={`ssh ${host} gtrace runbook ${incident.id}`} />
            <Command line={`ssh ${host} gtrace report --incident ${incident.id}`} />
          </section>
          <section><h3>Who is affected</h3><dl class="facts wide">
            {gpus.length > 0 && <><dt>GPUs</dt><dd>{gpus.map(gpuName).join(", ")}</dd></>}
            {processes.length > 0 && <><dt>processes</dt><dd>{processes.slice(0, 12).map((one) => `${one.comm ?? ""} ${one.pid}`).join(", ")}</dd></>}
            {containers.length > 0 && <><dt>containers</dt><dd>{containers.slice(0, 6).map((one) => one.slice(0, 12)).join(", ")}</dd></>}
            {jobs.length > 0 && <><dt>jobs</dt><dd>{jobs.join(", ")}</dd></>}
            {clients.length > 0 && <><dt>remote clients</dt><dd>{clients.join(", ")}</dd></>}
            {gpus.length + processes.length + containers.length + jobs.length + clients.length === 0 && <><dt>nobody</dt><dd>no device or process is named</dd></>}
          </dl></section>
          <section><h3>Evidence on the host</h3>
            {(incident.evidence ?? []).length === 0 && <p class="muted">None is kept{incident.closed ? "" : " yet"}.</p>}
            <ul class="plain">{incident.evidence?.map((file) => <li key={file.name}><code>{file.name}</code> {bytes(file.bytes)}</li>)}
              {incident.missing?.map((gap) => <li key={gap.what}><Mark shape="dash" tone="muted">{gap.what}</Mark> <span class="muted">{gap.why}</span></li>)}</ul>
          </section>
        </div>
      </div>
    </article>
  );
}
