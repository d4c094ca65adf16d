//! Calls against servers of the tests' own, which speak HTTP/2 by the h2 crate. The kubelet and the platform connector are
//! fakes: no Kubernetes is here.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use gtrace_grpc::kubelet::{
    CdiDevice, ClaimResource, ContainerDevices, ContainerResources, DynamicResource, LIST,
    ListPodResourcesRequest, ListPodResourcesResponse, PodResources, list,
};
use gtrace_grpc::nvsentinel::{
    Entity, HealthEvent, HealthEvents, OCCURRED, RecommendedAction, send,
};
use gtrace_grpc::testing::{Reply, serve};
use gtrace_grpc::{CallError, frame, parse};
use proptest::prelude::*;

const DEADLINE: Duration = Duration::from_secs(20);

fn node(pods: usize) -> ListPodResourcesResponse {
    let pod = |number: usize| PodResources {
        name: format!("train-{number}"),
        namespace: "ml".to_owned(),
        containers: vec![ContainerResources {
            name: "main".to_owned(),
            devices: vec![ContainerDevices {
                resource_name: "nvidia.com/gpu".to_owned(),
                device_ids: vec![format!("GPU-{number}")],
            }],
            dynamic_resources: vec![DynamicResource {
                claim_resources: vec![ClaimResource {
                    cdi_devices: vec![CdiDevice {
                        name: format!("nvidia.com/gpu=GPU-c{number}"),
                    }],
                }],
            }],
        }],
    };
    ListPodResourcesResponse {
        pod_resources: (0..pods).map(pod).collect(),
    }
}

#[test]
fn the_kubelet_is_asked_by_its_protocol_and_a_long_answer_comes_whole() {
    let dir = tempfile::tempdir().unwrap();
    // More than the window of HTTP/2, so that capacity has to be given back.
    let (socket, calls) = serve(dir.path(), Reply::Message(frame(&node(4000))));
    let found = list(&socket, DEADLINE).unwrap();
    assert_eq!(found.len(), 8000);
    let last = &found[7999];
    assert_eq!(
        (
            last.namespace.as_str(),
            last.pod.as_str(),
            last.container.as_str(),
            last.device.as_str()
        ),
        ("ml", "train-3999", "main", "nvidia.com/gpu=GPU-c3999")
    );
    let (method, question) = calls.recv().unwrap();
    assert_eq!(method, LIST);
    parse::<ListPodResourcesRequest>(&question).unwrap();
}

#[test]
fn nvsentinel_gets_every_field() {
    let dir = tempfile::tempdir().unwrap();
    let (socket, calls) = serve(dir.path(), Reply::Message(Bytes::from_static(&[0; 5])));
    let event = HealthEvent {
        version: 1,
        agent: "gtrace".to_owned(),
        component_class: "GPU".to_owned(),
        check_name: "off-the-bus".to_owned(),
        is_fatal: true,
        message: "fell off the bus".to_owned(),
        recommended_action: RecommendedAction::RestartBm.into(),
        error_code: vec!["79".to_owned()],
        entities_impacted: vec![Entity {
            entity_type: "PCI".to_owned(),
            entity_value: "0000:3b:00.0".to_owned(),
        }],
        metadata: [("action".to_owned(), "reboot".to_owned())].into(),
        node_name: "gpu-17".to_owned(),
        ..HealthEvent::default()
    };
    send(&socket, vec![event.clone()], DEADLINE).unwrap();
    let (method, question) = calls.recv().unwrap();
    assert_eq!(method, OCCURRED);
    let got: HealthEvents = parse(&question).unwrap();
    assert_eq!((got.version, got.events), (1, vec![event]));
}

#[test]
fn each_failure_is_distinguished() {
    let dir = tempfile::tempdir().unwrap();
    let nobody = list(&dir.path().join("none.sock"), DEADLINE).unwrap_err();
    assert!(nobody.is_absent(), "{nobody}");
    let failure = |reply: Reply, deadline: Duration| {
        let dir = tempfile::tempdir().unwrap();
        let (socket, _calls) = serve(dir.path(), reply);
        list(&socket, deadline).unwrap_err()
    };
    let refused = failure(Reply::Refusal("12", "not implemented"), DEADLINE);
    assert!(
        matches!(&refused, CallError::Refused { code: 12, reason } if reason == "not implemented"),
        "{refused}"
    );
    assert!(matches!(
        failure(Reply::Http(404), DEADLINE),
        CallError::Http(404)
    ));
    let short = failure(Reply::Message(Bytes::from_static(&[0, 0, 0])), DEADLINE);
    assert!(matches!(short, CallError::Garbled(_)), "{short}");
    let began = Instant::now();
    let silent = failure(Reply::Never, Duration::from_millis(200));
    assert!(matches!(silent, CallError::Unanswered { .. }), "{silent}");
    assert!(began.elapsed() < DEADLINE);
}

proptest! {
    #[test]
    fn any_bytes_are_an_answer_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse::<ListPodResourcesResponse>(&bytes);
        let mut framed = vec![0, 0, 0, 0, u8::try_from(bytes.len()).unwrap_or(0)];
        framed.extend_from_slice(&bytes);
        let _ = parse::<ListPodResourcesResponse>(&framed);
        let _ = parse::<HealthEvents>(&framed);
    }
}
