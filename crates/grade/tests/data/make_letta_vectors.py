"""Makes letta-vectors.json by running letta-evals 0.26.0 itself: `python make_letta_vectors.py > letta-vectors.json`."""
import asyncio, json, random, sys, types

from letta_client.types import ToolReturnMessage
from letta_client.types.agents import AssistantMessage, ToolCallMessage
from letta_evals.graders.tool import ToolGrader
from letta_evals.models import Sample

random.seed(26)
RANDOM = int(sys.argv[1]) if len(sys.argv) > 1 else 500
DATE = "2026-01-01T00:00:00Z"


def message(m):
    kind = m["type"]
    if kind == "message":
        content = m["content"]
        if isinstance(content, list):
            content = [{"type": "text", "text": part} for part in content]
        return AssistantMessage.model_validate({"id": "m", "date": DATE, "message_type": "assistant_message", "content": content})
    if kind == "tool_call":
        call = {"name": m["name"], "arguments": m["arguments"], "tool_call_id": m["call_id"]}
        return ToolCallMessage.model_validate({"id": "m", "date": DATE, "message_type": "tool_call_message", "tool_call": call})
    return ToolReturnMessage.model_validate(
        {"id": "m", "date": DATE, "message_type": "tool_return_message", "tool_call_id": m["call_id"],
         "tool_return": m["output"], "status": "success"})


def run(function, extractor, config, truth, trajectory, memory):
    state = types.SimpleNamespace(blocks=[types.SimpleNamespace(label=k, value=v) for k, v in memory.items()]) if memory is not None else None
    try:
        grader = ToolGrader(function, extractor, config)
        sample = Sample(id=0, input="q", ground_truth=truth)
        result, submission = asyncio.run(grader.grade(sample, [[message(m) for m in turn] for turn in trajectory], state))
        return {"score": result.score, "submission": submission}
    except Exception as error:
        return {"raises": type(error).__name__}


def say(text):
    return [[{"type": "message", "content": text}]]


ODD = ["a", "b", "A", "B", "é", "É", "ß", "Σ", "σ", "ς", "İ", "i", "1", "2", "٣", "²", " ", "\t", "\n", "\r", "\x1c", "\x1f",
       "\x85", "\u00a0", "\u2003", "\u2028", "\u200b", "_", "-", ".", "x", "漢", "\u0301", "~", "\x7f", "\x00"]


def odd(most):
    return "".join(random.choice(ODD) for _ in range(random.randint(0, most)))


def near(text):
    kind = random.randint(0, 6)
    pad = lambda: "".join(random.choice([" ", "\n", "\x1c", "\x1f", "\u00a0", "\u2028", "\u200b", "\t"]) for _ in range(random.randint(0, 2)))
    return [text, pad() + text + pad(), text.upper(), text.lower(), odd(3) + text + odd(3), text.swapcase(), odd(6)][kind]


PATTERNS = [
    r"^a$", r"a$", r"^\d+$", r"\w+", r"^\w+$", r"\s", r"^\S+$", r"(?i)straße", r"(?i)AB", r"a(?=b)", r"(?<=a)b", r"(?<!a)b", r"a(?!b)",
    r"(a)\1", r"(?P<n>a)(?P=n)", r"a{2}", r"a{,2}b", r"a{2,}", r"a{x}", r"{", r"}", r"a{", r"a{1", r"[]a]", r"[^]a]", r"[[a]", r"[a&&b]",
    r"[a--b]", r"[a-]", r"[\w-]", r"[\d.]+$", r"[\s]", r"\Ab", r"b\Z", r"\bab\b", r"\Ba", r"(?m)^b$", r"(?s)a.b", r"a.b", r"(?x) a  b # c",
    r"(?x)[ ]a", r"(?a)\w+$", r"(?a)^\d$", r"(?i:A)b", r"(?-i:a)", r"a|b|", r"", r"()", r"(?:)", r"a**", r"*a", r"a{2}{3}", r"^*", r"a++b", r"(?>a+)b",
    r"(a)?(?(1)b|c)", r"(", r")", r"[", r"[b-a]", r"\1", r"(?P<a>x)(?P<a>y)", r"\q", r"\p{L}", r"\h", r"\z", r"\<a", r"\x41", r"\u0041", r"\101", r"\08",
    r"\0", r"\x4", r"(?<n>a)", r"(?L)a", r"a(?i)b", r"(?#comment)a", r"(?#comment", r"\N", r"[\]]", r"[a\-z]", r"\.", r"\$", r"a\nb", r"\t", r"(?=a)*",
    r"x*", r"(?i)σ", r"(?i)ς", r"[^\W\d_]+", r"[\W]", r"[\S]", r"\D", r"^.$", r"^..$", r"(?s)^.$", r"a??b", r"a+?$", r"(a|b)*c", r"^(?:a|b)+$", r"[é]", r"~", r"#a", r" a",
    r"[#]", r"[~]", r"&", r"\&", r"\-", r"\/", r"\"", r"(?im)^B$", r"(?i)^b$", r"[A-z]", r"(?i)[A-B]+$", r"\w{2,3}?$", r"a{0}", r"a{3,2}", r"(?P<1>a)", r"(?P<é>a)",
]
TEXTS = ["", "a", "b", "ab", "AB", "aab", "aabb", "abc", "a\n", "a\n\n", "a\nb", "\na", "b\n", "ab\nab", "Straße", "STRASSE", "1", "12", "٣", "²", "½", "_", "a_b", "é", "e\u0301",
         " ", "\x1c", "\u00a0", "{", "}", "a{x}", "a{1", "[a]", "]", "&", "a&&b", "--", "x", "xx", "<a", "A", "C", "cab", "bb", "ac", "σ", "ς", "Σ", "~", "#a", " a", "a b", "\"", "$", "a.b", "漢字", "a\rb", "a\u2028b", "\x00", "-", "/", "Ab", "\U0001F600"]

cases = []


def add(function, extractor, config, truth, trajectory, memory=None):
    case = {"function": function, **run(function, extractor, config, truth, trajectory, memory)}
    if truth is not None:
        case["ground_truth"] = truth
    if extractor == "last_assistant" and len(trajectory) == len(trajectory[0]) == 1:
        case["said"] = trajectory[0][0]["content"]
        case.pop("submission", None)
    else:
        case.update(extractor=extractor, config=config, trajectory=trajectory)
    if memory is not None:
        case["memory"] = memory
    cases.append(case)


for _ in range(250):
    text = odd(8)
    add("exact_match", "last_assistant", {}, near(text), say(text))
for _ in range(250):
    text = odd(8)
    part = text[random.randint(0, len(text)):][:random.randint(0, 4)]
    add("contains", "last_assistant", {}, near(part), say(text))
for _ in range(100):
    add("ascii_printable_only", "last_assistant", {}, None, say(random.choice([odd(4), "plain", "two\nlines\r\n", "tab\there", "~ }", "caf\u00e9"])))
for pattern in PATTERNS:
    for text in random.sample(TEXTS, 8) + ["ab", "a\n"]:
        add("regex_match", "last_assistant", {}, pattern, say(text))
for _ in range(150):
    add("regex_match", "last_assistant", {}, random.choice(PATTERNS), say(odd(8)))


def pattern(depth=0):
    atom = lambda: random.choice(["a", "b", "c", ".", r"\d", r"\w", r"\W", r"\s", r"\S", "[ab]", "[^a]", "[a-c1]", "é", "_", r"\.", "-", "^", "$", r"\b", r"\B", r"\Z", "1", " "])
    group = lambda: random.choice(["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?>", "(?s:"]) + pattern(depth + 1) + ")"
    parts = []
    for _ in range(random.randint(1, 4)):
        parts.append(group() if depth < 2 and random.random() < 0.25 else atom())
        if random.random() < 0.3:
            parts.append(random.choice(["*", "+", "?", "*?", "+?", "{2}", "{1,2}", "{,1}", "*+", "|"]))
    if depth == 0 and random.random() < 0.1:
        parts.append(r"\1")
    return "".join(parts)


for _ in range(RANDOM):
    text = "".join(random.choice("aabbcC1 _-é.\n²") for _ in range(random.randint(0, 8)))
    add("regex_match", "last_assistant", {}, pattern(), say(text))
for truth in [None, "", " "]:
    for function in ["exact_match", "contains", "regex_match"]:
        add(function, "last_assistant", {}, truth, say(" "))
        add(function, "last_assistant", {}, truth, say("a"))

TEXT = ["score: 7 of 10", "Answer: Paris ", "the end", "a1 b2 c3", "first\nsecond", "Answer: one Answer: two", "", "x=1,y=2"]


def conversation():
    turns = []
    for turn in range(random.randint(1, 3)):
        messages = []
        for step in range(random.randint(0, 4)):
            kind = random.random()
            call = f"c{turn}{step}"
            if kind < 0.55:
                messages.append({"type": "message", "content": random.choice(TEXT + [["a", "b"], ["only"]])})
            else:
                name = random.choice(["search", "write"])
                messages.append({"type": "tool_call", "name": name, "arguments": json.dumps({"q": step}, separators=(",", ":")), "call_id": call})
                if random.random() < 0.8:
                    messages.append({"type": "tool_result", "call_id": call, "output": f"found {call}"})
        turns.append(messages)
    return turns


CONFIGS = [("last_assistant", {}), ("first_assistant", {}), ("all_assistant", {}), ("all_assistant", {"separator": " | "}), ("last_turn", {}), ("last_turn", {"separator": ""}),
           ("pattern", {"pattern": r"\d"}), ("pattern", {"pattern": r"\d", "search_all": True}), ("pattern", {"pattern": r"([a-z])(\d)", "group": 1}),
           ("pattern", {"pattern": r"([a-z])(\d)", "group": 2}), ("pattern", {"pattern": r"([a-z])(\d)", "group": 0, "search_all": True}), ("pattern", {"pattern": r"([a-z])(\d)", "group": 1, "search_all": True}),
           ("pattern", {"pattern": r"([a-z])(\d)", "group": 2, "search_all": True}), ("pattern", {"pattern": r"Answer: (\w+)", "group": 1, "search_all": True}),
           ("pattern", {"pattern": r"x*", "search_all": True}), ("pattern", {"pattern": r"|a", "search_all": True}), ("pattern", {"pattern": r"\b", "search_all": True}),
           ("pattern", {"pattern": r"([a-z]=)?(\d)", "group": 1, "search_all": True}), ("tool_arguments", {"tool_name": "search"}), ("tool_arguments", {"tool_name": "none"}), ("tool_output", {"tool_name": "search"}),
           ("tool_output", {"tool_name": "none"}), ("after_marker", {"marker": "Answer:"}), ("after_marker", {"marker": "Answer:", "include_marker": True}), ("after_marker", {"marker": "end"})]
for extractor, config in CONFIGS:
    for _ in range(14):
        add("ascii_printable_only", extractor, config, None, conversation())
for memory in [None, {}, {"human": "Ann"}, {"human": "", "persona": "p"}]:
    add("ascii_printable_only", "memory_block", {"block_label": "human"}, None, say("x"), memory)

print("[" + ",\n".join(json.dumps(case, ensure_ascii=True, separators=(",", ":")) for case in cases) + "]")
