//! `gtrace report`: one file that explains an incident, and what checks and unpacks such a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use gtrace_collect::report::{Question, gather, window_around};
use gtrace_event::{Incident, IncidentId, Timestamp};
use gtrace_report::{Material, Report, Verified, Window, sign};
use gtrace_store::{IncidentFilter, Reader};

use super::duration;
use super::ids::{find, is_event};
use super::new_file::{check, create};
use super::shared::{self, Exit, Failure, Instance, StorePlace};
use crate::render;

/// How times are said.
const UTC: &str = "%Y-%m-%d %H:%M:%S UTC";
/// Incidents that are searched for a part of an id, at most.
const SEARCHED: usize = 1_000;

/// Write one file that explains an incident: a page that needs no network, to attach to a postmortem.
///
/// Without an incident or a time it is about the newest incident. `report verify` checks such a file, `report open`
/// takes out the files in it.
///
/// Exit status: 0 it is written, 1 there is no such incident, or nothing is recorded of the time, and nothing is written;
/// 2 wrong usage, 3 not possible.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
    /// The incident's id, or at least 6 characters of its beginning or end.
    #[arg(long, value_name = "ID", conflicts_with_all = ["around", "since", "until"])]
    incident: Option<String>,
    /// The time around this one: an age (30m, 2h), RFC 3339, or local time.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time, conflicts_with_all = ["since", "until"])]
    around: Option<Timestamp>,
    /// How much time around the incident, or around --around: half of it before and after.
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = duration::seconds, conflicts_with = "since")]
    window: Duration,
    /// The time from this one on.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_local_time)]
    since: Option<Timestamp>,
    /// The time up to this one; by default now.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = shared::parse_end_time, requires = "since")]
    until: Option<shared::End>,
    /// File to write, directory to write it to, or - for standard output; by default the current directory.
    #[arg(long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// A page for people, or a .tar.zst of the files in it.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Replace names of hosts, users, processes, containers and paths by pseudonyms.
    #[arg(long)]
    redact: bool,
    /// Sign it with this private key of OpenSSH (ed25519), into FILE.sig.
    #[arg(long, value_name = "KEY")]
    sign: Option<PathBuf>,
    /// A saved kernel log; by default that of the running kernel.
    #[arg(long, value_name = "FILE")]
    kernel_log: Option<PathBuf>,
    #[command(flatten)]
    place: StorePlace,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// One file of HTML.
    #[default]
    Html,
    /// A .tar.zst.
    Bundle,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum What {
    /// Check every byte of a report, the store's records in it, and its signature.
    Verify(Verify),
    /// Take the files out of a report.
    Open(Open),
}

#[derive(Clone, Debug, clap::Args)]
struct Verify {
    /// The report, a page or a bundle.
    file: PathBuf,
    /// Its signature; by default FILE.sig where that is there.
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The public key that has to have signed it.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
}

#[derive(Clone, Debug, clap::Args)]
struct Open {
    /// The report, a page or a bundle.
    file: PathBuf,
    /// Directory to write to; by default one called as the report.
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
///
/// Why it is not done; what standard output says, a closed pipe aside, and a configuration that is refused.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let (exit, text) = match &args.what {
        None => write(&args, &args.place.resolve()?),
        Some(What::Verify(verify)) => self::verify(verify),
        Some(What::Open(open)) => self::open(open),
    }?;
    shared::print(&text)?;
    Ok(exit.into())
}

/// Writes the report on an incident of the daemon that `config` configures, with a saved kernel log; answers with the file's
/// name.
pub(super) fn of_incident(
    config: &Path,
    incident: IncidentId,
    kernel_log: &Path,
    out: Option<PathBuf>,
) -> Result<String, Failure> {
    let mut place = StorePlace::default();
    place.place.config = Some(config.to_owned());
    let instance = place.resolve().map_err(Failure::not_possible)?.quiet();
    let args = Args {
        what: None,
        incident: Some(incident.to_string()),
        around: None,
        window: Duration::from_secs(600),
        since: None,
        until: None,
        out,
        format: Format::Html,
        redact: false,
        sign: None,
        kernel_log: Some(kernel_log.to_owned()),
        place,
    };
    write(&args, &instance).map(|(_, file)| file)
}

/// How it ended, and what to print.
type Done = Result<(Exit, String), Failure>;

fn write(args: &Args, instance: &Instance) -> Done {
    let path = instance.store().map_err(Failure::not_possible)?;
    // What is wrong with the key is said before anything is written.
    let key = args.sign.as_deref().map(text).transpose()?;
    if instance.is_together() {
        // Without a daemon the store is as new as it gets.
        let _ = instance.client().flush();
    }
    let failed = |error| Failure::not_possible(format!("cannot read the store: {error}"));
    let reader = Reader::open(path).map_err(failed)?;
    instance.say_store(path);
    // The newest incident of the store is then not the newest.
    instance.say_unstored();
    let (incident, window) = subject(args, &reader)?;
    let question = Question {
        incident,
        window,
        kernel_log: args.kernel_log.clone(),
        samples: Some(gtrace_engine::history::directory(path)),
        recorder: Some(gtrace_engine::recorder::directory(path)),
        evidence: Some(gtrace_engine::recorder::evidence_directory(path)),
        generator: format!("gtrace {}", env!("CARGO_PKG_VERSION")),
    };
    let client = instance.is_together().then(|| instance.reading_client());
    let material = gather(question, &reader, client).map_err(failed)?;
    if material.incident.is_none() && material.events.is_empty() {
        let nothing = is_empty(&material);
        let newest = newest(&reader);
        let why = no_event(window, newest, nothing);
        match nothing {
            true => return Err(Failure(Exit::Problem, why)),
            false => shared::say(&why),
        }
    }
    let report = match args.redact {
        true => {
            Report::redacted(&material)
                .map_err(Failure::not_possible)?
                .0
        }
        false => Report::new(material),
    };
    let (bytes, ending) = match args.format {
        Format::Html => (report.html(), "html"),
        Format::Bundle => (report.bundle(), "tar.zst"),
    };
    let bytes = bytes.map_err(Failure::not_possible)?;
    let signature = key.map(|key| sign::sign(&bytes, &key)).transpose();
    let signature = signature.map_err(Failure::not_possible)?;
    if args.out.as_deref() == Some(Path::new("-")) {
        if signature.is_some() {
            let why =
                "--sign writes a second file beside the report: name a file with --out".to_owned();
            return Err(Failure(Exit::Usage, why));
        }
        shared::print_bytes(&bytes).map_err(Failure::not_possible)?;
        return Ok((Exit::Success, String::new()));
    }
    let file = target(
        args.out.as_deref(),
        &format!("{}.{ending}", report.file_stem()),
    );
    let signature = signature.map(|signature| (signature_of(&file), signature));
    if let Some((file, _)) = &signature {
        check(file)?;
    }
    create(&file, &bytes)?;
    let mut written = format!("{}\n", file.display());
    if let Some((file, signature)) = signature {
        create(&file, signature.as_bytes())?;
        written.push_str(&format!("{}\n", file.display()));
    }
    Ok((Exit::Success, written))
}

/// Whether there is nothing at all of the time.
fn is_empty(material: &Material) -> bool {
    material.events.is_empty()
        && material.kernel_log.is_empty()
        && material.calls.is_empty()
        && material.samples.is_empty()
        && material.latency.is_empty()
}

/// When the newest event of the store happened.
fn newest(reader: &Reader) -> Option<Timestamp> {
    let newest = gtrace_store::Filter {
        limit: Some(1),
        ..gtrace_store::Filter::default()
    };
    let events = reader.query(&newest).ok()?;
    events.last().map(|event| event.time)
}

/// Why a report of a time without events is not made (`nothing` else is there either), or has none.
fn no_event(window: Window, newest: Option<Timestamp>, nothing: bool) -> String {
    let Window { from, to } = window;
    let (from, to) = (from.strftime(UTC), to.strftime(UTC));
    let what = match nothing {
        true => format!(
            "nothing is recorded from {from} to {to}: no event, no sample, no record of the kernel log; no report \
             is written"
        ),
        false => format!(
            "no event is recorded from {from} to {to}; the report has the rest of that time"
        ),
    };
    match newest {
        Some(time) => format!(
            "{what}. The newest event is of {}: gtrace events lists them",
            time.strftime(UTC)
        ),
        None => format!("{what}. The store has no event"),
    }
}

/// What the report is to be about.
fn subject(args: &Args, reader: &Reader) -> Result<(Option<Incident>, Window), Failure> {
    if let Some(around) = args.around {
        return Ok((None, window_around(around, around, args.window)));
    }
    if let Some(from) = args.since {
        let end = |end: shared::End| end.after(Some(from));
        let to = args.until.map_or_else(Timestamp::now, end);
        if to <= from {
            return Err(Failure::usage("--until is not later than --since"));
        }
        return Ok((None, Window { from, to }));
    }
    let incident = incident(args.incident.as_deref(), reader)?;
    let window = window_around(
        incident.opened,
        incident.last_time.max(incident.opened),
        args.window,
    );
    Ok((Some(incident), window))
}

fn incident(part: Option<&str>, reader: &Reader) -> Result<Incident, Failure> {
    let limit = Some(if part.is_some() { SEARCHED } else { 1 });
    let filter = IncidentFilter {
        limit,
        ..IncidentFilter::default()
    };
    let whole = part.and_then(|part| part.parse().ok());
    let found = match whole {
        Some(id) => reader
            .incident(id)
            .map(|incident| incident.into_iter().collect()),
        None => reader.incidents(&filter),
    };
    let mut incidents: Vec<Incident> = found.map_err(Failure::not_possible)?;
    let Some(part) = part else {
        return incidents.pop().ok_or_else(|| {
            let why = "the store has no incident: name a time with --around or --since";
            Failure(Exit::Problem, why.to_owned())
        });
    };
    if let Ok(event) = part.parse()
        && incidents.is_empty()
        && matches!(reader.event(event), Ok(Some(_)))
    {
        return Err(is_event(event));
    }
    let id = find(
        "incident",
        part,
        incidents.iter().map(|incident| incident.id),
    )?;
    let at = incidents.iter().position(|incident| incident.id == id);
    at.map(|at| incidents.swap_remove(at)).ok_or_else(|| {
        Failure(
            Exit::Problem,
            format!("the store has no incident {}", render::clean(part)),
        )
    })
}

/// Where to write.
fn target(out: Option<&Path>, name: &str) -> PathBuf {
    match out {
        None => PathBuf::from(name),
        Some(out) if out.is_dir() => out.join(name),
        Some(out) => out.to_owned(),
    }
}

fn signature_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(sign::ENDING);
    name.into()
}

fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        Failure::not_possible(format!("{} cannot be read: {error}", path.display()))
    })
}

fn text(path: &Path) -> Result<String, Failure> {
    String::from_utf8(bytes(path)?)
        .map_err(|_| Failure::not_possible(format!("{} is no text", path.display())))
}

fn verify(args: &Verify) -> Done {
    let report = bytes(&args.file)?;
    let verified = gtrace_report::verify(&report);
    let mut exit = Exit::Success;
    let verdict = match (verified.is_report, verified.is_intact()) {
        (false, _) => "NOT A REPORT",
        (true, true) => "intact",
        (true, false) => "MODIFIED",
    };
    if !verified.is_intact() {
        exit = Exit::Problem;
    }
    let file = args.file.display();
    let mut out = render::clean(&format!("{file}: {verdict}"));
    out.push('\n');
    out.push_str(&findings(&verified));
    match signed(args, &report) {
        Ok(Some(key)) if args.key.is_some() => {
            out.push_str(&format!("signed by {key}, the key that was asked for\n"))
        }
        Ok(Some(key)) => out.push_str(&format!(
            "signed by {key}; whose key that is, --key checks\n"
        )),
        Ok(None) if args.key.is_some() => {
            out.push_str("not signed, and a key was asked for\n");
            exit = Exit::Problem;
        }
        Ok(None) => out.push_str("not signed\n"),
        Err(why) => {
            out.push_str(&format!("signature: {why}\n"));
            exit = Exit::Problem;
        }
    }
    Ok((exit, out))
}

/// Fingerprint of the key that signed; `None` where there is no signature.
fn signed(args: &Verify, report: &[u8]) -> Result<Option<String>, String> {
    let usual = signature_of(&args.file);
    let signature = match &args.signature {
        Some(signature) => signature,
        None if usual.exists() => &usual,
        None => return Ok(None),
    };
    let read = |path: &Path| text(path).map_err(|Failure(_, why)| why);
    let key = args.key.as_deref().map(read).transpose()?;
    let checked = sign::check(report, &read(signature)?, key.as_deref());
    checked.map(Some).map_err(|error| error.to_string())
}

/// What verifying has found, a line each.
fn findings(verified: &Verified) -> String {
    let mut out = String::new();
    for finding in &verified.findings {
        out.push_str(&render::clean(&format!(
            "{}: {}",
            finding.part, finding.why
        )));
        out.push('\n');
    }
    if let Some(chain) = &verified.chain {
        out.push_str(&format!(
            "records {} to {} of the store: the hash chain is whole, the last has hash {}\n",
            chain.first_seq, chain.last_seq, chain.last
        ));
    }
    out.push_str(&format!(
        "files that are intact: {}\n",
        verified.files.len()
    ));
    out
}

fn open(args: &Open) -> Done {
    let verified = gtrace_report::verify(&bytes(&args.file)?);
    if verified.files.is_empty() {
        return Err(Failure(
            Exit::Problem,
            findings(&verified).trim_end().to_owned(),
        ));
    }
    let stem = args.file.file_name().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix(".html").or(stem.strip_suffix(".tar.zst"));
    let directory = match (&args.to, stem) {
        (Some(to), _) => to.clone(),
        (None, Some(stem)) => PathBuf::from(stem),
        (None, None) => {
            let why = "name a directory with --to: the report's name ends neither in .html nor in .tar.zst";
            return Err(Failure(Exit::Usage, why.to_owned()));
        }
    };
    fs::create_dir_all(&directory).map_err(|error| {
        Failure::not_possible(format!("{} cannot be made: {error}", directory.display()))
    })?;
    let mut out = String::new();
    for (name, bytes) in &verified.files {
        let path = directory.join(name);
        create(&path, bytes)?;
        out.push_str(&format!("{}\n", path.display()));
    }
    if verified.is_intact() {
        return Ok((Exit::Success, out));
    }
    shared::say(&format!(
        "only what is intact was written\n{}",
        findings(&verified).trim_end()
    ));
    Ok((Exit::Problem, out))
}
