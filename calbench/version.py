"""The version of the package."""

PACKAGE_VERSION = "0.1.0"
