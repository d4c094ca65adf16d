// Small parts that every view uses.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Problem } from "../api";
import { bytes, duration, number, percent } from "../format";

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty"><strong>{title}</strong>{children !== undefined && <p>{children}</p>}</div>
);

export const Trouble = ({ of }: { of: Problem }) => (
  <div class="trouble" role="alert"><strong>{of.message}</strong>{of.reason && <span>{of.reason}</span>}{of.remedy && <span class="muted">{of.remedy}</span>}</div>
);

/** Says so where what follows was read before, and could not be read since. */
export const Stale = ({ of }: { of: Problem | undefined }) => (of ? <><Trouble of={of} /><p class="muted">What follows is from before.</p></> : null);

export const Loading = () => <div class="empty muted">Loading…</div>;

/** A share as a bar with its figure. The bar's shade changes above `high`, its text says why. */
export function Meter({ label, share, text, high = 1.1, note }: { label: string; share: number | undefined; text: string; high?: number; note?: string | undefined }) {
  const known = share !== undefined && Number.isFinite(share);
  const width = known ? Math.max(0, Math.min(1, share)) : 0;
  return (
    <div class="meter">
      <span class="name">{label}</span>
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true"><rect class="rail" width="100" height="6" /><rect class={width >= high ? "fill high" : "fill"} width={100 * width} height="6" /></svg>
      <span class="value">{known || text ? text : "–"}{note && <em>{note}</em>}</span>
    </div>
  );
}

/** A command line to copy. */
export function Command({ line }: { line: string }) {
  const [copied, set] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(line);
    set(true);
    setTimeout(() => set(false), 1500);
  };
  return <div class="command"><code>{line}</code><button type="button" onClick={() => void copy()} aria-label={`copy: ${line}`}>{copied ? "copied" : "copy"}</button></div>;
}

/** What to do, in order. */
export function Steps({ title, steps }: { title: string; steps: string[] | undefined }) {
  if (!steps || steps.length === 0) return null;
  return <><h3>{title}</h3><ol class="steps">{steps.map((step) => <li key={step}>{step}</li>)}</ol></>;
}

export const Times = ({ p50, p99, max }: { p50: number; p99: number; max: number }) => (
  <><td class="num">{duration(p50)}</td><td class="num">{duration(p99)}</td><td class="num">{duration(max)}</td></>
);

export const memory = (used: number | undefined, total: number | undefined): string => {
  if (used === undefined) return "–";
  return total ? `${bytes(used)} of ${bytes(total)}` : bytes(used);
};

export const share = (value: number | undefined): string => (value === undefined ? "–" : percent(value, value < 0.01 ? 2 : 1));
export { number };
