// Events as they come, filtered here: the stream carries all of them anyway.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Problem, get } from "../api";
import { Command, Empty, Loading, Steps, Trouble } from "../parts/bits";
import { EventRow, eventName, processName } from "../parts/event-row";
import { Mark, ProvenanceTag, SEVERITIES, SeverityMark } from "../parts/mark";
import { eventFits } from "../parts/search";
import { clock, count, gpuName, shortPci, stamp, words } from "../format";
import { href, setParams } from "../route";
import { EVENTS_MAX, useLive } from "../live";
import { usePolled } from "../use";
import type { Event, Severity } from "../types";

const SHOWN = 150;

export interface Filter { severity?: string; gpu?: string; pid?: string; container?: string; xid?: string; kind?: string; provenance?: string; q?: string }

/** Whether an event passes. */
export function passes(event: Event, filter: Filter): boolean {
  if (filter.severity && SEVERITIES.indexOf(event.severity) < SEVERITIES.indexOf(filter.severity as Severity)) return false;
  if (filter.gpu && event.gpu?.pci !== filter.gpu) return false;
  if (filter.pid && String(event.process?.pid) !== filter.pid) return false;
  if (filter.container && !event.process?.container?.startsWith(filter.container)) return false;
  if (filter.xid && String(event.detail?.xid ?? event.detail?.sxid) !== filter.xid) return false;
  if (filter.kind && event.kind !== filter.kind) return false;
  if (filter.provenance && event.provenance !== filter.provenance) return false;
  return !filter.q || eventFits(event, filter.q);
}

function Field({ name, label, value, hint, numeric = false }: { name: string; label: string; value: string | undefined; hint: string; numeric?: boolean }) {
  return <label class="field">{label}<input name={name} value={value ?? ""} placeholder={hint} inputMode={numeric ? "numeric" : "text"} autocomplete="off" spellcheck={false} onInput={(e) => setParams({ [name]: e.currentTarget.value || undefined })} /></label>;
}

function Choice({ name, label, value, choices }: { name: string; label: string; value: string | undefined; choices: [string, string][] }) {
  return <label class="field">{label}<select name={name} value={value ?? ""} onChange={(e) => setParams({ [name]: e.currentTarget.value || undefined })}>{choices.map(([key, text]) => <option key={key} value={key}>{text}</option>)}</select></label>;
}

export function Events({ id, params }: { id: string; params: Record<string, string> }) {
  const live = useLive();
  // A field keeps the space at its end: more words follow.
  const filter: Filter = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, value.trim()]));
  const [held, hold] = useState<{ events: Event[]; forgotten: number } | undefined>();
  const [shown, show] = useState(SHOWN);
  const [problem, setProblem] = useState<Problem | undefined>();
  const events = held?.events ?? live.events;
  const key = JSON.stringify(filter);
  const found = useMemo(() => events.filter((event) => passes(event, filter)), [events, key]);
  useEffect(() => show(SHOWN), [key]);
  const gpus = useMemo(() => [...new Set([...(live.gpus ?? []).map((gpu) => gpu.pci), ...events.flatMap((event) => event.gpu?.pci ?? [])])].sort(), [live.gpus, events]);
  const kinds = useMemo(() => [...new Set(events.map((event) => event.kind))].sort(), [events]);
  const waiting = held ? live.events.length + live.forgotten - held.events.length - held.forgotten : 0;
  const older = async () => {
    try {
      const older = await live.readOlder();
      // A list that is held has them too: they are not new.
      hold((now) => now && { ...now, events: [...now.events, ...older] });
      setProblem(undefined);
    } catch (error) {
      if (error instanceof Problem) setProblem(error);
    }
  };
  const set = Object.values(filter).some(Boolean);
  return (
    <div class={id ? "master with-detail" : "master"}>
      <div class="pane">
        <form class="filters" onSubmit={(e) => e.preventDefault()} aria-label="filter">
          <Field name="q" label="Text" value={params.q} hint="any word" />
          <Choice name="severity" label="Severity" value={filter.severity} choices={[["", "all"], ["warning", "warning and above"], ["critical", "critical and above"], ["fatal", "fatal"]]} />
          <Choice name="gpu" label="GPU" value={filter.gpu} choices={[["", "all"], ...gpus.map((pci): [string, string] => [pci, shortPci(pci)])]} />
          <Choice name="kind" label="Kind" value={filter.kind} choices={[["", "all"], ...kinds.map((kind): [string, string] => [kind, words(kind)])]} />
          <Field name="xid" label="Xid" value={params.xid} hint="79" numeric />
          <Field name="pid" label="Pid" value={params.pid} hint="4711" numeric />
          <Field name="container" label="Container" value={params.container} hint="id" />
          <Choice name="provenance" label="Written by" value={filter.provenance} choices={[["", "all"], ["kernel", "the kernel"], ["injected", "drills"], ["userspace", "a process (forged)"], ["unknown", "unconfirmed"]]} />
          {set && <a class="button" href={href("events", id)}>Clear</a>}
        </form>
        <div class="bar">
          <span><b>{live.eventsRead ? count(found.length) : "…"}</b>{set ? ` of ${count(events.length)}` : ""} {events.length === 1 ? "event" : "events"}{live.hasOlder ? ", older ones are in the store" : ""}</span>
          {(live.missing || live.forgotten > 0) && <Mark shape="triangle" tone="warning">{live.missing || `${count(live.forgotten)} older than the newest ${count(EVENTS_MAX)} are not held here`}</Mark>}
          <button type="button" aria-pressed={held !== undefined} onClick={() => hold(held ? undefined : { events: live.events, forgotten: live.forgotten })}>{held ? `Go on (${count(waiting)} new)` : "Hold"}</button>
        </div>
        {problem && <Trouble of={problem} />}
        {!live.eventsRead ? <Loading /> : found.length === 0
          ? <Empty title={set ? "No event passes the filter" : "No event yet"}>{set ? "Clear a part of it, or read older events." : "What the kernel reports appears here at once. A drill makes one: gtrace inject --yes"}</Empty>
          : <div class="events" role="list">{found.slice(0, shown).map((event) => <div role="listitem" key={event.id}><EventRow event={event} params={params} selected={event.id === id} /></div>)}</div>}
        <div class="bar">
          {found.length > shown && <button type="button" onClick={() => show(shown + 500)}>Show {count(Math.min(500, found.length - shown))} more of {count(found.length - shown)}</button>}
          {found.length <= shown && live.hasOlder && <button type="button" onClick={() => void older()}>Read older events</button>}
        </div>
      </div>
      {id && <Detail id={id} params={params} />}
    </div>
  );
}

function Detail({ id, params }: { id: string; params: Record<string, string> }) {
  const live = useLive();
  const known = live.event(id);
  const read = usePolled(`${id} ${known ? "known" : ""}`, async () => known ?? await get<Event>(`/api/v1/events/${encodeURIComponent(id)}`));
  const event = known ?? (read.value?.id === id ? read.value : undefined);
  const aside = useRef<HTMLElement>(null);
  useEffect(() => aside.current?.scrollTo(0, 0), [id]);
  return (
    <aside class="detail" ref={aside} aria-label="event">
      <div class="bar"><h2>Event</h2><a class="button" href={href("events", "", params)} data-close>Close</a></div>
      {read.problem && !event && <Trouble of={read.problem} />}
      {!event ? !read.problem && <Loading /> : <EventDetail event={event} />}
    </aside>
  );
}

function EventDetail({ event }: { event: Event }) {
  const live = useLive();
  const incident = live.incidents?.find((one) => one.events.includes(event.id));
  const { pid, container, cgroup } = event.process ?? {};
  return (
    <>
      <p class="line"><SeverityMark of={event.severity} /> <strong>{eventName(event)}</strong> <ProvenanceTag of={event.provenance} /></p>
      <pre>{event.message}</pre>
      {event.advice?.meaning && <p>{event.advice.meaning}</p>}
      <Steps title="Site" steps={event.advice?.site} /><Steps title="Vendor's advice" steps={event.advice?.vendor} />
      <dl class="facts wide">
        <dt>time</dt><dd>{stamp(event.time)} <span class="muted">{event.time}</span></dd>
        {event.repeats > 0 && <><dt>happened</dt><dd>{count(event.repeats + 1)} times{event.last_time ? `, last ${clock(event.last_time)}` : ""}</dd></>}
        {event.gpu && <><dt>GPU</dt><dd><a href={href("events", "", { gpu: event.gpu.pci })}>{gpuName(event.gpu)}</a>{event.gpu.uuid && <code> {event.gpu.uuid}</code>}</dd></>}
        {pid !== undefined && <><dt>process</dt><dd><a href={href("processes", String(pid))}>{processName(event)}</a></dd></>}
        {container && <><dt>container</dt><dd><a href={href("events", "", { container: container.slice(0, 12) })}><code>{container.slice(0, 24)}</code></a></dd></>}
        {cgroup && <><dt>control group</dt><dd><code>{cgroup}</code></dd></>}
        {event.advice?.action && <><dt>action</dt><dd>{event.advice.action}{event.advice.rule && <span class="muted"> by {event.advice.rule}</span>}</dd></>}
        <dt>seen by</dt><dd>{event.witnesses.map((one) => `${one.source} ×${one.count}`).join(", ")}</dd>
        {Object.entries(event.detail ?? {}).map(([name, value]) => <><dt>{words(name)}</dt><dd>{typeof value === "object" ? JSON.stringify(value) : String(value)}</dd></>)}
        {(event.acks ?? []).map((ack) => <><dt>acknowledged</dt><dd>{clock(ack.time)} by {ack.by}{ack.note && `: ${ack.note}`}</dd></>)}
        {incident && <><dt>incident</dt><dd><a href={href("incidents", incident.id)}>{incident.title}</a></dd></>}
        <dt>id</dt><dd><code>{event.id}</code></dd>
      </dl>
      {(event.acks?.length ?? 0) === 0 && <Command line={`gtrace ack ${event.id}`} />}
    </>
  );
}
