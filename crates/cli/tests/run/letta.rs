//! Suites of Letta against a server that speaks its paths, with the user's own Python files.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{answer, at, balance, row_of, rows};
use crate::{Store, store};

/// Agents by id; each answers with a call of its tool, which names the item that it was made for.
const SERVER: &str = r#"
import http.server, json, re
agents, setups = {}, []
class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *args): pass
    def answer(self, body, status=200):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
    def do_GET(self):
        self.answer([] if "blocks" in self.path else {"id": "x", "name": "x"})
    def do_PATCH(self):
        self.body(); self.answer({"id": "x"})
    def do_DELETE(self):
        self.answer({})
    def do_POST(self):
        body = self.body()
        found = re.match(r"/v1/agents/([^/]+)/messages", self.path)
        if found:
            name = agents[found.group(1)]
            text = f"Updated inventory for {name} with a quantity change of 20"
            self.answer({"messages": [
                {"message_type": "tool_call_message", "tool_call": {"name": "evals_ci_manage_inventory_tool", "arguments": "{}", "tool_call_id": "c1"}},
                {"message_type": "tool_return_message", "tool_call_id": "c1", "tool_return": text, "status": "success"},
                {"message_type": "assistant_message", "content": "done"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 2}})
        else:
            made = f"agent-{len(agents)}"
            agents[made] = body.get("name", "?")
            self.answer({"id": made, "name": agents[made]})
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

/// A server that ends with the test.
struct Server(Child, u16);

impl Server {
    fn start(store: &Store) -> Server {
        store.write("server.py", SERVER);
        let mut command = Command::new("python3");
        let mut child = command.arg(store.path().join("server.py")).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Server(child, line.trim().parse().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _waited = self.0.wait();
    }
}

const FACTORY: &str = r#"
from letta_evals.decorators import agent_factory

@agent_factory
async def create_inventory_agent(client, sample):
    item = sample.agent_args["item"]
    agent = await client.agents.create(name=item["name"])
    return agent.id
"#;

const SETUP: &str = r#"
from letta_evals.decorators import suite_setup

@suite_setup
def prepare_evaluation(client):
    client.agents.create(name="set up")
"#;

const GRADER: &str = r#"
from letta_evals.decorators import grader, extractor, reward_composer
from letta_evals.models import GradeResult

@grader
def lengthy(sample, submission):
    return GradeResult(score=min(1.0, len(submission) / 10), rationale=f"{sample.id}: {sample.ground_truth}")

@extractor
def shouted(trajectory, config):
    return trajectory[-1][-1].content.upper() + config.get("end", "")

@reward_composer
def both(ctx):
    return 0.5 * ctx.grades["long"].score + 0.5 * ctx.grades["loud"].score
"#;

#[test]
fn an_agent_is_made_by_a_script_for_each_case() {
    let Some(fixtures) = std::env::var_os("HELDSET_COMPAT_DIR") else {
        eprintln!("skipped: other people's files are not at hand (set HELDSET_COMPAT_DIR)");
        return;
    };
    let store = store();
    let server = Server::start(&store);
    let fixture = std::path::Path::new(&fixtures).join("letta/programmatic-agent-creation");
    for name in ["suite.yaml", "dataset.jsonl"] {
        std::fs::copy(fixture.join(name), store.path().join(name)).unwrap();
    }
    store.write("create_agent.py", FACTORY);
    store.write("setup.py", SETUP);
    store.write(
        "target.yaml",
        &format!(
            "kind: letta_agent\nbase_url: http://127.0.0.1:{}/\nagent_script: create_agent.py:create_inventory_agent\n",
            server.1
        ),
    );
    let ran = store.run(&["run", "suite.yaml", "--target", "target.yaml", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let done = answer(&ran);
    assert_eq!(balance(&done), [5, 5, 0, 0, 0], "{}", ran.err);
    let rows = rows(&store, at(&done, &["run"]).as_str().unwrap());
    for id in ["0", "1", "2"] {
        assert_eq!(at(&row_of(&rows, id), &["outcome"]).as_str(), Some("pass"), "{id}");
    }
}

#[test]
fn graders_extractors_and_rewards_in_python_are_asked() {
    let store = store();
    store.write(
        "cases.jsonl",
        "{\"input\": \"abcd\", \"ground_truth\": \"x\"}\n{\"input\": \"abcdefghijkl\", \"ground_truth\": \"y\"}\n",
    );
    store.write("own.py", GRADER);
    store.write("suite.yaml", "name: own\ndataset: cases.jsonl\ntarget: {kind: echo}\ngraders:\n  long: {kind: tool, function: own.py:lengthy}\n  loud: {kind: tool, function: contains, extractor: own.py:shouted, extractor_config: {end: x}}\nreward: {kind: custom, function: own.py:both}\n");
    let ran = store.run(&["run", "suite.yaml", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let done = answer(&ran);
    assert_eq!(balance(&done), [2, 2, 0, 0, 0], "{}", ran.err);
    let rows = rows(&store, at(&done, &["run"]).as_str().unwrap());
    let score = |id: &str, name: &str| super::number(&row_of(&rows, id), &["scores", name, "score"]);
    assert_eq!((score("0", "long"), score("0", "loud"), score("0", "reward")), (0.4, 1.0, 0.7));
    assert_eq!((score("1", "long"), score("1", "loud"), score("1", "reward")), (1.0, 0.0, 0.5));
}

#[test]
fn an_ambiguous_accuracy_is_asked_about() {
    let store = store();
    store.write("cases.jsonl", "{\"input\": \"4\", \"ground_truth\": \"4\"}\n");
    store.write("suite.yaml", "name: s\ndataset: cases.jsonl\ntarget: {kind: echo}\ngraders: {em: {kind: tool, function: exact_match}}\ngate: {kind: simple, metric_key: em, aggregation: accuracy, op: gte, value: 0.9}\n");
    let ran = store.run(&["run", "suite.yaml"]);
    assert!(ran.code == 2 && ran.err.contains("error[E056]") && ran.err.contains("--accuracy-unit"), "{}", ran.err);
    for unit in ["fraction", "percent"] {
        let ran = store.run(&["run", "suite.yaml", "--accuracy-unit", unit, "--json"]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    }
}
