"""Templates: attributes against plain strings, made as CRF++ says."""

import pickle
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import maxmargin
from maxmargin import ChainSVM, TemplateEncoder, persistence
from maxmargin.features import attributes
from maxmargin.features.templates import full_templates, parse_templates
from maxmargin.formats import FileFormatError, TokenColumns, column

TRAIN = [
    [("The", "DT"), ("Cat", "NN"), ("sat", "VB")],
    [("the", "DT"), ("cat", "NN")],
    [("A", "DT"), ("dog", "NN"), ("sat", "VB"), ("down", "RB")],
]
TEST = [[("the", "DT"), ("bird", "XX")], [("dog", "NN")]]
LINES = [
    "# words",
    "U00:%x[0,0]",
    "",
    "U01:%x[-2,0]/%x[1,1]",
    "U:suffix=%suffix2[0,0]",
    "U:lower=%lower[-1,0]+%x[0,1]",
    "B",
]


def at(sentence, t, row, col, view=str):
    """The string that a macro stands for; None where there is none."""
    place = t + row
    if place < 0:
        return f"_B-{-place}"
    if place >= len(sentence):
        return f"_B+{place - len(sentence) + 1}"
    return view(sentence[place][col]) or None


def suffix2(word):
    return word[-2:].lower() if len(word) >= 2 else ""


def expected(sentence):
    """Attributes of each token by the templates above, as strings."""
    rows = []
    for t in range(len(sentence)):
        own = at(sentence, t, 0, 0, suffix2)
        row = [
            f"U00:{at(sentence, t, 0, 0)}",
            f"U01:{at(sentence, t, -2, 0)}/{at(sentence, t, 1, 1)}",
            f"lower={at(sentence, t, -1, 0, str.lower)}+{at(sentence, t, 0, 1)}",
        ]
        rows.append(row + ([f"suffix={own}"] if own else []))
    return rows


def decoded(matrices, names):
    return [[sorted(names[row.indices]) for row in matrix] for matrix in matrices]


@pytest.mark.parametrize("min_count", [1, 2])
def test_attributes_are_those_of_plain_strings(min_count):
    encoder = TemplateEncoder(LINES, min_count=min_count).fit(TRAIN)
    counts = Counter(name for sentence in TRAIN for row in expected(sentence) for name in row)
    kept = {name for name, count in counts.items() if count >= min_count}
    names = encoder.get_feature_names_out()
    assert set(names) == kept and len(names) == len(kept)
    for sentences in (TRAIN, TEST):
        wanted = [[sorted(kept & set(row)) for row in expected(sentence)] for sentence in sentences]
        assert decoded(encoder.transform(sentences), names) == wanted


def test_keys_that_do_not_fit_are_numbered_anew(monkeypatch):
    lines = ["U:%x[-1,0]|%x[0,0]|%x[1,0]|%x[0,1]|%lower[2,0]"]

    def found():
        encoder = TemplateEncoder(lines, min_count=1).fit(TRAIN)
        names = encoder.get_feature_names_out()
        return encoder, sorted(names), [decoded(encoder.transform(some), names) for some in (TRAIN, TEST)]

    plain, *wanted = found()
    monkeypatch.setattr(attributes, "LARGEST", 60)
    folded, *got = found()
    assert [len(stages) for stages in plain.stages_] == [1] and len(folded.stages_[0]) > 2
    assert got == wanted
    for encoder in folded.encoders():
        encoder.check()


def test_features_of_transitions_are_read_at_the_second_token():
    encoder = TemplateEncoder(["U:%x[0,0]", "B01:%x[0,1]"], min_count=1)
    rows, links = encoder.fit_transform(TRAIN)[0]
    assert rows.shape[0] == 3 and links.shape[0] == 2
    assert [encoder.edge_feature_names()[row.indices].tolist() for row in links] == [["B01:NN"], ["B01:VB"]]


def test_a_template_may_read_nothing():
    encoder = TemplateEncoder(["U:bias", "U:%x[0,0]"], min_count=1)
    assert all(matrix.toarray()[:, 0].all() for matrix in encoder.fit_transform(TRAIN))
    assert encoder.get_feature_names_out()[0] == "bias"


def test_one_string_a_token_is_one_column():
    encoder = TemplateEncoder("window").fit([["a", "b"], ["a"]])
    assert encoder.n_columns_ == 1
    (found,) = decoded(encoder.transform([[("a",)]]), encoder.get_feature_names_out())[0]
    assert found == ["w[-1]=_B-1", "w[-1]|w[0]=_B-1|a", "w[-2]=_B-2", "w[0]=a", "w[1]=_B+1", "w[2]=_B+2"]


def test_columns_and_lists_are_the_same():
    flat = [token for sentence in TRAIN for token in sentence]
    offsets = np.cumsum([0, *map(len, TRAIN)])
    columns = TokenColumns(tuple(column(each) for each in zip(*flat, strict=True)), offsets)
    assert list(columns) == TRAIN
    one, other = TemplateEncoder().fit(columns), TemplateEncoder().fit(TRAIN)
    assert one.get_feature_names_out().tolist() == other.get_feature_names_out().tolist()
    assert decoded(one.transform(TEST), one.get_feature_names_out()) == decoded(
        other.transform(TEST), other.get_feature_names_out()
    )


def test_nothing_to_transform():
    encoder = TemplateEncoder().fit(TRAIN)
    assert encoder.transform([]) == []
    assert [matrix.shape[0] for matrix in encoder.transform([[], TRAIN[0], []])] == [0, 3, 0]


def test_all_words_new():
    assert TemplateEncoder(["U:%x[0,0]"], min_count=1).fit(TRAIN).transform([[("x", "y")]])[0].nnz == 0


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_the_default_templates_can_be_read(n_columns):
    assert len(parse_templates(full_templates(n_columns), n_columns).nodes) == len(full_templates(n_columns))


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (["U00:%x[0,2]"], r"templates, line 1: %x\[0,2\]: tokens have columns 0 to 1, the label not counted"),
        (["U00:%x[0,0]", "x"], "templates, line 2: a template starts with U or B, not with 'x'"),
        (["U00:%x[0]"], r"templates, line 1: 'U00:%x\[0\]' is no macro"),
        (["U00:%y[0,0]"], "templates, line 1: .* there is no %y; there are %x, %lower"),
        (["U00:%x[-101,0]"], "templates, line 1: .* at most 100 tokens away"),
        (["# nothing", "B"], "templates, line 2: no template that starts with U"),
        ([], "templates: no template that starts with U"),
    ],
)
def test_wrong_templates(lines, problem):
    with pytest.raises(FileFormatError, match=problem):
        TemplateEncoder(lines).fit(TRAIN)


def test_wrong_tokens():
    with pytest.raises(ValueError, match="one of 'full', 'window', got 'fool'"):
        TemplateEncoder("fool").fit(TRAIN)
    with pytest.raises(TypeError, match="sample 1: expected a list of tokens, got str"):
        TemplateEncoder().fit([["a"], "a b"])
    with pytest.raises(ValueError, match="sample 1, token 0: 1 strings, but the first token has 2"):
        TemplateEncoder().fit([[("a", "b")], ["c"]])
    with pytest.raises(TypeError, match="sample 0, token 1: expected a string or a tuple of strings"):
        TemplateEncoder().fit([[("a", "b"), ("c", 1)]])
    with pytest.raises(ValueError, match="X has 1 columns, but those of fit had 2"):
        TemplateEncoder().fit(TRAIN).transform([["a"]])


def test_in_a_pipeline_and_a_search(no_compilation):
    X, y = TRAIN * 2, [["D", "N", "V"], ["D", "N"], ["D", "N", "V", "R"]] * 2
    pipeline = Pipeline([("features", TemplateEncoder()), ("model", ChainSVM(lam=0.1, max_passes=3, tol=0.5))])
    search = GridSearchCV(clone(pipeline), {"features__min_count": [1, 2]}, cv=2).fit(X, y)
    assert [labels.tolist() for labels in search.predict(TRAIN)] == y[:3]


@pytest.mark.parametrize("lines", ["full", LINES, ["U:%x[0,0]", "B:%x[0,1]"]])
def test_files_and_pickles(lines, tmp_path):
    encoder = TemplateEncoder(lines, min_count=1).fit(TRAIN)
    rows = encoder.transform(TEST)
    persistence.save(encoder, tmp_path / "encoder.npz")
    for again in (maxmargin.load(tmp_path / "encoder.npz"), pickle.loads(pickle.dumps(encoder))):
        names = encoder.get_feature_names_out()
        assert again.get_feature_names_out().tolist() == names.tolist()
        others = again.transform(TEST)
        if isinstance(rows[0], tuple):
            assert [[part.toarray().tolist() for part in one] for one in rows] == [
                [part.toarray().tolist() for part in one] for one in others
            ]
        else:
            assert decoded(rows, names) == decoded(others, names)


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("stages_", [], "not as many lists of features"),
        ("stages_", [[np.array([99999])]], "too large"),
        ("stages_", [[np.array([1, 0])]], "not ascending"),
        ("stages_", [[np.array([0.5])]], "not arrays of integers"),
        ("stages_", [[np.array([0]), np.array([0])]], "not as many lists of keys"),
        ("vocabularies_", [["a"]], "as many vocabularies"),
        ("vocabularies_", [["a"], [3]], "no lists of strings"),
        ("templates_", ["U:%x[0,7]"], "tokens have columns"),
        ("n_columns_", "2", "as many vocabularies"),
    ],
)
def test_files_that_lie_are_refused(name, value, problem, tmp_path):
    encoder = TemplateEncoder(["U:%x[0,0]"], min_count=1).fit(TRAIN)
    setattr(encoder, name, value)
    persistence.save(encoder, tmp_path / "encoder.npz")
    with pytest.raises(persistence.ModelFileError, match=problem):
        maxmargin.load(tmp_path / "encoder.npz")
