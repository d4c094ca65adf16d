// What every page has around its views: the head line, the tabs, keys, colours and the list of keys.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Mark } from "./mark";
import { zone } from "../format";
import { go, href, parse, setParams, useRoute } from "../route";
import { readTheme, setTheme } from "../use";

const KEYS: [string, string][] = [["j, k", "next and previous row"], ["Enter", "open the row"], ["Esc", "close, leave a field"], ["/", "search"], ["t", "light, dark, or as the system"], ["?", "this list"]];
const THEMES = ["", "light", "dark"];
const THEME_NAMES: Record<string, string> = { "": "auto", light: "light", dark: "dark" };

export type Connection = "connecting" | "live" | "polling" | "lost";

export interface FrameProps {
  /** Address and name of each view, in the order of the tabs. */
  views: [string, string][];
  /** What is shown: a host, or the fleet. */
  of: string;
  version?: string | undefined;
  connection: Connection;
  /** Figures beside the names of views, with what they count. */
  badges: Record<string, [number, string]>;
  /** The view in which the search is, and its hint. */
  search: [string, string];
  /** What the list of keys says at its end. */
  note: string;
  /** Where this is a part of something larger: address and name. */
  within?: [string, string] | undefined;
  children: ComponentChildren;
}

export function Frame({ views, of, version, connection, badges, search, note, within, children }: FrameProps) {
  const route = useRoute();
  const [help, showHelp] = useState(false);
  const [theme, keepTheme] = useState(readTheme);
  const next = () => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "";
    keepTheme(chosen);
    setTheme(chosen);
  };
  useEffect(() => {
    const key = (event: KeyboardEvent) => onKey(event, views, next, () => showHelp((shown) => !shown), () => showHelp(false));
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [theme]);
  useEffect(() => {
    const name = views.find(([view]) => view === route.view)?.[1] ?? (route.view === "search" ? "Search" : route.arg);
    document.title = `${name} · ${of || "gtrace"}`;
  }, [route.view, route.arg, of]);
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <header class="top">
        <a class="brand" href={href("overview")}><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M2 18h8l3-9 5 15 3-9h9" /></svg>gtrace</a>
        {within && <a class="within" href={within[0]}>{within[1]}</a>}
        <span class="host" title={version ? `gtrace ${version}` : undefined}>{of}</span>
        <SearchBox view={search[0]} hint={search[1]} q={route.view === search[0] ? route.params.q ?? "" : ""} />
        <Connected of={connection} />
        <button type="button" class="plain" onClick={next} aria-label={`colours: ${THEME_NAMES[theme]}`} title="colours (t)"><svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.6" /><path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" /></svg>{THEME_NAMES[theme]}</button>
        <button type="button" class="plain" onClick={() => showHelp(true)} aria-label="keys" title="keys (?)">?</button>
      </header>
      <nav class="tabs" aria-label="views">{views.map(([view, name]) => {
        const [figure = 0, what = ""] = badges[view] ?? [];
        return <a key={view} href={href(view)} aria-current={route.view === view ? "page" : undefined}>{name}{figure > 0 && <span class="badge" aria-label={`${figure} ${what}`}>{figure}</span>}</a>;
      })}<span class="zone" title="times on this page">{zone(new Date())}</span></nav>
      <main id="main" tabIndex={-1} data-view={route.view} onClickCapture={leave}>{children}</main>
      {help && <Help views={views} note={note} close={() => showHelp(false)} />}
    </>
  );
}

/** A view that is left by one of its rows keeps which, in the entry of the browser's history. */
function leave(event: MouseEvent): void {
  const row = (event.target as Element).closest("[data-row]")?.getAttribute("href");
  if (row) history.replaceState({ row, y: scrollY }, "");
}

/** Shows a view from its top; one to which Back led, as it was, with the focus on the row by which it was left. */
export function arrive(): void {
  const left = history.state as { row: string; y: number } | null;
  scrollTo(0, left?.y ?? 0);
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  rows.find((row) => row.getAttribute("href") === left?.row)?.focus({ preventScroll: true });
}

function Connected({ of }: { of: Connection }) {
  const [shape, tone, text] = ({ live: ["check", "ok", "live"], polling: ["check", "ok", "every few seconds"], connecting: ["ring", "muted", "connecting"], lost: ["cross", "warning", "reconnecting"] } as const)[of];
  return <span class="connection" role="status"><Mark shape={shape} tone={tone}>{text}</Mark></span>;
}

function SearchBox({ view, hint, q }: { view: string; hint: string; q: string }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = q;
  }, [q]);
  return (
    <form class="search" role="search" onSubmit={(e) => { e.preventDefault(); go(view, "", { q: field.current?.value.trim() }); }}>
      <input ref={field} id="search" type="search" aria-label="search" placeholder={`${hint}  ( / )`} autocomplete="off" spellcheck={false} onInput={(e) => find(view, e.currentTarget.value.trim())} />
    </form>
  );
}

/** Finds while somebody types: one entry of the browser's history, however many letters. */
function find(view: string, q: string): void {
  if (q.length < 2) return;
  const route = parse(location.hash);
  if (route.view === view && !route.arg) setParams({ q });
  else go(view, "", { q });
}

function Help({ views, note, close }: { views: [string, string][]; note: string; close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  const keys: [string, string][] = [[`1 – ${views.length}`, "the views, from the left"], ...KEYS];
  return (
    <dialog ref={box} onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <table><tbody>{keys.map(([key, what]) => <tr key={key}><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table>
      <p class="muted">{note}</p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}

function onKey(event: KeyboardEvent, views: [string, string][], theme: () => void, help: () => void, noHelp: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  // What is behind the list of keys stays as it is.
  const listed = document.querySelector("dialog[open]") !== null;
  if (event.key === "Escape") {
    noHelp();
    if (listed) return;
    if (target.matches("input, select, textarea")) target.blur();
    else document.querySelector<HTMLElement>("[data-close]")?.click();
    return;
  }
  if (target.matches("input, select, textarea")) return;
  const view = views[Number(event.key) - 1];
  if (event.key === "?") help();
  else if (listed) return;
  else if (view) go(view[0]);
  else if (event.key === "/") document.getElementById("search")?.focus();
  else if (event.key === "t") theme();
  else if (event.key === "j" || event.key === "k") step(event.key === "j" ? 1 : -1);
  else return;
  event.preventDefault();
}

/** Moves to a neighbour of the row that has the focus. */
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")].filter((row) => row.offsetParent !== null);
  const at = rows.indexOf(document.activeElement as HTMLElement);
  const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.max(0, Math.min(rows.length - 1, at + by))];
  row?.focus();
  row?.scrollIntoView({ block: "nearest" });
}
