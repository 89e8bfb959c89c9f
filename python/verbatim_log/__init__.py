"""Verbatim for Python: append-only, signed records of what AI agents said and did."""

from ._async import AsyncSession
from ._command import VerbatimError
from ._remote import RemoteSession
from ._session import Session

__all__ = ["AsyncSession", "RemoteSession", "Session", "VerbatimError"]
