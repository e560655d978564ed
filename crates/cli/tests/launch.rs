//! `heldset launch`: what an agent's process cannot reach, and what it still can.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use heldset_core::json;
use heldset_core::value::{Object, Value};
use heldset_engine::agents::{Ended, Outside, Preparation, TargetSpec, Task, Turn};
use heldset_outside::Dialler;
use heldset_outside::launch::{Launcher, isolation};

/// Tries everything that a thief would, and tells what it got.
const THIEF: &str = r#"
import glob, json, os, socket, subprocess, sys
import beside
got = []
places = json.load(open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "places.json")))

def attempt(what, act):
    try:
        result = act()
        if result:
            got.append(what + ": " + str(result)[:80])
    except OSError:
        pass

def steal(store, keys, plan, data, link):
    for path in (plan, data, link + "/secret", os.path.join(store, "secret"), os.path.join(keys, "key")):
        attempt("read " + path, lambda: open(path).read())
        attempt("write " + path, lambda: open(path, "a").write("x"))
        attempt("cat " + path, lambda: subprocess.run(["cat", path], capture_output=True).stdout)
        attempt("root " + path, lambda: open("/proc/self/root" + path).read())
        attempt("link " + path, lambda: os.link(path, "mine") or open("mine").read())
        attempt("move " + path, lambda: os.rename(path, "mine") or open("mine").read())
    for folder in (store, keys, os.path.dirname(plan)):
        attempt("list " + folder, lambda: os.listdir(folder))
    parent = os.getppid()
    for name in ("environ", "cmdline", "maps", "mem", "fd", "cwd/plan.yaml", "root" + plan, "task", "status"):
        path = f"/proc/{parent}/{name}"
        attempt("proc " + name, lambda: os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(64))
    attempt("proc fd", lambda: os.listdir(f"/proc/{parent}/fd"))
    for process in glob.glob("/proc/[0-9]*"):
        if process != f"/proc/{os.getpid()}":
            attempt("others", lambda: open(process + "/cmdline").read())
    attempt("kill", lambda: os.kill(parent, 0) or "could")
    for argv in (["ls"], ["cat", "trips"], ["keys", "export", "-o", "k"]):
        argv = [places["heldset"], "--store", store, *argv]
        attempt("heldset", lambda: subprocess.run(argv, capture_output=True, env=dict(os.environ, HELDSET_KEYS=keys)).stdout)
    for name in os.environ:
        if name.startswith("HELDSET"):
            got.append("variable " + name)

def kept():
    open("own.txt", "w").write("mine")
    here = os.path.dirname(os.path.abspath(__file__))
    return [open("own.txt").read(), beside.word(), open(here + "/notes/a.txt").read(), sorted(os.listdir(here)),
            subprocess.run(["sh", "-c", "echo hi >/dev/null; echo $((1+1))"], capture_output=True, text=True).stdout]

for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "turn":
        steal(places["store"], places["keys"], places["plan"], places["data"], places["link"])
        network = "closed"
        try:
            socket.create_connection(("127.0.0.1", int(told["content"])), timeout=5).close()
            network = "open"
        except PermissionError:
            pass
        print(json.dumps({"output": {"got": got, "kept": kept(), "network": network}}), flush=True)
"#;

struct House {
    folder: tempfile::TempDir,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let house = House { folder };
        let root = house.root();
        for (name, text) in [
            ("plan/plan.yaml", "name: secret-plan"),
            ("plan/data.jsonl", "{\"expected_output\": \"secret\"}"),
            ("plan/.heldset/secret", "sealed"),
            ("plan/notes/a.txt", "a note"),
            ("plan/beside.py", "def word(): return 'word'\n"),
            ("plan/thief.py", THIEF),
            ("keys/key", "k"),
        ] {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        std::os::unix::fs::symlink(root.join("plan/.heldset"), root.join("plan/link")).unwrap();
        let places =
            [("store", "plan/.heldset"), ("keys", "keys"), ("plan", "plan/plan.yaml"), ("data", "plan/data.jsonl")];
        let mut told = format!(r#"{{"link":"{}","heldset":"{}""#, root.join("plan/link").display(), binary().display());
        for (name, path) in places {
            told += &format!(r#","{name}":"{}""#, root.join(path).display());
        }
        std::fs::write(root.join("plan/places.json"), told + "}").unwrap();
        house
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the thief, with one turn.
    fn run(&self, network: &str, turn: &str) -> Ended {
        self.drive(&format!(r#"{{"kind":"command","command":["python3","thief.py"],"timeout":60{network}}}"#), turn)
    }

    fn drive(&self, config: &str, turn: &str) -> Ended {
        let root = self.root();
        let launcher = Launcher {
            program: binary(),
            arguments: vec!["launch".into(), "--".into()],
            hidden: vec![root.join("plan/.heldset"), root.join("keys")],
        };
        let scratch = root.join("tmp");
        std::fs::create_dir_all(&scratch).unwrap();
        let dialler = Dialler::new(Arc::new(|name: &str| std::env::var(name).ok()), Some(launcher), scratch);
        let config = json::read(config).unwrap().into_owned().as_object().unwrap().clone();
        let targets = [TargetSpec { scenario: "base".to_owned(), config }];
        let mut agents = dialler
            .prepare(&Preparation {
                targets: &targets,
                max_concurrent: 1,
                run_timeout: None,
                setup_script: None,
                hidden: &[root.join("plan/plan.yaml"), root.join("plan/data.jsonl")],
                base: &root.join("plan"),
            })
            .unwrap_or_else(|refusal| panic!("{}", refusal.message));
        assert_eq!(agents.facts()[0].isolation, Some(isolation()));
        let mut tasks = vec![task(turn)].into_iter();
        let mut ends = Vec::new();
        agents.drive(&mut || tasks.next(), &mut |end| {
            ends.push(end);
            ControlFlow::Continue(())
        });
        ends.remove(0)
    }
}

fn binary() -> std::path::PathBuf {
    assert_cmd::cargo::cargo_bin("heldset")
}

fn task(turn: &str) -> Task {
    Task {
        number: 0,
        target: 0,
        record_id: "r".to_owned(),
        session_id: "s".to_owned(),
        fixed: false,
        seeds: Vec::new(),
        args: None,
        tools: None,
        context: None,
        turns: vec![Turn { role: "user".to_owned(), content: turn.to_owned() }],
        runtime: Object::new(),
        traceparent: String::new(),
    }
}

fn told(end: &Ended, key: &str) -> String {
    assert_eq!(end.failure, None, "{:?}", end.trace.log);
    let output = end.trace.output().unwrap().as_object().unwrap();
    String::from_utf8(heldset_core::canonical::bytes(output.get(key).unwrap_or(&Value::Null))).unwrap()
}

#[test]
fn a_thief_gets_nothing_and_an_agent_keeps_what_it_needs() {
    if isolation() == "none" {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    let house = House::new();
    let end = house.run("", &port);
    assert_eq!(told(&end, "got"), "[]");
    let listed = r#"["beside.py","notes","places.json","thief.py"]"#;
    assert_eq!(told(&end, "kept"), format!(r#"["mine","word","a note",{listed},"2\n"]"#));
    assert_eq!(told(&end, "network"), r#""open""#);
    assert_eq!(std::fs::read_to_string(house.root().join("plan/plan.yaml")).unwrap(), "name: secret-plan");
    let end = house.run(r#","network":"none""#, &port);
    assert_eq!(told(&end, "network"), r#""closed""#);
    let end = house.run(&format!(r#","network":[{port}]"#), &port);
    assert_eq!(told(&end, "network"), r#""open""#);
}

#[test]
fn the_same_thief_gets_it_all_where_nothing_is_taken_away() {
    // Else the test above would pass with a thief that does not try.
    let house = House::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let turn = format!("{{\"type\":\"turn\",\"content\":\"{}\"}}\n", listener.local_addr().unwrap().port());
    let thief = house.root().join("plan/thief.py");
    let output =
        assert_cmd::Command::new("python3").arg(thief).current_dir(house.root()).write_stdin(turn).output().unwrap();
    let got = String::from_utf8_lossy(&output.stdout).into_owned();
    for expected in ["secret-plan", "sealed", "keys/key: k", "proc environ", "proc cmdline", "others", "kill: could"] {
        assert!(got.contains(expected), "{expected} is not in {got}");
    }
}

#[test]
fn a_python_agent_imports_from_the_plans_folder_and_reads_no_secret() {
    let house = House::new();
    let agent = r#"
import beside
def answer(text):
    try:
        return open(text).read()
    except OSError:
        return beside.word()
"#;
    std::fs::write(house.root().join("plan/agent.py"), agent).unwrap();
    let expected = if isolation() == "none" { "\"k\"" } else { "\"word\"" };
    for function in ["agent.py:answer", "agent:answer"] {
        let config = format!(r#"{{"kind":"python","function":"{function}","timeout":60}}"#);
        let end = house.drive(&config, &house.root().join("keys/key").display().to_string());
        assert_eq!(end.failure, None, "{:?}", end.trace.log);
        let output = heldset_core::canonical::bytes(end.trace.output().unwrap());
        assert_eq!(String::from_utf8_lossy(&output), expected);
    }
}

#[test]
fn launch_is_not_for_people() {
    let folder = tempfile::tempdir().unwrap();
    let ran = crate::heldset(folder.path(), &["launch", "--", "true"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("E105"), "{}", ran.err);
    assert!(!crate::heldset(folder.path(), &["--help"]).out.contains("launch"));
}
