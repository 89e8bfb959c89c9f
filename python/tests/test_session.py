"""Sessions of this machine: what `append` promises, and what is refused."""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import threading

from verbatim_log import Session, VerbatimError

from .support import InDirectory, kill, message, texts

LONG = "é" * 3_000_000
ODD = ["plain", "é 😀 \u2028", "lone \ud800 surrogate", "NUL \0 and \x7f", '"\\\n', ""]


class SessionTest(InDirectory):
    def test_entries_come_back_as_they_were_whatever_their_text(self) -> None:
        with self.open() as session:
            offsets = [session.append(message(text)) for text in [*ODD, LONG, LONG * 2]]
            self.assertEqual(texts(session), [*ODD, LONG, LONG * 2])
            self.assertEqual(offsets, [entry["end"] for entry in session.entries()])
            self.assertEqual([entry["line"] for entry in session.entries(last=2)], [None, None])
            self.assertEqual(session.verify()["verdict"], "unsigned")

    def test_a_wrong_entry_is_refused_with_its_code_and_the_session_continues(self) -> None:
        with self.open() as session:
            looped: list[object] = []
            looped.append(looped)
            wrong = [3, None, "text", {}, {"kind": "king"}, {"kind": "turn_end", "x": 1}]
            bad = [float("nan"), object(), b"bytes", looped, 2**53 + 1]
            wrong += [{"kind": "message", "role": "user", "parts": each} for each in bad]
            for entry in wrong:
                self.refused("INVALID_ENTRY", session.append, entry)
            self.refused("LINE_TOO_LONG", session.append, message("x" * (16 * 1024 * 1024)))
            session.append(message("good"))
            self.assertEqual(texts(session), ["good"])

    def test_of_many_entries_on_their_way_only_the_wrong_ones_are_refused(self) -> None:
        with self.open() as session:
            wrong = {"kind": "king"}
            sent = [session.send([wrong if n % 3 else message(str(n))]) for n in range(90)]
            for n, done in enumerate(sent):
                if n % 3:
                    self.refused("INVALID_ENTRY", done.result)
            self.assertEqual(texts(session), [str(n) for n in range(0, 90, 3)])
            ends = [done.result() for done in sent[::3]]
            self.assertEqual([entry["end"] for entry in session.entries()], ends)

    def test_wrong_options_are_refused_before_anything_is_written(self) -> None:
        wrong = [{"session": 3}, {"sign": 7}, {"durability": "none"}, {"session": "a\0b"}]
        for options in wrong:
            self.refused("BAD_SETTING", Session, root=self.root, **options)
        self.refused("BAD_SETTING", Session, command=[])
        self.refused("BAD_SETTING", Session, command=[3])
        self.refused("BAD_ID", Session, "a/b", root=self.root)
        for command in ["no-such-command", ["cat"], ["echo"], ["true"], [self.root]]:
            self.refused("PROGRAM_FAILED", Session, root=self.root, command=command)
        crash = ["node", "-e", f"/* {'x' * 9000} */ throw new Error('too old')"]
        error = self.refused("PROGRAM_FAILED", Session, root=self.root, command=crash)
        self.assertIn("too old", str(error))
        self.assertLess(len(str(error)), 600)
        self.assertEqual(os.listdir(self.root), [])

    def test_a_closed_session_and_one_of_another_process_are_refused(self) -> None:
        with self.open() as session:
            session.append(message("one"))
            self.assertIn("pid", str(self.refused("LOG_LOCKED", self.open)))
        self.refused("LOG_CLOSED", session.append, message("two"))
        session.close()
        self.assertEqual(texts(session), ["one"])

    def test_shared_sessions_take_entries_of_several_processes(self) -> None:
        with self.open(shared=True) as one, self.open(shared=True) as two:
            for text in "abc":
                one.append(message(text))
                two.append(message(text))
            self.assertEqual(texts(one), list("aabbcc"))

    def test_a_signed_session_is_verified_once_it_is_closed(self) -> None:
        with self.open(sign=True) as session:
            session.append(message("one"))
        self.assertEqual(session.verify()["verdict"], "verified")
        with self.assertWarnsRegex(UserWarning, "signed so far"):
            self.open().close()

    def test_threads_append_at_once_and_each_entry_is_there_once(self) -> None:
        with self.open() as session:

            def work(thread: int) -> None:
                for n in range(20):
                    session.append(message(f"{thread}.{n}"))

            threads = [threading.Thread(target=work, args=(each,)) for each in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            found = texts(session)
            self.assertEqual(len(found), 160)
            for each in range(8):  # And in the order of its thread.
                mine = [text for text in found if text.startswith(f"{each}.")]
                self.assertEqual(mine, [f"{each}.{n}" for n in range(20)])

    def test_after_kills_at_random_moments_each_entry_is_there_exactly_once(self) -> None:
        for seed in range(3):
            choose = random.Random(seed)
            with self.open(f"killed-{seed}", shared=seed == 2) as session:
                sent = []
                for n in range(300):
                    sent.append(session.send([message(f"{n} {'x' * choose.randrange(5000)}")]))
                    if choose.random() < 0.01:
                        kill(session)
                    if choose.random() < 0.05:
                        sent[choose.randrange(len(sent))].result()
                offsets = [each.result() for each in sent]
                entries = list(session.entries())
                self.assertEqual([entry["end"] for entry in entries], offsets)
                numbers = [entry["parts"][0]["text"].split()[0] for entry in entries]
                self.assertEqual(numbers, [str(n) for n in range(300)])

    def test_a_process_killed_between_appends_is_replaced(self) -> None:
        with self.open() as session:
            for text in "abc":
                session.append(message(text))
                kill(session)
            self.assertEqual(texts(session), list("abc"))
        self.open().append(message("d"))

    def test_if_the_log_cannot_be_opened_again_the_append_fails_with_the_code(self) -> None:
        with self.open() as session:
            session.append(message("one"))
            os.rename(session.path, f"{session.path}.away")
            os.mkdir(session.path)
            kill(session)
            self.refused("UNSAFE_PATH", session.append, message("two"))
            os.rmdir(session.path)
            os.rename(f"{session.path}.away", session.path)
            session.append(message("three"))
            self.assertEqual(texts(session), ["one", "three"])

    def test_after_a_fork_the_session_is_the_parents(self) -> None:
        session = self.open()
        session.append(message("one"))
        hold, release = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                session.append(message("two"))
            except VerbatimError as error:
                session.close()
                os.close(release)
                os.read(hold, 1)  # Lives on while the parent closes.
                os._exit(0 if error.code == "LOG_CLOSED" else 1)
            os._exit(2)
        session.append(message("three"))
        session.close()  # Would hang if the child had a copy of the pipe.
        os.close(release)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(texts(session), ["one", "three"])

    def test_a_program_that_ends_without_close_loses_nothing_and_leaves_no_lock(self) -> None:
        program = (
            "import os, sys; from verbatim_log import Session\n"
            "session = Session('s', root=sys.argv[1])\n"
            "entry = {'kind': 'turn_end'}\n"
            "session.append(entry)\n"
            "sent = [session.send([entry]) for _ in range(100)]\n"
        )
        for times, end in enumerate(["", "raise SystemExit(3)", "os.abort()"], 1):
            subprocess.run([sys.executable, "-c", program + end, self.root], cwd=HERE)
            session = self.unlocked()
            self.assertEqual(len(list(session.entries())), 101 * times)
            session.close()

    def unlocked(self) -> Session:
        """The session, once the process that had it has ended."""
        while True:
            try:
                return Session("s", root=self.root)
            except VerbatimError as error:
                self.assertEqual(error.code, "LOG_LOCKED")

    def test_an_error_can_be_pickled(self) -> None:
        error = self.refused("BAD_ID", Session, "..", root=self.root)
        copy = pickle.loads(pickle.dumps(error))
        self.assertEqual((copy.code, str(copy)), (error.code, str(error)))


HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
