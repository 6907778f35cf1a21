"""Boxes in a map of scores: efficient subwindow search (lampert08), and a scan of pairs of rows where that is slow."""

from .answers import best_box, candidate_marginals, scan_boxes, search_boxes, top_boxes

__all__ = ["best_box", "candidate_marginals", "scan_boxes", "search_boxes", "top_boxes"]
