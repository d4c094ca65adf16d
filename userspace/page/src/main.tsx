// The page of a host: its views.

import "uplot/dist/uPlot.min.css";
import "./style.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { server, throughHead } from "./api";
import { Stale, Trouble } from "./parts/bits";
import { Frame, arrive } from "./parts/frame";
import { useRoute } from "./route";
import { live, useLive } from "./live";
import { readTheme, setTheme } from "./use";
import { Events } from "./views/events";
import { Gpu } from "./views/gpu";
import { Incidents } from "./views/incidents";
import { Overview } from "./views/overview";
import { Processes } from "./views/processes";
import { Remote } from "./views/remote";
import { Samples } from "./views/samples";
import { Search } from "./views/search";
import { Sources } from "./views/sources";

const VIEWS: [string, string][] = [["overview", "Overview"], ["events", "Events"], ["incidents", "Incidents"], ["processes", "Processes"], ["samples", "Samples"], ["remote", "Remote"], ["sources", "Sources"]];

function Page() {
  const route = useRoute();
  const { status, incidents, connection } = useLive();
  useEffect(arrive, [route.view, route.view === "events" ? "" : route.arg]);
  const open = (incidents ?? []).filter((one) => one.state === "open" && !one.drill).length;
  return (
    <Frame views={VIEWS} of={throughHead || (status?.host ?? "")} version={status?.version} connection={connection} badges={{ incidents: [open, "open"] }} within={throughHead ? [`/#/hosts/${encodeURIComponent(throughHead)}`, "Fleet"] : undefined}
      search={["search", "GPU, pid, container, Xid, text"]} note="The page reads. To acknowledge, resolve or capture, use gtrace on the host.">
      <Frozen /><View {...route} />
    </Frame>
  );
}

function View({ view, arg, params }: { view: string; arg: string; params: Record<string, string> }) {
  switch (view) {
    case "events": return <Events id={arg} params={params} />;
    case "incidents": return <Incidents id={arg} params={params} />;
    case "processes": return <Processes id={arg} params={params} />;
    case "gpu": return <Gpu pci={arg} params={params} key={arg} />;
    case "samples": return <Samples params={params} />;
    case "remote": return <Remote />;
    case "sources": return <Sources />;
    case "search": return <Search q={params.q ?? ""} />;
    default: return <Overview />;
  }
}

/** Says so where what is shown is old, or the page itself is. */
function Frozen() {
  const { problem, status, servedBy } = useLive();
  // A page by way of the head is the head's.
  if (!problem && !throughHead && status && status.version !== servedBy) {
    return <div class="trouble" role="alert"><strong>The daemon is now gtrace {status.version}, and this page is of {servedBy}</strong><button type="button" onClick={() => location.reload()}>Load it anew</button></div>;
  }
  return status ? <Stale of={problem} /> : problem ? <Trouble of={problem} /> : null;
}

if (throughHead) {
  server.name = `the daemon of ${throughHead}, by way of the head,`;
  server.remedy = "is the head alive, and the host's agent?";
}
setTheme(readTheme());
live.start();
const root = document.getElementById("app");
if (root) render(<Page />, root);
