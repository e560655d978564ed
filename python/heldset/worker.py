"""The worker that Heldset talks to: JSON lines in and out.

`python -m heldset.worker agent FUNCTION` speaks the session protocol of a command; `python -m heldset.worker serve` answers
one call after another. What the called code prints goes to standard error.
"""

import asyncio
import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback

from .letta import Sample, stand_in
from .record import Record, attributed, plain
from .trajectory import trajectory_of

TEXT_NAMES = ("input", "prompt", "message", "question", "content", "text", "query", "user_input")
VIEW_NAMES = ("session", "sample", "request", "case", "view", "payload", "data", "record")

_loop = None


def load(function):
    """The function that `file.py:name` or `module:name` names."""
    place, _, name = function.rpartition(":")
    if not place:
        raise ImportError(f"`{function}` is not `module:function` or `file.py:function`")
    if place.endswith(".py") or "/" in place:
        path = next((p for p in [place, *(os.path.join(d, place) for d in sys.path)] if os.path.isfile(p)), place)
        title = "heldset_loaded_" + "".join(c if c.isalnum() else "_" for c in path)
        module = sys.modules.get(title)
        if module is None:
            folder = os.path.dirname(os.path.abspath(path))
            if folder not in sys.path:
                sys.path.insert(0, folder)
            spec = importlib.util.spec_from_file_location(title, path)
            if spec is None:
                raise ImportError(f"`{place}` is not a Python file")
            module = importlib.util.module_from_spec(spec)
            sys.modules[title] = module
            try:
                spec.loader.exec_module(module)
            except BaseException:
                sys.modules.pop(title, None)
                raise
    else:
        module = importlib.import_module(place)
    found = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise ImportError(f"`{place}` has no `{part}`")
        found = getattr(found, part)
    return found


def finished(value):
    """The value, or what it comes to when it is awaited."""
    global _loop
    if not inspect.isawaitable(value) or isinstance(value, Record):
        return value
    if _loop is None:
        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)

    async def wait():
        return await value

    return _loop.run_until_complete(wait())


def filled(function, view):
    """The arguments that a function asks for by name."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [view["input"]], {}
    positional, named, first = [], {}, True
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            continue
        if parameter.kind is parameter.VAR_KEYWORD:
            if positional or named:
                taken = set(named) | {p.name for p in parameters}
                named.update({key: value for key, value in view.items() if key not in taken})
            continue
        name = parameter.name
        wants_view = parameter.annotation in (dict, "dict") or name in VIEW_NAMES
        if name in TEXT_NAMES:
            value = view["input"]
        elif name in view:
            value = view[name]
        elif first and wants_view or name in VIEW_NAMES:
            value = view
        elif first:
            value = view["input"]
        elif parameter.default is not parameter.empty:
            first = False
            continue
        else:
            raise TypeError(f"nothing is known for the parameter `{name}`")
        first = False
        if parameter.kind is parameter.KEYWORD_ONLY:
            named[name] = value
        else:
            positional.append(value)
    if not positional and not named and parameters:
        positional = [view["input"]]
    return positional, named


class Talk:
    """One session with an agent function."""

    def __init__(self, function, opened):
        self.view = attributed({key: value for key, value in opened.items() if key not in ("type", "session")})
        self.view.update(agent_args=self.view.get("args"), messages=[], state={}, turn=-1, input="")
        self.function = function
        if inspect.isclass(function):
            names = set(inspect.signature(function).parameters)
            self.function = function(**{name: self.view[name] for name in names if name in self.view})

    def answer(self, turn):
        view = self.view
        view["messages"].append(Record(role=turn.get("role", "user"), content=turn.get("content", "")))
        view.update(turn=view["turn"] + 1, input=turn.get("content", ""), role=turn.get("role", "user"))
        positional, named = filled(self.function, view)
        told = plain(finished(self.function(*positional, **named)))
        told = told if isinstance(told, dict) and "output" in told else {"output": told}
        output = told["output"]
        text = output if isinstance(output, str) else json.dumps(output)
        view["messages"].append(Record(role="assistant", content=text))
        return told


def agent(name, lines, say):
    """Speaks the session protocol for a function."""
    function, talk = None, None
    for line in lines:
        told = json.loads(line)
        kind = told.get("type")
        try:
            if kind == "open":
                function = function or load(name)
                talk = Talk(function, told)
            elif kind == "turn":
                if talk is not None:
                    say(talk.answer(told))
            elif kind == "close":
                talk = None
        except BaseException as error:
            talk = None
            traceback.print_exc(file=sys.stderr)
            sys.stderr.flush()
            say({"error": last_line(error)})
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                return


def last_line(error):
    return traceback.format_exception_only(type(error), error)[-1].strip()


def sample_of(payload):
    return Sample(attributed(payload.get("sample") or payload.get("record") or payload))


def call(role, function, payload):
    """One call of a function that is no agent."""
    target = load(function)
    parameters = []
    try:
        parameters = list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        pass
    if role == "grader":
        result = finished(target(sample_of(payload), payload.get("submission")))
        if isinstance(result, bool):
            result = float(result)
        result = plain(result)
        return {"score": result} if isinstance(result, (int, float)) else result
    if role == "extractor":
        arguments = [trajectory_of(payload), payload.get("config") or {}]
        if len(parameters) > 2:
            arguments.append(attributed(payload.get("agent_state")))
        return plain(finished(target(*arguments)))
    if role == "reward":
        context = attributed(payload)
        context["sample"] = sample_of(payload)
        context["trajectory"] = trajectory_of(payload)
        result = plain(finished(target(context)))
        return {"score": result} if isinstance(result, (int, float)) else result
    if role in ("setup", "factory"):
        return letta_call(role, target, parameters, payload)
    return plain(finished(target(attributed(payload))))


def letta_call(role, target, parameters, payload):
    client = client_of(payload, role == "factory" or inspect.iscoroutinefunction(target))
    if role == "factory":
        result = finished(target(client, sample_of(payload)))
        return plain(getattr(result, "id", result)) if not isinstance(result, str) else result
    arguments = [client, payload.get("model_handle")][: len(parameters)]
    return plain(finished(target(*arguments)))


def client_of(payload, is_async):
    from .client import Client

    settings = {"base_url": payload.get("base_url") or "http://localhost:8283"}
    key = payload.get("api_key")
    try:
        import letta_client

        kind = letta_client.AsyncLetta if is_async else letta_client.Letta
    except (ImportError, AttributeError):
        kind = Client
    for name in ("api_key", "token"):
        try:
            return kind(**settings, **({name: key} if key else {}))
        except TypeError:
            continue
    return Client(token=key, **settings)


def serve(lines, say):
    """Answers one call after another."""
    for line in lines:
        asked = json.loads(line)
        try:
            result = call(asked["role"], asked["function"], asked.get("payload") or {})
            say({"id": asked.get("id"), "result": result})
        except BaseException as error:
            trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            say({"id": asked.get("id"), "error": last_line(error), "traceback": trace[-16000:]})
            if isinstance(error, (KeyboardInterrupt, SystemExit)):
                return


def main():
    private = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    source = os.fdopen(os.dup(0), "r", encoding="utf-8", newline="\n")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    stand_in()

    def say(told):
        try:
            line = json.dumps(told, ensure_ascii=True, allow_nan=False)
        except ValueError as error:
            line = json.dumps({"id": told.get("id"), "error": f"the answer is not JSON: {error}"})
        private.write(line + "\n")
        private.flush()

    if len(sys.argv) > 2 and sys.argv[1] == "agent":
        agent(sys.argv[2], source, say)
    else:
        serve(source, say)


if __name__ == "__main__":
    main()
