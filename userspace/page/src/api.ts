// Requests to whoever served the page: a daemon, or the head of a fleet. All of them read.

/** An answer that is an error, as the daemon words it. */
export class Problem extends Error {
  constructor(readonly status: number, error: string, readonly reason: string, readonly remedy: string) {
    super(error);
  }
}

const DEADLINE_MS = 15_000;

/** The host whose page this is, where the head of a fleet shows it: what is read comes from its daemon by way of head and agent. */
export const throughHead = decodeURIComponent(/^\/hosts\/([^/]+)\/$/.exec(location.pathname)?.[1] ?? "");
const BASE = throughHead ? `/fleet/v1/hosts/${encodeURIComponent(throughHead)}/page` : "";

/** Who answers, and what helps where nobody does. */
export const server = { name: "the daemon", remedy: "is `gtrace run` alive? see systemctl status gtrace" };

export async function get<T>(path: string, query: [string, string][] = []): Promise<T> {
  const text = new URLSearchParams(query).toString();
  let answer: Response;
  try {
    answer = await fetch(`${BASE}${path}${text ? `?${text}` : ""}`, { signal: AbortSignal.timeout(DEADLINE_MS), cache: "no-store" });
  } catch (error) {
    const why = error instanceof DOMException && error.name === "TimeoutError" ? "no answer within 15 s" : "the connection failed";
    throw new Problem(0, `${server.name} does not answer`, why, server.remedy);
  }
  if (answer.ok) {
    try {
      return (await answer.json()) as T;
    } catch {
      throw new Problem(0, `${server.name} broke off its answer`, "the connection ended, or the answer took over 15 s", server.remedy);
    }
  }
  let body: { error?: string; cause?: string; remedy?: string } = {};
  try {
    body = await answer.json();
  } catch {
    // A proxy's answer, perhaps.
  }
  throw new Problem(answer.status, body.error ?? `status ${answer.status}`, body.cause ?? "", body.remedy ?? "");
}

let known: Promise<Set<string>> | undefined;

/** Whether this daemon has a route, so that none is asked for in vain. */
export async function hasRoute(path: string): Promise<boolean> {
  known ??= get<string[]>("/page/routes.json").then((paths) => new Set(paths));
  try {
    return (await known).has(path);
  } catch {
    known = undefined;
    return false;
  }
}
