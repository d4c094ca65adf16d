// What a page keeps of its server: read again and again, and followed by a stream.

import { useEffect, useReducer } from "preact/hooks";
import { Problem } from "./api";
import type { Connection } from "./parts/frame";

export abstract class Feed {
  connection: Connection = "connecting";

  /** With what each thing that is read failed last. */
  protected problems = new Map<string, Problem>();
  protected stream: EventSource | undefined;
  /** Whether something came that has to be sorted. */
  protected stale = false;
  private listeners = new Set<() => void>();
  private scheduled = false;

  /** Opens the stream. */
  protected abstract listen(): void;
  /** Once a frame, whatever came meanwhile. */
  protected abstract sort(): void;

  /** Something that could not be read when it was last asked for. */
  get problem(): Problem | undefined {
    return [...this.problems.values()][0];
  }

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  protected changed(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // In a storm there are many records between two frames.
    requestAnimationFrame(() => {
      this.scheduled = false;
      if (this.stale) this.sort();
      this.stale = false;
      for (const listener of this.listeners) listener();
    });
  }

  protected async poll(name: string, read: () => Promise<void>, every: number): Promise<void> {
    for (;;) {
      if (!document.hidden) await this.attempt(name, read);
      await new Promise((done) => setTimeout(done, every));
    }
  }

  protected async attempt(name: string, read: () => Promise<void>): Promise<void> {
    try {
      await read();
      this.problems.delete(name);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problems.set(name, error);
    }
    this.changed();
  }

  /** Holds a stream while somebody sees the page; it goes on after the last record that is here. */
  protected follow(): void {
    // A tab can be opened in the background.
    if (!document.hidden) this.listen();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.close();
      else if (!this.stream) this.listen();
    });
  }

  /** A stream; after an error, `wait` says in how many milliseconds the next one is opened. */
  protected open(path: string, opened: () => void, wait: () => number): EventSource {
    const stream = new EventSource(path);
    this.stream = stream;
    stream.onopen = () => {
      this.connection = "live";
      opened();
    };
    stream.onerror = () => {
      this.connection = "lost";
      this.changed();
      // The browser tries again by itself unless the answer was an error.
      if (stream.readyState !== EventSource.CLOSED) return;
      this.close();
      setTimeout(() => { if (!this.stream && !document.hidden) this.listen(); }, wait());
    };
    return stream;
  }

  private close(): void {
    this.stream?.close();
    this.stream = undefined;
    this.connection = "lost";
  }
}

/** The component is drawn again whenever `feed` changes. */
export function useFeed<F extends Feed>(feed: F): F {
  const [, redraw] = useReducer<number, void>((n) => n + 1, 0);
  useEffect(() => feed.subscribe(() => redraw()), []);
  return feed;
}
