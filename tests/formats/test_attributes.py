"""CRFsuite's attribute files."""

import io

import pytest

from maxmargin.formats import FileFormatError, read_attributes


def read(text):
    return read_attributes(io.BytesIO(text))


def test_labels_and_attributes():
    file = read(b"B\tw=the\tfirst\nI\tw=cat\n\n\nO\n")
    assert file.y == [["B", "I"], ["O"]]
    assert file.X == [[["w=the", "first"], ["w=cat"]], [[]]]


def test_values_make_dicts_and_add_up():
    assert read(b"O\ta:2\tb\ta:0.5\tb:1e-1\n").X == [[{"a": 2.5, "b": 1.1}]]


@pytest.mark.parametrize(
    ("written", "name", "value"),
    [
        (rb"a\:b", "a:b", 1.0),
        (rb"a\\", "a\\", 1.0),
        (rb"a\\:2", "a\\", 2.0),
        (rb"a\\\:2", "a\\:2", 1.0),
        (rb"a\b:3", "a\\b", 3.0),
        (rb"end\ ".strip(), "end\\", 1.0),
        (rb":2", "", 2.0),
    ],
)
def test_escapes(written, name, value):
    assert [[{name: value, "x": 7.0}]] == read(b"O\t" + written + b"\tx:7\n").X


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"\n\n", "file: no sentence"),
        (b"O\ta\n\nO\tb:c\n", "file, line 3: the value 'c' of 'b' is no finite number"),
        (b"O\ta:nan\n", "file, line 1: the value 'nan'"),
        (b"O\ta\nO\t\xff\n", "file, line 2: the byte 0xff is not UTF-8"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(text, problem):
    with pytest.raises(FileFormatError) as refused:
        read(text)
    assert str(refused.value).startswith(problem)
