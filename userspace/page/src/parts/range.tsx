// The range of time of a view: ages by name, or two times after a zoom. It is in the address.

import { clock } from "../format";
import { setParams } from "../route";

const AGES = ["15m", "1h", "6h", "24h", "7d", "14d"];
const UNITS: Record<string, number> = { m: 60e3, h: 3600e3, d: 86400e3 };

export interface Span { since: string; until?: string | undefined }

/** Milliseconds of a span, as of now. */
export function bounds({ since, until }: Span): [number, number] {
  const found = /^(\d+)([mhd])$/.exec(since);
  const end = until ? Date.parse(until) : Date.now();
  return [found ? Date.now() - Number(found[1]) * (UNITS[found[2] ?? "m"] ?? 0) : Date.parse(since), end];
}

export const spanOf = (params: Record<string, string>, otherwise: string): Span => ({ since: params.since ?? otherwise, until: params.until });

export const zoom = (from: number, to: number): void => setParams({ since: new Date(from).toISOString(), until: new Date(to).toISOString() });

export function RangeChoice({ span }: { span: Span }) {
  const zoomed = span.until !== undefined;
  return (
    <div class="segments" role="group" aria-label="range of time">
      {AGES.map((one) => <button type="button" key={one} aria-pressed={!zoomed && span.since === one} onClick={() => setParams({ since: one, until: undefined })}>{one}</button>)}
      {zoomed && <span class="tag">{clock(span.since)} – {clock(span.until ?? "")}</span>}
    </div>
  );
}
