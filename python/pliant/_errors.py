"""Errors with the words and the parts of those of the library."""

from pliant import _core


def _with_parts(text, file="", field="", value="", expected=""):
    error = _core.InputError(text)
    error.file, error.field, error.value, error.expected = file, field, value, expected
    return error


def failed(sentence, file=""):
    """What is not about one value: an InputError, to be raised."""
    return _with_parts(f"{file}: {sentence}" if file else sentence, file)


def wrong(field, value, expected, file=""):
    """A value that cannot be used: an InputError, to be raised."""
    text = f"{field} = {value} (expected {expected})"
    return _with_parts(f"{file}: {text}" if file else text, file, field, str(value), expected)
