// Incidents of many hosts on one line of time: a lane for each host, or for each value of a label where there are too many. Outbreaks are
// bands across the lanes.

import { clock, plural } from "../format";
import { useWidth } from "../use";
import { zoom } from "../parts/range";
import { addressOf, labelOf } from "./bits";
import type { FleetIncident, Host, Outbreak } from "./types";

const LANE = 18;
const TOP = 8;
const BOTTOM = 22;
/** With more hosts than this a lane is a value of the label. */
const LANES_MAX = 40;
const SHAPES: Record<string, string> = { info: "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0", warning: "M0-5 5.5 4h-11Z", critical: "M0-6 6 0 0 6-6 0Z", fatal: "M-2.5-6h5l3.5 3.5v5l-3.5 3.5h-5l-3.5-3.5v-5Z" };

export function FleetTimeline({ incidents, outbreaks, hosts, label, from, to }: { incidents: FleetIncident[]; outbreaks: Outbreak[]; hosts: Host[]; label: string | undefined; from: number; to: number }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const byName = new Map(hosts.map((host) => [host.host, host]));
  const valueOf = (host: string): string => { const known = byName.get(host); return (known && label ? labelOf(known, label) : undefined) ?? ""; };
  const names = [...new Set(incidents.map((one) => one.fleet_host))];
  const joined = names.length > LANES_MAX;
  const laneOf = (host: string): string => (joined ? valueOf(host) || "no label" : host);
  // Hosts that share a label are neighbours.
  const sorted = names.sort((a, b) => valueOf(a).localeCompare(valueOf(b), "en", { numeric: true }) || a.localeCompare(b, "en", { numeric: true }));
  const lanes = [...new Set(sorted.map(laneOf))].slice(0, LANES_MAX);
  const place = new Map(lanes.map((lane, at) => [lane, at]));
  const left = Math.min(170, 20 + 6.6 * Math.max(4, ...lanes.map((lane) => lane.length + (joined ? 0 : valueOf(lane).length + 2))));
  const inner = Math.max(100, width - left - 14);
  const x = (time: number): number => left + (inner * Math.min(1, Math.max(0, (time - from) / Math.max(1, to - from))));
  const y = (lane: string): number => TOP + (place.get(lane) ?? 0) * LANE + LANE / 2;
  const height = TOP + lanes.length * LANE + BOTTOM;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((share) => from + share * (to - from));
  return (
    <div class="timeline fleet" ref={box}>
      {width > 0 && (
        <svg width={width} height={height} role="group" aria-label={`${plural(incidents.length, "incident")} on ${plural(names.length, "host")}`}>
          {ticks.map((tick) => <line key={tick} class="tick" x1={x(tick)} x2={x(tick)} y1={TOP} y2={height - BOTTOM} />)}
          {outbreaks.map((one) => {
            const rows = [...new Set(one.hosts.map(laneOf))].flatMap((lane) => place.get(lane) ?? []);
            if (rows.length === 0) return null;
            const [begin, end] = [x(Date.parse(one.first)) - 7, x(Date.parse(one.last)) + 7];
            const [top, bottom] = [Math.min(...rows), Math.max(...rows)];
            return (
              <g key={`${one.class} ${one.first} ${one.labels.join()}`} class={one.drill ? "band drill" : "band"} role="button" tabIndex={0} onClick={() => zoom(Date.parse(one.first) - 60e3, Date.parse(one.last) + 60e3)} onKeyDown={(e) => { if (e.key === "Enter") zoom(Date.parse(one.first) - 60e3, Date.parse(one.last) + 60e3); }}>
                <title>{`${one.class} on ${one.hosts.length} of ${one.of} hosts ${one.labels.join(", ") || "of the fleet"}: zoom`}</title>
                <rect x={begin} width={Math.max(14, end - begin)} y={TOP + top * LANE + 1} height={(bottom - top + 1) * LANE - 2} rx="4" />
              </g>);
          })}
          {lanes.map((lane) => (
            <g key={lane}>
              <line class="lane" x1={left} x2={left + inner} y1={y(lane)} y2={y(lane)} />
              <text class="name" x="6" y={y(lane) + 4}>{lane}{!joined && valueOf(lane) && <tspan class="of" dx="6">{valueOf(lane)}</tspan>}</text>
            </g>))}
          {incidents.map((one) => {
            const lane = laneOf(one.fleet_host);
            if (!place.has(lane)) return null;
            const { opened, closed, severity, title, state } = one.incident;
            const begin = x(Date.parse(opened));
            const end = x(closed ? Date.parse(closed) : to);
            return (
              <a key={`${one.fleet_host} ${one.incident.id}`} href={addressOf(one)}>
                <line class={`span ${severity}`} x1={begin} x2={end} y1={y(lane)} y2={y(lane)} />
                <path class={`point ${severity}`} transform={`translate(${begin} ${y(lane)})`} d={SHAPES[severity]}><title>{`${one.fleet_host} ${clock(opened)} ${severity}: ${title} (${state})`}</title></path>
              </a>);
          })}
          {ticks.filter((_, at) => at % 2 === 0 || width > 700).map((tick, at, all) => <text key={tick} class="axis" x={x(tick)} y={height - 6} text-anchor={at === 0 ? "start" : at === all.length - 1 ? "end" : "middle"}>{clock(tick)}</text>)}
        </svg>
      )}
    </div>
  );
}
