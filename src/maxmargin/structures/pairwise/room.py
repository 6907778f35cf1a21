"""Room for marginals of links that are kept as lists, and these lists: verbs of what is kept, see :mod:`.links`."""

from __future__ import annotations

from ..._compile import implements, verb


@verb
def links_lack_room(kept, links, sites, i):
    """As ``lacks_room``; by default there is all of it."""


@implements(links_lack_room, object)
def _(kept, links, sites, i):
    return False


@verb
def sums_lack_room(totals, kept, i):
    """As ``lacks_room_to_add``; by default there is all of it."""


@implements(sums_lack_room, object)
def _(totals, kept, i):
    return False


@verb
def links_with_room(kept, links, sites):
    """As ``with_room``. For Python only, as those below."""


@verb
def sums_with_room(totals, kept):
    """As ``with_room_to_add``."""


@verb
def links_with_all_room(kept):
    """As ``with_all_room``; it may be another part."""


@implements(links_with_room, object)
def _(kept, links, sites):
    return kept


@implements(sums_with_room, object)
def _(totals, kept):
    return totals


@implements(links_with_all_room, object)
def _(kept):
    return kept


@verb
def list_kept(kept):
    """The sums over blocks that are not zero, where such sums are kept: samples, labels of tails and heads, masses."""


@verb
def put_listed(kept, samples, tails, heads, masses):
    """What was empty becomes the sums of such a list, in which entries may come several times."""
