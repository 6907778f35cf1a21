"""What notebooks show: scikit-learn's diagram, and beside it the certificate."""

from html.parser import HTMLParser

import numpy as np
import pytest
from fit_cases import BOTH, make_data
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import ChainSVM, MulticlassSVM
from maxmargin.solvers import FrankWolfe
from maxmargin.solvers.report import certificate_html
from maxmargin.structures import make_multiclass_problem


class Table(HTMLParser):
    """The cells of the certificate, by the heads of their rows; every element must be closed."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.open, self.head = {}, [], None
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "th":
            self.head = data
        elif self.open[-1] == "td":
            self.rows[self.head] = data


def certificate_in(html):
    return Table(html[html.index('<table class="maxmargin-certificate"') :]).rows


@BOTH
def test_a_fitted_estimator_shows_its_certificate(cls):
    model = cls(lam=0.25, tol=0.1, random_state=0).fit(*make_data(cls))
    html = model._repr_html_()
    assert "sk-estimator" in html
    rows = certificate_in(html)
    assert list(rows) == ["lam", "status", "primal value", "dual value", "duality gap", "passes", "seconds"]
    assert rows["status"] == "converged"
    assert rows["lam"] == "0.25"
    assert float(rows["duality gap"]) == pytest.approx(model.gap_, rel=1e-5)
    assert rows["passes"].endswith("with certificates)")
    assert model._repr_mimebundle_()["text/html"].endswith("</table>")


def test_before_fit_there_is_the_diagram_alone():
    html = ChainSVM()._repr_html_()
    assert "sk-estimator" in html
    assert "maxmargin-certificate" not in html


def test_without_diagrams_there_is_no_html():
    model = MulticlassSVM(tol=0.5).fit(np.eye(3), np.arange(3))
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert "text/html" not in model._repr_mimebundle_()


def test_in_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), MulticlassSVM(tol=0.5)).fit(np.eye(3), np.arange(3))
    assert "MulticlassSVM" in pipeline._repr_html_()


def test_a_result():
    result = FrankWolfe().solve(make_multiclass_problem(np.eye(4), np.array([0, 1, 2, 2]), 3), 0.1, tol=0.1)
    rows = certificate_in(result._repr_html_())
    assert rows["status"] == "converged"
    assert float(rows["primal value"]) == pytest.approx(result.primal, rel=1e-5)


def test_what_users_control_is_escaped():
    words = "<script>alert('x')</script>"
    html = certificate_html(words, {words: words, "a & b": 1.0})
    assert "<script" not in html
    assert Table(html).rows["a & b"] == "1"
    model = MulticlassSVM(tol=0.5).fit(np.eye(3), np.arange(3))
    model.status_ = words
    assert "<script>alert" not in model._repr_html_()
