// One event as a row of a list.

import { clock, gpuName, shortContainer, words } from "../format";
import { href } from "../route";
import type { Event } from "../types";
import { ProvenanceTag, SeverityMark } from "./mark";

/** The code of an Xid or SXid; else the kind. */
export function eventName(event: Event): string {
  const { xid, sxid } = event.detail ?? {};
  if (event.kind === "xid" && xid !== undefined) return `Xid ${String(xid)}`;
  if (event.kind === "sxid" && sxid !== undefined) return `SXid ${String(sxid)}`;
  return words(event.kind);
}

export const processName = (event: Event): string => {
  const { pid, comm } = event.process ?? {};
  return [comm, pid].filter((part) => part !== undefined).join(" · ");
};

export function EventRow({ event, params = {}, selected = false }: { event: Event; params?: Record<string, string | undefined>; selected?: boolean }) {
  const container = event.process?.container;
  const acknowledged = (event.acks?.length ?? 0) > 0;
  return (
    <a class={`event ${event.severity}`} href={href("events", event.id, params)} data-row aria-current={selected ? "true" : undefined}>
      <time dateTime={event.time} title={event.time}>{clock(event.time, true)}</time>
      <SeverityMark of={event.severity} />
      <span class="what">{eventName(event)}{event.repeats > 0 && <span class="times" title="how often it happened">×{event.repeats + 1}</span>}</span>
      <span class="gpu">{gpuName(event.gpu)}</span>
      <span class="who" title={container}>{processName(event)}{container && <small> {shortContainer(container)}</small>}</span>
      <span class="text"><ProvenanceTag of={event.provenance} />{acknowledged && <span class="tag">acknowledged</span>}{event.message.replaceAll(/\s+/g, " ")}</span>
    </a>
  );
}
