//! Nodes of a Kubernetes cluster by its API: cordon, drain by evictions, and what holds of them.
//!
//! Paths and bodies are those of the API reference of Kubernetes 1.22 and later (core/v1, policy/v1). A node has the name that the host
//! has in the fleet. The annotation [`ANNOTATION`] says which plan has cordoned a node.

use std::collections::BTreeSet;
use std::time::Duration;

use gtrace_fleet::remedy::{Effect, Outcome, Service};
use gtrace_outgoing as outgoing;
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::Agent;

/// Which plan has cordoned a node.
const ANNOTATION: &str = "gtrace.io/remediation-plan";
/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest answer.
const ANSWER_MAX: u64 = 32 << 20;
/// Nodes and pods of a page.
const PAGE: u32 = 500;
/// A node changes every few seconds, so that a change may meet another: so often it is tried again.
const CONFLICTS_MAX: u32 = 8;
/// Of an answer that is an error, so much is said.
const SAID_MAX: usize = 300;

#[derive(Deserialize)]
struct Node {
    metadata: Metadata,
    #[serde(default)]
    spec: NodeSpec,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    name: String,
    namespace: String,
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
}

impl Refusal {
    fn text(&self) -> String {
        match self {
            Self::Status(status, said) => format!("Kubernetes answers {status}: {said}"),
            Self::NoAnswer(why) => format!("Kubernetes does not answer: {why}"),
        }
    }

    /// Whether nothing was done.
    fn outcome(&self) -> Outcome {
        match self {
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
}

/// A node, as far as plans are concerned.
pub(super) struct NodeState {
    pub(super) unschedulable: bool,
    plan: Option<String>,
    resource_version: String,
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
}

impl Kubernetes {
    pub(super) fn new(service: &Service) -> Result<Self, String> {
        let certificates = match service.url.starts_with("https:") {
            true => outgoing::certificates(service.ca_file.as_deref(), "[kubernetes] ca_file")?,
            false => Vec::new(),
        };
        let token = service.token_file.as_deref();
        let token = token.map(|file| outgoing::token(file, "[kubernetes] token_file"));
        Ok(Self {
            agent: outgoing::agent(&certificates, TIMEOUT),
            url: service.url.trim_end_matches('/').to_owned(),
            token: token.transpose()?,
        })
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
        let sent = match body {
            Some((kind, body)) => {
                let request = request
                    .header("content-type", kind)
                    .body(body.to_string())
                    .map_err(|e| no_answer(&e))?;
                self.agent.run(request)
            }
            None => {
                let request = request.body(()).map_err(|e| no_answer(&e))?;
                self.agent.run(request)
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
                let said = serde_json::from_str::<Value>(&text).ok();
                let said = said.and_then(|s| s["message"].as_str().map(str::to_owned));
                let said = said.unwrap_or(text);
                let said: String = said.chars().take(SAID_MAX).collect();
                Err(Refusal::Status(status, said.replace(char::is_control, " ")))
            }
        }
    }

    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T, Refusal> {
        let text = self.send("GET", path, None)?;
        serde_json::from_str(&text)
            .map_err(|e| Refusal::NoAnswer(format!("its answer is not understood ({e})")))
    }

    fn list<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        selector: &str,
    ) -> Result<Vec<T>, Refusal> {
        let mut items = Vec::new();
        let mut next = String::new();
        loop {
            let mut target = format!("{path}?fieldSelector={selector}&limit={PAGE}");
            if !next.is_empty() {
                target.push_str(&format!("&continue={}", encoded(&next)));
            }
            let page: List<T> = self.get(&target)?;
            items.extend(page.items);
            match page.metadata.next {
                Some(token) if !token.is_empty() => next = token,
                _ => return Ok(items),
            }
        }
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
        let node: Node = self.get(&format!("/api/v1/nodes/{name}"))?;
        Ok(NodeState {
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
        name: &str,
        patch: impl Fn(&NodeState) -> Result<Value, String>,
        done: &str,
        gone: Outcome,
    ) -> Outcome {
        let mut refusal = Refusal::NoAnswer("it was changed by others again and again".to_owned());
        for _ in 0..CONFLICTS_MAX {
            let node = match self.read_node(name) {
                Ok(node) => node,
                Err(Refusal::Status(404, _)) => return gone,
                // Nothing was asked for yet.
                Err(refusal) => return Outcome::Refused(refusal.text()),
            };
            let mut body = match patch(&node) {
                Ok(body) => body,
                Err(left) => return Outcome::Acted(left),
            };
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

    pub(super) fn cordon(&self, node: &str, plan: i64) -> Outcome {
        let patch = |known: &NodeState| match known.effect(plan) {
            Effect::Absent => Ok(json!({
                "metadata": { "annotations": { ANNOTATION: plan.to_string() } },
                "spec": { "unschedulable": true },
            })),
            _ => Err("the node was cordoned already".to_owned()),
        };
        let gone = Outcome::Refused(format!("the cluster has no node {node}"));
        self.change(node, patch, "the node is cordoned", gone)
    }

    pub(super) fn uncordon(&self, node: &str, plan: i64) -> Outcome {
        let patch = |known: &NodeState| match known.effect(plan) {
            Effect::Ours => Ok(json!({
                "metadata": { "annotations": { ANNOTATION: null } },
                "spec": { "unschedulable": null },
            })),
            _ => Err(
                "the node is not cordoned by this plan any more; it is left as it is".to_owned(),
            ),
        };
        let gone = Outcome::Acted(format!("the cluster has no node {node} any more"));
        self.change(node, patch, "the node is schedulable again", gone)
    }

    /// Asks for the eviction of each pod that is still there. Done once none is.
    pub(super) fn drain(&self, node: &str) -> Outcome {
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
                name, namespace, ..
            } = &pod.metadata;
            let body = json!({
                "apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": { "name": name, "namespace": namespace },
            });
            let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction");
            match self.send("POST", &path, Some(("application/json", &body))) {
                Ok(_) | Err(Refusal::Status(404, _)) => {}
                Err(Refusal::Status(429, said)) => waits.push(format!("{}: {said}", pod.name())),
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

/// As a value of a query.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
