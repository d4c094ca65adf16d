//! Tickets by the site's webhook.

use std::time::Duration;

use gtrace_fleet::remedy::{Order, Outcome, Service};
use gtrace_outgoing as outgoing;

use super::kubernetes::May;

/// Of an answer, so much is said.
const SAID_MAX: u64 = 300;

/// Posts a plan. A receiver that keeps the header `Idempotency-Key` makes one ticket of a plan.
pub(super) fn post(webhook: &Service, order: &Order, within: Duration, may: May<'_>) -> Outcome {
    match send(webhook, order, within, may) {
        Ok((200..=299, said)) => Outcome::Acted(match said.is_empty() {
            true => "the webhook has it".to_owned(),
            false => format!("the webhook answers: {said}"),
        }),
        Ok((status, said)) => Outcome::Refused(format!("the webhook answers {status}: {said}")),
        Err(outcome) => outcome,
    }
}

fn send(
    webhook: &Service,
    order: &Order,
    within: Duration,
    may: May<'_>,
) -> Result<(u16, String), Outcome> {
    let certificates = match webhook.url.starts_with("https:") {
        true => outgoing::certificates(webhook.ca_file.as_deref(), "[webhook] ca_file")
            .map_err(Outcome::Refused)?,
        false => Vec::new(),
    };
    let body = serde_json::json!({
        "plan": order.plan, "host": order.host, "cause": order.cause,
        "title": format!("{}: {}", order.host, order.cause.text),
    });
    let agent = outgoing::agent(&certificates, within);
    let mut request = agent
        .post(&webhook.url)
        .header("content-type", "application/json")
        .header("idempotency-key", format!("gtrace-plan-{}", order.plan));
    if let Some(file) = &webhook.token_file {
        let token = outgoing::token(file, "[webhook] token_file").map_err(Outcome::Refused)?;
        request = request.header("authorization", format!("Bearer {token}"));
    }
    may()?;
    let unsure = |e: ureq::Error| Outcome::Unsure(format!("the webhook does not answer: {e}"));
    let mut response = request.send(body.to_string()).map_err(unsure)?;
    let status = response.status().as_u16();
    let said = response
        .body_mut()
        .with_config()
        .limit(SAID_MAX)
        .read_to_string();
    let said = said.unwrap_or_default();
    Ok((status, said.trim().replace(char::is_control, " ")))
}
