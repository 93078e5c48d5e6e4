"""The command line, as the tests of the faces run it."""

from tests.faces.conftest import run as run
