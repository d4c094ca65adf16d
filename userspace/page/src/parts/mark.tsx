// A state as shape and word: it is read without colour.

import type { ComponentChildren } from "preact";
import type { HealthState, IncidentState, Provenance, Severity } from "../types";

const SHAPES = {
  ring: <circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="2" />,
  check: <path d="M3 8.6 6.6 12 13 4.6" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round" />,
  triangle: <path d="M8 1.8 15 14H1Z" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" />,
  diamond: <path d="M8 1 15 8 8 15 1 8Z" fill="currentColor" />,
  octagon: <><path d="M5 1h6l4 4v6l-4 4H5l-4-4V5Z" fill="currentColor" /><path d="m5.4 5.4 5.2 5.2m0-5.2-5.2 5.2" stroke="var(--bg)" stroke-width="1.8" stroke-linecap="round" /></>,
  cross: <path d="m3.5 3.5 9 9m0-9-9 9" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" />,
  dash: <path d="M3 8h10" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" />,
  question: <path d="M5.2 5.6a2.8 2.8 0 1 1 4.3 2.4C8.4 8.7 8 9.2 8 10.2m0 2.9v.1" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" />,
  half: <><circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="2" /><path d="M8 2.4a5.6 5.6 0 0 1 0 11.2Z" fill="currentColor" /></>,
  pause: <path d="M5 3v10M11 3v10" stroke="currentColor" stroke-width="2.6" stroke-linecap="round" />,
};
export type Shape = keyof typeof SHAPES;

export function Mark({ shape, tone, children }: { shape: Shape; tone: string; children?: ComponentChildren }) {
  return <span class={`mark ${tone}`}><svg viewBox="0 0 16 16" aria-hidden="true">{SHAPES[shape]}</svg>{children !== undefined && <span>{children}</span>}</span>;
}

const SEVERITY: Record<Severity, Shape> = { info: "ring", warning: "triangle", critical: "diamond", fatal: "octagon" };
export const SEVERITIES: Severity[] = ["info", "warning", "critical", "fatal"];

export const SeverityMark = ({ of, label = true }: { of: Severity; label?: boolean }) => (
  label ? <Mark shape={SEVERITY[of]} tone={of}>{of}</Mark> : <Mark shape={SEVERITY[of]} tone={of}><span class="unseen">{of}</span></Mark>
);

const HEALTH: Record<HealthState, [Shape, string]> = {
  healthy: ["check", "ok"], degraded: ["triangle", "warning"], unhealthy: ["octagon", "fatal"], unknown: ["question", "muted"],
};
export const HealthMark = ({ of, children }: { of: HealthState; children?: ComponentChildren }) => (
  <Mark shape={HEALTH[of][0]} tone={HEALTH[of][1]}>{children ?? of}</Mark>
);

const STATE: Record<IncidentState, [Shape, string]> = {
  open: ["diamond", "critical"], acknowledged: ["half", "warning"], mitigated: ["ring", "info"], resolved: ["check", "ok"],
};
export const StateMark = ({ of }: { of: IncidentState }) => <Mark shape={STATE[of][0]} tone={STATE[of][1]}>{of}</Mark>;

const SOURCE: Record<string, [Shape, string]> = {
  active: ["check", "ok"], degraded: ["triangle", "warning"], failed: ["octagon", "fatal"], absent: ["dash", "muted"], off: ["dash", "muted"],
  running: ["check", "ok"], ended: ["dash", "muted"], restarting: ["triangle", "warning"], hung: ["octagon", "fatal"], paused: ["pause", "warning"],
};
export const SourceMark = ({ of }: { of: string }) => {
  const [shape, tone] = SOURCE[of] ?? ["question", "muted"];
  return <Mark shape={shape} tone={tone}>{of}</Mark>;
};

const WHO: Record<Provenance, string> = { kernel: "", injected: "drill", userspace: "forged", unknown: "unconfirmed" };

/** Says so where a line is not the kernel's own. */
export const ProvenanceTag = ({ of }: { of: Provenance }) => (WHO[of] ? <span class={`tag ${of}`}>{WHO[of]}</span> : null);
