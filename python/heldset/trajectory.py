"""What an agent did, as a list of turns of messages in Letta's words."""

import json

from .record import Record, attributed


def trajectory_of(payload):
    """The trajectory that is given, or the one that a trace is."""
    given = payload.get("trajectory")
    if isinstance(given, list):
        return attributed(given)
    turns = (given or payload.get("trace") or {}).get("turns") or payload.get("turns") or []
    return [messages(turn) for turn in turns]


def messages(turn):
    """One turn: what was sent, what was done, what was answered."""
    told = [Record(message_type="user_message", role="user", content=turn.get("content") or "")]
    for step in turn.get("steps") or []:
        told.extend(of_step(step))
    output = turn.get("output")
    if output is not None:
        text = output if isinstance(output, str) else json.dumps(output)
        if told[-1].get("message_type") != "assistant_message" or told[-1].get("content") != text:
            told.append(Record(message_type="assistant_message", role="assistant", content=text))
    return told


def of_step(step):
    kind = step.get("type") or step.get("kind") or ("tool_call" if step.get("name") else "message")
    output = step.get("output")
    text = output if isinstance(output, str) or output is None else json.dumps(output)
    call_id = step.get("call_id") or step.get("name")
    returned = Record(message_type="tool_return_message", tool_call_id=call_id, tool_return=text, name=step.get("name"))
    returned["status"] = "error" if step.get("status") == "error" else "success"
    if kind == "thinking":
        return [Record(message_type="reasoning_message", reasoning=text)]
    if kind == "tool_result":
        return [returned]
    if kind in ("tool_call", "retrieval", "handoff"):
        arguments = step.get("arguments")
        arguments = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        name = step.get("name") or kind
        one = Record(name=name, arguments=arguments, tool_call_id=call_id)
        called = Record(message_type="tool_call_message", tool_call=one, tool_calls=[one])
        return [called] if output is None else [called, returned]
    return [Record(message_type="assistant_message", role="assistant", content=text or "")]
