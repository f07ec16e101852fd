"""The decode workbench: predict how fast a model can decode, measure it, keep the record."""

__version__ = "0.1.0"
