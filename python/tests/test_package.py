"""The package as files: what it imports, its size, and the lines of its README."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
import unittest
from pathlib import Path

from .support import InDirectory

PYTHON = Path(__file__).parent.parent
SOURCES = sorted((PYTHON / "verbatim_log").glob("*.py"))


class PackageTest(unittest.TestCase):
    def test_it_imports_nothing_but_the_standard_library_and_itself(self) -> None:
        for path in SOURCES:
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    self.assertIn(name.split(".")[0], sys.stdlib_module_names, path.name)

    def test_its_lines_have_at_most_100_characters(self) -> None:
        for path in [*SOURCES, *(PYTHON / "tests").glob("*.py")]:
            for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                self.assertLessEqual(len(line), 100, f"{path.name}:{number}")

    def test_it_says_that_it_has_types(self) -> None:
        self.assertTrue((PYTHON / "verbatim_log/py.typed").exists())
        self.assertIn("py.typed", (PYTHON / "pyproject.toml").read_text("utf-8"))


class ReadmeTest(InDirectory):
    def test_the_lines_of_the_readme_print_what_it_says(self) -> None:
        text = (PYTHON / "README.md").read_text("utf-8")
        found = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", text, re.DOTALL)
        self.assertGreaterEqual(len(found), 1)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.root)
        for program, expected in found:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
            self.assertEqual(printed.getvalue(), expected)
