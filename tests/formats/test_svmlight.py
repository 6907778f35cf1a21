"""Files of numbered features: classes, sequences and sets of labels."""

import io

import numpy as np
import pytest

from maxmargin.formats import FileFormatError, read_multilabel, read_svmhmm, read_svmlight


def read(reader, text):
    return reader(io.BytesIO(text))


def test_classes():
    file = read(read_svmlight, b"# all\n3 1:0.5 4:1 # one\n\n-1 2:2\r\n+1 qid:7 1:1\n")
    assert file.y.tolist() == [3, -1, 1] and file.y.dtype == np.int64
    assert file.X.toarray().tolist() == [[0, 0.5, 0, 0, 1], [0, 0, 2, 0, 0], [0, 1, 0, 0, 0]]


def test_labels_that_are_not_whole_stay():
    assert read(read_svmlight, b"0.5 1:1\n2 1:1\n").y.tolist() == [0.5, 2.0]


def test_sequences():
    file = read(read_svmhmm, b"1 qid:5 1:1\n2\tqid:5\t2:1\n1 qid:6 1:1 # x\n2 qid:8\n")
    assert [labels.tolist() for labels in file.y] == [[1, 2], [1], [2]]
    assert [rows.shape for rows in file.X] == [(2, 3), (1, 3), (1, 3)]


def test_sets_of_labels():
    file = read(read_multilabel, b"2,0 1:1\n 2:1\n7 1:1\n1,1 1:2\n")
    assert file.y == [[0, 2], [], [7], [1]]
    assert file.X.shape == (4, 3)


@pytest.mark.parametrize(
    ("reader", "text", "problem"),
    [
        (read_svmlight, b"\n# x\n", "file: no sample"),
        (read_svmlight, b"1 1:1\n\nx 1:1\n", "file, line 3: the label 'x' is not a number"),
        (read_svmlight, b"1 1:1\n1 foo\n", "file, line 2: 'foo' is not index:value"),
        (read_svmlight, b"1 3:1 2:1\n", "file, line 1: the index 2 does not come after 3"),
        (read_svmlight, b"1 a:1\n", "file, line 1: the index 'a' is not a whole number"),
        (read_svmlight, b"1 -3:1\n", "file, line 1: the index '-3' is not a whole number"),
        (read_svmlight, b"1 99999999999:1\n", "file, line 1: the index '99999999999' is not a whole number"),
        (read_svmlight, b"1 1:b\n", "file, line 1: the value 'b' is not a number"),
        (read_svmlight, b"1 1:1\n1 1:inf\n", "file, line 2: a value is not a finite number"),
        (read_svmlight, b"1 1:1\nnan 1:1\n", "file, line 2: the label nan is no number"),
        (read_svmhmm, b"1 qid:1 1:1\n2 1:1\n", "file, line 2: no qid in '2 1:1'"),
        (read_svmhmm, b"1 qid:1\n1 qid:2\n1 qid:1\n", "file, line 3: qid:1 again, which began in line 1"),
        (read_multilabel, b"1,2 1:1\n1,x 1:1\n", "file, line 2: the label 'x' is not a number"),
        (read_multilabel, b"1,2 1:1\n1,inf 1:1\n", "file, line 2: the label inf is no number"),
    ],
)
def test_what_is_wrong_is_said_with_the_line(reader, text, problem):
    with pytest.raises(FileFormatError) as refused:
        read(reader, text)
    assert str(refused.value).startswith(problem)
