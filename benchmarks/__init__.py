"""What is measured, against whom. Data sets lying beside the checkout are used where MAXMARGIN_DATA is not set."""

import os
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

if BESIDE.is_dir():
    os.environ.setdefault("MAXMARGIN_DATA", str(BESIDE))
