//! Nodes of a Kubernetes cluster by its API: cordon, drain by evictions, and what holds of them.
//!
//! Paths and bodies are those of the API reference of Kubernetes 1.22 and later (core/v1, policy/v1). A node has the name that the host
//! has in the fleet, and its machine: a node of that name on another machine is not the host's. The annotation [`ANNOTATION`] says which
//! plan has cordoned a node.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use gtrace_api::client::encoded;
use gtrace_fleet::machine_id;
use gtrace_fleet::remedy::{Effect, Outcome, Service};
use gtrace_outgoing as outgoing;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Agent;

/// Which plan has cordoned a node.
const ANNOTATION: &str = "gtrace.io/remediation-plan";
/// Largest answer.
const ANSWER_MAX: u64 = 16 << 20;
/// Nodes and pods of a page.
const PAGE: u32 = 500;
/// Pages, items and bytes of a list: more is no list of what is cordoned, or of the pods of a node.
const PAGES_MAX: usize = 100;
const ITEMS_MAX: usize = 20_000;
const BYTES_MAX: usize = 64 << 20;
/// A node changes every few seconds, so that a change may meet another: so often it is tried again.
const CONFLICTS_MAX: u32 = 8;
/// Characters of an error's message that are kept.
const MESSAGE_MAX: usize = 300;

#[derive(Deserialize)]
struct Node {
    metadata: Metadata,
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeStatus {
    node_info: NodeInfo,
}

#[derive(Default, Deserialize)]
struct NodeInfo {
    /// /etc/machine-id of the node.
    #[serde(rename = "machineID", default)]
    machine_id: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: String,
    namespace: String,
    uid: String,
    resource_version: String,
    annotations: std::collections::BTreeMap<String, String>,
    owner_references: Vec<Owner>,
    deletion_timestamp: Option<String>,
    #[serde(rename = "continue")]
    next: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Owner {
    kind: String,
    controller: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct NodeSpec {
    unschedulable: bool,
}

#[derive(Deserialize)]
struct Pod {
    metadata: Metadata,
    #[serde(default)]
    status: PodStatus,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PodStatus {
    phase: String,
}

#[derive(Deserialize)]
struct List<T> {
    #[serde(default)]
    metadata: Metadata,
    items: Vec<T>,
}

impl Pod {
    /// Whether it goes when its node is drained: not those of a DaemonSet, which would come back, those of the kubelet itself, and those
    /// that have ended.
    fn has_to_go(&self) -> bool {
        let controlled_by = |owner: &Owner| owner.controller && owner.kind == "DaemonSet";
        let of_kubelet = self
            .metadata
            .annotations
            .contains_key("kubernetes.io/config.mirror");
        !of_kubelet
            && !self.metadata.owner_references.iter().any(controlled_by)
            && !matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    fn name(&self) -> String {
        format!("{}/{}", self.metadata.namespace, self.metadata.name)
    }
}

/// Why the API did not do something.
enum Refusal {
    /// It answered so.
    Status(u16, String),
    /// It did not answer.
    NoAnswer(String),
    /// It answers with more than is taken.
    TooMuch(String),
}

impl Refusal {
    fn text(&self) -> String {
        match self {
            Self::Status(status, message) => format!("Kubernetes answers {status}: {message}"),
            Self::NoAnswer(why) => format!("Kubernetes does not answer: {why}"),
            Self::TooMuch(what) => format!("Kubernetes lists too much: {what}"),
        }
    }

    /// Whether nothing was done.
    fn outcome(&self) -> Outcome {
        match self {
            // It has too much to do, or did not get all of the request.
            Self::Status(408 | 429, _) => Outcome::Unsure(self.text()),
            Self::Status(400..=499, _) => Outcome::Refused(self.text()),
            _ => Outcome::Unsure(self.text()),
        }
    }
}

/// The API of a cluster.
pub(super) struct Kubernetes {
    agent: Agent,
    url: String,
    token: Option<String>,
    /// When all has to be answered.
    until: Instant,
    /// When one request has to be.
    answer: Duration,
}

/// A node, as far as plans are concerned.
pub(super) struct NodeState {
    pub(super) unschedulable: bool,
    plan: Option<String>,
    resource_version: String,
    /// As a host says it of itself.
    machine: Option<String>,
}

impl NodeState {
    /// Whether it is cordoned, from the view of a plan.
    pub(super) fn effect(&self, plan: i64) -> Effect {
        match (self.unschedulable, &self.plan) {
            (true, Some(of)) if *of == plan.to_string() => Effect::Ours,
            (true, _) => Effect::Theirs,
            (false, _) => Effect::Absent,
        }
    }

    /// Whether this plan has cordoned it, and somebody has made it schedulable again.
    fn was_taken_back(&self, plan: i64) -> bool {
        !self.unschedulable && self.plan.as_ref() == Some(&plan.to_string())
    }

    /// Why it is not the host: it is another machine than that which says it is `host`. Where one of the two does not say which machine it
    /// is, the name counts.
    pub(super) fn is_not(&self, host: &Named) -> Option<String> {
        let (here, there) = (self.machine.as_ref()?, host.machine.as_ref()?);
        (here != there).then(|| {
            format!(
                "node {0} of Kubernetes is another machine than host {0}: their machine-ids differ",
                host.name
            )
        })
    }
}

/// A host, as a node is looked for by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: String,
    /// Its machine, as it reported when it was enrolled.
    pub(super) machine: Option<String>,
}

/// Whether something may be sent: asked right before each request that changes something.
pub(super) type May<'a> = &'a mut dyn FnMut() -> Result<(), Outcome>;

impl Kubernetes {
    /// For requests that have to be answered within `answer` each, and within `all` together.
    pub(super) fn new(service: &Service, answer: Duration, all: Duration) -> Result<Self, String> {
        let (is_https, ca) = (
            service.url.starts_with("https:"),
            service.ca_file.as_deref(),
        );
        let token = service.token_file.as_deref();
        let token = token.map(|file| outgoing::token(file, "[kubernetes] token_file"));
        Ok(Self {
            agent: outgoing::client(is_https, ca, "[kubernetes] ca_file", answer)?,
            url: service.url.trim_end_matches('/').to_owned(),
            token: token.transpose()?,
            until: Instant::now() + all,
            answer,
        })
    }

    /// Whether the time for all answers is over.
    pub(super) fn is_late(&self) -> bool {
        self.until <= Instant::now()
    }

    fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<(&str, &Value)>,
    ) -> Result<String, Refusal> {
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("accept", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let no_answer = |e: &dyn std::fmt::Display| Refusal::NoAnswer(e.to_string());
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(no_answer(&"the time for all its answers is over"));
        }
        let within = Some(left.min(self.answer));
        let sent = match body {
            Some((kind, body)) => {
                let request = request
                    .header("content-type", kind)
                    .body(body.to_string())
                    .map_err(|e| no_answer(&e))?;
                let request = self.agent.configure_request(request);
                self.agent.run(request.timeout_global(within).build())
            }
            None => {
                let request = request.body(()).map_err(|e| no_answer(&e))?;
                let request = self.agent.configure_request(request);
                self.agent.run(request.timeout_global(within).build())
            }
        };
        let mut response = sent.map_err(|e| no_answer(&e))?;
        let status = response.status().as_u16();
        let text = response
            .body_mut()
            .with_config()
            .limit(ANSWER_MAX)
            .read_to_string()
            .map_err(|e| no_answer(&e))?;
        match status {
            200..=299 => Ok(text),
            _ => {
                // A Status of the API has a message.
                let message = serde_json::from_str::<Value>(&text).ok();
                let message = message.and_then(|s| s["message"].as_str().map(str::to_owned));
                let message = message.unwrap_or(text);
                let message: String = message.chars().take(MESSAGE_MAX).collect();
                Err(Refusal::Status(
                    status,
                    message.replace(char::is_control, " "),
                ))
            }
        }
    }

    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<(T, usize), Refusal> {
        let text = self.send("GET", path, None)?;
        let answer = serde_json::from_str(&text)
            .map_err(|e| Refusal::NoAnswer(format!("its answer is not understood ({e})")))?;
        Ok((answer, text.len()))
    }

    fn list<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        selector: &str,
    ) -> Result<Vec<T>, Refusal> {
        let mut items = Vec::new();
        let mut next = String::new();
        let mut bytes = 0;
        for _ in 0..PAGES_MAX {
            let mut target = format!("{path}?fieldSelector={selector}&limit={PAGE}");
            if !next.is_empty() {
                target.push_str(&format!("&continue={}", encoded(&next)));
            }
            let (page, size): (List<T>, usize) = self.get(&target)?;
            bytes += size;
            items.extend(page.items);
            if items.len() > ITEMS_MAX || bytes > BYTES_MAX {
                break;
            }
            match page.metadata.next {
                Some(token) if !token.is_empty() => next = token,
                _ => return Ok(items),
            }
        }
        Err(Refusal::TooMuch(format!(
            "{path} has more than {PAGES_MAX} pages, {ITEMS_MAX} items or {} MiB; {} items were read",
            BYTES_MAX >> 20,
            items.len()
        )))
    }

    /// Nodes that are cordoned, by whomever.
    pub(super) fn cordoned(&self) -> Result<BTreeSet<String>, String> {
        let nodes = self.list::<Node>("/api/v1/nodes", "spec.unschedulable%3Dtrue");
        let nodes = nodes.map_err(|refusal| refusal.text())?;
        Ok(nodes
            .into_iter()
            .filter(|node| node.spec.unschedulable)
            .map(|node| node.metadata.name)
            .collect())
    }

    fn read_node(&self, name: &str) -> Result<NodeState, Refusal> {
        let (node, _): (Node, usize) = self.get(&format!("/api/v1/nodes/{name}"))?;
        Ok(NodeState {
            machine: machine_id(&node.status.node_info.machine_id),
            unschedulable: node.spec.unschedulable,
            plan: node.metadata.annotations.get(ANNOTATION).cloned(),
            resource_version: node.metadata.resource_version,
        })
    }

    /// A node; `None` where the cluster has none of that name.
    pub(super) fn node(&self, name: &str) -> Result<Option<NodeState>, String> {
        match self.read_node(name) {
            Ok(node) => Ok(Some(node)),
            Err(Refusal::Status(404, _)) => Ok(None),
            Err(refusal) => Err(refusal.text()),
        }
    }

    fn pods(&self, node: &str) -> Result<Vec<Pod>, Refusal> {
        let selector = format!("spec.nodeName%3D{node}");
        let pods = self.list::<Pod>("/api/v1/pods", &selector)?;
        Ok(pods.into_iter().filter(Pod::has_to_go).collect())
    }

    /// Pods of a node that have to go before it has no job: some of them by name.
    pub(super) fn busy(&self, node: &str) -> Result<Option<String>, String> {
        let pods = self.pods(node).map_err(|refusal| refusal.text())?;
        let names: Vec<String> = pods.iter().take(3).map(Pod::name).collect();
        Ok((!pods.is_empty())
            .then(|| format!("{} pods are there: {}", pods.len(), names.join(", "))))
    }

    /// Changes a node as it was read: who changed it meanwhile is not overruled.
    fn change(
        &self,
        host: &Named,
        patch: impl Fn(&NodeState) -> Result<Value, Outcome>,
        (done, gone): (&str, Outcome),
        may: May<'_>,
    ) -> Outcome {
        let name = &host.name;
        let mut refusal = Refusal::NoAnswer("it was changed by others again and again".to_owned());
        for _ in 0..CONFLICTS_MAX {
            let node = match self.read_node(name) {
                Ok(node) => node,
                Err(Refusal::Status(404, _)) => return gone,
                // Nothing was asked for yet: it is tried again for as long as a step may take.
                Err(refusal) => return Outcome::Unsure(refusal.text()),
            };
            if let Some(why) = node.is_not(host) {
                return Outcome::Refused(why);
            }
            let mut body = match patch(&node) {
                Ok(body) => body,
                Err(left) => return left,
            };
            if let Err(outcome) = may() {
                return outcome;
            }
            body["metadata"]["resourceVersion"] = node.resource_version.into();
            let kind = "application/merge-patch+json";
            let path = format!("/api/v1/nodes/{name}");
            match self.send("PATCH", &path, Some((kind, &body))) {
                Ok(_) => return Outcome::Acted(done.to_owned()),
                Err(conflict @ Refusal::Status(409, _)) => refusal = conflict,
                Err(refusal) => return refusal.outcome(),
            }
        }
        refusal.outcome()
    }

    pub(super) fn cordon(&self, host: &Named, plan: i64, may: May<'_>) -> Outcome {
        let patch = |known: &NodeState| match known.effect(plan) {
            // What was done is not done again.
            Effect::Absent if known.was_taken_back(plan) => Err(Outcome::Refused(
                "the node was cordoned, and somebody has made it schedulable again".to_owned(),
            )),
            Effect::Absent => Ok(json!({
                "metadata": { "annotations": { ANNOTATION: plan.to_string() } },
                "spec": { "unschedulable": true },
            })),
            _ => Err(Outcome::Acted("the node was cordoned already".to_owned())),
        };
        let gone = Outcome::Refused(format!("the cluster has no node {}", host.name));
        self.change(host, patch, ("the node is cordoned", gone), may)
    }

    pub(super) fn uncordon(&self, host: &Named, plan: i64, may: May<'_>) -> Outcome {
        let patch = |known: &NodeState| match known.effect(plan) {
            Effect::Ours => Ok(json!({
                "metadata": { "annotations": { ANNOTATION: null } },
                "spec": { "unschedulable": null },
            })),
            _ => Err(Outcome::Acted(
                "the node is not cordoned by this plan any more; it is left as it is".to_owned(),
            )),
        };
        let gone = Outcome::Acted(format!("the cluster has no node {} any more", host.name));
        self.change(host, patch, ("the node is schedulable again", gone), may)
    }

    /// Asks for the eviction of each pod that is still there. Done once none is.
    pub(super) fn drain(&self, host: &Named, may: May<'_>) -> Outcome {
        let node = host.name.as_str();
        // Also of one that evicts nothing, it is known from when on.
        if let Err(outcome) = may() {
            return outcome;
        }
        match self.read_node(node) {
            Ok(known) => {
                if let Some(why) = known.is_not(host) {
                    return Outcome::Refused(why);
                }
            }
            Err(Refusal::Status(404, _)) => {
                return Outcome::Refused(format!("the cluster has no node {node}"));
            }
            Err(refusal) => return Outcome::Unsure(refusal.text()),
        }
        let pods = match self.pods(node) {
            Ok(pods) => pods,
            Err(refusal) => return Outcome::Unsure(refusal.text()),
        };
        if pods.is_empty() {
            return Outcome::Acted("no pod is left".to_owned());
        }
        let mut waits = Vec::new();
        for pod in &pods {
            let is_managed = pod.metadata.owner_references.iter().any(|o| o.controller);
            if !is_managed {
                // Nobody would start it anywhere else.
                waits.push(format!(
                    "{} has no controller and is not evicted",
                    pod.name()
                ));
                continue;
            }
            if pod.metadata.deletion_timestamp.is_some() {
                continue;
            }
            let Metadata {
                name,
                namespace,
                uid,
                ..
            } = &pod.metadata;
            // The pod that was seen, and no other that has got its name.
            let mut body = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": { "name": name, "namespace": namespace },
            });
            if !uid.is_empty() {
                body["deleteOptions"] = json!({ "preconditions": { "uid": uid } });
            }
            if let Err(outcome) = may() {
                return outcome;
            }
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction");
            match self.send("POST", &path, Some(("application/json", &body))) {
                Ok(_) | Err(Refusal::Status(404 | 409, _)) => {}
                Err(Refusal::Status(429, message)) => {
                    waits.push(format!("{}: {message}", pod.name()));
                }
                Err(refusal) => waits.push(format!("{}: {}", pod.name(), refusal.text())),
            }
        }
        let shown: Vec<&str> = waits.iter().take(3).map(String::as_str).collect();
        Outcome::Unsure(match waits.len() {
            0 => "pods were asked to go".to_owned(),
            n => format!("{n} pods are still there: {}", shown.join("; ")),
        })
    }
}
