// The buckets of latency histograms: 32 of one width for each power of two from 64 ns to 17.2 s (docs/profiles.md).

import type { Buckets } from "./types";

export const BUCKETS = 896;

/** The lowest duration of a bucket, ns; of `BUCKETS` the end of the last. */
export function lowest(bucket: number): number {
  const octave = Math.floor(bucket / 32) + 6;
  return 2 ** octave + (bucket % 32) * 2 ** (octave - 5);
}

/** The bucket of a duration, with the part of it that lies below the duration. */
export function bucketOf(ns: number): number {
  const octave = Math.floor(Math.log2(ns));
  return 32 * (octave - 6) + (ns / 2 ** octave - 1) * 32;
}

/** The middle of the bucket that has the quantile `share`, ns. */
export function quantile(buckets: Buckets, share: number): number {
  let total = 0;
  for (const [, n] of buckets) total += n;
  if (total === 0) return Number.NaN;
  const rank = Math.max(1, Math.ceil(total * share - 1e-9));
  let seen = 0;
  for (const [bucket, n] of buckets) {
    seen += n;
    if (seen >= rank) return (lowest(bucket) + lowest(bucket + 1)) / 2;
  }
  return Number.NaN;
}

/** Adds `more` to `sums`, by bucket. */
export function add(sums: Map<number, number>, more: Buckets): void {
  for (const [bucket, n] of more) sums.set(bucket, (sums.get(bucket) ?? 0) + n);
}

export const sorted = (sums: Map<number, number>): Buckets => [...sums].sort((a, b) => a[0] - b[0]);
