"""Verbatim for Python: append-only, signed records of what AI agents said and did."""

from ._async import AsyncSession
from ._command import VerbatimError
from ._session import Session

__all__ = ["AsyncSession", "Session", "VerbatimError"]
