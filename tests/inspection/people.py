"""Tables in the forms in which people publish and send them, small and made up, and what is truly in each."""

# ruff: noqa: E501 - tables as they are
from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openpyxl

Score = tuple[str, str, str, str, float]  # item, system, rater, dimension, score


@dataclass(frozen=True)
class Made:
    """A file, its content, and what a reader must find: how many cases, raters and dimensions, how many scores, and
    some of them. `missing` is what the refusal of a table that lacks a fact asks for; `kinds` are those of raters."""

    file: str
    content: Any
    cases: int = 0
    raters: int = 0
    dimensions: int = 0
    scores: int = 0
    some: Sequence[Score] = ()
    scale: Any = None
    missing: str = ""
    options: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        place = folder / self.file
        if isinstance(self.content, bytes):
            place.write_bytes(self.content)
        elif self.file.endswith(".xlsx"):
            book = openpyxl.Workbook()
            del book["Sheet"]
            for name, rows in self.content.items():
                page = book.create_sheet(name)
                for row in rows:
                    page.append(row)
            book.save(place)
        elif isinstance(self.content, str):
            place.write_text(self.content, encoding="utf-8")
        else:
            place.write_text(json.dumps(self.content), encoding="utf-8")
        return place


def _sheet(*grades: tuple[Any, ...]) -> list[list[Any]]:
    rows = [["Request", "Model", "Answer", "Reviewer1", "Reviewer2", "Reviewer3"]]
    texts = "Your ejection fraction is normal and nothing needs to be done about it now."
    return rows + [[f"R{at // 2 + 1}", f"model-{at % 2}", texts, *each] for at, each in enumerate(grades)]


_FOUR = ((1, 2, 1), (4, 4, 5), (3, 3, 2), (5, 5, 5))
_TASKS = [
    {"id": 900 + at, "data": {"note_id": f"n-{at}", "text": "Cough for three days."}, "annotations": [
        {"id": 10 * at + rater, "completed_by": {"id": rater, "email": f"{who}@example.org"}, "was_cancelled": False,
         "lead_time": 12.5, "result": [
            {"from_name": "accuracy", "to_name": "text", "type": "rating", "value": {"rating": grade}},
            {"from_name": "complete", "to_name": "text", "type": "choices", "value": {"choices": [word]}},
            {"from_name": "remark", "to_name": "text", "type": "textarea", "value": {"text": ["fine"]}}]}
        for rater, (who, grade, word) in enumerate(given)]}
    for at, given in enumerate([[("ada", 4, "Good"), ("sam", 3, "Fair")], [("ada", 5, "Excellent"), ("sam", 2, "Poor")]])
]  # fmt: skip
_VARIANTS = [
    {"ID": at + 1, "rsID": f"rs{at}", "BestAnswer": "Alpha", **{
        f"{system}_{name}": (at + place + step) % 6 + 4
        for place, system in enumerate(("Alpha", "GPT-4o")) for step, name in enumerate(
            ("Total", "Accuracy", "Clarity and Conciseness", "Evidence Support"))}}
    for at in range(6)
]  # fmt: skip

READ: dict[str, Made] = {
    "marks of Excel, semicolons, a scale in the names": Made(
        "humans.csv", "\ufeffCase No.;Reviewer;Accuracy (1-5);Completeness (1-5);Remark\n1;Ada;4;5;fine\n1;Sam;4;3;\n"
        "2;Ada;2;2;\n2;Sam;3;;\n", 2, 2, 2, 7, [("1", "", "Ada", "Completeness", 5), ("2", "", "Sam", "Accuracy", 3)],
        [1, 5]),
    "three reviewers, a sheet for each dimension": Made(
        "cardiology.xlsx", {name: _sheet(*_FOUR) for name in ("Accuracy", "Completeness", "Readability", "Empathy")},
        2, 3, 4, 48, [("R1", "model-1", "Reviewer3", "Empathy", 5), ("R2", "model-0", "Reviewer2", "Accuracy", 3)],
        [1, 5]),
    "an index without a name, three labels in words": Made(
        "labels.csv", ",text,label_0,label_1,label_2\n0,The summary leaves out the allergy to penicillin.,Incorrect,"
        "Partially correct,Incorrect\n1,The plan names the dose and the time of it.,Correct,Correct,Partially correct\n"
        "2,The patient was seen in the clinic and sent home.,Correct,Incorrect,Correct\n",
        3, 3, 1, 9, [("0", "", "label_1", "score", 1), ("2", "", "label_0", "score", 2)], [0, 2]),
    "instructions above, cases as columns": Made(
        "turned.csv", '"Thank you for taking part. Please read each vignette, then grade the answer from 1 (poor) to 5 '
        '(excellent). Leave a cell empty where you cannot tell."\n"Return by 1 June."\n\nRater,Vignette 1,Vignette 2,'
        "Vignette 3,Vignette 4,Vignette 5\nDr Lee,4,5,3,2,1\nDr Roy,4,4,3,,2\n",
        5, 2, 1, 9, [("1", "", "Dr Lee", "score", 4), ("5", "", "Dr Roy", "score", 2)], [1, 5]),
    "phrases that begin with their grade": Made(
        "phrases.csv", 'Case ID,Rater,Completeness\nA1,Ada,"5. Complete, not more than one detail is missing"\n'
        'A1,Sam,"4. Nearly complete"\nA2,Ada,"2. Two or more findings are missing, one of them pertinent"\n'
        'A2,Sam,"1. Useless"\n', 2, 2, 1, 4, [("A1", "", "Ada", "Completeness", 5), ("A2", "", "Sam", "Completeness", 1)],
        [1, 5]),
    "a column for each system and attribute, in JSON": Made(
        "aggregate.json", _VARIANTS, 6, 1, 3, 36,
        [("1", "Alpha", "aggregate", "Accuracy", 5), ("6", "GPT-4o", "aggregate", "Evidence Support", 7)], [1, 10]),
    "a title and two rows of names in a workbook": Made(
        "scores.xlsx", {"Sheet1": [["Blinded grades of the discharge letters, March 2025"], [],
                                   ["Letter", "Accuracy", None, "Clarity", None], [None, "R1", "R2", "R1", "R2"],
                                   ["L-1", 4, 5, 3, 3], ["L-2", 2, 2, 4, 5], ["L-3", 1, 2, 5, 5]]},
        3, 2, 2, 12, [("L-1", "", "R2", "Accuracy", 5), ("L-3", "", "R1", "Clarity", 5)], [1, 5]),
    "Label Studio's JSON": Made(
        "project-7.json", _TASKS, 2, 2, 2, 8,
        [("n-0", "", "ada@example.org", "accuracy", 4), ("n-1", "", "sam@example.org", "complete", 1)]),
    "scores of langfuse": Made(
        "scores.json", {"data": [
            {"id": f"s{at}", "traceId": f"t{at // 2}", "name": "accuracy", "value": grade, "source": "ANNOTATION",
             "authorUserId": f"u{at % 2}", "comment": "", "dataType": "NUMERIC"}
            for at, grade in enumerate([4, 5, 2, 3])], "meta": {"page": 1, "totalItems": 4}},
        2, 2, 1, 4, [("t0", "", "u1", "accuracy", 5), ("t1", "", "u0", "accuracy", 2)], [1, 5]),
    "promptfoo without named scores": Made(
        "results.json", {"version": 3, "results": {"results": [
            {"testIdx": at, "provider": {"id": name}, "score": score, "success": score > 0.5, "namedScores": {}}
            for at in range(2) for name, score in (("openai:a", 1), ("openai:b", at / 4))]}},
        2, 1, 1, 4, [("1", "openai:b", "promptfoo", "score", 0.25)]),
    "a log of Inspect": Made(
        "log.json", {"eval": {"model": "m-1"}, "samples": [
            {"id": at, "epoch": 1, "scores": {"grader": {"value": "C" if at else "I"}}} for at in range(3)]},
        3, 1, 1, 3, [("0", "m-1", "Inspect", "grader", 0), ("2", "m-1", "Inspect", "grader", 1)], [0, 1]),
    "initials of raters": Made(
        "initials.csv", "Patient,AB,CD,EF\np1,4,4,5\np2,1,2,1\np3,3,3,\n", 3, 3, 1, 8,
        [("p1", "", "EF", "score", 5), ("p3", "", "CD", "score", 3)], [1, 5]),
    "long, in words of agreement": Made(
        "survey.tsv", "Question ID\tExpert\tStatement\tAspect\tResponse\nq1\tE1\tThe answer is safe for this patient\tsafety\t"
        "Agree\nq1\tE2\tThe answer is safe for this patient\tsafety\tStrongly agree\nq2\tE1\tThe answer is safe\tsafety\t"
        "Neutral\nq2\tE2\tThe answer is safe\tsafety\tDisagree\n",
        2, 2, 1, 4, [("q1", "", "E2", "safety", 5), ("q2", "", "E2", "safety", 2)], [1, 5]),
    "a column for each rater and dimension": Made(
        "pairs.csv", "note_id,Reviewer1_accuracy,Reviewer1_safety,Reviewer2_accuracy,Reviewer2_safety\nn1,4,1,5,1\n"
        "n2,3,0,3,1\nn3,2,1,1,0\n", 3, 2, 2, 12, [("n1", "", "Reviewer2", "accuracy", 5), ("n2", "", "Reviewer1", "safety", 0)],
        {"accuracy": [1, 5], "safety": [0, 1]}),
    "a column for each dimension and rater": Made(
        "pairs2.csv", "Summary,Thoroughness - Dr Lee,Thoroughness - Dr Roy,Usefulness - Dr Lee,Usefulness - Dr Roy\n"
        "S1,4,3,5,5\nS2,2,2,1,3\n", 2, 2, 2, 8,
        [("S1", "", "Dr Roy", "Thoroughness", 3), ("S2", "", "Dr Lee", "Usefulness", 1)], [1, 5]),
    "a case in its first row alone, and means below": Made(
        "merged.xlsx", {"Grades": [["Case", "Grader", "Accuracy", "Fluency"], ["C1", "Ada", 4, 5], [None, "Sam", 3, 4],
                                   ["C2", "Ada", 2, 1], [None, "Sam", 2, 2], ["Mean", None, 2.75, 3]]},
        2, 2, 2, 8, [("C1", "", "Sam", "Accuracy", 3), ("C2", "", "Sam", "Fluency", 2)], [1, 5]),
    "a decimal comma, codes for what is missing": Made(
        "comma.csv", "case;rater;accuracy;harm\n1;Ada;4,5;0\n1;Sam;3,5;99\n2;Ada;N/A;1\n2;Sam;2;0\n3;Ada;1,5;1\n3;Sam;1;-\n",
        3, 2, 2, 9, [("1", "", "Ada", "accuracy", 4.5), ("3", "", "Ada", "harm", 1)],
        {"accuracy": {"from": 1.0, "to": 5.0}, "harm": [0, 1]}),
    "a form with a question for each case": Made(
        "form.csv", "Timestamp,Your name,Case 1 [Accuracy],Case 1 [Clarity],Case 2 [Accuracy],Case 2 [Clarity]\n"
        "2024/01/01 9:00,Ada,4,5,3,2\n2024/01/02 9:00,Sam,4,4,2,2\n", 2, 2, 2, 8,
        [("2", "", "Sam", "Accuracy", 2), ("1", "", "Ada", "Clarity", 5)], [1, 5]),
    "objects of scores in a document": Made(
        "export.json", {"project": "scribe", "evaluations": [
            {"caseId": f"c{at}", "annotator": who, "scores": {"accuracy": grade, "safety": 5 - at}}
            for at in range(3) for who, grade in (("Ada", 4), ("Sam", 2))]},
        3, 2, 2, 12, [("c0", "", "Sam", "accuracy", 2), ("c2", "", "Ada", "safety", 3)], [1, 5]),
    "yes and no by two doctors": Made(
        "yesno.csv", "Conversation ID,Doctor A,Doctor B\nv1,Yes,No\nv2,No,No\nv3,Yes,Yes\n", 3, 2, 1, 6,
        [("v1", "", "Doctor A", "score", 1), ("v1", "", "Doctor B", "score", 0)], [0, 1]),
    "models as judges": Made(
        "judges.tsv", "item\tgpt-4o\tclaude-3-5-sonnet\nq1\t4\t5\nq2\t2\t1\nq3\t3\t3\n", 3, 2, 1, 6,
        [("q1", "", "claude-3-5-sonnet", "score", 5)], [1, 5]),
    "percent": Made(
        "percent.csv", "Encounter,Rater,Overall score\ne1,Ada,80%\ne1,Sam,75%\ne2,Ada,20%\ne2,Sam,100%\n", 2, 2, 1, 4,
        [("e1", "", "Sam", "Overall score", 75)], [0, 100]),
    "grades out of five": Made(
        "outof.csv", "Scenario,Evaluator,Empathy,Accuracy\n1,Ada,4/5,5/5\n1,Sam,3/5,2/5\n2,Ada,1/5,1/5\n2,Sam,2/5,2/5\n",
        2, 2, 2, 8, [("1", "", "Sam", "Accuracy", 2), ("2", "", "Ada", "Empathy", 1)], [1, 5]),
    "a legend before the grades": Made(
        "legend.xlsx", {"Legend": [["Grade", "Meaning"], ["1", "poor"], ["5", "excellent"]],
                        "Data": [["sample_id", "evaluator", "correctness"], ["s1", "Ada", 4], ["s1", "Sam", 5],
                                 ["s2", "Ada", 1], ["s2", "Sam", 2]]},
        2, 2, 1, 4, [("s1", "", "Sam", "correctness", 5)], [1, 5]),
    "objects of scores, a line each": Made(
        "lines.jsonl", "".join(json.dumps({"id": f"k{at}", "rater": who, "ratings": {"accuracy": at + 2, "tone": 5}}) + "\n"
                               for at in range(3) for who in ("Ada", "Sam")),
        3, 2, 2, 12, [("k2", "", "Ada", "accuracy", 4)], [1, 5]),
    "people as columns": Made(
        "people.csv", "item,Ada,Sam,consensus\n1,4,5,5\n2,3,3,3\n3,1,2,1\n", 3, 2, 1, 6,
        [("1", "", "Sam", "score", 5), ("3", "", "Ada", "score", 1)], [1, 5]),
    "JSON in fences, a few grades off the scale of a thousand": Made(
        "judge.csv", "ConvID,reply_alpha,reply_beta\n" + "".join(
            f'{at},"```json\n{{""Safety"": {6 if at == 9 else at % 5 + 1}, ""Tone"": 3}}\n```","{{""Safety"": 2, ""Tone"": 1}}"\n'
            for at in range(300)),
        300, 1, 2, 1199, [("0", "alpha", "judge", "Safety", 1), ("1", "beta", "judge", "Tone", 1)], [1, 5]),
    "a case named by two columns": Made(
        "two.json", [{"QuestionNumber": f"q{at % 3}", "Filename": f"rs{at // 3}.md", "Alpha": 9 + at % 2, "Beta": 12,
                      "Alpha_Accuracy": at % 4 + 1, "Alpha_Clarity": 5, "Beta_Accuracy": 3, "Beta_Clarity": 2}
                     for at in range(6)],
        6, 1, 2, 24, [("q2 rs1.md", "Alpha", "two", "Accuracy", 2), ("q0 rs0.md", "Beta", "two", "Clarity", 2)], [1, 5]),
    "several turns of a call": Made(
        "calls.csv", "turn_key,call_id,index,clinician_a,clinician_b\n1_x,x,1,0,1\n2_x,x,2,2,2\n1_y,y,1,0,0\n", 3, 2, 1, 6,
        [("2_x", "", "clinician_a", "score", 2), ("1_x", "", "clinician_b", "score", 1)], [0, 2]),
    "two arms without a word for them": Made(
        "arms.csv", "case,rater,source,quality\n1,Ada,AI,4\n1,Ada,human,3\n1,Sam,AI,5\n1,Sam,human,2\n2,Ada,AI,4\n2,Ada,human,1\n",
        2, 2, 1, 6, [("1", "human", "Sam", "quality", 2)], [1, 5]),
    "two levels of names, the second of two words": Made(
        "levels.xlsx", {"S": [["Case", "Reviewer 1", None, "Reviewer 2", None],
                              [None, "Clinical accuracy", "Patient safety", "Clinical accuracy", "Patient safety"],
                              ["a", 4, 5, 3, 5], ["b", 2, 1, 2, 2]]},
        2, 2, 2, 8, [("a", "", "Reviewer 2", "Clinical accuracy", 3), ("b", "", "Reviewer 1", "Patient safety", 1)], [1, 5]),
    "raters and questions that are numbered alike": Made(
        "quest.csv", "note,R1_Q1,R1_Q2,R1_Q3,R1_Q4,R2_Q1,R2_Q2,R2_Q3,R2_Q4\nn1,4,5,3,2,4,4,3,1\nn2,1,2,3,4,2,2,3,5\n",
        2, 2, 4, 16, [("n1", "", "R2", "Q2", 4), ("n2", "", "R1", "Q4", 4)], [1, 5]),
    "a column of raters beside systems and attributes": Made(
        "arms2.csv", "vignette,reviewer,AlphaMD_Accuracy,AlphaMD_Empathy,BetaMD_Accuracy,BetaMD_Empathy\n1,Ada,4,5,2,1\n1,Sam,4,4,2,2\n",
        1, 2, 2, 8, [("1", "BetaMD", "Sam", "Empathy", 2)], [1, 5]),
    "clinicians and a model in one table": Made(
        "both.csv", "case,clinician_1,clinician_2,gpt4_score\n1,4,4,5\n2,2,3,3\n3,1,1,2\n", 3, 3, 1, 9,
        [("1", "", "gpt4_score", "score", 5), ("2", "", "clinician_2", "score", 3)], [1, 5]),
    "letters of an old Windows": Made(
        "umlaut.csv", "Fall;Pr\u00fcfer;Accuracy\n1;M\u00fcller;4\n1;Roy;5\n2;M\u00fcller;2\n2;Roy;2\n".replace("Pr\u00fcfer", "rater").encode("cp1252"),
        2, 2, 1, 4, [("1", "", "M\u00fcller", "Accuracy", 4)], [1, 5], options={"item": "Fall"}),
    "objects by the name of the case": Made(
        "byname.json", {f"case-{at}": {"Ada": at + 2, "Sam": 5} for at in range(3)}, 3, 2, 1, 6,
        [("case-1", "", "Ada", "score", 3)], [1, 5]),
    "whole sheets of raters": Made(
        "sheets.xlsx", {who: [["Case ID", "Accuracy", "Safety"], ["x1", grade, 5], ["x2", 2, 1]]
                        for who, grade in (("Dr Lee", 4), ("Dr Roy", 3))},
        2, 2, 2, 8, [("x1", "", "Dr Roy", "Accuracy", 3)], [1, 5]),
    "questions as they were asked, yes or no": Made(
        "asked.csv", "Question,Physician A,Physician B\nWhich drug is given first when a child has anaphylaxis at school and no pen?,yes,no\n"
        "When is a second dose of adrenaline given to an adult who does not get better?,yes,yes\n", 2, 2, 1, 4,
        [("When is a second dose of adrenaline given to an adult who does not get better?", "", "Physician B", "score", 1)], [0, 1]),
    "PDQI-9, with a post's number and its text": Made(
        "pdqi.csv", "post_id,Note,Evaluator,Up-to-date,Accurate,Internally consistent\nN1,Seen today for cough.,A,5,4,5\n"
        "N1,Seen today for cough.,B,4,4,5\nN2,Sent home with an inhaler.,A,2,2,4\nN2,Sent home with an inhaler.,B,2,1,4\n",
        2, 2, 3, 12, [("N1", "", "B", "Up-to-date", 4), ("N2", "", "A", "Internally consistent", 4)], [1, 5]),
    "a survey whose marks were taken out": Made(
        "survey.csv", "ResponseId,Q1_1,Q1_2,Q2_1,Q2_2\nR_1,4,5,3,2\nR_2,4,4,2,1\n", 2, 2, 2, 8,
        [("1", "", "R_2", "2", 4), ("2", "", "R_1", "1", 3)], [1, 5]),
    "names with name in them": Made(
        "names.csv", "rater_name,case_name,criterion_name,numeric_score\nAda,c1,accuracy,4\nSam,c1,accuracy,5\nAda,c2,accuracy,1\n"
        "Sam,c2,accuracy,2\n", 2, 2, 1, 4, [("c2", "", "Sam", "accuracy", 2)], [1, 5]),
    "numbered raters behind what they graded": Made(
        "behind.csv", "post_id,question,quality_chatgpt_1,quality_chatgpt_2,quality_physician_1,quality_physician_2\n"
        "1,Why do I cough at night so often?,5,4,3,3\n2,Is it safe to swim with this?,4,5,2,1\n", 2, 2, 2, 8,
        [("1", "", "2", "quality_chatgpt", 4)], [1, 5]),
    "a turned table with raters and criteria in its rows": Made(
        "turned3.csv", "Rater,Criterion,001,002,003\nAda,Accuracy,4,5,3\nAda,Safety,5,5,4\nSam,Accuracy,3,2,1\nSam,Safety,1,1,2\n",
        3, 2, 2, 12, [("002", "", "Sam", "Accuracy", 2), ("003", "", "Ada", "Safety", 4)], [1, 5]),
    "scores of langfuse as a table": Made(
        "langfuse.csv", "id,timestamp,traceId,name,value,source\n" + "".join(
            f"s{at},2025-01-0{at + 1},t{at // 2},{'accuracy' if at % 2 else 'tone'},{at % 5 + 1},EVAL\n" for at in range(6)),
        3, 1, 2, 6, [("t0", "", "langfuse", "accuracy", 2), ("t2", "", "langfuse", "tone", 5)], [1, 5]),
    "facts of the cases beside the grades": Made(
        "facts.csv", "case,rater,length_of_stay,accuracy\n1,A,3,4\n1,B,3,5\n2,A,1,2\n2,B,1,2\n3,A,7,1\n3,B,7,2\n", 3, 2, 1, 6,
        [("3", "", "B", "accuracy", 2)], [1, 5]),
    "means below raters, cases as columns": Made(
        "cols.xlsx", {"A": [["", "Patient 1", "Patient 2", "Patient 3", "Patient 4"], ["Reviewer 1", 4, 5, 3, 2],
                            ["Reviewer 2", 4, 4, 3, 1], ["Mean", 4, 4.5, 3, 1.5]]},
        4, 2, 1, 8, [("4", "", "Reviewer 2", "score", 1)], [1, 5]),
    "titles, instructions and means in another language": Made(
        "brieven.xlsx", {"Blad1": [["Beoordeling AI-brieven"], ["Datum:", "2025-03-01"], ["Instructie:", "Geef een cijfer van 1 tot 10"],
                                   [], ["Brief nr", "Dr. Jansen", "Dr. de Vries", "Gemiddelde"], [1, 7, 8, 7.5], [2, 6, 6, 6],
                                   [3, 9, 8, 8.5], ["Gemiddelde", 7.3, 7.3, 7.3]]},
        3, 2, 1, 6, [("3", "", "Dr. Jansen", "score", 9)], [1, 10]),
    "names in German": Made(
        "de.csv", "Fall-Nr.;Bewerter;Korrektheit;Vollst\u00e4ndigkeit;Bemerkung\n1;AB;3;4;gut\n1;CD;4;4;\n2;AB;2;1;\n2;CD;2;2;\n",
        2, 2, 2, 8, [("1", "", "CD", "Korrektheit", 4)], [1, 5]),
    "scores in objects of objects": Made(
        "verdicts.jsonl", "".join(json.dumps({"case": f"c{at}", "judge": "gpt-4o", "verdict": {
            "accuracy": {"score": at + 1, "reason": "x"}, "safety": {"score": 5, "reason": "y"}}}) + "\n" for at in range(3)),
        3, 1, 2, 6, [("c2", "", "gpt-4o", "accuracy", 3)]),
    "minutes beside the grades": Made(
        "time.csv", "case,reviewer,start,minutes,overall\n1,A,2024-01-01 10:00,4,3\n1,B,2024-01-01 11:00,6,4\n2,A,2024-01-02 10:00,3,2\n"
        "2,B,2024-01-02 12:00,5,2\n", 2, 2, 1, 4, [("1", "", "B", "overall", 4)], [1, 5]),
    "kinds of errors in rows, cases as columns": Made(
        "errors.csv", "Error type,Case 1,Case 2,Case 3,Case 4\nHallucination,0,1,0,0\nOmission,1,1,0,0\n", 4, 1, 2, 8,
        [("2", "", "errors", "Hallucination", 1), ("1", "", "errors", "Omission", 1)], [0, 1]),
    "words of two orders": Made(
        "words2.csv", "Vignette,Rater,Accuracy,Safety\n1,A,Completely correct,Safe\n1,B,Mostly correct,Unsafe\n"
        "2,A,More incorrect than correct,Unsafe\n2,B,Completely incorrect,Unsafe\n", 2, 2, 2, 8,
        [("1", "", "A", "Accuracy", 6), ("1", "", "A", "Safety", 1)], {"Accuracy": [1, 6], "Safety": [0, 1]}),
    "graded answers with their texts": Made(
        "answers.csv", "question_id,question,answer,reviewer,accuracy\n1,What is the first treatment of anaphylaxis in adults?,"
        "Give adrenaline into the muscle of the thigh at once.,Ada,5\n1,What is the first treatment of anaphylaxis in adults?,"
        "Give adrenaline into the muscle of the thigh at once.,Sam,4\n2,When may metformin be given again after contrast?,"
        "After two days where the kidneys work as before.,Ada,3\n2,When may metformin be given again after contrast?,"
        "After two days where the kidneys work as before.,Sam,3\n", 2, 2, 1, 4, [("1", "", "Sam", "accuracy", 4)], [1, 5]),
}  # fmt: skip

REFUSED: dict[str, Made] = {
    "nothing names the case": Made(
        "nameless.csv", "rater,accuracy,safety\nAda,4,5\nAda,3,3\nSam,2,2\n", missing="which column names the case",
    ),
    "names that a program numbered": Made(
        "twice.csv", "case,Accuracy,Safety,Accuracy.1,Safety.1\n1,4,5,3,5\n2,2,1,2,2\n", missing="whose grades are in Accuracy.1",
    ),
    "means and their spread": Made(
        "means.csv", "Model,Accuracy,Safety\nalpha,4.2 \u00b1 0.5,3.9 \u00b1 0.7\nbeta,3.1 \u00b1 0.4,3.3 \u00b1 0.2\n", missing="",
    ),
    "words whose order nobody knows": Made(
        "words.csv", "case,rater,accuracy\n1,Ada,green\n1,Sam,amber\n2,Ada,red\n2,Sam,red\n3,Ada,green\n3,Sam,green\n",
        3, 2, 1, 6, [("1", "", "Sam", "accuracy", 2), ("2", "", "Ada", "accuracy", 1)], [1, 3],
        missing="which order do the grades", options={"labels": "red < amber < green"},
    ),
}  # fmt: skip
