//! Who is answered, and on which sockets.

use super::*;

#[test]
fn over_tcp_only_names_of_this_host_are_answered_and_without_cors() {
    let daemon = Daemon::start();
    let get = |host: &str| {
        daemon.raw_tcp(&format!(
            "GET /healthz HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: close\r\n\r\n"
        ))
    };
    for host in ["localhost:7470", "127.0.0.1", "[::1]:7470"] {
        let (status, answer) = get(host);
        assert_eq!(status, 200, "{host}");
        assert!(
            !answer.to_lowercase().contains("access-control"),
            "{answer}"
        );
    }
    let (status, answer) = get("evil.example:7470");
    assert_eq!(status, 403);
    assert!(answer.contains("evil.example"), "{answer}");
}

fn config(dir: &std::path::Path) -> ApiConfig {
    ApiConfig {
        socket: Some(dir.join("run/socket")),
        store: dir.join("store.db"),
        ..ApiConfig::default()
    }
}

#[test]
fn the_socket_of_a_dead_daemon_is_replaced_and_that_of_a_living_one_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let config = config(dir.path());
    let path = config.socket.clone().unwrap();
    std::fs::create_dir(dir.path().join("run")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());

    let bound = gtrace_http::bind(&config).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o660);
    let error = gtrace_http::bind(&config).unwrap_err().to_string();
    let pid = format!("(pid {})", std::process::id());
    for part in [path.to_str().unwrap(), pid.as_str(), "--socket"] {
        assert!(error.contains(part), "{error}");
    }
    drop(bound);
    assert!(!path.exists());

    std::fs::write(&path, "not a socket").unwrap();
    let error = gtrace_http::bind(&config).unwrap_err().to_string();
    assert!(error.contains("no socket is in the way"), "{error}");
    assert!(path.exists());
}

#[test]
fn a_taken_port_names_its_holder() {
    let dir = tempfile::tempdir().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let taken = ApiConfig {
        listen: Some(address.try_into().unwrap()),
        ..config(dir.path())
    };
    let error = gtrace_http::bind(&taken).unwrap_err().to_string();
    let pid = format!("(pid {})", std::process::id());
    for part in [address.to_string().as_str(), pid.as_str(), "--listen"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(
        !dir.path().join("run/socket").exists(),
        "a failed bind leaves nothing behind"
    );
}
