"""What goes wrong, as a stranger would do it: the exit code, and one line that says what to do."""

import os
import signal
import subprocess
import sys
import threading

import pytest

import maxmargin
from maxmargin import ChainSVM, estimators
from maxmargin.cli import fit as fit_command

from .runs import TEXTS, column_text, run

QUICK = ("--max-passes", "20", "--tol", "0.05", "--min-count", "1", "--quiet")
pytestmark = pytest.mark.usefixtures("no_compilation")


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text(column_text())
    return path


@pytest.fixture
def model(train, tmp_path):
    path = tmp_path / "a.model"
    assert run("fit", train, "-o", path, *QUICK).code == 0
    return path


def one_line(ran, code, *pieces):
    """It ended with this code, and said all that in a single line."""
    assert ran.code == code, ran
    assert ran.err.count("\n") == 1 and ran.err.startswith("maxmargin "), ran.err
    assert " error: " in ran.err and ran.out == ""
    for piece in pieces:
        assert piece in ran.err, ran.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "no sentence: the file is empty"),
        (b"\n\n", "no sentence: the file is empty"),
        (b"word\n\nword\n", "1 column: expected a word and, in the last column, its label"),
        (b"a DT O\nb O\n", "line 2: 2 columns, but line 1 has 3"),
        (b"a DT O\n\xff NN O\n", "line 2: the byte 0xff is not UTF-8"),
        (b"\x7fELF\x00\x01", "line 1: a zero byte: this is no text file"),
        (b"\x1f\x8b\x08\x00garbage", "the compressed data is damaged"),
        ("a O\n".encode("utf-16"), "the text is UTF-16"),
    ],
)
def test_files_that_are_wrong(text, said, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_bytes(text)
    one_line(run("fit", path, "-o", tmp_path / "model", *QUICK), 1, f"{path}", said)
    assert not (tmp_path / "model").exists()


def test_other_formats_than_said(train, tmp_path):
    for name, said in {"svmlight": "the label 'the' is not a number", "svmhmm": "no qid in 'the DT B-NP'"}.items():
        ran = run("fit", train, "-o", tmp_path / "model", "--format", name, "--quiet")
        one_line(ran, 1, f"{train}, line 1: {said}")


def test_names_that_are_wrong(train, model, tmp_path):
    one_line(run("fit", tmp_path / "no", "-o", tmp_path / "m"), 1, "cannot open", "No such file")
    one_line(run("fit", tmp_path, "-o", tmp_path / "m"), 1, "holds no samples", "samples.json")
    one_line(run("fit", train, "-o", tmp_path / "no" / "m"), 2, "cannot write", "No such file")
    one_line(run("fit", train, "-o", tmp_path), 2, "cannot write", "directory")
    one_line(run("predict", tmp_path / "no", train), 1, "No such file")
    one_line(run("predict", train, train), 1, str(train))
    one_line(run("predict", model, model), 1, "a zip archive or a model file, not a text file")
    one_line(run("predict", model, train, "-o", tmp_path / "no" / "x"), 2, "cannot write", "No such file")
    one_line(run("evaluate", model, train, train), 2, "expected a file, or a model and a file, got 3 names")


def test_nothing_that_is_read_is_written_over(train, model):
    before = train.read_bytes(), model.read_bytes()
    one_line(run("fit", train, "-o", train), 2, "it is what is read, and would be lost")
    one_line(run("predict", model, train, "-o", model), 2, "it is what is read, and would be lost")
    one_line(run("predict", model, train, "-o", train), 2, "it is what is read, and would be lost")
    assert before == (train.read_bytes(), model.read_bytes())


def test_labels_against_the_rules_are_named_with_their_line(tmp_path):
    text = b"a X B-NP\n\nb X B-NP\nc X I-VP\n"
    ran = run("fit", "-", "-o", tmp_path / "model", "--bio", "--quiet", "--min-count", "1", given=text)
    one_line(ran, 1, "standard input, line 4: label 'I-VP' after 'B-NP'")


def test_models_of_other_kinds(tmp_path, train):
    ChainSVM().save(tmp_path / "bare.model")
    one_line(
        run("predict", tmp_path / "bare.model", train), 1, "a ChainSVM by itself", "what maxmargin fit has written"
    )


def test_files_that_do_not_suit_the_model(model):
    said = "line 1: 1 column, but 2 or 3 expected"
    one_line(run("predict", model, given=b"word\n"), 1, f"standard input, {said}")
    one_line(run("evaluate", model, "-", given=b"the DT\n"), 1, "the last column is missing")
    one_line(run("evaluate", "-", given=b"the\n"), 1, "1 column: expected true and predicted labels")
    one_line(run("predict", model, given=b""), 1, "standard input: no sentence")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--template", "t", "--features", "full"], "--template and --features exclude each other"),
        (["--format", "svmlight", "--model", "crf"], "--model crf is for sequences, not for --format svmlight"),
        (["--format", "crfsuite", "--template", "t"], "--template is for --format columns"),
        (["--format", "svmlight", "--balanced", "--l1", "1"], "--l1 is not for MulticlassSVM"),
        (["--l1", "0.1"], "--l1 is not for ChainSVM, the svm of --format columns"),
        (["--format", "svmhmm", "--min-count", "2"], "--min-count is for features that have names"),
        (["--format", "svmlight", "--bio"], "--bio is not for MulticlassSVM"),
        (["--resume"], "--resume and --checkpoint-every go with --checkpoint FILE"),
        (["--checkpoint", "model"], "--checkpoint model is what is read or written besides: give it a file of its own"),
        (["--checkpoint", "train.txt", "--resume"], "--checkpoint train.txt is what is read or written besides"),
        (["--plot", "picture.docx"], "no picture format"),
    ],
)
def test_options_that_do_not_go_together(options, said, train, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one_line(run("fit", train, "-o", tmp_path / "model", *options), 2, said)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--template", "missing"], "cannot open missing: No such file"),
        (["--min-count", "1000"], "no feature occurs often enough; lower --min-count"),
        (["--format", "crfsuite"], "no features: is it of another --format?"),
        (["--checkpoint", "."], "checkpoint must be the path of a file, and '.' is a folder"),
    ],
)
def test_options_that_fail(options, said, train, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    one_line(run("fit", train, "-o", tmp_path / "model", "--quiet", *options), 1, said)


def test_a_file_without_a_known_feature_is_told_of(tmp_path):
    model, attributes = tmp_path / "model", TEXTS["crfsuite"].encode()
    assert run("fit", "-", "-o", model, "--format", "crfsuite", "--quiet", given=attributes).code == 0
    assert run("predict", model, given=attributes).err == ""
    ran = run("predict", model, given=column_text().encode())  # labels without attributes, for a reader of these
    said = "standard input: the model knows none of its features; is it what --format crfsuite stands for?"
    assert ran.code == 0 and ran.err == f"maxmargin predict: {said}\n", ran.err


def test_where_no_model_can_be_is_known_before_training(train, tmp_path, monkeypatch):
    one_line(run("fit", train, "-o", "-"), 2, "a model is no text for standard output: name a file")
    one_line(run("path", train, "-o", os.devnull), 2, f"cannot write {os.devnull}: it is there, and no regular file")
    monkeypatch.setattr(os, "access", lambda *_: False)
    one_line(run("fit", train, "-o", tmp_path / "m"), 2, f"m: nothing new can be written to {tmp_path}")
    assert not (tmp_path / "m").exists()


def test_pictures_need_matplotlib(train, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    ran = run("fit", train, "-o", tmp_path / "model", "--plot", tmp_path / "gap.png")
    one_line(ran, 2, 'no picture without matplotlib: pip install "maxmargin[plot]"')


def test_templates_that_are_wrong(train, tmp_path):
    template = tmp_path / "template"
    template.write_text("U00:%x[0,0]\nU01:%x[0,5]\n")
    ran = run("fit", train, "-o", tmp_path / "model", "--template", template, "--quiet")
    one_line(ran, 1, f"{template}, line 2: %x[0,5]: tokens have columns 0 to 1, the label not counted")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["learn"],
        ["fit"],
        ["fit", "x"],
        ["fit", "x", "-o", "m", "--lam", "0"],
        ["fit", "x", "-o", "m", "--lam", "1", "--cv"],
        ["fit", "x", "-o", "m", "--format", "conll"],
        ["fit", "x", "-o", "m", "--jobs", "0"],
        ["fit", "x", "-o", "m", "--solver", "magic"],
        ["predict", "m", "x", "--top-k", "0"],
        ["predict", "m", "x", "--top-k", "2", "--marginals"],
        ["path", "x", "--held-out", "1"],
    ],
)
def test_usage(arguments):
    ran = run(*arguments)
    assert ran.code == 2 and "error: " in ran.err and "usage: maxmargin" in ran.err


def test_more_than_labels_is_for_sequences(tmp_path):
    model = tmp_path / "model"
    classes = b"1 1:1\n2 2:1\n"
    assert run("fit", "-", "-o", model, "--format", "svmlight", "--quiet", given=classes).code == 0
    one_line(run("predict", model, "--marginals", given=classes), 2, "--marginals is for models of sequences")


def test_labels_of_sets_are_numbers_of_columns(tmp_path):
    ran = run("fit", "-", "-o", tmp_path / "m", "--format", "multilabel", "--quiet", given=b"1,99999999 1:1\n")
    one_line(ran, 1, "the label 99999999 is not a whole number from 0 to 99999")


def test_interrupted_while_reading(train, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fit_command, "Teller", interrupt)
    ran = run("fit", train, "-o", tmp_path / "model")
    assert (ran.code, ran.err) == (130, "interrupted\n")
    assert not (tmp_path / "model").exists()


def test_interrupted_while_learning_the_model_is_saved(tmp_path):
    train = tmp_path / "train"
    train.write_text(column_text() * 20)
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    ran = run("fit", train, "-o", tmp_path / "model", "--tol", "1e-12", "--max-passes", "1e9", "--quiet")
    timer.cancel()
    assert ran.code == 130, ran
    assert "(interrupted, " in ran.out and "stopped by Ctrl-C" in ran.err
    saved = maxmargin.load(tmp_path / "model")[-1]
    assert saved.status_ == "interrupted" and saved.gap_ > 1e-12
    assert run("evaluate", tmp_path / "model", train).code == 0


def test_an_interrupted_path_says_so(train, tmp_path, monkeypatch):
    follow = estimators.regularization_path

    def interrupted(*given, **options):
        return follow(*given, **options, callbacks=[lambda _: signal.raise_signal(signal.SIGINT)])

    monkeypatch.setattr(estimators, "regularization_path", interrupted)
    ran = run("path", train, "-o", tmp_path / "model", "--min-count", "1", "--quiet")
    assert ran.code == 130 and "interrupted; every lam from" in ran.out, ran
    assert run("predict", tmp_path / "model", train).code == 0


def test_a_path_needs_features(train):
    one_line(run("path", train, "--min-count", "1000", "--quiet"), 1, f"{train}: no feature occurs often enough")


def test_who_reads_has_seen_enough(tmp_path):
    tagged = tmp_path / "tagged"
    tagged.write_text("".join(f"word label{i} label{i}\n" for i in range(3000)))  # a row of scores each
    command = f'set -o pipefail; "{sys.executable}" -m maxmargin evaluate "{tagged}" | head -n 1'
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (141, "1 sequence, 100.00% all right\n", "")
