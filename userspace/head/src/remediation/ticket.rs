//! Tickets by the site's webhook.

use std::time::Duration;

use gtrace_fleet::remedy::{Order, Outcome, Service};
use gtrace_outgoing as outgoing;

use super::kubernetes::May;

/// Posts a plan. A receiver that keeps the header `Idempotency-Key` makes one ticket of a plan.
pub(super) fn post(webhook: &Service, order: &Order, within: Duration, may: May<'_>) -> Outcome {
    match send(webhook, order, within, may) {
        Ok((200..=299, answer)) => Outcome::Acted(match answer.is_empty() {
            true => "the webhook has it".to_owned(),
            false => format!("the webhook answers: {answer}"),
        }),
        Ok((status, answer)) => Outcome::Refused(format!("the webhook answers {status}: {answer}")),
        Err(outcome) => outcome,
    }
}

fn send(
    webhook: &Service,
    order: &Order,
    within: Duration,
    may: May<'_>,
) -> Result<(u16, String), Outcome> {
    // A file that cannot be read may be being replaced: nothing is sent, and it is tried again.
    let (is_https, ca) = (
        webhook.url.starts_with("https:"),
        webhook.ca_file.as_deref(),
    );
    let agent = outgoing::client(is_https, ca, "[webhook] ca_file", within);
    let agent = agent.map_err(Outcome::Unsure)?;
    let body = serde_json::json!({
        "plan": order.plan, "host": order.host, "cause": order.cause,
        "title": format!("{}: {}", order.host, order.cause.text),
    });
    let mut request = agent
        .post(&webhook.url)
        .header("content-type", "application/json")
        .header("idempotency-key", format!("gtrace-plan-{}", order.plan));
    if let Some(file) = &webhook.token_file {
        let token = outgoing::token(file, "[webhook] token_file").map_err(Outcome::Unsure)?;
        request = request.header("authorization", format!("Bearer {token}"));
    }
    may()?;
    let unsure = |e: ureq::Error| Outcome::Unsure(format!("the webhook does not answer: {e}"));
    let mut response = request.send(body.to_string()).map_err(unsure)?;
    let status = response.status().as_u16();
    Ok((status, outgoing::beginning(&mut response)))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::net::TcpListener;

    use gtrace_fleet::remedy::Step;

    use super::*;

    #[test]
    fn of_a_long_answer_the_beginning_says_why() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                stream.read_line(&mut line).unwrap();
            }
            let body = format!("the project does not exist{}", "\u{e4}".repeat(5000));
            let head = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length";
            let _ = write!(stream.get_mut(), "{head}: {}\r\n\r\n{body}", body.len());
        });
        let service = serde_json::from_value(serde_json::json!({ "url": url })).unwrap();
        let order = Order {
            plan: 1,
            version: 1,
            host: "a".to_owned(),
            index: 0,
            step: Step::Ticket,
            undo: false,
            cause: Default::default(),
        };
        let outcome = post(&service, &order, Duration::from_secs(20), &mut || Ok(()));
        server.join().unwrap();
        let Outcome::Refused(why) = outcome else {
            panic!("{outcome:?}");
        };
        let begins = "the webhook answers 400: the project does not exist\u{e4}";
        assert!(
            why.starts_with(begins) && why.chars().count() < 400,
            "{why}"
        );
    }
}
