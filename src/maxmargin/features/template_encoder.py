"""Columns of strings in sparse rows: `TemplateEncoder`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._parameters import check_count
from ..formats import Column, TokenColumns, column
from .attributes import AttributeEncoder, Tokens
from .templates import BUILT_IN, Templates, parse_templates
from .views import view_of


class TemplateEncoder(TransformerMixin, BaseEstimator):
    """Sparse rows of tokens that come as columns of strings: words, tags, whatever a file has.

    Templates say which strings around a token are its features, see ``docs/command_line.md``. Goes before `ChainSVM` or
    `ChainCRF` in a pipeline.

    Parameters
    ----------
    templates : str or list of str, default="full"
        "full": words and other columns in a window, and what can be read off words: case, shape, beginnings and ends;
        "window": the window alone; or lines in the language of CRF++.
    min_count : int, default=2
        Features with fewer occurrences in training have no column: most that occur once never occur again.

    Attributes
    ----------
    n_columns_ : int
        How many columns tokens have.
    templates_ : list of str
        The lines.
    vocabularies_ : list of lists of str
        The strings of each column.
    stages_ : list of lists of arrays
        The features of each template, coded.

    See Also
    --------
    DictEncoder : Features that you make yourself.

    Examples
    --------
    >>> from maxmargin import TemplateEncoder
    >>> encoder = TemplateEncoder(["U:w=%x[0,0]", "U:before|end=%x[-1,0]|%suffix2[0,0]"], min_count=1)
    >>> rows = encoder.fit_transform([["the", "cat"], ["a", "cat"]])
    >>> encoder.get_feature_names_out().tolist()
    ['w=a', 'w=cat', 'w=the', 'before|end=a|at', 'before|end=the|at', 'before|end=_B-1|he']
    >>> rows[0].toarray()
    array([[0., 0., 1., 0., 0., 1.],
           [0., 1., 0., 0., 1., 0.]])
    """

    n_columns_: int
    templates_: list[str]
    vocabularies_: list[list[str]]
    stages_: list[list[np.ndarray]]

    def __init__(self, templates: str | Sequence[str] = "full", *, min_count: int = 2):
        self.templates = templates
        self.min_count = min_count

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the features of sentences.

        Parameters
        ----------
        X : TokenColumns, or list of sentences
            A sentence is a list of tokens; a token is a tuple of strings, one a column, or a string.
        y : ignored
            For pipelines.

        Returns
        -------
        self : TemplateEncoder
        """
        self._learn(as_token_columns(X))
        return self

    def fit_transform(self, X: Any, y: Any = None) -> list[Any]:
        """Learn the features of sentences and make sparse rows of them, in one go.

        Parameters
        ----------
        X : TokenColumns, or list of sentences
            As in `fit`.
        y : ignored
            For pipelines.

        Returns
        -------
        rows : list of CSR matrices of shape (T, F)
            As `transform` gives them.
        """
        return self._rows(self._learn(as_token_columns(X)))

    def transform(self, X: Any) -> list[Any]:
        """Make sparse rows of tokens; features never seen are left out.

        Parameters
        ----------
        X : TokenColumns, or list of sentences
            As in `fit`.

        Returns
        -------
        rows : list of CSR matrices of shape (T, F)
            A matrix a sentence. With ``B`` templates that read something, a list of tuples (rows, rows of transitions),
            the latter of shape (T - 1, E).
        """
        check_is_fitted(self)
        sentences = as_token_columns(X, self.n_columns_)
        if len(sentences.columns) != self.n_columns_:
            raise ValueError(f"X has {len(sentences.columns)} columns, but those of fit had {self.n_columns_}")
        return self._rows(viewed(sentences, parse_templates(self.templates_)))

    def _learn(self, sentences: TokenColumns) -> Tokens:
        """Learn all there is; what templates read is given back."""
        min_count = check_count("min_count", self.min_count)
        lines = self._lines(len(sentences.columns))
        templates = parse_templates(lines, len(sentences.columns))
        tokens = viewed(sentences, templates)
        nodes, edges = (AttributeEncoder.learn(some, tokens, min_count) for some in templates)
        self._know(lines, [one.values.tolist() for one in sentences.columns], nodes, edges)
        return tokens

    def fit_batches(self, batches: Callable[[], Iterable[TokenColumns]]) -> Self:
        """Learn the features of sentences that come in batches, and need not be in memory together.

        Parameters
        ----------
        batches : function
            Called without arguments, it gives the batches from the first on, each a `TokenColumns`; it is called two
            times or more.

        Returns
        -------
        self : TemplateEncoder
            As `fit` would leave it, given all sentences.
        """
        min_count, words = check_count("min_count", self.min_count), list[set[str]]()
        for sentences in batches():
            words = words or [set() for _ in sentences.columns]
            for known, own in zip(words, sentences.columns, strict=True):
                known.update(own.values)
        vocabularies, lines = [sorted(known) for known in words], self._lines(len(words))
        templates = parse_templates(lines, len(words))
        of_views = vocabularies_of(templates, vocabularies)
        nodes, edges = (
            AttributeEncoder.learn_from(
                some, of_views, lambda: (viewed(one, templates) for one in batches()), min_count
            )
            for some in templates
        )
        self._know(lines, vocabularies, nodes, edges)
        return self

    def _know(self, lines: list[str], vocabularies: Any, nodes: AttributeEncoder, edges: AttributeEncoder) -> None:
        self.n_columns_, self.templates_, self.vocabularies_ = len(vocabularies), lines, vocabularies
        self.stages_ = [*nodes.stages, *edges.stages]
        self._encoders = nodes, edges

    def _rows(self, tokens: Tokens) -> list[Any]:
        nodes, edges = self.encoders()
        rows = nodes.encode(tokens)
        if not edges.n_attributes:
            return rows
        # CRF++ reads transitions at their second token
        return [(own, links[1:]) for own, links in zip(rows, edges.encode(tokens), strict=True)]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Give the names of the columns, those of features of labels.

        Parameters
        ----------
        input_features : ignored
            For pipelines.

        Returns
        -------
        names : array of shape (F,)
            Strings, as objects.
        """
        check_is_fitted(self)
        return self.encoders()[0].names()

    def edge_feature_names(self) -> np.ndarray:
        """Give the names of the features of transitions.

        Returns
        -------
        names : array of shape (E,)
            Strings, as objects.
        """
        check_is_fitted(self)
        return self.encoders()[1].names()

    def _lines(self, n_columns: int) -> list[str]:
        if not isinstance(self.templates, str):
            return list(self.templates)
        if self.templates not in BUILT_IN:
            known = ", ".join(map(repr, BUILT_IN))
            raise ValueError(f"templates must be a list of lines or one of {known}, got {self.templates!r}")
        return BUILT_IN[self.templates](n_columns)

    def encoders(self) -> tuple[AttributeEncoder, AttributeEncoder]:
        """Encoders of features of labels and of transitions, made when first wanted."""
        if "_encoders" not in self.__dict__:
            templates = parse_templates(self.templates_)
            vocabularies = vocabularies_of(templates, self.vocabularies_)
            n = len(templates.nodes)
            nodes = AttributeEncoder(templates.nodes, vocabularies, self.stages_[:n])
            self._encoders = nodes, AttributeEncoder(templates.edges, vocabularies, self.stages_[n:])
        return self._encoders

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_encoders"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags


def vocabularies_of(templates: Templates, of_columns: Sequence[Sequence[str]]) -> dict[str, list[str]]:
    """The strings of what templates read, given those of the columns."""
    found = {}
    for view, number in templates.views:
        values = np.array(of_columns[number], dtype=object)
        found[f"{view},{number}"] = view_of(Column(values, np.arange(len(values))), view).values.tolist()
    return found


def viewed(sentences: TokenColumns, templates: Templates) -> Tokens:
    """The columns that templates read."""
    columns = {f"{view},{number}": view_of(sentences.columns[number], view) for view, number in templates.views}
    return Tokens(columns, sentences.offsets)


def as_token_columns(X: Any, n_columns: int = 1) -> TokenColumns:
    """Sentences in columns, however they come; `n_columns` is how many there are where there is no token."""
    if isinstance(X, TokenColumns):
        return X
    sentences = list(X)
    for i, sentence in enumerate(sentences):
        if isinstance(sentence, str) or not isinstance(sentence, Iterable):
            raise TypeError(f"X, sample {i}: expected a list of tokens, got {type(sentence).__name__}")
    tokens = [(token,) if isinstance(token, str) else tuple(token) for token in chain.from_iterable(sentences)]
    _check_tokens(tokens, sentences)
    strings = zip(*tokens, strict=True) if tokens else [()] * n_columns
    offsets = np.cumsum([0, *map(len, sentences)])
    return TokenColumns(tuple(column(each) for each in strings), offsets)


def _check_tokens(tokens: list[tuple], sentences: list[Any]) -> None:
    """All with as many strings as the first one."""
    wanted = len(tokens[0]) if tokens else 0
    if wanted and all(len(token) == wanted and all(isinstance(one, str) for one in token) for token in tokens):
        return
    for i, sentence in enumerate(sentences):
        for t, token in enumerate(sentence):
            own = (token,) if isinstance(token, str) else tuple(token)
            if len(own) != wanted or not own:
                raise ValueError(f"X, sample {i}, token {t}: {len(own)} strings, but the first token has {wanted}")
            if not all(isinstance(one, str) for one in own):
                raise TypeError(f"X, sample {i}, token {t}: expected a string or a tuple of strings, got {token!r}")
