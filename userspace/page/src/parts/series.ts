// Kept samples as lines of a chart.

import { shortPci } from "../format";
import { quantile } from "../hist";
import type { SampleMetric, SampleSeries } from "../types";
import type { Line } from "./chart";

/** Labels that all series of a metric share say nothing of one. */
export function names(series: SampleSeries[]): string[] {
  const keys = [...new Set(series.flatMap((one) => Object.keys(one.labels)))];
  const telling = keys.filter((key) => new Set(series.map((one) => one.labels[key])).size > 1 && !(key === "uuid" && keys.includes("gpu")));
  return series.map((one) => (telling.length > 0 ? telling : keys.slice(0, 1)).map((key) => (key === "gpu" ? shortPci(one.labels[key] ?? "") : `${key === "pid" ? "" : `${key} `}${one.labels[key] ?? "–"}`)).join(" · ") || one.metric);
}

/** A gauge's mean, what a counter rises by a second, a histogram's 99th percentile in seconds. */
export function line(series: SampleSeries, name: string): Line {
  const points: [number, number | null][] = [];
  let before: { at: number; value: number } | undefined;
  for (const point of series.points) {
    const at = Date.parse(point.time);
    if (series.kind === "gauge") points.push([at, point.range?.mean ?? point.last ?? null]);
    else if (series.kind === "histogram") points.push([at, point.durations ? quantile(point.durations.buckets, 0.99) / 1e9 : null]);
    else if (point.last !== undefined) {
      // One that fell was reset, and its value is new.
      if (before && at > before.at) points.push([at, (1000 * (point.last >= before.value ? point.last - before.value : point.last)) / (at - before.at)]);
      before = { at, value: point.last };
    }
  }
  return { name, points };
}

export const unitOf = (metric: Pick<SampleMetric, "kind" | "unit"> | undefined): string | undefined => {
  if (metric?.kind !== "counter") return metric?.unit;
  return metric.unit === "bytes" ? "bytes_per_second" : metric.unit === "seconds" ? "ratio" : metric.unit === "joules" ? "watts" : "";
};

export const title = (metric: string): string => metric.replace(/^gtrace_/, "").replaceAll("_", " ");
