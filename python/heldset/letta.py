"""The names that files of Letta suites use: decorators, Sample, GradeResult."""

import sys
import types

from .record import Record

_SIGNATURES = {
    "grader": [("sample", "submission")],
    "extractor": [("trajectory", "config"), ("trajectory", "config", "agent_state")],
    "agent_factory": [("client", "sample")],
    "suite_setup": [(), ("client",), ("client", "model_handle"), ("client", "model_name")],
    "reward_composer": [("ctx",)],
}


class Sample(Record):
    """A case, as graders and agent factories see it."""

    def __init__(self, *args, **fields):
        super().__init__(*args, **fields)
        for name in ("id", "input", "ground_truth", "agent_args", "rubric_vars", "extra_vars", "metadata", "tags"):
            self.setdefault(name, None)
        if self["ground_truth"] is None:
            self["ground_truth"] = self.get("expected_output")


class GradeResult(Record):
    """A score from 0 to 1 and why."""

    def __init__(self, score=None, rationale=None, metadata=None, **more):
        super().__init__(score=score, rationale=rationale, metadata=metadata or {}, **more)


class RewardOutput(Record):
    """A reward and what it is made of."""


class TargetError(Exception):
    """A failure of the target."""


def _decorator(role):
    def decorate(function=None, **_):
        if function is None:
            return decorate
        import inspect

        names = tuple(inspect.signature(function).parameters)
        if names not in _SIGNATURES[role]:
            wanted = " or ".join("(" + ", ".join(form) + ")" for form in _SIGNATURES[role])
            raise TypeError(f"{role} `{function.__name__}` takes {wanted}, not ({', '.join(names)})")
        function._heldset_role = role
        return function

    decorate.__name__ = role
    return decorate


grader = _decorator("grader")
extractor = _decorator("extractor")
agent_factory = _decorator("agent_factory")
suite_setup = _decorator("suite_setup")
reward_composer = _decorator("reward_composer")


def stand_in():
    """Lets files import from `letta_evals` where that is not installed."""
    try:
        import letta_evals  # noqa: F401

        return
    except ImportError:
        pass
    names = {
        "Sample": Sample,
        "GradeResult": GradeResult,
        "RewardOutput": RewardOutput,
        "TargetError": TargetError,
        "grader": grader,
        "extractor": extractor,
        "agent_factory": agent_factory,
        "suite_setup": suite_setup,
        "reward_composer": reward_composer,
        "LettaMessageUnion": Record,
        "AgentState": Record,
        "RewardContext": Record,
    }
    root = None
    for path in ("letta_evals", "letta_evals.decorators", "letta_evals.models", "letta_evals.types"):
        module = types.ModuleType(path)
        module.__dict__.update(names)
        module.__path__ = []
        sys.modules[path] = module
        if root is None:
            root = module
        else:
            setattr(root, path.rpartition(".")[2], module)
    for path in ("letta_client",):
        try:
            __import__(path)
        except ImportError:
            from .client import Client

            module = types.ModuleType(path)
            module.Letta = module.AsyncLetta = Client
            module.__getattr__ = lambda name: Record
            sys.modules[path] = module
