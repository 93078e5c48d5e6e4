"""What Recollect reaches, measured: retrieval quality beside baselines, speed by size. `python -m benchmarks.run`."""

import os

os.environ["RECOLLECT_BACKGROUND"] = "0"  # no worker runs beside what is measured
