"""Data sets: one bundled with its ingredients (`load_dates`), one drawn (`make_figures`), the others fetched once.

The fetchers look into ``data_home``, then ``$MAXMARGIN_DATA``, then ``~/.maxmargin_data``, and download
from the public origin only if the data is in none of them. Sets that no public origin has in the form needed
(`fetch_bccd`, `fetch_cantonese`, `fetch_glyphs`, `fetch_horses`, `fetch_multilabel`, `fetch_slovak`) must lie in one of
these folders.
"""

from maxmargin.datasets._bccd import fetch_bccd
from maxmargin.datasets._cantonese import fetch_cantonese, fetch_glyphs
from maxmargin.datasets._conll2000 import fetch_conll2000
from maxmargin.datasets._dates import load_dates
from maxmargin.datasets._digits import fetch_mnist, fetch_usps
from maxmargin.datasets._ewt import fetch_ewt
from maxmargin.datasets._fetch import get_data_home
from maxmargin.datasets._figures import make_figures
from maxmargin.datasets._horses import fetch_horses
from maxmargin.datasets._multilabel import fetch_multilabel
from maxmargin.datasets._ner import fetch_bc2gm, fetch_wnut17
from maxmargin.datasets._ocr import fetch_ocr
from maxmargin.datasets._slovak import fetch_slovak
from maxmargin.datasets._snakes import fetch_snakes
from maxmargin.datasets._wordalign import fetch_wordalign

__all__ = [
    "fetch_bc2gm",
    "fetch_bccd",
    "fetch_cantonese",
    "fetch_conll2000",
    "fetch_ewt",
    "fetch_glyphs",
    "fetch_horses",
    "fetch_mnist",
    "fetch_multilabel",
    "fetch_ocr",
    "fetch_slovak",
    "fetch_snakes",
    "fetch_usps",
    "fetch_wnut17",
    "fetch_wordalign",
    "get_data_home",
    "load_dates",
    "make_figures",
]
