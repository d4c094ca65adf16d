use super::*;

fn with(change: impl FnOnce(&mut Keys)) -> Result<Config, ConfigError> {
    let mut keys = Keys::default();
    change(&mut keys);
    Config::from_keys(keys)
}

#[test]
fn failures_are_named_numbered_all_or_none() {
    let parse = |text: &str| parse_call_failures(text);
    let failures = parse("no_memory,0x0f,NV_ERR_TIMEOUT").unwrap();
    let has = |status: usize| failures.statuses[status / 64] >> (status % 64) & 1 == 1;
    assert!(has(0x51) && has(0x0f) && has(0x65) && !has(0x56));
    let errno = |e: i32| failures.errnos[e as usize / 64] >> (e % 64) & 1 == 1;
    assert!(errno(libc::EIO) && errno(libc::ETIMEDOUT) && !errno(libc::EINVAL));
    assert_eq!(parse("none").unwrap(), CallFailures::default());
    assert_eq!(parse("all").unwrap().statuses[0] & 3, 2);
    for wrong in ["0", "0x10000", "no_such", "256"] {
        assert!(parse(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn defaults_are_valid_and_listen_on_loopback_only() {
    let config = with(|_| {}).unwrap();
    assert_eq!(config.listen, Some(ReadAddress::DEFAULT));
    assert!(config.listen_https.is_empty() && config.access.is_none());
    assert_eq!(config.store(), Path::new("/var/lib/gtrace/store.db"));
}

#[test]
fn bad_values_name_key_cause_and_what_is_allowed() {
    type Change = fn(&mut Keys);
    let cases: [(Change, &str, &str); 23] = [
        (
            |k| k.otlp_url = Some("collector:4317".into()),
            "otlp_url",
            "http://127.0.0.1:4318",
        ),
        (
            |k| {
                k.otlp_url = Some("http://collector:4318".into());
                k.otlp_token_file = Some("/token".into());
            },
            "otlp_url",
            "https",
        ),
        (
            |k| k.disk_low_percent = Some(101.0),
            "disk_low_percent",
            "0 to 100",
        ),
        (
            |k| k.limits_high_percent = Some(99.0),
            "limits_high_percent",
            "limits_full_percent",
        ),
        (
            |k| k.plugins = Some("plugins.d".into()),
            "plugins",
            "absolute",
        ),
        (
            |k| {
                k.plugins = Some("/plugins.d".into());
                k.plugins_deadline_s = Some(60);
            },
            "plugins_deadline_s",
            "less than",
        ),
        (
            |k| k.alertmanager_url = Some("127.0.0.1:9093".into()),
            "alertmanager_url",
            "http://127.0.0.1:9093",
        ),
        (
            |k| k.alertmanager_url = Some("http://am,".repeat(9)),
            "alertmanager_url",
            "at most 8",
        ),
        (
            |k| {
                k.alertmanager_url = Some("https://a, http://b".into());
                k.alertmanager_token_file = Some("/token".into());
            },
            "alertmanager_url",
            "https",
        ),
        (
            |k| k.alertmanager_runbook_url = Some("wiki".into()),
            "alertmanager_runbook_url",
            "{class}",
        ),
        (|k| k.state_dir = Some("".into()), "state_dir", "empty"),
        (|k| k.sample_history_mb = Some(8), "sample_history_mb", "9"),
        (|k| k.evidence_mb = Some(15), "evidence_mb", "16"),
        (
            |k| k.recording_after_s = Some(0),
            "recording_after_s",
            "600",
        ),
        (
            |k| k.listen = Some("0.0.0.0:7470".into()),
            "listen",
            "https://0.0.0.0:7470",
        ),
        (
            |k| k.listen = Some("https://0.0.0.0:7471".into()),
            "listen",
            "tls_cert",
        ),
        (
            |k| k.tls_cert = Some("/etc/gtrace/tls.pem".into()),
            "tls_key",
            "tls_cert",
        ),
        (
            |k| k.listen = Some("7470".into()),
            "listen",
            "127.0.0.1:7470",
        ),
        (
            |k| k.disabled_sources = Some("kmsg".into()),
            "disabled_sources",
            "/dev/kmsg",
        ),
        (
            |k| k.devices = Some("nvidia0".into()),
            "devices",
            "MAJOR[:MINOR]",
        ),
        (
            |k| k.cuda_api_budget = Some(-1.0),
            "cuda_api_budget",
            "0 to 100",
        ),
        (|k| k.compat = Some("gpud,dmcg".into()), "compat", "`dcgm`"),
        (|k| k.ring_bytes = Some(5000), "ring_bytes", "power of two"),
    ];
    for (change, key, hint) in cases {
        let text = with(change).unwrap_err().to_string();
        assert!(text.contains(key) && text.contains(hint), "{text}");
    }
}

#[test]
fn a_flag_wins_over_the_file_and_an_unknown_key_is_refused_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("gtrace.toml");
    fs::write(&file, "slow_call_ms = 5\ndedup_window_s = 7\n").unwrap();
    let flags = Keys {
        slow_call_ms: Some(9),
        ..Keys::default()
    };
    let config = Config::load(Some(&file), flags).unwrap();
    assert_eq!(config.slow_call, Some(Duration::from_millis(9)));
    assert_eq!(config.dedup_window, Duration::from_secs(7));
    fs::write(&file, "slow_call_ms = 5\nlissten = \"off\"\n").unwrap();
    let error = Config::load(Some(&file), Keys::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("line 2") && error.contains("lissten"),
        "{error}"
    );
}

#[test]
fn times_that_mean_never_overflow_no_clock() {
    let config = with(|k| {
        for key in [
            &mut k.dedup_window_s,
            &mut k.hung_call_s,
            &mut k.nvml_interval_s,
            &mut k.contention_s,
            &mut k.pci_interval_s,
            &mut k.pressure_interval_s,
            &mut k.probe_cost_interval_s,
        ] {
            *key = Some(u64::MAX);
        }
    });
    let config = config.unwrap();
    for time in [
        Some(config.dedup_window),
        config.hung_call,
        config.nvml_interval,
        config.contention,
        config.pci_interval,
        config.pressure.interval,
        config.probe_cost_interval,
    ] {
        assert!(
            std::time::Instant::now()
                .checked_add(time.unwrap())
                .is_some()
        );
    }
}

#[test]
fn every_component_can_be_switched_off_by_its_name() {
    let names: Vec<_> = component::all().map(|c| c.name()).collect();
    for name in &names {
        let config = with(|k| k.disabled_sources = Some((*name).to_owned())).unwrap();
        assert!(config.disabled.contains(name), "{name}");
    }
    let config = with(|k| k.disabled_sources = Some("driver_modules,pressure".into())).unwrap();
    assert_eq!(config.disabled_sources, driver_modules::PROBES);
    assert_eq!(config.pressure.interval, None);
    let calls = |disabled: &str| {
        let keys = |k: &mut Keys| {
            (k.cuda_api, k.disabled_sources) = (Some(true), Some(disabled.to_owned()));
        };
        with(keys).unwrap().cuda_api
    };
    assert!(calls("") && !calls("cuda"));
    assert!(with(|_| {}).unwrap().disabled.contains(&"cuda"));
    let error = with(|k| k.disabled_sources = Some("nvlm".into())).unwrap_err();
    assert!(error.to_string().contains(&names.join(", ")), "{error}");
}

#[test]
fn addresses_on_loopback_and_beyond_are_distinguished() {
    let config = with(|k| {
        k.listen = Some("http://[::1]:1, https://0.0.0.0:2,https://[::]:3".into());
        k.tls_cert = Some("cert.pem".into());
        k.tls_key = Some("key.pem".into());
    });
    let config = config.unwrap();
    assert_eq!(config.listen.map(|a| SocketAddr::from(a).port()), Some(1));
    let ports: Vec<_> = config.listen_https.iter().map(SocketAddr::port).collect();
    assert_eq!(ports, [2, 3]);
    let files = config.access.unwrap();
    assert_eq!(
        files.credentials,
        Path::new(gtrace_tls::DEFAULT_CREDENTIALS)
    );
    let error = with(|k| k.listen = Some("127.0.0.1:1,127.0.0.1:2".into())).unwrap_err();
    assert!(
        error.to_string().contains("one address on loopback"),
        "{error}"
    );
}

#[test]
fn devices_take_majors_minors_and_auto() {
    let config = with(|k| k.devices = Some("1:3, 195".into())).unwrap();
    let any = DeviceFilter::ANY_MINOR;
    let want = vec![
        DeviceFilter { major: 1, minor: 3 },
        DeviceFilter {
            major: 195,
            minor: any,
        },
    ];
    assert_eq!(config.devices, Some(want));
    assert_eq!(with(|_| {}).unwrap().devices, None);
}

#[test]
fn a_head_has_labels_and_bounds() {
    assert_eq!(with(|_| {}).unwrap().head, None);
    let of = |labels: &str| {
        with(|keys| {
            keys.head = Some("https://head:7481".into());
            keys.head_labels = Some(labels.into());
            keys.head_rate = Some(0);
        })
    };
    let head = of("rack=r7, feed=b").unwrap().head.unwrap();
    let (rack, feed) = (&head.labels["rack"], &head.labels["feed"]);
    assert_eq!((rack.as_str(), feed.as_str()), ("r7", "b"));
    assert_eq!(
        (head.rate, head.sessions, head.reports, head.page),
        (None, false, false, false)
    );
    for wrong in ["rack", "rack=a b", "=x"] {
        let error = of(wrong).unwrap_err().to_string();
        assert!(error.contains("head_labels"), "{error}");
    }
    let error = with(|keys| keys.head = Some("head:7481".into())).unwrap_err();
    assert!(error.to_string().contains("https://"), "{error}");
    let through = |site: &str, key: Option<&str>| {
        with(|keys| {
            keys.head = Some("nats://n1,n2".into());
            keys.head_site = Some(site.into());
            keys.head_nats_cert = Some("cert.pem".into());
            keys.head_nats_key = key.map(Into::into);
        })
    };
    let nats = through("berlin", Some("key.pem"))
        .unwrap()
        .head
        .unwrap()
        .nats;
    assert_eq!(nats.site, "berlin");
    assert!(nats.identity.is_some());
    let error = through("a.b", Some("key.pem")).unwrap_err().to_string();
    assert!(error.contains("head_site"), "{error}");
    let error = through("berlin", None).unwrap_err().to_string();
    assert!(error.contains("head_nats_key"), "{error}");
    for head in [None, Some("https://head.example.com:7481")] {
        let error = with(|keys| {
            keys.head = head.map(Into::into);
            keys.head_nats_ca = Some("ca.pem".into());
        });
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("head_nats_ca") && error.contains("nats://"),
            "{error}"
        );
    }
}

#[test]
fn the_packaged_example_has_every_key_at_its_default() {
    let example = include_str!("../../../../packaging/gtrace.toml");
    let keys: String = example
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| {
            line.split_once(" = ")
                .is_some_and(|(key, _)| !key.contains(' '))
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let example: Keys = toml::from_str(&keys).unwrap();
    let defaults = Config::defaults();
    let expected = Keys {
        // Without a default, so the example names where they usually lie.
        alertmanager_token_file: example.alertmanager_token_file.clone(),
        alertmanager_ca_file: example.alertmanager_ca_file.clone(),
        alertmanager_runbook_url: example.alertmanager_runbook_url.clone(),
        otlp_token_file: example.otlp_token_file.clone(),
        otlp_ca_file: example.otlp_ca_file.clone(),
        tls_cert: example.tls_cert.clone(),
        tls_key: example.tls_key.clone(),
        tls_client_ca: example.tls_client_ca.clone(),
        tls_client_crl: example.tls_client_crl.clone(),
        site_policy: example.site_policy.clone(),
        triggers: example.triggers.clone(),
        nvml_library: example.nvml_library.clone(),
        nvsentinel_socket: example.nvsentinel_socket.clone(),
        plugins: example.plugins.clone(),
        head: example.head.clone(),
        head_nats_credentials: example.head_nats_credentials.clone(),
        head_nats_ca: example.head_nats_ca.clone(),
        head_nats_cert: example.head_nats_cert.clone(),
        head_nats_key: example.head_nats_key.clone(),
        ..defaults
    };
    assert!(expected.site_policy.is_some() && expected.nvml_library.is_some());
    assert!(expected.triggers.is_some() && expected.plugins.is_some());
    assert!(expected.head.is_some() && expected.head_nats_credentials.is_some());
    assert!(expected.head_nats_ca.is_some());
    assert!(expected.head_nats_cert.is_some() && expected.head_nats_key.is_some());
    assert!(expected.tls_cert.is_some() && expected.tls_key.is_some());
    assert!(expected.tls_client_ca.is_some() && expected.tls_client_crl.is_some());
    assert!(expected.alertmanager_token_file.is_some());
    assert!(expected.alertmanager_ca_file.is_some());
    assert!(expected.alertmanager_runbook_url.is_some());
    assert!(expected.otlp_token_file.is_some() && expected.otlp_ca_file.is_some());
    assert_eq!(example, expected);
}
