// The fleet as it is now: hosts are asked for, changes of incidents come as a stream.

import { useEffect, useReducer } from "preact/hooks";
import { Problem, get } from "../api";
import { compareTimes } from "../format";
import type { Connection } from "../parts/frame";
import type { FleetIncident, Host, Outbreak } from "./types";

const HOSTS_MS = 5_000;
const OUTBREAKS_MS = 30_000;
/** Changes come in bursts: what is computed anew of all of them waits so long. */
const SETTLE_MS = 3_000;
/** The newest so many incidents are kept, besides those that nobody has resolved. */
export const INCIDENTS_MAX = 1_000;

/** Ids of incidents are unique within a host. */
export const keyOf = (one: FleetIncident): string => `${one.fleet_host} ${one.incident.id}`;

class FleetLive {
  hosts: Host[] | undefined;
  outbreaks: Outbreak[] | undefined;
  incidents: FleetIncident[] | undefined;
  connection: Connection = "connecting";

  /** With what each thing that is read failed last. */
  private problems = new Map<string, Problem>();
  /** Whether incidents could not be read: the stream does not have those before it. */
  private incidentsDue = false;
  private byKey = new Map<string, FleetIncident>();
  private listeners = new Set<() => void>();
  private stream: EventSource | undefined;
  private due = 0;
  private scheduled = false;
  private stale = false;

  start(): void {
    // A tab can be opened in the background.
    if (!document.hidden) this.listen();
    void this.poll("hosts", async () => { this.hosts = await get<Host[]>("/fleet/v1/hosts"); }, HOSTS_MS);
    void this.poll("incidents", async () => { if (this.incidentsDue) await this.readIncidents(); }, HOSTS_MS);
    void this.poll("outbreaks", () => this.readOutbreaks(), OUTBREAKS_MS);
    document.addEventListener("visibilitychange", () => {
      // A page that nobody sees holds no stream.
      if (document.hidden) this.close();
      else if (!this.stream) this.listen();
    });
  }

  /** Something that could not be read when it was last asked for. */
  get problem(): Problem | undefined {
    return [...this.problems.values()][0];
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private changed(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.sort();
      for (const listener of this.listeners) listener();
    });
  }

  private async poll(name: string, read: () => Promise<void>, every: number): Promise<void> {
    for (;;) {
      if (!document.hidden) await this.attempt(name, read);
      await new Promise((done) => setTimeout(done, every));
    }
  }

  private async attempt(name: string, read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.problems.delete(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problems.set(name, error);
    }
    this.changed();
  }

  private async readOutbreaks(): Promise<void> {
    try {
      this.outbreaks = (await get<Outbreak[]>("/fleet/v1/outbreaks")).reverse();
    } catch (error) {
      // Not for who sees some of the hosts.
      if (!(error instanceof Problem && error.status === 403)) throw error;
      this.outbreaks = [];
    }
  }

  private async readIncidents(): Promise<void> {
    this.incidentsDue = false;
    try {
      const limit: [string, string] = ["limit", String(INCIDENTS_MAX)];
      this.take(await get<FleetIncident[]>("/fleet/v1/incidents", [["open", "true"], limit]));
      this.take(await get<FleetIncident[]>("/fleet/v1/incidents", [limit]));
    } catch (error) {
      this.incidentsDue = true;
      throw error;
    }
  }

  private listen(): void {
    const stream = new EventSource("/fleet/v1/incidents/stream");
    this.stream = stream;
    stream.onopen = () => {
      this.connection = "live";
      // Read once the stream runs: nothing falls between the two.
      void this.attempt("incidents", () => this.readIncidents());
    };
    stream.onerror = () => {
      this.connection = "lost";
      this.changed();
      if (stream.readyState !== EventSource.CLOSED) return;
      this.close();
      setTimeout(() => { if (!this.stream && !document.hidden) this.listen(); }, 5_000);
    };
    stream.addEventListener("incident", (message) => {
      this.take([JSON.parse((message as MessageEvent<string>).data) as FleetIncident]);
      this.settle();
    });
    stream.addEventListener("gap", () => void this.attempt("incidents", () => this.readIncidents()));
  }

  private close(): void {
    this.stream?.close();
    this.stream = undefined;
    this.connection = "lost";
  }

  /** An incident can make an outbreak. */
  private settle(): void {
    if (this.due) return;
    this.due = setTimeout(() => {
      this.due = 0;
      void this.attempt("outbreaks", () => this.readOutbreaks());
    }, SETTLE_MS);
  }

  private take(found: FleetIncident[]): void {
    for (const one of found) {
      const known = this.byKey.get(keyOf(one));
      if (!known || known.incident.revision <= one.incident.revision) this.byKey.set(keyOf(one), one);
    }
    this.stale = true;
    this.changed();
  }

  /** Once a frame: in an outbreak every host has news. */
  private sort(): void {
    if (!this.stale) return;
    this.stale = false;
    const all = [...this.byKey.values()].sort((a, b) => compareTimes(b.incident.opened, a.incident.opened));
    this.incidents = all.filter((one, at) => at < INCIDENTS_MAX || one.incident.state !== "resolved");
    this.byKey = new Map(this.incidents.map((one) => [keyOf(one), one]));
  }
}

export const fleet = new FleetLive();

/** The live state; the component is drawn again whenever it changes. */
export function useFleet(): FleetLive {
  const [, redraw] = useReducer<number, void>((n) => n + 1, 0);
  useEffect(() => fleet.subscribe(() => redraw()), []);
  return fleet;
}
