// Which things a search means: GPU, pid, container, Xid, name, text.

import type { Event, GpuInfo, Incident, ProcessUse } from "../types";
import { eventName } from "./event-row";

const has = (text: string | number | undefined | null, query: string): boolean => text !== undefined && text !== null && String(text).toLowerCase().includes(query);

/** Each word of a query must fit. */
const all = (query: string, fits: (word: string) => boolean): boolean => query.toLowerCase().split(/\s+/).filter(Boolean).every(fits);

export const eventFits = (event: Event, query: string): boolean => all(joined(query), (word) => {
  const code = /^s?xid=?(\d+)$/.exec(word);
  if (code) return eventName(event).toLowerCase() === `${word.startsWith("s") ? "sxid" : "xid"} ${code[1]}`;
  const pid = /^pid=(\d+)$/.exec(word);
  if (pid) return String(event.process?.pid) === pid[1];
  return has(event.message, word) || has(event.kind, word) || has(eventName(event), word) || has(event.gpu?.pci, word) || has(event.gpu?.uuid, word)
    || has(event.process?.comm, word) || String(event.process?.pid) === word || has(event.process?.container, word) || event.id.toLowerCase() === word;
});

export const gpuFits = (gpu: GpuInfo, query: string): boolean => all(query, (word) => has(gpu.pci, word) || has(gpu.uuid, word) || has(gpu.name, word) || String(gpu.index) === word.replace(/^gpu/, ""));

export const processFits = (process: ProcessUse, query: string): boolean => all(query, (word) => {
  const exact = word.replace(/^pid=/, "");
  return String(process.pid) === exact || has(process.comm, word) || has(process.container, word) || has(process.cgroup, word) || process.devices.includes(word);
});

export const incidentFits = (incident: Incident, query: string): boolean => all(query, (word) => {
  const { gpus = [], processes = [], containers = [], jobs = [] } = incident.affected ?? {};
  return has(incident.title, word) || has(incident.class, word) || has(incident.state, word) || incident.id.toLowerCase() === word
    || gpus.some((gpu) => has(gpu.pci, word) || has(gpu.uuid, word)) || processes.some((one) => has(one.comm, word) || String(one.pid) === word.replace(/^pid=/, ""))
    || containers.some((one) => has(one, word)) || jobs.some((one) => has(one, word));
});

/** `xid 79` is one word. */
const joined = (query: string): string => query.toLowerCase().replaceAll(/\b(s?xid|pid)\s*=?\s*(\d+)\b/g, "$1=$2");
