// The fleet at a glance: figures, hosts by label as a map, outbreaks, what needs somebody.

import { Empty, Loading } from "../../parts/bits";
import { HealthMark, Mark } from "../../parts/mark";
import { ago, count, plural } from "../../format";
import { href } from "../../route";
import { OutbreakRow, needsAttention, ofOneJob, reasonsOf, worstFirst } from "../bits";
import { useFleet } from "../live";
import { HostMap } from "../map";

const SHOWN = 8;

export function Overview({ params }: { params: Record<string, string> }) {
  const { hosts, incidents, outbreaks } = useFleet();
  if (!hosts) return <Loading />;
  if (hosts.length === 0) return <Empty title="No host is in the fleet yet">A join token lets hosts in: <code>gtrace head token</code>, then on a host <code>gtrace agent enroll</code></Empty>;
  const of = (state: string) => hosts.filter((one) => one.state === state).length;
  const bad = hosts.filter(needsAttention).sort(worstFirst);
  const open = (incidents ?? []).filter(({ incident }) => incident.state !== "resolved");
  const faults = open.filter(({ incident }) => !incident.drill).length;
  const behind = hosts.reduce((sum, one) => sum + one.behind, 0);
  const broken = hosts.filter((one) => (one.chain_faults ?? []).length > 0 || one.unexplained_gaps > 0).length;
  const day = Date.now() - 24 * 3600e3;
  const recent = (outbreaks ?? []).filter((one) => Date.parse(one.last) > day);
  return (
    <>
      <section class="tiles" aria-label="summary">
        <a class="tile" href={href("hosts")}><span>hosts</span><b class="row"><HealthMark of="healthy">{count(of("healthy"))}</HealthMark><HealthMark of="degraded">{count(of("degraded"))}</HealthMark><HealthMark of="unhealthy">{count(of("unhealthy"))}</HealthMark><HealthMark of="unknown">{count(of("unknown"))}</HealthMark></b><small>healthy, degraded, unhealthy, unknown</small></a>
        <a class="tile" href={href("incidents", "", { state: "open" })}><span>incidents not resolved</span><b>{faults > 0 ? <Mark shape="diamond" tone="critical">{count(faults)}</Mark> : incidents ? "none" : "–"}</b><small>{!incidents ? "not read yet" : open.length > faults ? `and ${plural(open.length - faults, "drill")}` : "no drills"}</small></a>
        <a class="tile" href={href("incidents")}><span>outbreaks of the last day</span><b>{recent.length > 0 ? <Mark shape="diamond" tone={recent.some((one) => !one.drill && !ofOneJob(one)) ? "critical" : "info"}>{recent.length}</Mark> : outbreaks ? "none" : "–"}</b><small>on many hosts at once, beyond chance</small></a>
        <div class="tile"><span>GPUs</span><b>{count(hosts.reduce((sum, one) => sum + one.gpus, 0))}</b><small>as daemons say</small></div>
        <div class="tile"><span>records</span><b>{broken > 0 ? <Mark shape="octagon" tone="fatal">{plural(broken, "chain")} broken</Mark> : <Mark shape="check" tone="ok">chains hold</Mark>}</b><small>{behind > 0 ? `${count(behind)} on their way` : "all have arrived"}</small></div>
      </section>
      {recent.length > 0 && <section><h2>Outbreaks<small>the last day, the newest first</small></h2><div class="list">{recent.slice(0, SHOWN).map((one) => <OutbreakRow key={`${one.class} ${one.first} ${one.labels.join()}`} of={one} />)}</div></section>}
      <section><HostMap hosts={hosts} by={params.by} /></section>
      <section>
        <h2>Needs somebody<small>{bad.length > 0 ? <a href={href("hosts", "", { bad: "yes" })}>{plural(bad.length, "host")}</a> : "every host is healthy"}</small></h2>
        {bad.length === 0 ? <Empty title="Every host is healthy" /> : <div class="list">{bad.slice(0, SHOWN).map((one) => (
          <a class="attention" key={one.host} href={href("hosts", one.host)} data-row>
            <HealthMark of={one.state} /><b class="name">{one.host}</b><span class="grow">{reasonsOf(one).slice(0, 2).join("; ")}</span>{one.seen && <span class="muted small">said {ago(one.seen)}</span>}
          </a>))}</div>}
      </section>
    </>
  );
}
