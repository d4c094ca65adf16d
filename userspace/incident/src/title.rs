//! What an incident is called.

use std::sync::Arc;

use gtrace_event::{CausalLink, Kind};

use crate::chain::is_reversed;
use crate::member::{Member, who};

/// Longest title, characters.
const LONGEST: usize = 200;
/// Processes that are named.
const NAMED: usize = 2;

/// How the title of an incident of many programs begins.
pub(crate) const CROWD: &str = "many programs failed";

/// Of many programs whose first fault is `main`.
pub(crate) fn of_crowd(main: &Member) -> String {
    let gpu = main.gpus.first().and_then(|gpu| gpu.pci);
    let at = gpu.map_or_else(|| "a GPU".to_owned(), |pci| format!("GPU {pci}"));
    format!("{CROWD} on {at}; the first: {}", main.title)
}

/// One sentence: what happened, after what, and who died of it.
pub(crate) fn title(main: &Member, members: &[Arc<Member>], chain: &[CausalLink]) -> String {
    let mut text = main.title.clone();
    let cause = chain.iter().find(|link| link.to == main.id);
    let cause = cause.and_then(|link| members.iter().find(|member| member.id == link.from));
    if let Some(cause) = cause.filter(|cause| cause.title != main.title) {
        text.push_str(match is_reversed(cause, main) {
            true => ", at the same time as ",
            false => " after ",
        });
        text.push_str(&cause.title);
    }
    let ended: Vec<&Arc<Member>> = members
        .iter()
        .filter(|member| member.kind == Kind::GpuProcessExit && member.id != main.id)
        .collect();
    let names: Vec<String> = ended
        .iter()
        .take(NAMED)
        .map(|m| who(m.process.as_ref()))
        .collect();
    match ended.len() {
        0 => {}
        n if n > NAMED => text.push_str(&format!("; {n} processes ended")),
        _ => text.push_str(&format!("; {} ended", names.join(" and "))),
    }
    match text.char_indices().nth(LONGEST) {
        Some(_) => {
            let end = text
                .char_indices()
                .nth(LONGEST - 1)
                .map_or(text.len(), |(at, _)| at);
            format!("{}…", &text[..end])
        }
        None => text,
    }
}
