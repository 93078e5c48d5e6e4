"""What Recollect reaches, measured: retrieval quality beside baselines, speed by size. `python -m benchmarks.run`."""
