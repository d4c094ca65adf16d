// Where observations come from, what was lost, and what gtrace itself costs.

import { throughHead } from "../api";
import { Loading } from "../parts/bits";
import { HealthMark, Mark, SourceMark } from "../parts/mark";
import { age, ago, bytes, clock, count, duration, number, percent, plural } from "../format";
import { useLive } from "../live";

const ORDER = ["failed", "degraded", "active", "off", "absent"];

export function Sources() {
  const { status, missing } = useLive();
  if (!status) return <Loading />;
  const sources = [...status.sources].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
  const lost = sources.filter((source) => source.lost > 0);
  const uptime = Math.max(1, (Date.now() - Date.parse(status.started)) / 1000);
  return (
    <>
      <section>
        <h2>Losses</h2>
        {lost.length === 0 && !missing && !status.store_problem ? <p><Mark shape="check" tone="ok">No record was lost since {clock(status.started)}</Mark></p> : (
          <ul class="plain">
            {status.store_problem && <li><Mark shape="octagon" tone="fatal">store</Mark> {status.store_problem}</li>}
            {lost.map((source) => <li key={source.name}><Mark shape="triangle" tone="warning">{source.name}</Mark> lost {plural(source.lost, "record")}</li>)}
            {missing && <li><Mark shape="triangle" tone="warning">this page</Mark> {missing}</li>}
          </ul>
        )}
      </section>
      <section>
        <h2>Sources<small>{count(sources.filter((one) => one.state === "active").length)} of {count(sources.length)} work fully</small></h2>
        <div class="scroll" tabIndex={0}><table>
          <thead><tr><th>Source</th><th>State</th><th>Gives</th><th class="num">Records</th><th class="num">Lost</th></tr></thead>
          <tbody>{sources.map((source) => (
            <tr key={source.name} data-row tabIndex={-1}>
              <td><code>{source.name}</code></td><td><SourceMark of={source.state} /></td>
              <td class="prose">{source.gives}{source.reason && <p class={source.state === "failed" || source.state === "degraded" ? "warning" : "muted"}>{source.reason}{source.remedy && <><br />To do: {source.remedy}</>}</p>}</td>
              <td class="num">{count(source.records)}</td><td class={source.lost > 0 ? "num warning" : "num muted"}>{count(source.lost)}</td>
            </tr>))}</tbody>
        </table></div>
      </section>
      <div class="halves">
        <section>
          <h2>Health by component</h2>
          <div class="scroll" tabIndex={0}><table>
            <thead><tr><th>Component</th><th>Health</th><th>Last seen</th><th class="num">CPU</th></tr></thead>
            <tbody>{(status.components ?? []).map((one) => <tr key={one.name}><td><code>{one.name}</code></td><td>{one.health ? <HealthMark of={one.health.state} /> : <span class="muted">not checked yet</span>}{one.health?.reasons?.map((reason) => <div class="muted small" key={reason}>{reason}</div>)}</td><td class="muted">{one.last_seen_age_s === undefined ? "never" : `${age(one.last_seen_age_s)} ago`}</td><td class="num">{one.cost?.cpu_seconds !== undefined ? duration(one.cost.cpu_seconds * 1e9) : one.cost?.core_share !== undefined ? percent(one.cost.core_share, 2) : "–"}</td></tr>)}</tbody>
          </table></div>
        </section>
        <section>
          <h2>Threads</h2>
          <div class="scroll" tabIndex={0}><table>
            <thead><tr><th>Thread</th><th>State</th><th class="num">Restarts</th><th class="num">Heartbeat</th><th class="num">CPU</th></tr></thead>
            <tbody>{(status.tasks ?? []).map((task) => <tr key={task.name}><td><code>{task.name}</code></td><td><SourceMark of={task.state} />{task.reason && <div class="muted small">{task.reason}</div>}</td><td class={task.restarts > 0 ? "num warning" : "num muted"}>{task.restarts}</td><td class="num">{duration(task.last_seen_ms * 1e6)} ago</td><td class="num">{task.cpu_seconds === undefined ? "–" : duration(task.cpu_seconds * 1e9)}</td></tr>)}</tbody>
          </table></div>
        </section>
      </div>
      <section>
        <h2>Probes<small>{bytes(status.footprint.map_bytes)} of maps in the kernel</small></h2>
        {status.probe_cost_unmeasured && <p class="muted">{status.probe_cost_unmeasured}</p>}
        <div class="scroll" tabIndex={0}><table>
          <thead><tr><th>Program</th><th class="num">Mean run</th><th class="num">Runs a second</th><th class="num">Share of a core</th><th class="num">Missed</th></tr></thead>
          <tbody>{status.probes.map((one) => <tr key={one.probe}><td><code>{one.probe}</code></td><td class="num">{one.mean_ns === undefined ? "–" : duration(one.mean_ns)}</td><td class="num">{one.runs_per_second === undefined ? "–" : number(one.runs_per_second)}</td><td class="num">{one.core_share === undefined ? "–" : percent(one.core_share, 3)}</td><td class={one.missed > 0 ? "num warning" : "num muted"}>{count(one.missed)}</td></tr>)}</tbody>
        </table></div>
      </section>
      <section>
        <h2>The daemon</h2>
        <dl class="facts wide"><dt>version</dt><dd>{status.version}, process {status.pid}</dd><dt>started</dt><dd>{clock(status.started)} ({ago(status.started)})</dd><dt>memory</dt><dd>{bytes(status.footprint.rss_anon_bytes)}</dd><dt>CPU</dt><dd>{duration(status.footprint.cpu_seconds * 1e9)}, {percent(status.footprint.cpu_seconds / uptime, 2)} of a core</dd><dt>newest record</dt><dd>{count(status.last_seq)}</dd>{!throughHead && <><dt>API</dt><dd><a href="/api/openapi.json">OpenAPI</a>, <a href="/metrics">metrics</a></dd></>}</dl>
      </section>
    </>
  );
}
