"""The stores of both engines, as the contract suite has them."""

from tests.store.conftest import clock, open_store, space, store  # noqa: F401
