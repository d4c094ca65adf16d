// Numbers, sizes, durations and times as short text.

import type { GpuRef } from "./types";

/** A number in at most four digits. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e12) return `${(value / 1e12).toFixed(1)}T`;
  if (size >= 1e9) return `${(value / 1e9).toFixed(1)}G`;
  if (size >= 1e6) return `${(value / 1e6).toFixed(1)}M`;
  if (size >= 1e4) return `${(value / 1e3).toFixed(1)}k`;
  if (size >= 100 || Number.isInteger(value)) return value.toFixed(0);
  if (size >= 1) return value.toFixed(1);
  if (size >= 0.001) return value.toFixed(3);
  return value.toExponential(1);
}

export const count = (value: number): string => value.toLocaleString("en-US");

export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

export function bytes(value: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let at = 0;
  while (Math.abs(value) >= 1024 && at < units.length - 1) {
    value /= 1024;
    at += 1;
  }
  return `${value >= 100 || at === 0 ? value.toFixed(0) : value.toFixed(1)} ${units[at]}`;
}

/** Nanoseconds. */
export function duration(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  if (ns < 1e3) return `${ns.toFixed(0)} ns`;
  for (const [unit, size] of [["µs", 1e3], ["ms", 1e6]] as const) {
    if (ns < size * 1e3) return `${three(ns / size)} ${unit}`;
  }
  return ns < 600e9 ? `${three(ns / 1e9)} s` : age(ns / 1e9);
}

const three = (value: number): string => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

/** Seconds as the two largest units. */
export function age(seconds: number): string {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

export const ago = (time: string): string => `${age((Date.now() - Date.parse(time)) / 1000)} ago`;

const two = (value: number): string => String(value).padStart(2, "0");

/** Local time of day; with the date where that is not today, and the year where that is another one. */
export function clock(time: string | number, millis = false): string {
  const [at, now] = [new Date(time), new Date()];
  if (at.getFullYear() !== now.getFullYear()) return `${date(at)} ${timeOfDay(at, millis)}`;
  const day = at.toDateString() === now.toDateString() ? "" : `${date(at).slice(5)} `;
  return `${day}${timeOfDay(at, millis)}`;
}

/** Local date and time with the zone: what is printed or shown to somebody elsewhere needs nothing beside it. */
export function stamp(time: string): string {
  const at = new Date(time);
  return `${date(at)} ${timeOfDay(at, true)} ${zone(at)}`;
}

/** The offset of local time, which differs over a year. */
export function zone(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  const size = Math.abs(minutes);
  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

const date = (at: Date): string => `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

function timeOfDay(at: Date, millis: boolean): string {
  const fraction = millis ? `.${String(at.getMilliseconds()).padStart(3, "0")}` : "";
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}${fraction}`;
}

/** Which of two times in UTC comes first. Digits of a second that are 0 at the end are left out, so that their texts do not sort. */
export function compareTimes(a: string, b: string): number {
  if (a.length !== b.length) [a, b] = [a.slice(0, -1), b.slice(0, -1)];
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A time on an axis: the date where the range is of days, seconds where it is of minutes. */
export function instant(seconds: number, span: number): string {
  const at = new Date(seconds * 1000);
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  if (span > 2 * 86400e3) return `${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
  return span < 600e3 ? `${time}:${two(at.getSeconds())}` : time;
}

export const percent = (share: number, digits = 0): string => `${(share * 100).toFixed(digits)} %`;

/** A value of a metric in its unit. */
export function inUnit(value: number, unit: string | undefined): string {
  if (!Number.isFinite(value)) return "–";
  switch (unit) {
    case "bytes": return bytes(value);
    case "bytes_per_second": return `${bytes(value)}/s`;
    case "ratio": return percent(value, value < 0.1 && value > 0 ? 1 : 0);
    case "celsius": return `${number(value)} °C`;
    case "watts": return `${number(value)} W`;
    case "joules": return `${number(value)} J`;
    case "hertz": return `${number(value / 1e6)} MHz`;
    case "seconds": return duration(value * 1e9);
    case "bits_per_second": return `${number(value)}bit/s`;
    case "transfers_per_second": return `${number(value / 1e9)} GT/s`;
    default: return number(value);
  }
}

/** A PCI address without the domain that most hosts have only one of. */
export const shortPci = (pci: string): string => pci.replace(/^0000:/, "");

export function gpuName(gpu: GpuRef | undefined): string {
  if (!gpu) return "";
  const at = gpu.pci ? shortPci(gpu.pci) : (gpu.uuid ?? "").slice(0, 12);
  return gpu.index === undefined ? at : `${gpu.index} · ${at}`;
}

/** The first digits of a container's id. */
export const shortContainer = (id: string): string => id.slice(0, 12);

export const words = (name: string): string => name.replaceAll("_", " ");

/** A word of a shell's command line, quoted where it has to be. */
export const word = (text: string): string => (/^[\w.+:@%/,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
