// The page: its frame, its views, its keys.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Trouble } from "./parts/bits";
import { Mark } from "./parts/mark";
import { go, href, useRoute } from "./route";
import { live, useLive } from "./live";
import { readTheme, setTheme } from "./use";
import { Events } from "./views/events";
import { Incidents } from "./views/incidents";
import { Overview } from "./views/overview";
import { Processes } from "./views/processes";
import { Remote } from "./views/remote";
import { Samples } from "./views/samples";
import { Search } from "./views/search";
import { Sources } from "./views/sources";

const VIEWS: [string, string][] = [["overview", "Overview"], ["events", "Events"], ["incidents", "Incidents"], ["processes", "Processes"], ["samples", "Samples"], ["remote", "Remote"], ["sources", "Sources"]];
const KEYS: [string, string][] = [["1 – 7", "the views, from the left"], ["j, k", "next and previous row"], ["Enter", "open the row"], ["Esc", "close, leave a field"], ["/", "search"], ["t", "light, dark, or as the system"], ["?", "this list"]];
const THEMES = ["", "light", "dark"];
const THEME_NAMES: Record<string, string> = { "": "auto", light: "light", dark: "dark" };

function Page() {
  const route = useRoute();
  const { status, incidents } = useLive();
  const [help, showHelp] = useState(false);
  const [theme, keepTheme] = useState(readTheme);
  const next = () => {
    const chosen = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "";
    keepTheme(chosen);
    setTheme(chosen);
  };
  useEffect(() => {
    const key = (event: KeyboardEvent) => onKey(event, next, () => showHelp((shown) => !shown), () => showHelp(false));
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  }, [theme]);
  useEffect(() => {
    const name = VIEWS.find(([view]) => view === route.view)?.[1] ?? "Search";
    document.title = `${name} · ${status?.host ?? "gtrace"}`;
  }, [route.view, status?.host]);
  useEffect(() => scrollTo(0, 0), [route.view, route.view === "events" ? "" : route.arg]);
  const open = (incidents ?? []).filter((one) => one.state === "open" && !one.drill).length;
  return (
    <>
      <a class="skip" href="#main" onClick={(e) => { e.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <header class="top">
        <a class="brand" href={href("overview")}><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M2 18h8l3-9 5 15 3-9h9" /></svg>gtrace</a>
        <span class="host" title={status ? `gtrace ${status.version}` : undefined}>{status?.host ?? ""}</span>
        <SearchBox q={route.view === "search" ? route.params.q ?? "" : ""} />
        <Connected />
        <button type="button" class="plain" onClick={next} aria-label={`colours: ${THEME_NAMES[theme]}`} title="colours (t)"><svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.6" /><path d="M8 2.5a5.5 5.5 0 0 1 0 11Z" fill="currentColor" /></svg>{THEME_NAMES[theme]}</button>
        <button type="button" class="plain" onClick={() => showHelp(true)} aria-label="keys" title="keys (?)">?</button>
      </header>
      <nav class="tabs" aria-label="views">{VIEWS.map(([view, name]) => <a key={view} href={href(view)} aria-current={route.view === view ? "page" : undefined}>{name}{view === "incidents" && open > 0 && <span class="badge" aria-label={`${open} open`}>{open}</span>}</a>)}</nav>
      <main id="main" tabIndex={-1} data-view={route.view}><Frozen /><View {...route} /></main>
      {help && <Help close={() => showHelp(false)} />}
    </>
  );
}

function View({ view, arg, params }: { view: string; arg: string; params: Record<string, string> }) {
  switch (view) {
    case "events": return <Events id={arg} params={params} />;
    case "incidents": return <Incidents id={arg} params={params} />;
    case "processes": return <Processes id={arg} params={params} />;
    case "samples": return <Samples params={params} />;
    case "remote": return <Remote />;
    case "sources": return <Sources />;
    case "search": return <Search q={params.q ?? ""} />;
    default: return <Overview />;
  }
}

/** Says so where what is shown is old. */
function Frozen() {
  const { problem, status } = useLive();
  return problem ? <><Trouble of={problem} />{status && <p class="muted">What follows is from before.</p>}</> : null;
}

function Connected() {
  const { connection } = useLive();
  const [shape, tone, text] = ({ live: ["check", "ok", "live"], connecting: ["ring", "muted", "connecting"], lost: ["cross", "warning", "reconnecting"] } as const)[connection];
  return <span class="connection" role="status"><Mark shape={shape} tone={tone}>{text}</Mark></span>;
}

function SearchBox({ q }: { q: string }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = q;
  }, [q]);
  return (
    <form class="search" role="search" onSubmit={(e) => { e.preventDefault(); go("search", "", { q: field.current?.value.trim() }); }}>
      <input ref={field} id="search" type="search" aria-label="search" placeholder="GPU, pid, container, Xid, text  ( / )" autocomplete="off" spellcheck={false} onInput={(e) => { const word = e.currentTarget.value.trim(); if (word.length > 1) go("search", "", { q: word }); }} />
    </form>
  );
}

function Help({ close }: { close: () => void }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => box.current?.showModal(), []);
  return (
    <dialog ref={box} onClose={close} aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <table><tbody>{KEYS.map(([key, what]) => <tr key={key}><td><kbd>{key}</kbd></td><td>{what}</td></tr>)}</tbody></table>
      <p class="muted">The page reads. To acknowledge, resolve or capture, use gtrace on the host.</p>
      <form method="dialog"><button type="submit">Close</button></form>
    </dialog>
  );
}

function onKey(event: KeyboardEvent, theme: () => void, help: () => void, noHelp: () => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const target = event.target as HTMLElement;
  if (event.key === "Escape") {
    noHelp();
    if (target.matches("input, select, textarea")) target.blur();
    else document.querySelector<HTMLElement>("[data-close]")?.click();
    return;
  }
  if (target.matches("input, select, textarea")) return;
  const view = VIEWS[Number(event.key) - 1];
  if (view) go(view[0]);
  else if (event.key === "/") document.getElementById("search")?.focus();
  else if (event.key === "?") help();
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

setTheme(readTheme());
live.start();
const root = document.getElementById("app");
if (root) render(<Page />, root);
