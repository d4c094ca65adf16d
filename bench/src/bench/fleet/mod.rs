//! The head of a fleet: ingest beside bare databases, what connected agents cost it, and a profiling session.

mod agents;
#[path = "../../../../userspace/head/tests/support/clocks.rs"]
mod clocks;
mod ingest;
#[path = "../../../../userspace/head/tests/support/postgres.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests use it too"
)]
mod postgres;
mod session;

use super::Context;
use crate::report::Report;

pub(super) fn run(context: &Context) -> anyhow::Result<Report> {
    let rounds = context.pick(2, 10, 40);
    let fleets: &[usize] = context.pick(&[50], &[10, 100, 1000], &[10, 100, 1000, 10_000]);
    let storm = context.pick(2_000, 100_000, 1_000_000);
    let mut report = Report::new(
        "fleet",
        format!(
            "ingest of {rounds} x {} batches of {} records by the head (decoding, chains, columns, one transaction), bare SQLite \
             inserting the same rows with the same settings and PostgreSQL's COPY of the same rows, in turn; then a head for each of \
             {fleets:?} simulated agents; with 1000 of them events followed live, and a storm of {storm} records; \
             then a profiling session of {} agents for {} s",
            ingest::TOGETHER,
            ingest::RECORDS,
            session::agents(context),
            session::seconds(context),
        ),
    );
    ingest::sqlite(context, rounds, &mut report)?;
    ingest::postgres(context, rounds, &mut report)?;
    for &agents in fleets {
        let storm = (agents == context.pick(50, 1000, 1000)).then_some(storm);
        agents::run(context, agents, storm, &mut report)?;
    }
    session::run(context, &mut report)?;
    Ok(report)
}
