"""Mappings whose keys are also attributes."""


class Record(dict):
    """A mapping with attributes; what is not there is None. It can be awaited, and is its own result."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def __setattr__(self, name, value):
        self[name] = value

    def __await__(self):
        return self
        yield

    def model_dump(self, **_):
        return plain(self)

    dict = model_dump


def attributed(value):
    """The value with every mapping in it made a Record."""
    if isinstance(value, dict):
        return Record((key, attributed(item)) for key, item in value.items())
    if isinstance(value, list):
        return [attributed(item) for item in value]
    return value


def plain(value):
    """The value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in dict.items(value)}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return plain(dump())
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if hasattr(value, "item"):
        return plain(value.item())
    return str(value)
