// What the API answers with, as far as the page reads it. docs/api.md and /api/openapi.json describe all of it.

export type Severity = "info" | "warning" | "critical" | "fatal";
export type Provenance = "kernel" | "userspace" | "injected" | "unknown";
export type HealthState = "healthy" | "degraded" | "unhealthy" | "unknown";
export type IncidentState = "open" | "acknowledged" | "mitigated" | "resolved";

export interface GpuRef { pci?: string; uuid?: string; index?: number }
export interface ProcessRef { pid?: number; comm?: string; cgroup?: string; container?: string }
export interface Advice { meaning?: string; vendor?: string[]; action?: string; site?: string[]; rule?: string }
export interface Ack { time: string; by: string; note: string }

export interface Event {
  id: string;
  revision: number;
  time: string;
  kind: string;
  severity: Severity;
  gpu?: GpuRef;
  process?: ProcessRef;
  message: string;
  detail?: Record<string, unknown>;
  witnesses: { source: string; count: number; first_time: string }[];
  provenance: Provenance;
  repeats: number;
  last_time?: string;
  variants?: { time?: string; message?: string }[];
  advice?: Advice;
  acks?: Ack[];
}

export interface CausalLink {
  from: string;
  to: string;
  why: string;
  confidence: string;
  rule: string;
}

export interface Incident {
  id: string;
  revision: number;
  time: string;
  opened: string;
  last_time: string;
  closed?: string;
  state: IncidentState;
  severity: Severity;
  title: string;
  class: string;
  drill: boolean;
  events: string[];
  event_count: number;
  occurrences: number;
  chain?: CausalLink[];
  affected?: { gpus?: GpuRef[]; processes?: ProcessRef[]; containers?: string[]; jobs?: string[]; remote_clients?: string[] };
  advice?: Advice;
  evidence?: { name: string; sha256: string; bytes: number; from?: string; to?: string }[];
  missing?: { what: string; why: string }[];
  history?: { time: string; state: IncidentState; by: string; note: string }[];
}

export interface GpuProcess { pid: number; comm?: string; used_memory?: number; type: string; mig_gi?: number; mig_ci?: number }
export interface MigInstance {
  gi: number;
  ci: number;
  profile?: string;
  uuid?: string;
  memory?: { total?: number; used?: number };
  activity?: { graphics?: number };
}
export interface VgpuLicense { licensed: boolean; term?: "permanent" | "limited" | "invalid"; product?: string; expiry?: string }
export interface GpuSample {
  time: string;
  utilization?: { gpu?: number; memory?: number };
  memory?: { total?: number; used?: number; free?: number };
  temperature?: { gpu?: number; memory?: number; slowdown_limit?: number };
  power?: { draw_w?: number; limit_w?: number };
  clocks?: { sm?: number; max_sm?: number; memory?: number };
  clock_event_reasons?: { bits: string; names: string[] };
  ecc?: { enabled?: boolean; volatile?: { corrected?: number; uncorrected?: number } };
  remapped_rows?: { correctable?: number; uncorrectable?: number; pending?: boolean; failure?: boolean };
  pcie_replays?: number;
  pcie_tx?: number;
  pcie_rx?: number;
  processes?: GpuProcess[];
  performance_state?: number;
  fan?: number;
  mig?: { enabled: boolean; pending: boolean };
  mig_instances?: MigInstance[];
  mig_instances_unread?: boolean;
  vgpu_license?: VgpuLicense;
}
export interface GpuInfo {
  pci: string;
  name?: string;
  uuid?: string;
  index?: number;
  driver_bound?: string;
  driver_version?: string;
  link?: { speed?: number; max_speed?: number; width?: number; max_width?: number };
  present_in: { pci: boolean; nvml: boolean; proc: boolean };
  suspended?: boolean;
  unanswered?: boolean;
  stale?: boolean;
  nvml_error?: string;
  board?: { serial?: string; part_number?: string; vbios?: string; firmware?: string };
  sample?: GpuSample;
}

export interface Source {
  name: string;
  state: "active" | "degraded" | "absent" | "failed" | "off";
  gives: string;
  needs: string;
  reason?: string;
  remedy?: string;
  records: number;
  lost: number;
}
export interface Task { name: string; state: string; needed: boolean; reason?: string; since: string; restarts: number; last_seen_ms: number; cpu_seconds?: number }
export interface ComponentStatus {
  name: string;
  health?: { state: HealthState; reasons?: string[]; since: string };
  last_seen_age_s?: number;
  cost?: { core_share?: number; cpu_seconds?: number };
}
export interface ProbeCost { probe: string; mean_ns?: number; runs_per_second?: number; core_share?: number; missed: number }
export interface Status {
  version: string;
  pid: number;
  host: string;
  started: string;
  paused: boolean;
  last_seq: number;
  events: Partial<Record<Severity, number>>;
  events_apart?: Partial<Record<Provenance, Partial<Record<Severity, number>>>>;
  sources: Source[];
  tasks?: Task[];
  components?: ComponentStatus[];
  host_health?: { state: HealthState; reasons?: string[] };
  probes: ProbeCost[];
  probe_cost_unmeasured?: string;
  footprint: { rss_anon_bytes: number; cpu_seconds: number; map_bytes: number };
  store_problem?: string;
}

/** `/api/v1/health`. */
export interface SubjectHealth {
  subject: { part: "host" | "gpu" | "nvswitch" | "port" | "component"; name?: string };
  uuid?: string;
  state: HealthState;
  since: string;
  action: string;
  /** One of state `healthy` is a notice. */
  reasons?: { text: string; state: HealthState; since?: string; events?: unknown[] }[];
}
export interface HealthReport { state: HealthState; action: string; subjects: SubjectHealth[]; maintenance?: { from: string; until: string; by: string; note?: string }; not_checked?: string[] }

export type Buckets = [number, number][];
export interface LayerCounts { calls: number; coverage?: string; errors: number; total_ns: number; p50_ns: number; p99_ns: number; max_ns: number; buckets?: Buckets }
export interface ProcessUse {
  pid: number;
  comm: string;
  cgroup?: string;
  container?: string;
  cpu_seconds: number;
  devices: string[];
  api?: LayerCounts | null;
  driver?: LayerCounts | null;
  memory_bytes?: number | null;
  ledger_bytes?: number | null;
  full_in_s?: number | null;
}
export interface CallStats {
  pid: number;
  comm: string;
  device: string;
  gpu?: string;
  ioctl: string;
  op?: string;
  code?: string;
  code_name?: string;
  count: number;
  errors: number;
  failures: number;
  total_ns: number;
  p50_ns: number;
  p99_ns: number;
  max_ns: number;
}
export interface CudaReport {
  state: "off" | "active" | "paused" | "failed";
  reason?: string;
  calls: { pid: number | null; comm: string; function: string; calls: number; coverage?: string; errors: number; p50_ns: number; p99_ns: number; max_ns: number; total_ns: number }[];
  lost: Record<string, number>;
}

export type SampleKind = "gauge" | "counter" | "histogram";
export interface SampleMetric { metric: string; unit?: string; kind: SampleKind; series: number; since: string; until: string }
export interface SamplePoint {
  time: string;
  last?: number;
  range?: { count: number; min: number; max: number; mean: number };
  durations?: { count: number; sum_ns: number; max_ns: number; buckets: Buckets };
}
export interface SampleSeries { metric: string; unit?: string; kind: SampleKind; labels: Record<string, string>; points: SamplePoint[] }
export interface SampleHistory { metrics?: SampleMetric[]; series?: SampleSeries[]; step_s?: number; left_out?: number; damaged?: number }

export interface Times { count: number; sum_ns: number; p50_ns: number; p99_ns: number; max_ns: number; buckets?: Buckets }
export interface RemoteSession {
  id: string;
  worker: number;
  client?: { host?: string; program?: string; pid?: number; peer?: string; credential?: string };
  age_s: number;
  calls_per_second: number;
  memory_limit?: number;
  stats: {
    frames: number; bytes_in: number; bytes_out: number; lanes: number; links?: string[]; fallbacks?: string[]; memory: number;
    failovers: number; failbacks: number; severed: number; resumed: number; queue: Times; driver: Times;
    ops: { name: string; errors: number; bytes: number; queue: Times; driver: Times }[];
  };
}
export interface RemoteServer { version: string; pid: number; host: string; uptime_s: number; listen: string[]; token: boolean; tls: boolean; max_clients: number; sessions: RemoteSession[]; counters: { refused?: Record<string, number>; workers_failed?: number } }
/** `/api/v1/remote`. */
export interface Remote { state: "serving" | "absent" | "silent" | "off"; server?: RemoteServer }

export interface Published { id?: string; provisional?: boolean; event: Event }
export interface Gap { missed?: number; reason: string }
