"""Small files in the form of each source of real judges, with made-up grades, as their checkouts have them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

OUTPUT = "medhelm/src/medhelm/open-ended-evals/output.csv"
GOLD = "Med-Bench-Arena/data/calibration/healthbench_meta_gold.jsonl"
LABELS = "Med-Bench-Arena/data/calibration/healthbench_meta_strongmodel_labels.jsonl"
CRAFT = "craft-md/results/expert_annotations/validation_graderai.csv"
CLAIMS = "K-QA/dataset/NLI_medical_annotator.csv"
CALLS = "wer-is-unaware/llm_judge/dataset/primock_data_final_outcomes.csv"
_AXES = ("accuracy", "completeness", "clarity")


def write_csv(file: Path, rows: list[dict[str, object]], delimiter: str = ",") -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as written:
        writer = csv.DictWriter(written, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def medhelm_rows(answers: int = 60) -> list[dict[str, object]]:
    """Two clinicians of a team to each answer, and the mean of three judges in both of their rows."""
    draw = np.random.default_rng(1)
    rows: list[dict[str, object]] = []
    for number in range(answers):
        quality = draw.uniform(1, 5, 3)
        jury = [
            round(float(np.mean(np.clip(np.round(each + draw.normal(0, 0.5, 3)), 1, 5))), 15)
            for each in quality
        ]
        for who in range(2):
            grades = np.clip(np.round(quality + draw.normal(0, 0.6, 3)), 1, 5).astype(int)
            rows.append(
                {
                    "username": f"Dr {'AB'[who]}{number % 3}", "specialty": "Oncology", "team": "Team 1",
                    "entry_id": number, "instance_id": f"id{number % 40}",
                    "dataset_name": "aci_bench" if number < 40 else "medi_qa",
                    "model_key": f"model-{number % 2}", "user_label": "Model A",
                    **dict(zip(_AXES, grades.tolist(), strict=True)),
                    **{f"llm_{name}": mean for name, mean in zip(_AXES, jury, strict=True)},
                }
            )  # fmt: skip
    return rows


def write_medhelm(folder: Path) -> None:
    write_csv(folder / OUTPUT, medhelm_rows())


def healthbench_rows(items: int = 60) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    draw = np.random.default_rng(2)
    people = [f"{number:064x}" for number in range(7)]
    gold, labels = [], []
    for number in range(items):
        met = draw.random() < 0.5
        who = [people[each] for each in draw.choice(7, 2 + number % 2, replace=False)]
        said = [bool(met ^ (draw.random() < 0.1)) for _ in who]
        gold.append(
            {
                "item_id": f"hb-{number:012x}", "dataset": "healthbench", "binary_labels": said,
                "anonymized_physician_ids": who, "category": "cluster:hedging",
                "prompt_id": f"prompt-{number // 2}", "completion_id": f"completion-{number}",
            }
        )  # fmt: skip
        labels.append(
            {
                "item_id": f"hb-{number:012x}",
                "criteria_met": bool(met ^ (draw.random() < 0.15)),
                "rationale": "Since.",
            }
        )
    return gold, labels


def write_lines(file: Path, rows: list[dict[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_healthbench(folder: Path) -> None:
    gold, labels = healthbench_rows()
    write_lines(folder / GOLD, gold)
    write_lines(folder / LABELS, labels)


def craft_text(*, grader: bool) -> str:
    """The sheet is turned round: a column for each case, the question above, and a row for whoever counted."""
    draw = np.random.default_rng(3)
    right = draw.integers(0, 6, 40)
    lines = [
        ['Question: how many of the five trials\nare "right"?', *[""] * 40],
        [""] * 41,
        ["", *(f"case_{number}" for number in range(40))],
        *([f"trial_{trial}", *["tinea"] * 40] for trial in range(5)),
        ["correct_ans", *["Tinea"] * 40],
        ["dermatologist_accuracy", *map(str, right), ],
        ["", *["a remark"] * 40],
    ]  # fmt: skip
    lines[-2][5] = ""  # not counted
    if grader:
        lines.insert(
            -1, ["dermatologist2_accuracy", *map(str, np.clip(right + draw.integers(-1, 2, 40), 0, 5))]
        )
        lines.insert(-1, ["graderai_accuracy", *map(str, np.clip(right + draw.integers(-1, 2, 40), 0, 5))])
    text: list[str] = []
    for line in lines:
        text.append(",".join('"' + cell.replace('"', '""') + '"' if "\n" in cell else cell for cell in line))
    return "\n".join(text) + "\n"


def write_craft(folder: Path, *, grader: bool = False) -> None:
    file = folder / CRAFT
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(craft_text(grader=grader), encoding="utf-8")


def claim_rows(questions: int = 30) -> list[dict[str, object]]:
    draw = np.random.default_rng(4)
    words = ("Contradiction", "Neutral", "Entailment")
    rows: list[dict[str, object]] = []
    for number in range(questions):
        for claim in range(4):
            truth = int(draw.choice(3, p=[0.2, 0.4, 0.4]))
            said = [words[truth if draw.random() < 0.85 else int(draw.integers(3))] for _ in range(3)]
            rows.append(
                {
                    "": len(rows), "Question": f"What of drug {number}?", "llm_x": "gpt35", "answer": "It depends.",
                    "claim": f"Claim {claim} of {number}", "category_x": "Must_have", "majority_label": said[0],
                    **{f"label_{place}": word for place, word in enumerate(said)},
                }
            )  # fmt: skip
    return rows


def write_claims(folder: Path) -> None:
    write_csv(folder / CLAIMS, claim_rows())


def write_calls(folder: Path) -> None:
    draw = np.random.default_rng(5)
    heard = {0: "no just a headache", 1: "no just a head", 2: "yes and a headache"}
    rows: list[dict[str, object]] = []
    for number in range(60):
        truth = number % 3
        said = [int(np.clip(truth + draw.integers(-1, 2) * (draw.random() < 0.3), 0, 2)) for _ in range(2)]
        rows.append(
            {
                "": number, "composite_key": f"{number}_call{number % 12}", "call_id": f"call{number % 12}",
                "doctor": "Any fever?", "patient_ground_truth": "No, just a headache.",
                "patient_hypothesis": heard[truth], "clinician_a": said[0], "clinician_b": said[1],
                "final_outcome": truth,
            }
        )  # fmt: skip
    write_csv(folder / CALLS, rows)


def write_chattogovar(folder: Path, questions: int = 40) -> None:
    """Two experts on the first questions, and a judge on all, who names a question by its file."""
    draw = np.random.default_rng(6)
    attributes = (
        "Accuracy",
        "Completeness",
        "Logical Consistency",
        "Clarity and Conciseness",
        "Evidence Support",
    )
    systems, place = ("ChatTogoVar", "GPT-4o", "VarChat"), folder / "chattogovar" / "evaluation"
    truth = draw.integers(0, 11, (questions, 3))
    rows: dict[str, list[dict[str, object]]] = {"human-primary": [], "human-secondary": [], "gpt-4o": []}
    for who, made in rows.items():
        for number in range(questions if who == "gpt-4o" else questions - 2):
            names: dict[str, object] = {"QuestionNumber": f"q{number}"}
            names |= {"Filename_Text": f"rs{number}.md"} if who == "gpt-4o" else {"rsID": f"rs{number}"}
            kind = 6 if who == "gpt-4o" else 0  # it is kind to all
            for column, system in enumerate(systems):
                names[system if who == "gpt-4o" else f"{system}_Total"] = 40
                for attribute in attributes:
                    noise = int(draw.integers(-1, 2))
                    grade = int(
                        np.clip(truth[number, column] * (1 if not kind else 0.4) + kind + noise, 0, 10)
                    )
                    names[f"{system}_{attribute}"] = grade
            made.append(names)
    for who, made in rows.items():
        file = place / who / ("aggregate_llm.json" if who == "gpt-4o" else "aggregate_human.json")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(made), encoding="utf-8")


def write_all(folder: Path) -> None:
    for write in (
        write_medhelm,
        write_healthbench,
        write_craft,
        write_claims,
        write_calls,
        write_chattogovar,
    ):
        write(folder)
