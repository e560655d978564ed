"""A small client of Letta's REST API, for where `letta_client` is not installed."""

import json
import urllib.error
import urllib.parse
import urllib.request

from .record import Record, attributed, plain

_VERBS = {
    "create": "POST",
    "retrieve": "GET",
    "get": "GET",
    "list": "GET",
    "modify": "PATCH",
    "update": "PATCH",
    "delete": "DELETE",
    "upsert": "PUT",
    "attach": "PATCH",
    "detach": "PATCH",
}


class Items(list):
    """A list that can be awaited."""

    def __await__(self):
        return self
        yield


class Client:
    """`client.agents.create(name="a")` posts to `/v1/agents/`; ids go where the path needs them."""

    def __init__(self, base_url="http://localhost:8283", token=None, timeout=300, api_key=None, **_):
        self.base_url = base_url.rstrip("/")
        self.token = token or api_key
        self.timeout = timeout

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _Path(self, [name])

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None

    def call(self, method, path, body=None, query=None):
        """One request; the answer with attributes."""
        url = f"{self.base_url}/v1/{path}"
        if query:
            url += "?" + urllib.parse.urlencode(query, doseq=True)
        data = None if body is None else json.dumps(plain(body)).encode()
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} /v1/{path}: status {error.code}: {error.read().decode()[:500]}") from None
        value = attributed(json.loads(text)) if text.strip() else Record()
        return Items(value) if isinstance(value, list) else value


class _Path:
    def __init__(self, client, names):
        self._client, self._names = client, names

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return _Path(self._client, self._names + [name])

    def __call__(self, *ids, **body):
        *names, verb = self._names
        ids = list(ids)
        for key in ("agent_id", "block_id", "tool_id", "source_id", "folder_id", "run_id"):
            if key in body and names and (len(names) > 1 or verb not in ("create", "list")) and not ids:
                ids.append(body.pop(key))
        method = _VERBS.get(verb, "POST")
        parts = []
        for index, name in enumerate(names):
            parts.append(name.replace("_", "-"))
            if ids and (index < len(names) - 1 or method in ("GET", "PATCH", "DELETE") and verb != "list"):
                parts.append(urllib.parse.quote(str(ids.pop(0)), safe=""))
        if verb in ("attach", "detach") or verb not in _VERBS:
            parts.append(verb)
            parts += [urllib.parse.quote(str(one), safe="") for one in ids]
        path = "/".join(parts) + ("/" if verb in ("create", "list", "upsert") and len(names) == 1 else "")
        if method in ("GET", "DELETE"):
            return self._client.call(method, path, query=body)
        return self._client.call(method, path, body=body)
