// Series over time, drawn by uPlot. Dragging zooms.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { clock, inUnit, instant } from "../format";
import { colour, useTheme, useWidth } from "../use";
import { zoom } from "./range";

export interface Line { name: string; points: [number, number | null][] }

/** Something that happened, in milliseconds, and the colour it is drawn in. */
export interface Moment { at: number; tone: string }

/** Hue, and a dash so that neighbours differ without colour too. */
export const HUES = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6", "series-7", "series-8"];
export const DASHES: number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

/** Steps of an axis in bytes, which are shown in KiB, MiB and so on. */
const POWERS_OF_TWO = Array.from({ length: 61 }, (_, power) => 2 ** power);

export function Chart({ lines, unit, from, to, height = 260, label, moments, sync }: { lines: Line[]; unit: string | undefined; from: number; to: number; height?: number; label: string; moments?: Moment[] | undefined; sync?: string | undefined }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const host = useRef<HTMLDivElement>(null);
  const values = useRef<HTMLParagraphElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const target = host.current;
    if (!target || width < 50) return;
    const times = [...new Set(lines.flatMap((line) => line.points.map(([time]) => time)))].sort((a, b) => a - b);
    const place = new Map(times.map((time, at) => [time, at]));
    const columns = lines.map((line) => {
      const values: (number | null | undefined)[] = new Array(times.length).fill(undefined);
      for (const [time, value] of line.points) values[place.get(time) ?? 0] = value;
      return values;
    });
    const axis = { stroke: colour("muted"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 }, font: "11px system-ui, sans-serif" };
    const plot = new uPlot({
      width,
      height,
      legend: { show: false },
      padding: [8, 18, 0, 0],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 }, ...(sync ? { sync: { key: sync, setSeries: false } } : {}) },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: { x: { time: true, range: () => [from / 1000, to / 1000] }, y: { range: (_, low, high) => around(low, high) } },
      axes: [{ ...axis, space: 80, values: (_, ticks) => ticks.map((tick) => instant(tick, to - from)) }, { ...axis, size: 76, ...(unit?.startsWith("bytes") ? { incrs: POWERS_OF_TWO } : {}), values: (_, ticks) => ticks.map((tick) => inUnit(tick, unit)) }],
      series: [{}, ...lines.map((line, at) => ({ label: line.name, stroke: colour(HUES[at % HUES.length] ?? ""), width: 1.6, dash: DASHES[Math.floor(at / HUES.length) % DASHES.length] ?? [], points: { show: times.length < 3 }, spanGaps: false }))],
      hooks: { draw: [(chart) => drawMoments(chart, moments ?? [])], setCursor: [(chart) => readOut(chart, lines, values.current, unit)], setSelect: [(chart) => { if (chart.select.width > 4) zoom(1000 * chart.posToVal(chart.select.left, "x"), 1000 * chart.posToVal(chart.select.left + chart.select.width, "x")); }] },
    }, [times.map((time) => time / 1000), ...columns] as uPlot.AlignedData, target);
    readOut(plot, lines, values.current, unit);
    return () => plot.destroy();
  }, [lines, width, height, theme, from, to, unit, moments, sync]);
  return <div ref={box} class="chart" style={{ minHeight: height }}>{sync && <p ref={values} class="values" aria-hidden="true" />}<div ref={host} role="img" aria-label={label} /></div>;
}

/** Writes what the lines have where the pointer is, in this chart or in one beside it; else what they had last. */
function readOut(chart: uPlot, lines: Line[], into: HTMLElement | null, unit: string | undefined): void {
  if (!into) return;
  const [times = [], ...columns] = chart.data;
  const pointed = chart.cursor.idx;
  const texts = columns.map((column, at) => {
    let where = pointed ?? times.length - 1;
    // Lines need not have points at the same times.
    while (where > 0 && column[where] === undefined) where -= 1;
    const text = document.createElement("span");
    text.className = HUES[at % HUES.length] ?? "";
    text.textContent = `${lines[at]?.name ?? ""} ${inUnit(column[where] ?? Number.NaN, unit)}`.trim();
    return text;
  });
  const time = pointed == null ? undefined : times[pointed];
  into.replaceChildren(...texts, time === undefined ? "" : clock(1000 * time));
}

/** A line down the chart for each. */
function drawMoments(chart: uPlot, moments: Moment[]): void {
  const { ctx, bbox: { left, top, width, height } } = chart;
  ctx.save();
  ctx.lineWidth = devicePixelRatio;
  for (const { at, tone } of moments) {
    const x = Math.round(chart.valToPos(at / 1000, "x", true));
    if (x < left || x > left + width) continue;
    ctx.strokeStyle = ctx.fillStyle = colour(tone);
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, top + height);
    ctx.stroke();
    // A triangle at its head, so that it is no line of the grid.
    ctx.beginPath();
    ctx.moveTo(x - 4 * devicePixelRatio, top);
    ctx.lineTo(x + 4 * devicePixelRatio, top);
    ctx.lineTo(x, top + 6 * devicePixelRatio);
    ctx.fill();
  }
  ctx.restore();
}

/** From zero where all is above; never so narrow that noise fills the picture. */
function around(low: number, high: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 && low < high * 0.7 ? 0 : low < 0 ? low - room : Math.max(0, low - room), high + room];
}
