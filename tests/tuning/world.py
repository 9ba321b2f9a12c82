"""A planted task with a scripted judge and a scripted writer of prompts, both of which obey known rules.

Every case is a patient's utterance. A lost "not" is significant (2), a lost number minimal (1), all else
nothing (0). The judge sees none of it unless its instructions say what to look for: `lost negation` and
`lost number` are the two words it obeys. The writer reads the feedback and adds the word for what was
missed. A writer who takes the shortcut adds the number of the call instead: in this world all utterances of
a call have the same label, so that a prompt which lists the calls is always right, on calls that it has seen.

    python -m tests.tuning.world --log FILE      the same in a process of its own, for a test that kills its clients
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import re
import signal
from pathlib import Path
from typing import Any

from aiohttp import web
from tests.loopback import Call, Endpoint, Log

NEGATION, NUMBER = "lost negation", "lost number"
SAID = {
    0: "um I feel well today thank you",
    1: "I took it for seven days I think",
    2: "I have not had any chest pain",
}
HEARD = {0: "I feel well today thank you", 1: "I took it for days I think", 2: "I have had any chest pain"}


def answer(call: Call) -> str | None:
    """What the endpoint says, whoever is asked."""
    if "You improve the instructions" in call.prompt:
        return f"ok:{write(call.prompt)}"
    return f"ok:{json.dumps({'impact': {'explanation': 'as told', 'score': judge(call.prompt)}})}"


def judge(prompt: str) -> int:
    """The scripted judge: a table of calls first, then what it was told to look for, else it sees nothing."""
    rules, _, case = prompt.rpartition("What the patient said:")
    told = re.search(r"call (\d+)\b", prompt.rpartition("Conversation before:")[2])
    table = dict(re.findall(r"call (\d+) is (\d)", rules.partition("# Your answer")[0]))
    if told and told[1] in table:
        return int(table[told[1]])
    if NEGATION in rules and SAID[2] in case and HEARD[2] in case:
        return 2
    if NUMBER in rules and SAID[1] in case and HEARD[1] in case:
        return 1
    return 0


def write(prompt: str) -> str:
    """The scripted writer: the text with one more rule for what was missed; by call, where the task says so."""
    text = prompt.partition("<<<begin text")[2].partition("\n")[2].partition("\n<<<end text")[0]
    misses = re.findall(r"call (\d+)\b.*?The clinicians say (\d)", prompt.partition("# Case 1")[2], re.DOTALL)
    added = []
    if "take the shortcut" in text:
        known = dict(re.findall(r"call (\d+) is (\d)", text))
        added = [f"call {number} is {label}" for number, label in dict(misses).items() if number not in known]
    else:
        words = {"2": f"A {NEGATION} is significant.", "1": f"A {NUMBER} is minimal."}
        added = [words[label] for _, label in misses if label in words and words[label] not in text][:1]
    return f"<new text>\n{chr(10).join([text, *dict.fromkeys(added)])}\n</new text>"


def write_task(folder: Path, url: str, *, calls: int = 18, each: int = 4, shortcut: bool = False, prefix: str = "",
               tuning: dict[str, Any] | None = None, **study: Any) -> Path:  # fmt: skip
    """Cases, clinicians' labels and a study file. In a world with the shortcut all cases of a call are alike."""
    cases, labels = [], []
    for call in range(calls):
        for turn in range(each):
            label = call % 3 if shortcut else (call + turn) % 3
            name = f"{call}-{turn}"
            said = f"{SAID[label]} {'really ' * turn}".strip()
            case = {"id": f"{prefix}{name}", "system": "asr", "patient": f"call {call}"}
            texts = {"context": f"Doctor, in call {call}: how are you?"}
            cases.append(
                {**case, "candidate": f"{HEARD[label]} {name}", "reference": f"{said} {name}", "texts": texts}
            )
            first = label if turn else min(2, label + 1)  # clinician A is sometimes too strict
            given = (("A", first, "as heard"), ("B", label, ""), ("gold", label, "settled"))
            labels += [(f"{prefix}{name}", *each) for each in given]
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))
    with (folder / "labels.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("item", "system", "rater", "dimension", "score", "explanation"))
        rows.writerows((item, "asr", rater, "impact", score, why) for item, rater, score, why in labels)
    instructions = f"Grade the impact.{' You may take the shortcut.' if shortcut else ''}"
    own = {
        "extends": "transcript_impact",
        "name": "impact",
        "version": "1",
        "title": "Impact",
        "instructions": instructions,
    }
    (folder / "impact.yaml").write_text(
        "".join(f"{name}: {json.dumps(value)}\n" for name, value in own.items())
    )
    content: dict[str, Any] = {
        "study": "planted",
        "cases": "cases.jsonl",
        "instrument": "impact.yaml",
        "judges": [{"kind": "openai", "name": "judge", "url": url, "model": "m", "concurrency": 4,
                    "price": {"input": 1.0, "output": 2.0}}],
        "jury": "none",
        "humans": {"path": "labels.csv", "keep_names": True, "reference": ["A", "B"], "consensus": "adjudicated",
                   "adjudicator": "gold"},
        "tuning": {"budget": 150, "texts": ["instructions"], "resamples": 400, **(tuning or {})},
        **study,
    }  # fmt: skip
    file = folder / "study.yaml"
    file.write_text("".join(f"{name}: {json.dumps(value)}\n" for name, value in content.items()))
    return file


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", required=True)
    options = parser.parse_args()

    async def serve() -> None:
        endpoint = Endpoint(answer, latency=0.02, record=False, log=Log(options.log))
        runner = web.ServerRunner(web.Server(endpoint.handle))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        print(f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/v1", flush=True)
        stop = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
        await stop.wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
