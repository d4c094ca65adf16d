// Clients of `gtrace serve` on this host, and where the time of their calls goes.

import { get } from "../api";
import { Empty, Loading, Stale, Trouble } from "../parts/bits";
import { Mark } from "../parts/mark";
import { age, bytes, count, duration, number, plural } from "../format";
import { usePolled } from "../use";
import type { Remote as Answer, RemoteSession, Times } from "../types";

const mean = (times: Times): number => (times.count > 0 ? times.sum_ns / times.count : 0);

/** Both parts of a mean call in one bar, as long as the slowest client's is. */
function Split({ queue, driver, most }: { queue: Times; driver: Times; most: number }) {
  const [waits, runs] = [mean(queue), mean(driver)];
  const scale = 100 / Math.max(1, most);
  return (
    <div class="split">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={`queue ${duration(waits)}, driver ${duration(runs)}`}><rect class="rail" width="100" height="8" /><rect class="queue" width={waits * scale} height="8" /><rect class="driver" x={waits * scale} width={runs * scale} height="8" /></svg>
      <small>queue {duration(waits)} · driver {duration(runs)}</small>
    </div>
  );
}

function Client({ session, most }: { session: RemoteSession; most: number }) {
  const { client = {}, stats } = session;
  const ops = [...stats.ops].sort((a, b) => b.driver.sum_ns + b.queue.sum_ns - a.driver.sum_ns - a.queue.sum_ns).slice(0, 12);
  return (
    <article class="card">
      <header><h3>{client.program ?? "program"} <small>on {client.host ?? "an unknown host"}</small></h3><Mark shape="check" tone="ok">connected</Mark></header>
      <p class="muted line">{client.credential ? `by the ${client.credential}, ` : ""}session <code>{session.id}</code>, worker {session.worker}, for {age(session.age_s)}, {(stats.links ?? []).join(", ") || "no link yet"}{(stats.fallbacks ?? []).length > 0 && ` (fell back: ${stats.fallbacks?.join(", ")})`}</p>
      <Split queue={stats.queue} driver={stats.driver} most={most} />
      <dl class="facts">
        <dt>calls</dt><dd>{number(session.calls_per_second)} a second, {count(stats.frames)} in all</dd>
        <dt>device memory</dt><dd>{bytes(stats.memory)}{session.memory_limit ? ` of ${bytes(session.memory_limit)}` : ""}</dd>
        <dt>moved</dt><dd>{bytes(stats.bytes_in)} in, {bytes(stats.bytes_out)} out</dd>
        <dt>lanes</dt><dd>{stats.lanes}{stats.failovers > 0 ? `, ${plural(stats.failovers, "failover")}` : ""}{stats.failbacks > 0 ? `, ${plural(stats.failbacks, "failback")}` : ""}{stats.severed > 0 ? `, ${plural(stats.severed, "connection")} broke and ${count(stats.resumed)} came back` : ""}</dd>
        <dt>p99</dt><dd>queue {duration(stats.queue.p99_ns)}, driver {duration(stats.driver.p99_ns)}</dd>
      </dl>
      {ops.length > 0 && <details><summary>{plural(stats.ops.length, "operation")}</summary><div class="scroll" tabIndex={0}><table><thead><tr><th>Operation</th><th class="num">Calls</th><th class="num">Failed</th><th class="num">Queue p99</th><th class="num">Driver median</th><th class="num">Driver p99</th></tr></thead>
        <tbody>{ops.map((op) => <tr key={op.name}><td>{op.name}</td><td class="num">{count(op.driver.count)}</td><td class={op.errors > 0 ? "num warning" : "num muted"}>{count(op.errors)}</td><td class="num">{duration(op.queue.p99_ns)}</td><td class="num">{duration(op.driver.p50_ns)}</td><td class="num">{duration(op.driver.p99_ns)}</td></tr>)}</tbody></table></div></details>}
    </article>
  );
}

export function Remote() {
  const read = usePolled("remote", () => get<Answer>("/api/v1/remote"), 2_000);
  if (!read.value) return read.problem ? <Trouble of={read.problem} /> : <Loading />;
  const { state, server } = read.value;
  if (!server) {
    const [title, why] = {
      off: ["Not watched", "The component remoting is switched off by disabled_sources."],
      silent: ["gtrace serve does not answer", "A server runs on this host and did not answer within half a second."],
      absent: ["No GPU of this host is offered to others", "gtrace serve offers them; gtrace exec --remote HOST uses one."],
      serving: ["", ""],
    }[state];
    return <><Stale of={read.problem} /><Empty title={title ?? ""}>{why}</Empty></>;
  }
  const sessions = server.sessions.filter((one) => one.client);
  const most = Math.max(...sessions.map((one) => mean(one.stats.queue) + mean(one.stats.driver)), 1);
  const refused = Object.entries(server.counters.refused ?? {});
  return (
    <>
      <Stale of={read.problem} />
      <div class="bar"><span><b>{plural(sessions.length, "client")}</b> of at most {server.max_clients}, server {server.host}, up {age(server.uptime_s)}, {server.listen.join(", ")}</span><span class="tag">{server.tls ? "TLS" : "no TLS"}</span><span class="tag">{server.token ? "token" : "no token"}</span></div>
      {refused.length > 0 && <p><Mark shape="triangle" tone="warning">refused: {refused.map(([why, n]) => `${why} ${count(n)}`).join(", ")}</Mark></p>}
      <p class="legend-line"><svg class="key queue" viewBox="0 0 18 8" aria-hidden="true"><rect width="18" height="8" /></svg>waits in the server's queue <svg class="key driver" viewBox="0 0 18 8" aria-hidden="true"><rect width="18" height="8" /></svg>in the driver. Client, wire and wake are measured at the client: <code>gtrace exec --stats-file</code></p>
      {sessions.length === 0 ? <Empty title="No client is connected">One appears here when it connects.</Empty> : <div class="cards">{sessions.map((one) => <Client key={one.id} session={one} most={most} />)}</div>}
    </>
  );
}
