// The fleet as it is now: hosts are asked for, changes of incidents come as a stream.

import { Problem, get } from "../api";
import { Feed, useFeed } from "../feed";
import { compareTimes } from "../format";
import type { FleetIncident, Host, Outbreak } from "./types";

const HOSTS_MS = 5_000;
const OUTBREAKS_MS = 30_000;
/** Changes come in bursts: what is computed anew of all of them waits so long. */
const SETTLE_MS = 3_000;
/** The newest so many incidents are kept, besides those that nobody has resolved. */
export const INCIDENTS_MAX = 1_000;

/** Ids of incidents are unique within a host. */
export const keyOf = (one: FleetIncident): string => `${one.fleet_host} ${one.incident.id}`;

class FleetLive extends Feed {
  hosts: Host[] | undefined;
  outbreaks: Outbreak[] | undefined;
  incidents: FleetIncident[] | undefined;

  /** Whether incidents are to be read again: they could not be, or the stream does not have a change. */
  private incidentsDue = false;
  /** While incidents are read: those that the stream brings meanwhile, which are newer. */
  private streamed: Set<string> | undefined;
  /** How often stores of hosts were replaced or put back: the head resolves what they have lost, of which there is no record. */
  private forks: number | undefined;
  private byKey = new Map<string, FleetIncident>();
  private due = 0;

  start(): void {
    this.follow();
    void this.poll("hosts", () => this.readHosts(), HOSTS_MS);
    void this.poll("incidents", async () => { if (this.incidentsDue) await this.readIncidents(); }, HOSTS_MS);
    void this.poll("outbreaks", () => this.readOutbreaks(), OUTBREAKS_MS);
  }

  private async readHosts(): Promise<void> {
    const hosts = this.hosts = await get<Host[]>("/fleet/v1/hosts");
    const forks = hosts.reduce((sum, host) => sum + host.forks, 0);
    if (this.forks !== undefined && this.forks !== forks) this.incidentsDue = true;
    this.forks = forks;
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
    // One reading at a time: an earlier one does not end last. The poll reads them anew.
    this.incidentsDue = this.streamed !== undefined;
    if (this.incidentsDue) return;
    const streamed = this.streamed = new Set<string>();
    try {
      const limit: [string, string] = ["limit", String(INCIDENTS_MAX)];
      const read = async (asked: [string, string][]) => {
        const found = await get<FleetIncident[]>("/fleet/v1/incidents", asked);
        this.take(found.filter((one) => !streamed.has(keyOf(one))));
      };
      await read([["open", "true"], limit]);
      await read([limit]);
    } catch (error) {
      this.incidentsDue = true;
      throw error;
    } finally {
      this.streamed = undefined;
    }
  }

  protected listen(): void {
    // Read once the stream runs: nothing falls between the two.
    const read = () => void this.attempt("incidents", () => this.readIncidents());
    const stream = this.open("/fleet/v1/incidents/stream", read, () => 5_000);
    stream.addEventListener("incident", (message) => {
      const one = JSON.parse((message as MessageEvent<string>).data) as FleetIncident;
      this.streamed?.add(keyOf(one));
      this.take([one]);
      this.settle();
    });
    stream.addEventListener("gap", read);
  }

  /** An incident can make an outbreak. */
  private settle(): void {
    if (this.due) return;
    this.due = setTimeout(() => {
      this.due = 0;
      void this.attempt("outbreaks", () => this.readOutbreaks());
    }, SETTLE_MS);
  }

  /** What came last is the newest, whatever its revision: a store that lost its newest records counts from an older one. */
  private take(found: FleetIncident[]): void {
    for (const one of found) this.byKey.set(keyOf(one), one);
    this.stale = true;
    this.changed();
  }

  protected sort(): void {
    const all = [...this.byKey.values()].sort((a, b) => compareTimes(b.incident.opened, a.incident.opened));
    this.incidents = all.filter((one, at) => at < INCIDENTS_MAX || one.incident.state !== "resolved");
    this.byKey = new Map(this.incidents.map((one) => [keyOf(one), one]));
  }
}

export const fleet = new FleetLive();

/** The live state; the component is drawn again whenever it changes. */
export const useFleet = (): FleetLive => useFeed(fleet);
