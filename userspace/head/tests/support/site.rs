//! Stand-ins of what a site has: Kubernetes' API server, scontrol, a webhook. They count what was done.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, reason = "tests only")]

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Path as UrlPath, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

/// /etc/machine-id of a node.
pub const MACHINE: &str = "3d1219c7c4c5404aaa1f6d2a48adfda4";

/// A stand-in of Kubernetes' API server with one namespace: nodes, pods and evictions as its API reference has them, optimistic locking
/// included; and the site's webhook.
#[derive(Default)]
pub struct Site {
    pub nodes: BTreeMap<String, Value>,
    pub pods: BTreeMap<String, Value>,
    /// Evictions that a disruption budget has yet to refuse.
    pub refusals: u32,
    pub evicted: Vec<String>,
    /// Bodies of tickets with their keys.
    pub tickets: Vec<(String, Value)>,
    pub patches: u32,
    /// Every page of nodes has another one after it.
    pub endless: bool,
    /// Questions that are answered only once the test is over.
    pub held: Option<u32>,
    /// What nodes were made: unschedulable, or schedulable again.
    pub changes: Vec<(String, bool)>,
    /// Longest time before and after something is done, in milliseconds: it is drawn each time.
    pub delay_ms: u64,
    /// What is done and not answered.
    pub unanswered: Option<Done>,
    /// How often that was so.
    pub left: u32,
}

/// What the head has a site do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    Cordon,
    Ticket,
}

pub type Shared = Arc<Mutex<Site>>;

fn error(status: StatusCode, message: &str) -> (StatusCode, Json<Value>) {
    let body = json!({ "kind": "Status", "status": "Failure", "code": status.as_u16(), "message": message });
    (status, Json(body))
}

/// RFC 7386.
fn merge(target: &mut Value, patch: Value) {
    let Value::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let target = target.as_object_mut().unwrap();
    for (key, value) in patch {
        match value {
            Value::Null => drop(target.remove(&key)),
            value => merge(target.entry(key).or_insert(Value::Null), value),
        }
    }
}

type Answer = Result<Json<Value>, (StatusCode, Json<Value>)>;

fn may(headers: &HeaderMap) -> Result<(), (StatusCode, Json<Value>)> {
    match headers.get("authorization").map(|v| v.to_str().unwrap()) {
        Some("Bearer of-the-head") => Ok(()),
        _ => Err(error(StatusCode::UNAUTHORIZED, "Unauthorized")),
    }
}

async fn nodes(State(site): State<Shared>, headers: HeaderMap) -> Answer {
    may(&headers)?;
    let is_held = site.lock().unwrap().held.as_mut().map(|held| *held += 1);
    if is_held.is_some() {
        std::future::pending::<()>().await;
    }
    let site = site.lock().unwrap();
    let cordoned = site
        .nodes
        .values()
        .filter(|n| n["spec"]["unschedulable"] == true);
    let items: Vec<&Value> = cordoned.collect();
    let next = if site.endless { "more" } else { "" };
    Ok(Json(
        json!({ "kind": "NodeList", "metadata": { "continue": next }, "items": items }),
    ))
}

async fn node(
    State(site): State<Shared>,
    headers: HeaderMap,
    UrlPath(name): UrlPath<String>,
) -> Answer {
    may(&headers)?;
    let found = site.lock().unwrap().nodes.get(&name).cloned();
    found
        .map(Json)
        .ok_or_else(|| error(StatusCode::NOT_FOUND, "nodes not found"))
}

async fn patch_node(
    State(shared): State<Shared>,
    headers: HeaderMap,
    UrlPath(name): UrlPath<String>,
    body: String,
) -> Answer {
    may(&headers)?;
    assert_eq!(headers["content-type"], "application/merge-patch+json");
    delay(&shared).await;
    let answer = shared.lock().unwrap().patch(name, &body);
    after(&shared, Done::Cordon, answer.is_ok()).await;
    answer
}

impl Site {
    fn patch(&mut self, name: String, body: &str) -> Answer {
        let mut patch: Value = serde_json::from_str(body).unwrap();
        self.patches += 1;
        // The kubelet writes its status all the time: the first attempt meets such a change.
        let meets = self.patches == 1;
        let node = self.nodes.get_mut(&name).unwrap();
        let version: u64 = node["metadata"]["resourceVersion"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let wanted = patch["metadata"]["resourceVersion"].take();
        let is_newest = wanted == json!(version.to_string());
        node["metadata"]["resourceVersion"] = json!((version + 1).to_string());
        if meets || !is_newest {
            return Err(error(StatusCode::CONFLICT, "the object has been modified"));
        }
        patch["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("resourceVersion");
        let was = node["spec"]["unschedulable"] == true;
        merge(node, patch);
        let is = node["spec"]["unschedulable"] == true;
        let answer = Json(node.clone());
        if was != is {
            self.changes.push((name, is));
        }
        Ok(answer)
    }
}

async fn delay(site: &Shared) {
    let most = site.lock().unwrap().delay_ms;
    if most > 0 {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..most))).await;
    }
}

/// After something was done, or refused.
async fn after(site: &Shared, done: Done, is_done: bool) {
    let is_unanswered = {
        let mut site = site.lock().unwrap();
        let is_unanswered = is_done && site.unanswered == Some(done);
        site.left += u32::from(is_unanswered);
        is_unanswered
    };
    match is_unanswered {
        true => std::future::pending().await,
        false => delay(site).await,
    }
}

async fn pods(
    State(site): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<BTreeMap<String, String>>,
) -> Answer {
    may(&headers)?;
    let node = asked["fieldSelector"]
        .strip_prefix("spec.nodeName=")
        .unwrap();
    let site = site.lock().unwrap();
    let items: Vec<&Value> = site
        .pods
        .values()
        .filter(|p| p["spec"]["nodeName"] == node)
        .collect();
    Ok(Json(
        json!({ "kind": "PodList", "metadata": {}, "items": items }),
    ))
}

async fn evict(
    State(site): State<Shared>,
    headers: HeaderMap,
    UrlPath((namespace, name)): UrlPath<(String, String)>,
    Json(body): Json<Value>,
) -> Answer {
    may(&headers)?;
    assert_eq!(
        (&body["apiVersion"], &body["kind"]),
        (&json!("policy/v1"), &json!("Eviction"))
    );
    assert_eq!(
        (&body["metadata"]["name"], namespace.as_str()),
        (&json!(name), "jobs")
    );
    let wanted = json!({ "preconditions": { "uid": format!("of-{name}") } });
    assert_eq!(body["deleteOptions"], wanted);
    let mut site = site.lock().unwrap();
    if site.refusals > 0 {
        site.refusals -= 1;
        let budget = "Cannot evict pod as it would violate the pod's disruption budget.";
        return Err(error(StatusCode::TOO_MANY_REQUESTS, budget));
    }
    site.pods.remove(&name);
    site.evicted.push(name);
    Ok(Json(json!({ "kind": "Status", "status": "Success" })))
}

async fn ticket(State(site): State<Shared>, headers: HeaderMap, Json(body): Json<Value>) -> String {
    let key = headers["idempotency-key"].to_str().unwrap().to_owned();
    delay(&site).await;
    site.lock().unwrap().tickets.push((key, body));
    after(&site, Done::Ticket, true).await;
    "GPU-1234".to_owned()
}

pub fn serve(site: &Shared) -> String {
    let router = Router::new()
        .route("/api/v1/nodes", get(nodes))
        .route("/api/v1/nodes/{name}", get(node).patch(patch_node))
        .route("/api/v1/pods", get(pods))
        .route(
            "/api/v1/namespaces/{namespace}/pods/{name}/eviction",
            post(evict),
        )
        .route("/tickets", post(ticket))
        .with_state(Arc::clone(site));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let router = router.clone();
                tokio::spawn(async move {
                    let io = hyper_util::rt::TokioIo::new(stream);
                    let service = hyper_util::service::TowerToHyperService::new(router);
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(io, service)
                        .await;
                });
            }
        });
    });
    url
}

/// A stand-in of scontrol whose nodes are files: `STATE REASON`, then a line for each change, which is made with its line or not at all.
pub fn scontrol(dir: &Path) -> PathBuf {
    let nodes = dir.join("slurm");
    std::fs::create_dir(&nodes).unwrap();
    let script = format!(
        r#"#!/bin/sh
cd {nodes} || exit 1
show() {{ read -r state reason < "$1"; echo "NodeName=$1 Arch=x86_64 State=$state Weight=1 ${{reason:+Reason=$reason [root@2026-01-01T00:00:00]}}"; }}
case "$1 $2" in
"--oneliner show") if [ "$3" = nodes ]; then for n in *; do show "$n"; done; else show "$4"; fi ;;
"update NodeName="*) name=${{2#NodeName=}}; read -r state reason < "$name"; base=${{state%%+*}}
    case "$3" in State=DRAIN) now="$base+DRAIN ${{4#Reason=}}" ;; State=RESUME) now=$base ;; *) exit 1 ;; esac
    {{ echo "$now"; tail -n +2 "$name"; echo "$3"; }} > ../new.$$; mv ../new.$$ "$name" ;;
*) echo "invalid keyword: $*" >&2; exit 1 ;;
esac
"#,
        nodes = nodes.display()
    );
    let path = dir.join("scontrol");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}
