// What the daemon knows now. One event stream and a few polls, whatever the number of views: a browser gives a host six
// connections, and other tabs want some of them.

import { Problem, get, hasRoute, throughHead } from "./api";
import { Feed, useFeed } from "./feed";
import { compareTimes, plural } from "./format";
import type { Event, Gap, GpuInfo, Incident, HealthReport, Published, Status, SubjectHealth } from "./types";

/** Events that the page keeps. What is older can be read again from the store. */
export const EVENTS_MAX = 10_000;
export const PAGE = 1000;
const STATUS_MS = 2_000;
const GPUS_MS = 4_000;
const INCIDENTS_MS = 10_000;
/** Events come in bursts: what is read after them waits so long. */
const SETTLE_MS = 300;
/** By way of a head nothing is streamed, and every question passes three hosts. */
const EVENTS_MS = 4_000;
const NEWEST = 100;
const RETRY_MS = [500, 1_000, 2_000, 5_000, 10_000];

class Live extends Feed {
  status: Status | undefined;
  /** Of which version the daemon was that served this page. */
  servedBy: string | undefined;
  gpus: GpuInfo[] | undefined;
  incidents: Incident[] | undefined;
  health: SubjectHealth[] | undefined;
  report: HealthReport | undefined;
  /** Newest first. */
  events: Event[] = [];
  eventsRead = false;
  /** Whether the store may have events before the oldest of these. */
  hasOlder = false;
  /** Events that this page let go. */
  forgotten = 0;

  /** Records that it did not get, as far as somebody counted them, and why. */
  private missed = 0;
  private gap = "";
  private byId = new Map<string, Event>();
  private lastId = "";
  private failures = 0;
  /** Whether an event came since incidents were last read. */
  private incidentsDue = false;
  private following = false;

  start(): void {
    const slower = throughHead ? 2 : 1;
    void this.poll("status", () => this.readStatus(), STATUS_MS * slower);
    void this.poll("gpus", () => this.readGpus(), GPUS_MS * slower);
    void this.poll("incidents", () => this.readIncidents(), INCIDENTS_MS);
    if (throughHead) {
      void this.poll("events", () => this.readNewest(), EVENTS_MS);
      return;
    }
    this.follow();
  }

  /** What this page did not get, in words; empty if that is nothing. */
  get missing(): string {
    return this.gap && `${this.missed > 0 ? plural(this.missed, "record") : "some records"} missed: ${this.gap}`;
  }

  private async readStatus(): Promise<void> {
    this.status = await get<Status>("/api/v1/status");
    this.servedBy ??= this.status.version;
    if (!(await hasRoute("/api/v1/health"))) return;
    try {
      this.report = await get<HealthReport>("/api/v1/health");
      this.health = this.report.subjects;
    } catch (error) {
      // A daemon that has only just started knows none; the page then concludes it from what it has.
      if (!(error instanceof Problem && error.status === 503)) throw error;
    }
  }

  private async readGpus(): Promise<void> {
    this.gpus = await get<GpuInfo[]>("/api/v1/gpus");
  }

  /** The newest incidents, and those that nobody has resolved, which may be older than all of these; `anew` of another store, which counts revisions from what it has. */
  private async readIncidents(anew = false): Promise<void> {
    await this.readNewIncidents(await get<Incident[]>("/api/v1/incidents", [["open", "true"], ["limit", "1000"]]), anew);
  }

  /** The newest incidents, beside those that are known. */
  private async readNewIncidents(known?: Incident[], anew = false): Promise<void> {
    const newest = await get<Incident[]>("/api/v1/incidents", [["limit", "500"]]);
    const all = new Map([...known ?? this.incidents ?? [], ...newest].map((one) => [one.id, one]));
    // Another reading may have begun later and ended first.
    for (const one of anew ? [] : this.incidents ?? []) if ((all.get(one.id)?.revision ?? one.revision) < one.revision) all.set(one.id, one);
    this.incidents = [...all.values()].sort((a, b) => compareTimes(b.opened, a.opened));
  }

  protected listen(): void {
    const opened = () => {
      this.failures = 0;
      // Read once the stream runs: so nothing falls between the two. One that goes on after no record lacks what came before it.
      if (!this.eventsRead || !this.lastId) void this.readEvents();
      this.changed();
    };
    const wait = () => RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)]!;
    const stream = this.open(`/api/v1/events/stream${this.lastId ? `?after=${encodeURIComponent(this.lastId)}` : ""}`, opened, wait);
    const record = (message: MessageEvent<string>) => {
      if (message.lastEventId) this.lastId = message.lastEventId;
      const published = JSON.parse(message.data) as Published & { incident?: unknown };
      if (published.event) this.take(published.event);
    };
    for (const name of ["event", "amendment", "ack", "provisional"]) stream.addEventListener(name, record);
    stream.addEventListener("gap", (message) => {
      const gap = JSON.parse((message as MessageEvent<string>).data) as Gap;
      this.missed += gap.missed ?? 0;
      this.gap = gap.reason;
      this.changed();
      // Records were lost, or the store is another one: what is here need not be the store's.
      if (gap.missed === undefined) void this.readAnew();
    });
  }

  private async readEvents(): Promise<void> {
    try {
      this.takeNewest(await get<Event[]>("/api/v1/events", [["limit", String(PAGE)]]), PAGE);
      this.problems.delete("events");
    } catch (error) {
      if (error instanceof Problem) this.problems.set("events", error);
      setTimeout(() => void this.readEvents(), 3_000);
    }
    this.changed();
  }

  /** Reads the newest events in place of those that are here; these stay where the store cannot be read. */
  private async readAnew(): Promise<void> {
    const before = [...this.byId];
    try {
      const found = await get<Event[]>("/api/v1/events", [["limit", String(PAGE)]]);
      for (const [id, event] of before) if (this.byId.get(id) === event) this.byId.delete(id);
      this.eventsRead = false;
      this.takeNewest(found, PAGE);
      this.changed();
      await this.readIncidents(true);
      this.changed();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** The newest events, where there is no stream. */
  private async readNewest(): Promise<void> {
    const most = this.eventsRead ? NEWEST : PAGE;
    let found: Event[];
    try {
      found = await get<Event[]>("/api/v1/events", [["limit", String(most)]]);
    } catch (error) {
      this.connection = "lost";
      throw error;
    }
    this.connection = "polling";
    this.takeNewest(found, most);
  }

  /** Takes the newest events, of which at most so many were asked for. */
  private takeNewest(found: Event[], most: number): void {
    if (!this.eventsRead) this.hasOlder = found.length === most;
    // More than these may have come since the last reading.
    else if (found.length === most && !found.some((event) => this.byId.has(event.id))) this.gap = "more events came between two readings than are read at a time";
    this.eventsRead = true;
    this.merge(found);
  }

  /** Reads a page of events before the oldest that is here, and gives those that were not. */
  async readOlder(): Promise<Event[]> {
    const oldest = this.events.at(-1);
    if (!oldest) return [];
    const found = await get<Event[]>("/api/v1/events", [["limit", String(PAGE)], ["until", oldest.time]]);
    this.hasOlder = found.length === PAGE && this.events.length + found.length < EVENTS_MAX;
    const older = found.filter((event) => !this.byId.has(event.id));
    this.merge(found);
    this.changed();
    return older.sort(byTime);
  }

  private take(event: Event): void {
    const known = this.byId.get(event.id);
    if (known && known.revision > event.revision) return;
    this.byId.set(event.id, event);
    this.stale = true;
    this.incidentsDue = true;
    void this.followIncidents();
    this.changed();
  }

  /** An event can open an incident or join one. One reading at a time: in a storm they would queue up before everything else that is read. */
  private async followIncidents(): Promise<void> {
    if (this.following) return;
    this.following = true;
    while (this.incidentsDue) {
      await new Promise((done) => setTimeout(done, SETTLE_MS));
      this.incidentsDue = false;
      // That none can be read is shown by the poll.
      await this.readNewIncidents().then(() => this.changed(), () => undefined);
    }
    this.following = false;
  }

  private merge(found: Event[]): void {
    for (const event of found) {
      const known = this.byId.get(event.id);
      if (!known || isNewer(event, known)) this.byId.set(event.id, event);
    }
    this.stale = true;
  }

  protected sort(): void {
    this.events = [...this.byId.values()].sort(byTime);
    while (this.events.length > EVENTS_MAX) {
      const oldest = this.events.pop();
      if (oldest) this.byId.delete(oldest.id);
      this.forgotten += 1;
    }
  }

  event(id: string): Event | undefined {
    return this.byId.get(id);
  }
}

const byTime = (a: Event, b: Event): number => compareTimes(b.time, a.time);

/** An acknowledgement does not change the revision. */
const isNewer = (event: Event, known: Event): boolean => event.revision > known.revision
  || (event.revision === known.revision && (event.acks?.length ?? 0) > (known.acks?.length ?? 0));

export const live = new Live();

/** The live state; the component is drawn again whenever it changes. */
export const useLive = (): Live => useFeed(live);
