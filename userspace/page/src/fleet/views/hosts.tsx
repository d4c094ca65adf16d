// All hosts, the worst first, with reasons.

import { Empty, Loading } from "../../parts/bits";
import { HealthMark } from "../../parts/mark";
import { ago, count, plural } from "../../format";
import { href, setParams } from "../../route";
import { needsAttention, reasonsOf, worstFirst } from "../bits";
import { useFleet } from "../live";
import type { Host } from "../types";

const SHOWN = 500;

/** Each word has to be in its name, a label, a version, its state or a reason. */
const fits = (host: Host, query: string): boolean => {
  const text = [host.host, host.state, host.driver, host.kernel, ...Object.entries(host.labels).map(([name, value]) => `${name}=${value}`), ...reasonsOf(host)].join("\n").toLowerCase();
  return query.toLowerCase().split(/\s+/).every((word) => text.includes(word));
};

export function Hosts({ params }: { params: Record<string, string> }) {
  const { hosts } = useFleet();
  if (!hosts) return <Loading />;
  const bad = params.bad === "yes";
  const found = hosts.filter((one) => (!bad || needsAttention(one)) && fits(one, params.q ?? "")).sort(worstFirst);
  return (
    <>
      <div class="bar">
        <span><b>{plural(found.length, "host")}</b>{params.q && <> with “{params.q}”</>}</span>
        <button type="button" aria-pressed={bad} onClick={() => setParams({ bad: bad ? undefined : "yes" })}>Needs somebody</button>
        {params.q && <button type="button" onClick={() => setParams({ q: undefined })}>All</button>}
      </div>
      {found.length === 0 ? <Empty title="No host passes" /> : (
        <div class="scroll" tabIndex={0}><table class="hosts"><thead><tr><th>State</th><th>Host</th><th>Why</th><th>Labels</th><th>Driver</th><th class="num">GPUs</th><th class="num">Incidents</th><th class="num">Behind</th><th>Said</th></tr></thead>
          <tbody>{found.slice(0, SHOWN).map((one) => (
            <tr key={one.host}>
              <td><HealthMark of={one.state} /></td>
              <td><a href={href("hosts", one.host)} data-row>{one.host}</a>{one.simulated && <span class="tag injected">simulated</span>}</td>
              <td class="prose">{reasonsOf(one).slice(0, 3).map((reason) => <p key={reason}>{reason}</p>)}</td>
              <td class="small">{Object.entries(one.labels).map(([name, value]) => <span class="tag" key={name}>{name}={value}</span>)}</td>
              <td class="small">{one.driver ?? "–"}</td>
              <td class="num">{one.gpus || "–"}</td>
              <td class={one.open_incidents > 0 ? "num critical" : "num muted"}>{one.open_incidents}</td>
              <td class={one.behind > 0 ? "num" : "num muted"}>{count(one.behind)}</td>
              <td class="small">{one.seen ? ago(one.seen) : "never"}</td>
            </tr>))}</tbody></table></div>)}
      {found.length > SHOWN && <p class="muted">Shown are {SHOWN} of {count(found.length)}: search for the others.</p>}
    </>
  );
}
