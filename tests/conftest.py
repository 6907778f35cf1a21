"""What all tests share: where the real data is."""

import os
from pathlib import Path

BESIDE_CHECKOUT = Path(__file__).resolve().parents[2] / "shared" / "data"

if BESIDE_CHECKOUT.is_dir():
    os.environ.setdefault("MAXMARGIN_DATA", str(BESIDE_CHECKOUT))
