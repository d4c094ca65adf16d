// One host: why it is as it is, its GPUs, its incidents and events.

import { get } from "../../api";
import { Command, Empty, Loading, Stale, Trouble } from "../../parts/bits";
import { eventName } from "../../parts/event-row";
import { HealthMark, ProvenanceTag, SeverityMark } from "../../parts/mark";
import { ago, clock, count, duration, gpuName, shortPci, words } from "../../format";
import { href } from "../../route";
import { usePolled } from "../../use";
import { IncidentRow, reasonsOf } from "../bits";
import type { FleetEvent, FleetIncident, HostDetail } from "../types";

const EVENTS = 100;

export function HostPage({ name }: { name: string }) {
  const path = `/fleet/v1/hosts/${encodeURIComponent(name)}`;
  const host = usePolled(`host ${name}`, () => get<HostDetail>(path), 5_000);
  const incidents = usePolled(`incidents ${name}`, () => get<FleetIncident[]>("/fleet/v1/incidents", [["host", name], ["limit", "50"]]), 10_000);
  const events = usePolled(`events ${name}`, () => get<FleetEvent[]>("/fleet/v1/events", [["host", name], ["limit", String(EVENTS)]]), 10_000);
  const of = host.value;
  if (!of || of.host !== name) return host.problem ? <Trouble of={host.problem} /> : <Loading />;
  const { current } = of;
  const subjects = (current?.health?.subjects ?? []).filter((one) => one.state !== "healthy" || (one.reasons ?? []).length > 0);
  return (
    <article class="host-page">
      <Stale of={host.problem} />
      <p class="line"><a href={href("hosts")}>Hosts</a> / <code>{of.host}</code></p>
      <h2 class="headline">{of.host}</h2>
      <p class="badges"><HealthMark of={of.state} />{of.simulated && <span class="tag injected">simulated</span>}{Object.entries(of.labels).map(([label, value]) => <a class="tag" key={label} href={href("hosts", "", { q: `${label}=${value}` })}>{label}={value}</a>)}<span class="muted">{of.seen ? `last seen ${ago(of.seen)}` : "not seen yet"}</span></p>
      {reasonsOf(of).length > 0 && <ul class="reasons">{reasonsOf(of).map((reason) => <li key={reason}>{reason}</li>)}</ul>}
      <div class="halves wide-left">
        <div>
          <section><h3>Incidents</h3>
            {incidents.problem && <Trouble of={incidents.problem} />}
            {!incidents.value ? !incidents.problem && <Loading /> : incidents.value.length === 0 ? <Empty title="No incident" /> : <div class="list">{[...incidents.value].reverse().map((one) => <IncidentRow key={one.incident.id} of={one} />)}</div>}
          </section>
          <section><h3>Newest events<small>at most {EVENTS}</small></h3>
            {events.problem && <Trouble of={events.problem} />}
            {!events.value ? !events.problem && <Loading /> : events.value.length === 0 ? <Empty title="No event" /> : (
              <div class="scroll" tabIndex={0}><table><tbody>{[...events.value].reverse().map(({ event }) => (
                <tr key={event.id}><td class="num muted">{clock(event.time, true)}</td><td><SeverityMark of={event.severity} /></td><td><b>{eventName(event)}</b></td><td>{gpuName(event.gpu)}</td><td class="break"><ProvenanceTag of={event.provenance} />{event.message}</td></tr>))}</tbody></table></div>)}
          </section>
        </div>
        <div>
          <section><h3>GPUs</h3>
            {(current?.gpus ?? []).length === 0 ? <p class="muted">The agent within a daemon says which there are.</p> : (
              <div class="scroll" tabIndex={0}><table><thead><tr><th>GPU</th><th>Model</th><th>VBIOS</th><th>Firmware</th></tr></thead><tbody>{current?.gpus.map((gpu) => (
                <tr key={gpu.pci ?? gpu.index}><td>{gpu.index} · <code>{gpu.pci ? shortPci(gpu.pci) : "–"}</code></td><td>{gpu.name ?? "–"}</td><td class="small">{gpu.vbios ?? "–"}</td><td class="small">{gpu.firmware ?? "–"}</td></tr>))}</tbody></table></div>)}
          </section>
          {subjects.length > 0 && <section><h3>Health of its parts</h3><div class="list">{subjects.map((one) => (
            <div class="attention" key={`${one.subject.part} ${one.subject.name ?? ""}`}><HealthMark of={one.state} /><span class="grow"><b>{one.subject.part} {one.subject.name ?? ""}</b> {(one.reasons ?? []).map((reason) => reason.text).join("; ")}</span><span class="muted">{one.action !== "none" ? words(one.action) : ""}</span></div>))}</div></section>}
          <section><h3>Facts</h3><dl class="facts wide">
            <dt>driver</dt><dd>{of.driver ?? "not known"}</dd>
            <dt>kernel</dt><dd>{of.kernel ?? "not known"}</dd>
            <dt>agent</dt><dd>{of.version ?? "not known"}</dd>
            <dt>records</dt><dd>{count(of.records)} here{of.behind > 0 ? `, ${count(of.behind)} on their way` : ""}</dd>
            <dt>forks</dt><dd>{of.forks} <span class="muted">times its store lost records or was replaced</span></dd>
            {of.clock && <><dt>clock</dt><dd>{duration(Math.abs(of.clock.offset_ns))} {of.clock.offset_ns > 0 ? "behind" : "ahead of"} the head, ± {duration(of.clock.error_ns)}</dd></>}
            <dt>sessions</dt><dd>{current?.allows_sessions ? "permitted" : "not permitted by the host"}{current?.session_problem && `: ${current.session_problem}`}</dd>
          </dl></section>
          <section><h3>The host's own page</h3>{(current?.permits ?? []).includes("page") ? <p><a class="own-page" href={`/hosts/${encodeURIComponent(of.host)}/`}>Samples, processes, calls and sources of {of.host}</a>, as its daemon shows them, by way of the head.</p> : <p class="muted">The host does not permit the head to show it: <code>head_page = true</code> of its daemon, or <code>gtrace agent run --allow page</code>, does.</p>}</section>
          <section><h3>On the host</h3><Command line={`ssh ${of.host} gtrace status`} /><Command line={`ssh -L 7470:127.0.0.1:7470 ${of.host}`} /><p class="muted small">The second makes its page reachable at http://127.0.0.1:7470/, live.</p>{(current?.permits ?? []).includes("trace") && <><Command line={`gtrace fleet trace ${of.host}`} /><p class="muted small">This one, at the head, fetches the CUDA and driver calls of a process for ten seconds.</p></>}</section>
        </div>
      </div>
    </article>
  );
}
