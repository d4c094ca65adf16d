// The events of an incident on a line of time, a lane for each device or process, with what led to what.

import { clock, compareTimes, duration, gpuName } from "../format";
import { href } from "../route";
import { useWidth } from "../use";
import type { Event, Incident } from "../types";
import { eventName } from "./event-row";

const LANE = 34;
const LEFT = 8;

const lane = (event: Event): string => event.gpu?.pci ? `GPU ${gpuName(event.gpu)}` : event.process?.comm ? `${event.process.comm} ${event.process.pid ?? ""}` : "host";

const TONES: Record<string, string> = { info: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0", warning: "M0-6 6.5 5h-13Z", critical: "M0-7 7 0 0 7-7 0Z", fatal: "M-3-7h6l4 4v6l-4 4h-6l-4-4v-6Z" };

export function Timeline({ incident, events, link = (event) => href("events", event.id) }: { incident: Incident; events: Event[]; link?: (event: Event) => string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const sorted = [...events].sort((a, b) => compareTimes(a.time, b.time));
  const lanes = [...new Set(sorted.map(lane))].slice(0, 12);
  const begin = Date.parse(sorted[0]?.time ?? incident.opened);
  const end = Math.max(...sorted.map((event) => Date.parse(event.last_time ?? event.time)), begin + 1);
  const inner = Math.max(120, width - 2 * LEFT - 16);
  const x = (time: string) => LEFT + 8 + (inner * (Date.parse(time) - begin)) / (end - begin);
  const y = (event: Event) => lanes.indexOf(lane(event)) * LANE + 24;
  const place = new Map(sorted.map((event) => [event.id, event]));
  const height = lanes.length * LANE + 30;
  return (
    <div class="timeline" ref={box}>
      {width > 0 && (
        <svg width={width} height={height} role="group" aria-label={`${sorted.length} events within ${duration((end - begin) * 1e6)}`}>
          {lanes.map((name, at) => <g key={name}><line class="lane" x1={LEFT} x2={width - LEFT} y1={at * LANE + 24} y2={at * LANE + 24} /><text class="name" x={LEFT} y={at * LANE + 11}>{name}</text></g>)}
          {(incident.chain ?? []).map((link) => {
            const [from, to] = [place.get(link.from), place.get(link.to)];
            if (!from || !to) return null;
            const [x1, y1, x2, y2] = [x(from.time), y(from), x(to.time), y(to)];
            const bend = Math.max(14, Math.abs(x2 - x1) / 3);
            return <path key={link.from + link.to} class={`cause ${link.confidence}`} d={`M${x1} ${y1}C${x1 + bend} ${y1 + 12} ${x2 - bend} ${y2 - 12} ${x2} ${y2}`}><title>{`${link.why} (${link.confidence})`}</title></path>;
          })}
          {sorted.map((event) => lanes.includes(lane(event)) && (
            <a key={event.id} href={link(event)}>
              {event.last_time && <line class={`span ${event.severity}`} x1={x(event.time)} x2={x(event.last_time)} y1={y(event)} y2={y(event)} />}
              <path class={`point ${event.severity}`} transform={`translate(${x(event.time)} ${y(event)})`} d={TONES[event.severity]}><title>{`${clock(event.time, true)} ${event.severity} ${eventName(event)}`}</title></path>
            </a>
          ))}
          <text class="axis" x={LEFT} y={height - 4}>{clock(begin, true)}</text>
          <text class="axis" x={width - LEFT} y={height - 4} text-anchor="end">+{duration((end - begin) * 1e6)}</text>
        </svg>
      )}
    </div>
  );
}
