"""What Python prints for rye's events: the oracle of src/dialects/rye.

    python3 test/golden/rye/oracle.py generate   writes the golden files next to this one
    python3 test/golden/rye/oracle.py answer     JSON questions on stdin, JSON answers on stdout

Python's own formatting does the work. The only additions are the rules of docs/formats/rye.md for
values on which the original would fail (`printed`, `number`, `mapping`), and the fence rule.
"""

import json
import re
import sys
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).parent


def printed(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def number(value, spec):
    return format(value, spec) if isinstance(value, (int, float)) else printed(value)


def mapping(event, key):
    value = event.get(key, {})
    return value if isinstance(value, dict) else {}


def fenced(text, language=""):
    longest = max([len(run) for run in re.findall("`+", text)], default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}\n"


def render(event, thinking, tool_details, assistant_metadata):
    text = printed(event.get("text", ""))
    kind = event.get("type")
    if kind == "thread_start":
        return (
            f"# {printed(event.get('directive', 'Thread'))}\n\n"
            f"**Thread ID:** {printed(event.get('thread_id', ''))}\n"
            f"**Model:** {printed(event.get('model', ''))}\n"
            f"**Started:** {printed(event.get('ts', ''))}\n\n---\n\n"
        )
    if kind == "user_message":
        role = event.get("role", "user")
        role = role.title() if isinstance(role, str) else printed(role)
        return f"## {role}\n\n{text}\n\n---\n\n"
    if kind == "assistant_text":
        return f"## Assistant\n\n{text}\n\n" if assistant_metadata else f"{text}\n\n"
    if kind == "assistant_reasoning":
        return f"_Thinking:_\n\n{text}\n\n" if thinking else ""
    if kind == "tool_call_start":
        name = f"**Tool: {printed(event.get('tool', ''))}**\n"
        if not tool_details:
            return name + "\n"
        given = event.get("input")
        if given:
            name += f"\n**Input:**\n{fenced(json.dumps(given, indent=2), 'json')}"
        return name
    if kind == "tool_call_result":
        if not tool_details:
            return ""
        error = event.get("error")
        if error:
            return f"\n**Error:**\n{fenced(printed(error))}\n"
        return f"\n**Output:**\n{fenced(printed(event.get('output', '')))}\n"
    if kind == "step_finish":
        tokens, cost = mapping(event, "tokens"), mapping(event, "cost")
        return (
            f"_Step: {printed(tokens.get('input_tokens', 0))}in "
            f"/ {printed(tokens.get('output_tokens', 0))}out "
            f"· ${number(cost.get('spend', 0), '.4f')}_\n\n---\n\n"
        )
    if kind == "thread_complete":
        cost = mapping(event, "cost")
        return (
            f"---\n\n**Completed** · "
            f"{printed(cost.get('turns', 0))} turns · "
            f"{printed(cost.get('tokens', 0))} tokens · "
            f"${number(cost.get('spend', 0), '.4f')} · "
            f"{number(cost.get('duration_seconds', 0), '.1f')}s\n"
        )
    if kind == "thread_error":
        code, detail = printed(event.get("error_code", "")), printed(event.get("detail", ""))
        return f"---\n\n**Error:** {code} — {detail}\n"
    return ""


def created(question):
    """The document's date filter: None when it skips, else whether the thread is within."""
    try:
        age = datetime.fromisoformat(question["now"]) - datetime.fromisoformat(question["at"])
    except (TypeError, ValueError):
        return None
    return not age.days > question["days"]


ANSWERS = {
    "fixed": lambda q: format(float(json.loads(q["json"])), f".{q['digits']}f"),
    "dumps": lambda q: json.dumps(json.loads(q["json"]), indent=2),
    "title": lambda q: q["text"].title(),
    "truth": lambda q: bool(json.loads(q["json"])),
    "created": created,
    "render": lambda q: render(
        json.loads(q["json"]), q["thinking"], q["toolDetails"], q["assistantMetadata"]
    ),
}


def answer(question):
    return ANSWERS[question["ask"]](question)


def envelope(kind, **data):
    return {
        "ts": "2026-02-09T04:03:50.365852+00:00",
        "type": kind,
        "thread_id": "hello_world-1739012630",
        "directive": "hello_world",
        **data,
    }


def bare(kind, **data):
    return {"ts": "T", "type": kind, **data}


ODD = [None, True, False, 0, 7, -2.5, 1e-05, 1.5e300, "", "x", "é😀", [], {}, [1, [], {"a": None}], {"é": "`"}]

TICKS = "a ` b `` c ``` d ````` e"

EVENTS = [
    envelope(
        "thread_start",
        inputs={"output_path": "out.md"},
        model="claude-3-5-haiku-20241022",
        provider="rye/agent/providers/anthropic_messages",
        thread_mode="single",
    ),
    bare("thread_start"),
    bare("thread_start", thread_id=None, directive=None, model=None),
    {"ts": None, "type": "thread_start", "directive": ""},
    envelope("user_message", text="You are a helpful agent.\n\n---\n", role="system"),
    envelope("user_message", text="Do something"),
    *[
        envelope("user_message", text="hi", role=role)
        for role in ["user", "USER", "don't", "tool-result 2nd", "éCOLE", "ßeta", "ΟΔΟΣ", "ﬁne", "ǆ", ""]
    ],
    envelope("step_start", turn_number=1),
    envelope("assistant_text", text="I'll help — 😀\r\n"),
    bare("assistant_text"),
    envelope("assistant_reasoning", text="Let me think..."),
    envelope("tool_call_start", tool="fs_read", call_id="tc_1", input={"path": "/tmp/test"}),
    envelope(
        "tool_call_start",
        tool="fs_write",
        call_id="tc_2",
        input={
            "text": "tab\t, quote\", back\\slash, slash/, nul\u0000, del\u007f, é, 😀, \u2028, " + TICKS,
            "nested": {"empty": {}, "none": [], "list": [1, 2.5, -3e-07, True, None, ["deep", {"k": 1e21}]]},
            "ключ": 123456789012345,
        },
    ),
    envelope("tool_call_start", tool="none", call_id="tc_3", input={}),
    envelope("tool_call_start", tool="none", call_id="tc_3", input="just text"),
    bare("tool_call_start"),
    envelope("tool_call_result", call_id="tc_1", output="file contents here", duration_ms=12),
    envelope("tool_call_result", call_id="tc_1", output=f"before\n```\n# {TICKS}\n```\nafter"),
    envelope("tool_call_result", call_id="tc_1", output="``"),
    envelope("tool_call_result", call_id="tc_1", output="", error="File not found", duration_ms=3),
    envelope("tool_call_result", call_id="tc_1", output="kept", error=""),
    bare("tool_call_result"),
    envelope(
        "step_finish",
        cost={"spend": 0.0025},
        tokens={"input_tokens": 500, "output_tokens": 100},
        finish_reason="end_turn",
    ),
    bare("step_finish"),
    *[bare("step_finish", cost={"spend": n / 32}) for n in [1, 3, 5, 7, 9, 33]],
    envelope(
        "thread_complete",
        usage={"input_tokens": 3520, "output_tokens": 258},
        cost={
            "turns": 2,
            "tokens": 3778,
            "input_tokens": 3520,
            "output_tokens": 258,
            "spend": 0.003848,
            "duration_seconds": 11.45,
        },
        tool_results_count=1,
    ),
    bare("thread_complete"),
    *[
        bare("thread_complete", cost={"spend": spend, "duration_seconds": seconds})
        for spend, seconds in [
            (0.00005, 0.25), (0.00015, 0.75), (0.00025, 0.05), (2.675, 1.25), (1e21, 1e22),
            (-0.00001, -0.25), (123456789.123456789, 0.35), (5e-324, 1.7976931348623157e308),
        ]
    ],
    envelope("thread_error", error_code="llm_call_failed", detail="Connection timeout"),
    bare("thread_error"),
    envelope("hook_triggered", hook_directive="on_error", event_name="error"),
    envelope("spawn_child", child_thread_id="child-1739012631", child_directive="child"),
    envelope("no_such_event", text="kept and silent"),
    envelope("token_delta", text="kept and silent"),
    *[bare("thread_start", directive=odd, model=odd, thread_id=odd) for odd in ODD],
    *[bare("user_message", text=odd, role=odd) for odd in ODD],
    *[bare("assistant_text", text=odd) for odd in ODD],
    *[bare("assistant_reasoning", text=odd) for odd in ODD],
    *[bare("tool_call_start", tool=odd, input=odd) for odd in ODD],
    *[bare("tool_call_result", output=odd) for odd in ODD],
    *[bare("tool_call_result", output="not shown on failure", error=odd) for odd in ODD],
    *[bare("step_finish", cost=odd, tokens=odd) for odd in ODD],
    *[
        bare("step_finish", cost={"spend": odd}, tokens={"input_tokens": odd, "output_tokens": odd})
        for odd in ODD
    ],
    *[bare("thread_complete", cost=odd) for odd in ODD],
    *[
        bare("thread_complete", cost={"turns": odd, "tokens": odd, "spend": odd, "duration_seconds": odd})
        for odd in ODD
    ],
    *[bare("thread_error", error_code=odd, detail=odd) for odd in ODD],
]

OPTIONS = [
    {"thinking": True, "toolDetails": True, "assistantMetadata": True},
    {"thinking": False, "toolDetails": True, "assistantMetadata": True},
    {"thinking": False, "toolDetails": False, "assistantMetadata": False},
]

NUMBERS = [
    "0", "1", "-1", "0.5", "1.5", "2.5", "0.25", "0.75", "0.35", "0.05", "0.00005", "0.03125", "0.09375", "-0.03125",
    "1e-7", "0.00001", "0.0001", "0.00012", "123456.789", "1e+21", "1.5e+300", "5e-324",
    "1.7976931348623157e+308", "100000000000000000000", "-2.675", "4.35", "1e999", "-1e999",
]

STRINGS = ["", "\u0000\b\t\n\u000b\f\r\u001f", " ~\u007f\u0080", "\"\\/", "é\u2028😀", "\ud800x\udc00", "`"]

TITLES = [
    "", "user", "SYSTEM", "don't", "they're bill's", "a1b2", "x-y_z", "éCOLE été", "straße ßeta", "ŉ ǰ ΐ", "ﬁn ﬃx",
    "ǆ ǅ Ǆ xǄ", "ΟΔΟΣ ΣΣ Σ", "ᾳ ᾲ ᾷ ᾈ xᾈ", "ა აბ", "և", "İstanbul xİ", "日本 go", "😀a",
]

TIMES = [
    "2026-02-09T04:03:50Z", "2026-02-09T04:03:50", "2026-02-09", "2026-02-09 04:03:50+00:00", "not a time", "",
    "2026-02-10T12:00:00+00:00", "2026-02-10T11:59:59.999999+00:00", "2026-02-09T12:00:00+00:00",
    "2026-02-09T11:59:59.999999Z", "2026-02-09T12:00:00.000001Z", "2026-02-09T21:00:00+09:00",
    "2026-02-09T20:59:59+09:00", "2026-02-09T02:00:00-10:00", "2099-01-01T00:00:00Z", "2026-02-30T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-02-17T24:00:00Z", "2026-02-17T11:59Z", "2026-02-17T11:60:00Z", "0000-01-01T00:00:00Z",
    "0001-01-01T00:00:00Z", "2026-02-17T12:00:00+2400", "2026-02-17T12:00:00.5+00:00", "2026-02-17T12:00:00,5+0000",
    "2026-02-17T12:00:00.1234567+00", "2026-02-17T12:00:00z",
]

META = {
    "thread_id": "hello_world-1739012630",
    "directive": "hello_world",
    "model": "claude-3-5-haiku-20241022",
    "provider": "rye/agent/providers/anthropic_messages",
    "status": "completed",
    "thread_mode": "single",
    "parent_thread_id": None,
    "created_at": "2026-02-09T04:03:50Z",
    "updated_at": "2026-02-09T04:04:01Z",
    "inputs": {"output_path": "résumé.md", "tags": [], "deep": {"n": 1e-05}},
    "cost": {
        "turns": 2, "tokens": 3778, "input_tokens": 3520, "output_tokens": 258, "spend": 0.003848,
        "duration_seconds": 11.45,
    },
}


def questions():
    for number_text in NUMBERS:
        for digits in (0, 1, 4):
            yield {"ask": "fixed", "json": number_text, "digits": digits}
        yield {"ask": "dumps", "json": number_text}
        yield {"ask": "truth", "json": number_text}
    for value in [*STRINGS, [], {}, [[]], {"": {}}, [1, "a", None, True], {"b": 1, "a": [{}, [2]]}]:
        yield {"ask": "dumps", "json": json.dumps(value)}
        yield {"ask": "truth", "json": json.dumps(value)}
    for value in ["true", "false", "null"]:
        yield {"ask": "truth", "json": value}
    for text in TITLES:
        yield {"ask": "title", "text": text}
    for at in TIMES:
        yield {"ask": "created", "at": at, "now": "2026-02-17T12:00:00+00:00", "days": 7}
    yield {"ask": "dumps", "json": json.dumps(META)}


def js_text(event):
    """The event as our writer would spell it: without the .0 that JavaScript does not write."""
    return re.sub(r"(?<=\d)\.0(?=[,}\]])", "", json.dumps(event))


def write(name, rows):
    lines = ",\n".join(json.dumps(row) for row in rows)
    (HERE / name).write_text(f"[\n{lines}\n]\n")


def generate():
    write("values.json", [{**question, "answer": answer(question)} for question in questions()])
    rows = []
    for event in EVENTS:
        text = js_text(event)
        asked = [{"ask": "render", "json": text, **options} for options in OPTIONS]
        rows.append({"line": text, "prints": [answer(question) for question in asked]})
    write("events.json", rows)


if sys.argv[1:] == ["generate"]:
    generate()
elif sys.argv[1:] == ["answer"]:
    json.dump([answer(question) for question in json.load(sys.stdin)], sys.stdout)
else:
    sys.exit(__doc__)
