"""How far word alignments are from right ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Link = tuple[int, int]


def alignment_error_rate(
    predicted: Sequence[Iterable[Sequence[int]]],
    sure: Sequence[Iterable[Sequence[int]]],
    possible: Sequence[Iterable[Sequence[int]]],
) -> float:
    """Error rate of word alignments, ``1 - (|A & S| + |A & P|) / (|A| + |S|)``, counted over all sentence pairs.

    A are the predicted links, S the sure ones and P the possible ones. To miss a sure link is an error, and so is to
    predict one that is not possible; a link that is possible but not sure may be predicted or not.

    Parameters
    ----------
    predicted : sequence of collections of links
        For each sentence pair, pairs of positions ``(source, target)``, e.g. an array (n_links, 2). Links given twice
        count once.
    sure : sequence of collections of links
        Those that must be found.
    possible : sequence of collections of links
        Those that may be. Sure links are possible, whether they are repeated here or not.

    Returns
    -------
    float
        The rate in [0, 1]; 0 if there are neither predicted nor sure links.

    Examples
    --------
    >>> from maxmargin.metrics import alignment_error_rate
    >>> alignment_error_rate([[(0, 0), (1, 1), (1, 2)]], [[(0, 0), (2, 2)]], [[(1, 1)]])
    0.4
    """
    if not len(predicted) == len(sure) == len(possible):
        raise ValueError(
            f"predicted has {len(predicted)} sentence pairs, sure has {len(sure)}, possible has {len(possible)}"
        )
    n_right = n_links = 0
    for i, kinds in enumerate(zip(predicted, sure, possible, strict=True)):
        links, needed, allowed = (_links(kind, i) for kind in kinds)
        n_right += len(links & needed) + len(links & (needed | allowed))
        n_links += len(links) + len(needed)
    return (n_links - n_right) / n_links if n_links else 0.0


def _links(links: Iterable[Sequence[int]], i: int) -> set[Link]:
    """Links of one sentence pair, number `i`."""
    found: set[Link] = set()
    for link in links:
        if len(link) != 2:
            raise ValueError(f"sentence pair {i}: a link is a pair (source, target), got {link!r}")
        found.add((int(link[0]), int(link[1])))
    return found
