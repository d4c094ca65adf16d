// The page of a fleet: its views.

import "../style.css";
import "./fleet.css";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { server } from "../api";
import { Stale, Trouble } from "../parts/bits";
import { Frame, arrive } from "../parts/frame";
import { useRoute } from "../route";
import { plural } from "../format";
import { readTheme, setTheme } from "../use";
import { fleet, useFleet } from "./live";
import { Cohorts } from "./views/cohorts";
import { HostPage } from "./views/host";
import { Hosts } from "./views/hosts";
import { Incidents } from "./views/incidents";
import { LatencyView } from "./views/latency";
import { Lemons } from "./views/lemons";
import { Overview } from "./views/overview";
import { Sessions } from "./views/sessions";
import { UsageView } from "./views/usage";

const VIEWS: [string, string][] = [["overview", "Overview"], ["hosts", "Hosts"], ["incidents", "Incidents"], ["usage", "Usage"], ["latency", "Latency"], ["lemons", "Lemons"], ["versions", "Versions"], ["sessions", "Sessions"]];

function Page() {
  const route = useRoute();
  const { hosts, incidents, connection, problem } = useFleet();
  useEffect(arrive, [route.view, route.arg]);
  const bad = (hosts ?? []).filter((one) => one.state !== "healthy").length;
  const open = (incidents ?? []).filter(({ incident }) => incident.state === "open" && !incident.drill).length;
  const simulated = hosts !== undefined && hosts.length > 0 && hosts.every((one) => one.simulated);
  return (
    <Frame views={VIEWS} of={hosts ? `${plural(hosts.length, simulated ? "simulated host" : "host")}` : ""} connection={connection}
      badges={{ hosts: [bad, "not healthy"], incidents: [open, "open"] }} search={["hosts", "host, label, reason"]}
      note="The page reads. What changes something is a command on the head's host or on a host.">
      {hosts ? <Stale of={problem} /> : problem && <Trouble of={problem} />}
      <View {...route} />
    </Frame>
  );
}

function View({ view, arg, params }: { view: string; arg: string; params: Record<string, string> }) {
  switch (view) {
    case "hosts": return arg ? <HostPage name={arg} /> : <Hosts params={params} />;
    case "incidents": return <Incidents id={arg} params={params} />;
    case "usage": return <UsageView params={params} />;
    case "latency": return <LatencyView call={arg} params={params} />;
    case "lemons": return <Lemons params={params} />;
    case "versions": return <Cohorts params={params} />;
    case "sessions": return <Sessions name={arg} />;
    default: return <Overview params={params} />;
  }
}

server.name = "the head";
server.remedy = "is `gtrace head` alive?";
setTheme(readTheme());
fleet.start();
const root = document.getElementById("app");
if (root) render(<Page />, root);
