// What the head of a fleet answers with, as far as the page reads it. docs/fleet.md describes all of it.

import type { Event, HealthReport, HealthState, Incident } from "../types";

/** `/fleet/v1/hosts`. */
export interface Host {
  host: string;
  state: HealthState;
  reasons: string[];
  simulated?: boolean;
  revoked?: boolean;
  labels: Record<string, string>;
  seen?: string;
  version?: string;
  driver?: string;
  kernel?: string;
  gpus: number;
  open_incidents: number;
  records: number;
  behind: number;
  unexplained_gaps: number;
  forks: number;
  chain_faults?: string[];
  clock?: { offset_ns: number; error_ns: number };
}
export interface Gpu { index: number; pci?: string; uuid?: string; name?: string; vbios?: string; firmware?: string }
/** `/fleet/v1/hosts/HOST`. */
export interface HostDetail extends Host { current?: { time: string; boot_id?: string; gpus: Gpu[]; health?: HealthReport; incidents: Incident[]; allows_sessions?: boolean; permits?: string[]; session_problem?: string } }

export interface FleetIncident { fleet_host: string; incident: Incident }
export interface FleetEvent { fleet_host: string; event: Event }

/** `/fleet/v1/outbreaks`. */
export interface Outbreak { class: string; first: string; last: string; drill: boolean; hosts: string[]; members: { host: string; incident: string }[]; labels: string[]; of: number; jobs?: string[]; expected: number }

/** `/fleet/v1/lemons`. */
export interface Ranked { name: string; failures: number; hours: number; after_reset: number; after_reboot: number; after_exchange: number; rate: number; interval: [number, number]; times: number; worse: number }
export interface Ranking { rate: number; failures: number; hours: number; shape?: number; units: Ranked[] }

/** `/fleet/v1/usage`. */
export interface UsageLine { name: string; hours: number; measured_hours: number; busy_hours: number; idle_hours: number; gpus: number; hosts: number; jobs: number; jobs_with_incident: number; jobs_failed: number; last?: string }
export interface Usage { since: string; until: string; held: UsageLine; free_hours: number; lines: UsageLine[] }

/** `/fleet/v1/latency`; times in ns. */
export interface LatencyLine { name: string; layer?: string; calls: number; p50_ns: number; p90_ns: number; p99_ns: number; p999_ns: number; max_ns: number; total_ns: number; hosts: number }
export interface Latency { since: string; until: string; lines: LatencyLine[] }

/** `/fleet/v1/cohorts` and `/fleet/v1/compare`. */
export interface Cohort { version: string; hosts: number; failures: number; hours: number; rate: number }
export interface Comparison { old: Cohort; new: Cohort; ratio?: number; low: number; high?: number; spread: number; margin: number; verdict: "not_worse" | "worse" | "undecided"; why?: string; needs_hours?: number }

/** `/fleet/v1/sessions`. */
export interface Session { id: number; name: string; hosts: string[]; interval_ms: number; metrics: string[]; started: string; ends: string; stopped?: string; gswarm?: boolean }
export interface SessionView { session: Session; hosts: { host: string; frames: number; missing: number; error_ns: number; problem?: string }[] }
