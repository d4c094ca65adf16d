// Latency over time: a column a step, a row for each quarter of a power of two, darker where there are more calls.

import { useEffect, useRef, useState } from "preact/hooks";
import { clock, count, duration, instant } from "../format";
import { add, bucketOf, lowest, quantile, sorted } from "../hist";
import { colour, useTheme, useWidth } from "../use";
import { bounds, zoom, type Span } from "./range";
import type { SampleSeries } from "../types";

const LEFT = 58;
const BOTTOM = 18;
const HEIGHT = 240;
/** Buckets in a row of the picture. */
const JOINED = 8;

interface Column { begin: number; end: number; buckets: Map<number, number>; total: number }

/** The calls of all series in columns of equal width. */
function columns(series: SampleSeries[], from: number, to: number, most: number): Column[] {
  const width = (to - from) / most;
  const made: Column[] = Array.from({ length: most }, (_, at) => ({ begin: from + at * width, end: from + (at + 1) * width, buckets: new Map(), total: 0 }));
  for (const one of series) {
    for (const point of one.points) {
      const column = made[Math.min(most - 1, Math.floor((Date.parse(point.time) - from) / width))];
      if (!column || !point.durations) continue;
      add(column.buckets, point.durations.buckets);
      column.total += point.durations.count;
    }
  }
  return made;
}

/** The usual time between two points, ms: columns that are narrower would be empty in between. */
function spacing(series: SampleSeries[]): number {
  const times = [...new Set(series.flatMap((one) => one.points.map((point) => Date.parse(point.time))))].sort((a, b) => a - b);
  const gaps = times.slice(1).map((time, at) => time - (times[at] ?? time)).sort((a, b) => a - b);
  return 1.05 * (gaps[Math.floor(gaps.length / 2)] ?? 1000);
}

/** Durations that an axis names between two, ns: powers of ten, with 2 and 5 between where there are few of them. */
function marks(low: number, high: number): number[] {
  const decades = Math.log10(high / low);
  const digits = decades < 1.5 ? [1, 2, 5] : decades < 3.5 ? [1, 3] : [1];
  const found: number[] = [];
  for (let power = 10; power <= 1e12; power *= 10) for (const digit of digits) if (digit * power >= low && digit * power <= high) found.push(digit * power);
  return found;
}

/** Distances between times that an axis names, ms. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800].map((seconds) => 1000 * seconds);

/** Times that an axis names, at most `most` of them: whole minutes, hours or days of the clock on the wall. */
function times(from: number, to: number, most: number): number[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? 86400e3 * Math.ceil((to - from) / 86400e3 / most);
  const zone = 60e3 * new Date(from).getTimezoneOffset();
  const found: number[] = [];
  for (let at = Math.ceil((from - zone) / step) * step + zone; at <= to; at += step) found.push(at);
  return found;
}

export function Heatmap({ series, span, step }: { series: SampleSeries[]; span: Span; step: number }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useTheme();
  const [hover, setHover] = useState<{ x: number; y: number; text: string } | undefined>();
  const [drag, setDrag] = useState<[number, number] | undefined>();
  const [from, to] = bounds(span);
  const inner = Math.max(0, width - LEFT - 4);
  const most = Math.max(12, Math.min(Math.floor(inner / 5), Math.floor((to - from) / Math.max(1000 * step, spacing(series)))));
  const made = columns(series, from, to, most);
  const all = new Map<number, number>();
  for (const column of made) add(all, [...column.buckets]);
  // Of each bucket once: a call takes only so many arguments.
  const low = Math.floor(Math.min(895, ...all.keys()) / JOINED);
  const high = Math.floor(Math.max(0, ...all.keys()) / JOINED) + 1;
  const rows = Math.max(4, high - low);
  const plot = HEIGHT - BOTTOM - 6;
  const row = plot / rows;
  /** Where a duration is in the picture. */
  const height = (ns: number) => 4 + plot - (bucketOf(ns) / JOINED - low) * row;
  const total = made.reduce((sum, column) => sum + column.total, 0);
  const whole = sorted(all);

  useEffect(() => {
    const target = canvas.current;
    const pen = target?.getContext("2d");
    if (!target || !pen || inner === 0) return;
    const ratio = devicePixelRatio || 1;
    target.width = width * ratio;
    target.height = HEIGHT * ratio;
    pen.scale(ratio, ratio);
    pen.clearRect(0, 0, width, HEIGHT);
    const cells = made.map((column) => {
      const joined = new Map<number, number>();
      for (const [bucket, n] of column.buckets) {
        const at = Math.floor(bucket / JOINED);
        joined.set(at, (joined.get(at) ?? 0) + n);
      }
      return joined;
    });
    const peak = Math.max(1, ...cells.flatMap((column) => [...column.values()]));
    const step = inner / most;
    pen.fillStyle = colour("heat");
    cells.forEach((column, at) => {
      for (const [line, n] of column) {
        pen.globalAlpha = 0.14 + 0.86 * (Math.log1p(n) / Math.log1p(peak));
        pen.fillRect(LEFT + at * step, 4 + plot - (line - low + 1) * row, Math.max(1, step - 0.5), Math.max(1, row - 0.4));
      }
    });
    pen.globalAlpha = 1;
    pen.font = "11px system-ui, sans-serif";
    pen.fillStyle = colour("muted");
    pen.strokeStyle = colour("line");
    pen.textAlign = "right";
    for (const mark of marks(lowest(low * JOINED), lowest((low + rows) * JOINED))) {
      const at = height(mark);
      pen.beginPath();
      pen.moveTo(LEFT, at + 0.5);
      pen.lineTo(width - 4, at + 0.5);
      pen.stroke();
      pen.fillText(duration(mark).replace(/\.0+ /, " "), LEFT - 6, Math.max(10, at + 3));
    }
    pen.textAlign = "center";
    for (const mark of times(from, to, Math.max(1, Math.floor(inner / 110)))) {
      const at = LEFT + ((mark - from) / (to - from)) * inner;
      if (at > LEFT + 24 && at < width - 30) pen.fillText(instant(mark / 1000, to - from), at, HEIGHT - 4);
    }
    for (const [share, dash] of [[0.5, []], [0.99, [4, 3]]] as const) {
      pen.beginPath();
      pen.setLineDash([...dash]);
      pen.strokeStyle = colour("text");
      pen.lineWidth = 1.2;
      let begun = false;
      made.forEach((column, at) => {
        const value = quantile(sorted(column.buckets), share);
        if (!Number.isFinite(value)) {
          begun = false;
          return;
        }
        const [x, y] = [LEFT + (at + 0.5) * step, height(value)];
        if (begun) pen.lineTo(x, y);
        else pen.moveTo(x, y);
        begun = true;
      });
      pen.stroke();
    }
    pen.setLineDash([]);
  }, [series, width, theme, from, to]);

  const time = (x: number) => from + ((x - LEFT) / inner) * (to - from);
  const at = (event: PointerEvent): [number, number] => {
    const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return [Math.max(LEFT, Math.min(width - 4, event.clientX - place.left)), event.clientY - place.top];
  };
  const move = (event: PointerEvent) => {
    const [x, y] = at(event);
    if (drag) setDrag([drag[0], x]);
    const column = made[Math.min(most - 1, Math.floor(((x - LEFT) / inner) * most))];
    const line = low + Math.floor((4 + plot - y) / row);
    if (!column || line < low) return setHover(undefined);
    let calls = 0;
    for (const [bucket, n] of column.buckets) if (Math.floor(bucket / JOINED) === line) calls += n;
    setHover({ x, y, text: `${clock(column.begin)} · ${duration(lowest(line * JOINED))} to ${duration(lowest((line + 1) * JOINED))} · ${count(calls)} of ${count(column.total)} calls` });
  };
  const end = () => {
    if (drag && Math.abs(drag[1] - drag[0]) > 6) zoom(time(Math.min(...drag)), time(Math.max(...drag)));
    setDrag(undefined);
  };
  const summary = `${count(total)} calls; median ${duration(quantile(whole, 0.5))}, p99 ${duration(quantile(whole, 0.99))}`;
  return (
    <figure class="heatmap">
      <div ref={box} class="surface" onPointerMove={move} onPointerLeave={() => { setHover(undefined); setDrag(undefined); }} onPointerDown={(e) => setDrag([at(e)[0], at(e)[0]])} onPointerUp={end}>
        <canvas ref={canvas} role="img" aria-label={`Latency over time: ${summary}`} style={{ width: `${width}px`, height: `${HEIGHT}px` }} />
        {drag && Math.abs(drag[1] - drag[0]) > 2 && <div class="selection" style={{ left: `${Math.min(...drag)}px`, width: `${Math.abs(drag[1] - drag[0])}px`, height: `${plot}px` }} />}
        {hover && <div class="hover" style={{ left: `${Math.min(hover.x + 12, Math.max(LEFT, width - 260))}px`, top: `${Math.max(4, hover.y - 34)}px` }}>{hover.text}</div>}
      </div>
      <figcaption>{summary}. Darker: more calls. Line: median; dashed: p99. Drag to zoom.</figcaption>
    </figure>
  );
}
