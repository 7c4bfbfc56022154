//! What a program may and may not.

use cooperage_plugins::Stream;

use crate::rig::{Rig, create};

#[tokio::test]
async fn it_runs_as_somebody_else_in_a_place_of_its_own() {
    let script = "#!/bin/sh\ncat > order.json\n\
        say() { printf '{\"log\": \"%s\"}\\n' \"$*\"; }\n\
        say uid $(id -u) groups $(id -G)\nsay cwd $(pwd)\nsay home $HOME $(stat -c %a $HOME)\n\
        for name in $(env | cut -d= -f1); do say env $name; done\n\
        say files $(ulimit -n) core $(ulimit -c) memory $(ulimit -v)\nsay open $(ls /proc/$$/fd | tr '\\n' ' ')\n\
        say privileges $(grep NoNewPrivs /proc/self/status | cut -f2)\n\
        say arguments $#\nsay secret $(tr '\\0' ' ' < /proc/$$/cmdline | grep -c hunter2) $(env | grep -c hunter2)\n\
        echo '{\"result\": {}}'\n";
    let rig = Rig::new().with_script(script);
    // Without the mark that exec closes it.
    let inherited = rustix::io::dup(std::fs::File::open("/dev/null").unwrap()).unwrap();
    let report = rig.execute(create()).await;
    assert_eq!(report.status, 0, "{report:?}");
    let said = rig.noted.of(Stream::Stdout);
    let line = |word: &str| {
        said.iter().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("{word}: {said:?}"))
    };
    if rustix::process::geteuid().is_root() {
        assert_eq!(line("uid"), "uid 65534 groups 65534");
        assert_eq!(line("privileges"), "privileges 1");
    } else {
        println!("not root: that it runs as another user is not tested");
    }
    let home = line("home").split(' ').nth(1).unwrap();
    assert!(
        line("home").ends_with(" 700") && !std::path::Path::new(home).exists(),
        "private, and gone: {said:?}"
    );
    assert!(line("cwd").ends_with("/work"));
    let mut variables: Vec<&str> = said.iter().filter_map(|line| line.strip_prefix("env ")).collect();
    variables.retain(|name| !["PWD", "_", "SHLVL", "OLDPWD"].contains(name));
    variables.sort_unstable();
    assert_eq!(
        variables,
        ["CARGO_PKG_NAME", "HOME", "LANG", "PATH", "TMPDIR"],
        "only what its descriptor asks for"
    );
    assert_eq!(line("files"), &format!("files 64 core 0 memory {}", 512 * 1024));
    // The shell itself holds its script open as 10, and a pipe as 3.
    assert_eq!(line("open"), "open 0 1 10 2 3", "and not {inherited:?}");
    assert_eq!((line("arguments").as_str(), line("secret").as_str()), ("arguments 0", "secret 0 0"));
}

#[tokio::test]
async fn one_that_takes_too_much_memory_fails() {
    let script = "#!/usr/bin/python3\nimport sys\nsys.stdin.read()\nx = bytearray(300 << 20)\nprint('{\"result\": {}}')\n";
    let rig = Rig::new().with_script(script);
    assert_eq!(rig.execute(create()).await.status, 0);
    let report = rig.execute_within(create(), 128).await;
    assert!(report.status == 1 && report.stderr.contains("MemoryError"), "{report:?}");
}

#[tokio::test]
async fn what_the_server_keeps_is_closed_to_it() {
    if !rustix::process::geteuid().is_root() {
        println!("not root: it runs as the server's own user, and this is not tested");
        return;
    }
    let rig = Rig::new();
    let runs = rig.runs();
    let rig =
        rig.with_script(&format!("#!/bin/sh\nls {} >&2 && echo '{{\"result\": {{}}}}'\n", runs.display()));
    let report = rig.execute(create()).await;
    assert!(report.status == 1 && report.stderr.contains("Permission denied"), "{report:?}");
}
