"""The certificate as notebooks show it."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

STYLE = "border-collapse: collapse; margin: 0.5em 0; font-size: 0.9em"
CELL = "padding: 0.15em 0.9em 0.15em 0; text-align: left; border: none; background: none"


def certificate_html(title: str, rows: Mapping[str, Any]) -> str:
    """A table of names and values; both may be anybody's words."""
    lines = "".join(
        f'<tr><th scope="row" style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(_shown(value))}</td></tr>'
        for name, value in rows.items()
    )
    caption = f'<caption style="text-align: left"><b>{escape(title)}</b></caption>'
    return f'<table class="maxmargin-certificate" style="{STYLE}">{caption}<tbody>{lines}</tbody></table>'


def certificate_rows(
    status: Any, primal: float, dual: float, gap: float, n_passes: float, history: Mapping[str, Any]
) -> dict[str, Any]:
    """What a certificate says, by name."""
    effort = history.get("effective_passes")
    passes = f"{n_passes:g}" if effort is None else f"{n_passes:g} ({effort[-1]:.1f} with certificates)"
    return {
        "status": status,
        "primal value": primal,
        "dual value": dual,
        "duality gap": gap,
        "passes": passes,
        "seconds": f"{history['seconds'][-1]:.2f}",
    }


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
