// Small parts of the fleet's views.

import { clock, count, words } from "../format";
import { Mark, SeverityMark, StateMark } from "../parts/mark";
import { href } from "../route";
import type { HealthState } from "../types";
import type { FleetIncident, Host, Outbreak } from "./types";

const RANK: Record<HealthState, number> = { unhealthy: 0, degraded: 1, unknown: 2, healthy: 3 };

/** The worst first, then by name. */
export const worstFirst = (a: Host, b: Host): number => RANK[a.state] - RANK[b.state] || a.host.localeCompare(b.host, "en", { numeric: true });
export const worse = (a: HealthState, b: HealthState): HealthState => (RANK[a] <= RANK[b] ? a : b);

/** All that is wrong with a host. */
export function reasonsOf(host: Host): string[] {
  const reasons = [...host.reasons, ...(host.chain_faults ?? [])];
  if (host.unexplained_gaps > 0) reasons.push(`${host.unexplained_gaps} ranges of its records are missing, and nothing explains it`);
  return reasons;
}

export const needsAttention = (host: Host): boolean => !host.revoked && (host.state !== "healthy" || (host.chain_faults ?? []).length > 0 || host.unexplained_gaps > 0);

/** What a label means for a host; its versions are labels too. */
export const labelOf = (host: Host, name: string): string | undefined => host.labels[name] ?? (name === "driver" ? host.driver : name === "kernel" ? host.kernel : name === "agent" ? host.version : undefined);

export const addressOf = (one: FleetIncident): string => href("incidents", `${one.fleet_host}~${one.incident.id}`);

export function IncidentRow({ of }: { of: FleetIncident }) {
  const { fleet_host: host, incident } = of;
  return (
    <a class="incident" href={addressOf(of)} data-row>
      <SeverityMark of={incident.severity} />
      <span class="title">{incident.drill && <span class="tag injected">drill</span>}{incident.title}</span>
      <StateMark of={incident.state} />
      <span class="muted small"><b>{host}</b> · {words(incident.class)} · {count(incident.event_count)} {incident.event_count === 1 ? "event" : "events"}</span>
      <time class="muted small" title={incident.opened}>{clock(incident.opened)}</time>
    </a>
  );
}

const OF_PROGRAMS = ["application", "gpu_oom", "memory_leak", "library_mismatch", "noisy_neighbour", "starvation"];

/** Whether it is the end of one job on all of its hosts: a program's own fault, or what its work waits for. */
export const ofOneJob = (one: Outbreak): boolean => OF_PROGRAMS.includes(one.class) && (one.jobs ?? []).length > 0;

/** How many such outbreaks chance gives. */
export const chance = (expected: number): string => (expected < 1e-6 ? "less than one in a million" : expected < 1e-3 ? `one in ${count(Math.round(1 / expected))}` : expected.toFixed(3));

export function OutbreakRow({ of }: { of: Outbreak }) {
  const seconds = Math.round((Date.parse(of.last) - Date.parse(of.first)) / 1000);
  const [from, until] = [Date.parse(of.first) - 60_000, Date.parse(of.last) + 60_000].map((time) => new Date(time).toISOString());
  return (
    <a class="attention outbreak" href={href("incidents", "", { since: from, until, class: of.class })} data-row>
      <Mark shape="diamond" tone={of.drill || ofOneJob(of) ? "info" : "critical"}>{words(of.class)}</Mark>
      <span class="grow">{of.drill && <span class="tag injected">drill</span>}<b>{of.hosts.length} of {count(of.of)} hosts {of.labels.length > 0 ? `of ${of.labels.join(", ")}` : "of the fleet"}</b> within {seconds} s{(of.jobs ?? []).length > 0 && `, each with ${of.jobs?.join(", ")}`}</span>
      <span class="muted small" title="how many such outbreaks chance gives in all that was looked at">by chance: {chance(of.expected)}</span>
      <time class="muted" title={of.first}>{clock(of.first)}</time>
    </a>
  );
}
