// Where the page is: `#/VIEW/ARGUMENT?NAME=VALUE`, so that each state has an address.

import { useEffect, useState } from "preact/hooks";

export interface Route { view: string; arg: string; params: Record<string, string> }

/** A part of an address; as it stands where it is cut off amid a letter. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", arg = ""] = path.split("/").map(decoded);
  return { view: view || "overview", arg, params: Object.fromEntries(new URLSearchParams(query)) };
}

export function href(view: string, arg = "", params: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${view}${arg ? `/${encodeURIComponent(arg)}` : ""}${text ? `?${text}` : ""}`;
}

export function go(view: string, arg = "", params: Record<string, string | undefined> = {}): void {
  location.hash = href(view, arg, params);
}

/** Changes parameters of the address where it is, without an entry in the browser's history. */
export function setParams(changes: Record<string, string | undefined>): void {
  const { view, arg, params } = parse(location.hash);
  history.replaceState(null, "", href(view, arg, { ...params, ...changes }));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute(): Route {
  const [route, set] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => set(parse(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
