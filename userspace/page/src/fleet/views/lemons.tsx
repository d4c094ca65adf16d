// Units that fail more than their peers.

import { get } from "../../api";
import { Empty, Loading, Trouble } from "../../parts/bits";
import { Mark } from "../../parts/mark";
import { count, percent } from "../../format";
import { setParams } from "../../route";
import { usePolled } from "../../use";
import { useFleet } from "../live";
import { labelNames } from "../map";
import type { Ranked, Ranking } from "../types";

/** As `gtrace fleet lemons`. */
const SURE = 0.95;

const figure = (value: number): string => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(3));

/** The interval as a line, the rate as a point, the fleet's rate as a tick. */
function Interval({ of, fleet, most }: { of: Ranked; fleet: number; most: number }) {
  const x = (rate: number): number => Math.min(198, 2 + (196 * rate) / most);
  return (
    <svg class="interval" viewBox="0 0 200 14" preserveAspectRatio="none" role="img" aria-label={`${figure(of.rate)}, ${figure(of.interval[0])} to ${figure(of.interval[1])} in 1000 h`}>
      <line class="fleet-rate" x1={x(fleet)} x2={x(fleet)} y1="0" y2="14" /><line class="range" x1={x(of.interval[0])} x2={x(of.interval[1])} y1="7" y2="7" /><rect class="at" x={x(of.rate) - 2} width="4" y="2" height="10" />
    </svg>
  );
}

export function Lemons({ params }: { params: Record<string, string> }) {
  const { hosts = [] } = useFleet();
  const by = params.by ?? "gpu";
  const read = usePolled(`lemons ${by}`, () => get<Ranking>("/fleet/v1/lemons", [["by", by], ["limit", "50"]]), 60_000);
  const units = ["gpu", "slot", "host", ...labelNames(hosts).filter((name) => !["driver", "kernel", "agent"].includes(name))];
  const found = read.value;
  const most = Math.max(1e-9, ...(found?.units.slice(0, 20).map((one) => one.interval[1]) ?? []));
  return (
    <>
      <div class="bar"><h2>Lemons<small>failures of hardware with exposure; the rate of the fleet is the dashed line</small></h2>
        <label class="field inline">by <select value={by} onChange={(e) => setParams({ by: e.currentTarget.value })}>{units.map((name) => <option key={name}>{name}</option>)}</select></label></div>
      {read.problem && <Trouble of={read.problem} />}
      {!found ? !read.problem && <Loading /> : found.units.length === 0 ? <Empty title="Nothing to rank">{count(found.failures)} failures in {count(Math.round(found.hours))} GPU-hours. Agents within daemons say which GPUs there are.</Empty> : (
        <>
          <p class="muted">{count(found.failures)} failures in {count(Math.round(found.hours))} GPU-hours: {figure(found.rate)} in 1000 h. {found.shape === undefined ? "The data do not show that units differ." : "Units differ."}</p>
          <div class="scroll" tabIndex={0}><table><thead><tr><th>Unit</th><th class="num">Failures</th><th class="num">GPU-hours</th><th class="num">In 1000 h</th><th>90 % interval</th><th class="num">Times the fleet</th><th class="num">Worse than twice</th><th class="num" title="failures that came though the GPU was reset since the one before">After reset</th><th class="num" title="failures that came though the host was rebooted since the one before">After reboot</th><th class="num" title="failures that came though another GPU is in the slot, or the GPU in another slot, since the one before">After exchange</th></tr></thead>
            <tbody>{found.units.map((one) => (
              <tr key={one.name}><td class="break"><code>{one.name}</code></td><td class="num">{one.failures}</td><td class="num">{count(Math.round(one.hours))}</td><td class="num">{figure(one.rate)}</td><td><Interval of={one} fleet={found.rate} most={most} /></td><td class="num">{one.times.toFixed(2)}</td>
                <td class="num">{one.worse >= SURE ? <Mark shape="octagon" tone="fatal">{percent(one.worse, 1)}</Mark> : percent(one.worse, 1)}</td><td class="num">{one.after_reset}</td><td class="num">{one.after_reboot}</td><td class="num">{one.after_exchange}</td></tr>))}</tbody></table></div>
        </>)}
    </>
  );
}
