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

  /** Whether incidents could not be read: the stream does not have those before it. */
  private incidentsDue = false;
  private byKey = new Map<string, FleetIncident>();
  private due = 0;

  start(): void {
    this.follow();
    void this.poll("hosts", async () => { this.hosts = await get<Host[]>("/fleet/v1/hosts"); }, HOSTS_MS);
    void this.poll("incidents", async () => { if (this.incidentsDue) await this.readIncidents(); }, HOSTS_MS);
    void this.poll("outbreaks", () => this.readOutbreaks(), OUTBREAKS_MS);
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

  protected listen(): void {
    // Read once the stream runs: nothing falls between the two.
    const read = () => void this.attempt("incidents", () => this.readIncidents());
    const stream = this.open("/fleet/v1/incidents/stream", read, () => 5_000);
    stream.addEventListener("incident", (message) => {
      this.take([JSON.parse((message as MessageEvent<string>).data) as FleetIncident]);
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

  private take(found: FleetIncident[]): void {
    for (const one of found) {
      const known = this.byKey.get(keyOf(one));
      if (!known || known.incident.revision <= one.incident.revision) this.byKey.set(keyOf(one), one);
    }
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
