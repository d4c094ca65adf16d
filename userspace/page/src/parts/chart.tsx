// Series over time, drawn by uPlot. Dragging zooms.

import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { inUnit, instant } from "../format";
import { colour, useTheme, useWidth } from "../use";
import { zoom } from "./range";

export interface Line { name: string; points: [number, number | null][] }

/** Hue, and a dash so that neighbours differ without colour too. */
export const HUES = ["series-1", "series-2", "series-3", "series-4", "series-5", "series-6", "series-7", "series-8"];
export const DASHES: number[][] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export function Chart({ lines, unit, from, to, height = 260, label }: { lines: Line[]; unit: string | undefined; from: number; to: number; height?: number; label: string }) {
  const [box, width] = useWidth<HTMLDivElement>();
  const host = useRef<HTMLDivElement>(null);
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
      padding: [8, 6, 0, 0],
      cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
      select: { show: true, left: 0, top: 0, width: 0, height: 0 },
      scales: { x: { time: true, range: () => [from / 1000, to / 1000] }, y: { range: (_, low, high) => around(low, high) } },
      axes: [{ ...axis, space: 80, values: (_, ticks) => ticks.map((tick) => instant(tick, to - from)) }, { ...axis, size: 66, values: (_, ticks) => ticks.map((tick) => inUnit(tick, unit)) }],
      series: [{}, ...lines.map((line, at) => ({ label: line.name, stroke: colour(HUES[at % HUES.length] ?? ""), width: 1.6, dash: DASHES[Math.floor(at / HUES.length) % DASHES.length] ?? [], points: { show: times.length < 3 }, spanGaps: false }))],
      hooks: { setSelect: [(chart) => { if (chart.select.width > 4) zoom(1000 * chart.posToVal(chart.select.left, "x"), 1000 * chart.posToVal(chart.select.left + chart.select.width, "x")); }] },
    }, [times.map((time) => time / 1000), ...columns] as uPlot.AlignedData, target);
    return () => plot.destroy();
  }, [lines, width, height, theme, from, to, unit]);
  return <div ref={box} class="chart"><div ref={host} role="img" aria-label={label} /></div>;
}

/** From zero where all is above; never so narrow that noise fills the picture. */
function around(low: number, high: number): [number, number] {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const room = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
  return [low >= 0 && low < high * 0.7 ? 0 : low < 0 ? low - room : Math.max(0, low - room), high + room];
}
