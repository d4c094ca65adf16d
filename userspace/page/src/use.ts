// What views read besides the live state.

import { useEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api";

export interface Loaded<T> { value?: T; problem?: Problem; loading: boolean }

/** Reads now, whenever `key` changes, and every so many milliseconds. The last value stays until the next is there, or what has another
 *  `key` cannot be read. */
export function usePolled<T>(key: string, read: () => Promise<T>, every = 0): Loaded<T> & { again: () => void } {
  const [state, set] = useState<Loaded<T> & { of?: string }>({ loading: true });
  const latest = useRef(read);
  latest.current = read;
  const [turn, again] = useState(0);
  useEffect(() => {
    const left = new AbortController();
    let timer = 0;
    const round = async () => {
      // What nobody sees is read once somebody does.
      if (document.hidden) {
        document.addEventListener("visibilitychange", () => void round(), { once: true, signal: left.signal });
        return;
      }
      try {
        const value = await latest.current();
        if (!left.signal.aborted) set({ value, loading: false, of: key });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        if (!left.signal.aborted) set((before) => ({ ...(before.of === key ? before : {}), problem: error, loading: false }));
      }
      if (!left.signal.aborted && every > 0) timer = setTimeout(round, every);
    };
    set((before) => ({ ...before, loading: true }));
    void round();
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [key, every, turn]);
  return { ...state, again: () => again((n) => n + 1) };
}

/** The width of an element, for drawings that have one pixel a pixel. */
export function useWidth<E extends HTMLElement>(): [{ current: E | null }, number] {
  const element = useRef<E | null>(null);
  const [width, set] = useState(0);
  useEffect(() => {
    const box = element.current;
    if (!box) return;
    const observer = new ResizeObserver(() => set(Math.floor(box.clientWidth)));
    observer.observe(box);
    set(Math.floor(box.clientWidth));
    return () => observer.disconnect();
  }, []);
  return [element, width];
}

/** Whether the page is dark now. */
export function isDark(): boolean {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

const THEME = "gtrace-theme";

export function readTheme(): string {
  try {
    return localStorage.getItem(THEME) ?? "";
  } catch {
    return "";
  }
}

/** "", "light" or "dark"; the first follows the system. */
export function setTheme(theme: string): void {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    // Without storage it lasts as long as the page.
  }
  dispatchEvent(new Event("gtrace-theme"));
}

/** Drawings on a canvas ask for colours when the theme changes. */
export function useTheme(): string {
  const [theme, set] = useState(() => (isDark() ? "dark" : "light"));
  useEffect(() => {
    const changed = () => set(isDark() ? "dark" : "light");
    const system = matchMedia("(prefers-color-scheme: dark)");
    addEventListener("gtrace-theme", changed);
    system.addEventListener("change", changed);
    return () => {
      removeEventListener("gtrace-theme", changed);
      system.removeEventListener("change", changed);
    };
  }, []);
  return theme;
}

export const colour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
