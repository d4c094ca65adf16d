// Hosts as cells, together by a label: where the bad ones are. A cell has a shape for its state, so that it is read without colour.

import { plural } from "../format";
import { href, setParams } from "../route";
import type { HealthState } from "../types";
import { labelOf, reasonsOf, worse } from "./bits";
import type { Host } from "./types";

/** From so many hosts on cells are small. */
const MANY = 1500;
const SHAPES: Record<HealthState, string> = {
  healthy: "", degraded: "M8 4 12.5 12h-9Z", unhealthy: "m4.5 4.5 7 7m0-7-7 7", unknown: "M6 6a2 2 0 1 1 3 1.8c-.8.5-1 .8-1 1.6m0 2v.1",
};

/** Names of labels, that of racks first. */
export function labelNames(hosts: Host[]): string[] {
  const names = new Set(hosts.flatMap((one) => Object.keys(one.labels)));
  const sorted = [...names].sort((a, b) => Number(b === "rack") - Number(a === "rack") || a.localeCompare(b));
  return [...sorted, ...["driver", "kernel", "agent"].filter((name) => !names.has(name) && hosts.some((one) => labelOf(one, name) !== undefined))];
}

function Cell({ name, state, title }: { name: string; state: HealthState; title: string }) {
  return <a class={`cell ${state}`} href={href("hosts", name)} title={title} aria-label={title}><svg viewBox="0 0 16 16" aria-hidden="true"><rect width="16" height="16" rx="3" /><path d={SHAPES[state]} /></svg></a>;
}

export function HostMap({ hosts, by }: { hosts: Host[]; by: string | undefined }) {
  const names = labelNames(hosts);
  const label = by && names.includes(by) ? by : names[0];
  const groups = new Map<string, Host[]>();
  for (const host of hosts) {
    const value = (label ? labelOf(host, label) : undefined) ?? "";
    const group = groups.get(value);
    if (group) group.push(host);
    else groups.set(value, [host]);
  }
  const bad = (of: Host[]): number => of.filter((one) => one.state !== "healthy").length;
  const state = (of: Host[]): HealthState => of.reduce<HealthState>((found, one) => worse(one.state, found), "healthy");
  const sorted = [...groups].sort(([a, x], [b, y]) => bad(y) / y.length - bad(x) / x.length || a.localeCompare(b, "en", { numeric: true }));
  return (
    <>
      <div class="bar">
        <h2>Hosts by {label ?? "nothing"}<small>{plural(groups.size, "group")}, those with most that are not healthy first</small></h2>
        {names.length > 1 && <label class="field inline">by <select value={label} onChange={(e) => setParams({ by: e.currentTarget.value })}>{names.map((name) => <option key={name}>{name}</option>)}</select></label>}
      </div>
      <div class={hosts.length > MANY ? "map many" : "map"}>{sorted.map(([value, of]) => (
        <div key={value} class={`group ${state(of)}`}>
          <h3>{value || `no ${label ?? "label"}`}<small>{bad(of) > 0 ? `${bad(of)} of ${of.length} not healthy` : plural(of.length, "host")}</small></h3>
          <div class="cells">{of.map((one) => <Cell key={one.host} name={one.host} state={one.state} title={[`${one.host}: ${one.state}`, ...reasonsOf(one).slice(0, 3)].join("\n")} />)}</div>
        </div>))}</div>
    </>
  );
}
