// Profiling sessions, and what came of each host in one.

import { get } from "../../api";
import { Command, Empty, Loading, Stale, Trouble } from "../../parts/bits";
import { Mark } from "../../parts/mark";
import { age, clock, count, duration, plural } from "../../format";
import { href } from "../../route";
import { usePolled } from "../../use";
import type { Session, SessionView } from "../types";

const StateOf = ({ of }: { of: Session }) => (of.stopped ? <Mark shape="dash" tone="muted">ended</Mark> : <Mark shape="check" tone="ok">on</Mark>);
const length = (of: Session): string => age((Date.parse(of.stopped ?? new Date().toISOString()) - Date.parse(of.started)) / 1000);

export function Sessions({ name }: { name: string }) {
  const read = usePolled("sessions", () => get<Session[]>("/fleet/v1/sessions"), 5_000);
  if (name) return <One name={name} key={name} />;
  if (!read.value) return read.problem ? <Trouble of={read.problem} /> : <Loading />;
  const found = [...read.value].reverse();
  return (
    <>
      <Stale of={read.problem} />
      <h2>Sessions<small>GPUs of many hosts on one clock</small></h2>
      {found.length === 0 ? <Empty title="No session">On the head's host: <code>gtrace session start NAME --hosts rack=r7 --interval 200ms</code></Empty> : (
        <div class="scroll" tabIndex={0}><table><thead><tr><th>State</th><th>Name</th><th>Hosts</th><th class="num">Interval</th><th>Measures</th><th>Started</th><th>Length</th></tr></thead>
          <tbody>{found.map((one) => (
            <tr key={one.id}><td><StateOf of={one} /></td><td><a href={href("sessions", String(one.id))} data-row>{one.name}</a> <small class="muted">{one.id}</small></td><td class="break">{one.hosts.length === 0 ? "all" : one.hosts.length > 6 ? `${one.hosts.slice(0, 6).join(", ")} and ${one.hosts.length - 6} more` : one.hosts.join(", ")}</td><td class="num">{one.interval_ms} ms</td><td class="small">{one.metrics.join(", ")}</td><td>{clock(one.started)}</td><td>{length(one)}</td></tr>))}</tbody></table></div>)}
    </>
  );
}

function One({ name }: { name: string }) {
  const read = usePolled(`session ${name}`, () => get<SessionView>(`/fleet/v1/sessions/${encodeURIComponent(name)}`), 3_000);
  if (!read.value) return read.problem ? <Trouble of={read.problem} /> : <Loading />;
  const { session, hosts } = read.value;
  const most = Math.max(1, ...hosts.map((one) => one.frames + one.missing));
  return (
    <article>
      <Stale of={read.problem} />
      <p class="line"><a href={href("sessions")}>Sessions</a> / <code>{session.id}</code></p>
      <h2 class="headline">{session.name}</h2>
      <p class="badges"><StateOf of={session} /><span class="muted">{plural(hosts.length, "host")}, every {session.interval_ms} ms, for {length(session)}; {session.metrics.join(", ")}</span></p>
      <div class="scroll" tabIndex={0}><table><thead><tr><th>Host</th><th class="num">Frames</th><th class="num">Gaps</th><th>Share of the intervals</th><th class="num">Clock within</th><th>Why not more</th></tr></thead>
        <tbody>{hosts.map((one) => (
          <tr key={one.host}><td><a href={href("hosts", one.host)} data-row>{one.host}</a></td><td class="num">{count(one.frames)}</td><td class={one.missing > 0 ? "num warning" : "num muted"}>{count(one.missing)}</td>
            <td><svg class="interval" viewBox="0 0 200 8" preserveAspectRatio="none" aria-hidden="true"><rect class="rail" width="200" height="8" /><rect class="fill" width={(200 * one.frames) / most} height="8" /></svg></td>
            <td class="num">{one.frames > 0 ? duration(one.error_ns) : "–"}</td><td class="prose">{one.problem ?? ""}</td></tr>))}</tbody></table></div>
      <h3>Frames</h3>
      <Command line={`gtrace session export ${session.id} --format perfetto --output ${session.name}.pftrace`} />
      <Command line={`gtrace session export ${session.id} --format csv`} />
    </article>
  );
}
