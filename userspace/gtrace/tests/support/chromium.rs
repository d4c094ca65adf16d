//! Chromium, headless, driven by the DevTools protocol over a pair of pipes.
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests only"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A loaded machine starts it in several seconds.
const PATIENCE: Duration = Duration::from_secs(60);
/// A browser that lasts longer is killed: whoever waits for it, in a write too, then learns that it is gone.
const LIFETIME: Duration = Duration::from_secs(900);

/// Name of a view, its address, and what is true once it is drawn.
pub type View = (&'static str, String, String);

/// A browser with one page.
pub struct Chromium {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    session: String,
    calls: u64,
    /// What the page asked for, and what its console said of errors.
    pub requests: Vec<String>,
    pub complaints: Vec<String>,
    _profile: tempfile::TempDir,
    /// Ends the thread that kills it.
    _watched: Sender<()>,
}

impl Chromium {
    /// `None` where it is not installed.
    pub fn start() -> Option<Self> {
        let found = Command::new("sh")
            .args(["-c", "command -v chromium"])
            .output();
        if !found.unwrap().status.success() {
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        // The protocol is on the descriptors 3 and 4, messages end with a zero byte.
        let script = "exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args([
                "-c",
                script,
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
            ])
            .args([
                "--remote-debugging-pipe",
                "--no-first-run",
                "--disable-background-networking",
            ])
            .args([
                "--disable-component-update",
                "--disable-sync",
                "--disable-extensions",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (watched, ended) = channel::<()>();
        let pid = child.id();
        std::thread::spawn(move || {
            // Nothing is sent: the browser was dropped first.
            if ended.recv_timeout(LIFETIME) == Err(RecvTimeoutError::Timeout) {
                eprintln!("chromium has run for {LIFETIME:?} and is killed");
                let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            }
        });
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while output
                .read_until(0, &mut message)
                .is_ok_and(|read| read > 0)
            {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else {
                    return;
                };
                if sender.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Self {
            child,
            input,
            messages,
            session: String::new(),
            calls: 0,
            requests: Vec::new(),
            complaints: Vec::new(),
            _profile: profile,
            _watched: watched,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method and waits for its result; what comes meanwhile is noted.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if !self.session.is_empty() {
            call["sessionId"] = json!(self.session);
        }
        let mut text = call.to_string().into_bytes();
        text.push(0);
        self.input.write_all(&text).unwrap();
        // Of all that comes: a page that says much and does not answer is none either.
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left);
            let message = message.unwrap_or_else(|error| panic!("{method}: {error}"));
            if message["id"] != self.calls {
                self.note(&message);
                continue;
            }
            assert!(message["error"].is_null(), "{method}: {message}");
            return message["result"].clone();
        }
    }

    fn note(&mut self, message: &Value) {
        let parameters = &message["params"];
        let complaint = match message["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap();
                self.requests.push(url.to_owned());
                return;
            }
            "Runtime.consoleAPICalled" if parameters["type"] == "error" => &parameters["args"],
            "Runtime.exceptionThrown" => &parameters["exceptionDetails"],
            "Log.entryAdded" if parameters["entry"]["level"] == "error" => &parameters["entry"],
            _ => return,
        };
        self.complaints.push(complaint.to_string());
    }

    /// Window of so many pixels, in a colour scheme.
    pub fn window(&mut self, width: u32, height: u32, scheme: &str) {
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size);
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            json!({ "features": [feature] }),
        );
    }

    /// Opens an address anew.
    pub fn open(&mut self, url: &str) {
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.call("Page.navigate", json!({ "url": url }));
    }

    /// Has each page that is opened run this first; for [`Self::without`].
    pub fn script(&mut self, source: &str) -> Value {
        let source = json!({ "source": source });
        self.call("Page.addScriptToEvaluateOnNewDocument", source)
    }

    pub fn without(&mut self, script: Value) {
        self.call("Page.removeScriptToEvaluateOnNewDocument", script);
    }

    /// The value of an expression, or of what it promises.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true, and gives how long that took.
    pub fn wait(&mut self, what: &str, expression: &str) -> Duration {
        let begun = Instant::now();
        // A page that is just being replaced has no elements.
        let asked =
            format!("(() => {{ try {{ return !!({expression}) }} catch {{ return false }} }})()");
        while self.value(&asked) != true {
            let text = "location.href + '\\n' + (document.body ? document.body.innerText.slice(0, 3000) : '')";
            if begun.elapsed() > PATIENCE {
                panic!(
                    "in vain: {what}\n{}\n{:?}",
                    self.value(text),
                    self.complaints
                );
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        begun.elapsed()
    }

    /// Presses a key that is a letter or a sign.
    pub fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut event = json!({ "type": kind, "key": key });
            if kind == "keyDown" && key.len() == 1 {
                event["text"] = json!(key);
            }
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Writes what is shown as PNG to the folder of the variable GTRACE_PAGE_PICTURES, for docs/page, where somebody asks for it.
    pub fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("GTRACE_PAGE_PICTURES") else {
            return;
        };
        let file = Path::new(&folder).join(name);
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let encoded = file.with_extension("base64");
        fs::write(&encoded, shot["data"].as_str().unwrap()).unwrap();
        let out = fs::File::create(file).unwrap();
        let decoded = Command::new("base64")
            .arg("-d")
            .arg(&encoded)
            .stdout(out)
            .status();
        assert!(decoded.unwrap().success());
        fs::remove_file(encoded).unwrap();
    }

    /// Draws every view, wide and on a phone, light and dark: none is too wide, has a serious fault of accessibility, complains, or
    /// asks elsewhere. Pictures have names with a prefix.
    pub fn draws(&mut self, base: &str, views: &[View], prefix: &str) {
        let axe = axe();
        if axe.is_none() {
            eprintln!("accessibility is not checked: cargo xtask page fetches axe-core");
        }
        let mut faults = Vec::new();
        for (width, height, scheme, form) in [
            (1440, 900, "light", "wide"),
            (1440, 900, "dark", "wide-dark"),
            (390, 844, "light", "phone"),
            (390, 844, "dark", "phone-dark"),
        ] {
            self.window(width, height, scheme);
            for (name, address, drawn) in views {
                self.open(&format!("{base}{address}"));
                let took = self.wait(&format!("{name}, {form}"), drawn);
                eprintln!("{name}, {form}: drawn after {} ms", took.as_millis());
                self.picture(&format!("{prefix}{name}-{form}.png"));
                let beyond = self.value("document.documentElement.scrollWidth - innerWidth");
                let beyond = beyond.as_i64().unwrap();
                if beyond > 0 {
                    faults.push(format!("{name}, {form}: {beyond} pixels too wide"));
                }
                if let Some(axe) = &axe
                    && width > 400
                {
                    let found = self.serious(axe).into_iter();
                    faults.extend(found.map(|one| format!("{name}, {form}: {one}")));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert_eq!(self.complaints, Vec::<String>::new());
        let foreign = |url: &&String| !url.starts_with(base) && !url.starts_with("about:");
        let foreign: Vec<&String> = self.requests.iter().filter(foreign).collect();
        assert_eq!(foreign, Vec::<&String>::new());
    }

    /// Faults that the checker of accessibility calls serious or worse.
    fn serious(&mut self, script: &str) -> Vec<String> {
        self.value(&format!("{script}\n;0"));
        let run = "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa'] }).then((found) => found.violations\
            .filter((one) => ['serious', 'critical'].includes(one.impact))\
            .flatMap((one) => one.nodes.slice(0, 3).map((node) => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary}`)))";
        serde_json::from_value(self.value(run)).unwrap()
    }
}

/// The checker of accessibility, where `cargo xtask page` has fetched it.
fn axe() -> Option<String> {
    let test = std::env::current_exe().unwrap();
    let target = test.ancestors().nth(3).unwrap();
    fs::read_to_string(target.join("page/node_modules/axe-core/axe.min.js")).ok()
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
