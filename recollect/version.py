"""The version of this program, which the package is built with too."""

VERSION = "0.2.0"
