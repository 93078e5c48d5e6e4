"""The pydantic models that REST takes and returns; names as in `--json`."""
