// GPU-hours: who has GPUs, and who lets them idle.

import { get } from "../../api";
import { Empty, Loading, Trouble } from "../../parts/bits";
import { clock, percent } from "../../format";
import { setParams } from "../../route";
import { usePolled } from "../../use";
import { useFleet } from "../live";
import { labelNames } from "../map";
import type { Usage, UsageLine } from "../types";

const DAYS: [string, string][] = [["0", "today"], ["6", "7 days"], ["29", "30 days"]];
const hours = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: value < 100 ? 1 : 0 });
const share = (part: number, whole: number): string => (whole > 0 ? percent(part / whole, 0) : "–");

/** Of the hours with known utilisation: busy, and idle from the other end; as long as the hours are of the most. */
function Shares({ of, most }: { of: UsageLine; most: number }) {
  const width = (200 * of.hours) / most;
  const part = (value: number): number => (of.measured_hours > 0 ? (width * value) / of.measured_hours : 0);
  const text = `busy ${share(of.busy_hours, of.measured_hours)}, idle ${share(of.idle_hours, of.measured_hours)}`;
  return (
    <svg class="shares" viewBox="0 0 200 12" preserveAspectRatio="none" role="img" aria-label={text}><title>{text}</title>
      <rect class="held" width={width} height="12" /><rect class="busy" width={part(of.busy_hours)} height="12" /><rect class="idle" x={width - part(of.idle_hours)} width={part(of.idle_hours)} height="12" />
    </svg>
  );
}

export function UsageView({ params }: { params: Record<string, string> }) {
  const { hosts = [] } = useFleet();
  const by = params.by ?? "owner", days = params.days ?? "6";
  const read = usePolled(`usage ${by} ${days}`, () => get<Usage>("/fleet/v1/usage", [["by", by], ["since", new Date(Date.now() - Number(days) * 86_400_000).toISOString()]]), 60_000);
  const units = ["owner", "job", "host", "gpu", "model", ...labelNames(hosts).filter((name) => !["driver", "kernel", "agent"].includes(name))];
  const found = read.value;
  const all = found ? found.held.hours + found.free_hours : 0;
  const lines = found?.lines.slice(0, 200) ?? [];
  const most = Math.max(1e-9, ...lines.map((one) => one.hours));
  return (
    <>
      <div class="bar"><h2>Usage<small>who had GPUs, and whether they did something</small></h2>
        <label class="field inline">days <select value={days} onChange={(e) => setParams({ days: e.currentTarget.value })}>{DAYS.map(([value, name]) => <option key={value} value={value}>{name}</option>)}</select></label>
        <label class="field inline">by <select value={by} onChange={(e) => setParams({ by: e.currentTarget.value })}>{units.map((name) => <option key={name}>{name}</option>)}</select></label></div>
      {read.problem && <Trouble of={read.problem} />}
      {!found ? !read.problem && <Loading /> : lines.length === 0 ? <Empty title="Nobody had a GPU">Agents of daemons with NVML or a kubelet say who has one.</Empty> : (
        <>
          <p class="muted">{found.since} to {found.until} (UTC): {hours(all)} GPU-hours, held {share(found.held.hours, all)}; of held time busy {share(found.held.busy_hours, found.held.measured_hours)}, idle {share(found.held.idle_hours, found.held.measured_hours)}.
            <span class="key"><i class="busy" />busy<i class="held" />partly<i class="idle" />idle</span></p>
          <div class="scroll" tabIndex={0}><table><thead><tr><th>{by[0]?.toUpperCase()}{by.slice(1)}</th><th class="num">GPU-hours</th><th>Use</th><th class="num">Busy</th><th class="num">Idle</th><th class="num">Idle hours</th><th class="num">GPUs</th><th class="num">Hosts</th><th class="num">Jobs</th><th class="num" title="jobs of which a process that had a GPU open was ended by a signal, or with another status than 0">Failed</th><th class="num" title="jobs that an incident names">With incident</th><th>Last</th></tr></thead>
            <tbody>{lines.map((one) => (
              <tr key={one.name}><td class="break"><code>{one.name}</code></td><td class="num">{hours(one.hours)}</td><td><Shares of={one} most={most} /></td><td class="num">{share(one.busy_hours, one.measured_hours)}</td><td class="num">{share(one.idle_hours, one.measured_hours)}</td><td class="num">{hours(one.idle_hours)}</td>
                <td class="num">{one.gpus}</td><td class="num">{one.hosts}</td><td class="num">{one.jobs}</td><td class="num">{one.jobs_failed}</td><td class="num">{one.jobs_with_incident}</td><td>{one.last && <time class="muted" title={one.last}>{clock(one.last)}</time>}</td></tr>))}</tbody></table></div>
          {found.lines.length > lines.length && <p class="muted">{found.lines.length - lines.length} more: <code>gtrace fleet usage --by {by}</code> has them.</p>}
        </>)}
    </>
  );
}
