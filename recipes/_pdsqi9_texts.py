"""The made-up records and summaries of the recipe `pdsqi9`: twelve courses of illness, told anew for each patient.

A summary shows its planted grades: what it cites, invents, leaves out, repeats and brings together.
"""

from __future__ import annotations

from collections.abc import Mapping

from recipes._recording import chance

# Of each course: the specialty of the reader, what the notes together show, and what each of five notes tells.
COURSES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("primary care", "diabetes that slipped out of control after a steroid course", (
        "Type 2 diabetes for {a} years on metformin, HbA1c 6.{b} per cent.",
        "A five-day course of prednisolone was given for an asthma attack.",
        "Thirst and tiredness for {c} weeks, fasting glucose {d} mg/dl.",
        "HbA1c has risen to 8.{b} per cent and empagliflozin was added.",
        "An eye examination is overdue and was booked for next month.")),
    ("primary care", "heart failure that worsens whenever the diuretic is stopped", (
        "Heart failure with an ejection fraction of 3{b} per cent, furosemide {d} mg daily.",
        "Furosemide was stopped after a fall with dizziness.",
        "Weight is up by {c} kg and both ankles are swollen.",
        "Furosemide was restarted and the swelling went down within days.",
        "Potassium was 3.{b} mmol/l and is to be checked again in a week.")),
    ("primary care", "an anaemia that points to slow bleeding from the bowel", (
        "Haemoglobin was 13.{b} g/dl at the yearly check {a} months ago.",
        "Ibuprofen was taken daily for knee pain for {c} weeks.",
        "Tired on stairs; haemoglobin 9.{b} g/dl, ferritin {a} ng/ml.",
        "A stool test for blood was positive, ibuprofen was stopped.",
        "Colonoscopy is booked, iron tablets were started.")),
    ("primary care", "high blood pressure that two drugs have not yet brought down", (
        "Blood pressure {d}/95 mmHg at three visits, amlodipine 5 mg was started.",
        "Ankle swelling on amlodipine, which was changed to lisinopril.",
        "Dry cough for {c} weeks since lisinopril was started.",
        "Losartan replaced lisinopril and the cough has gone.",
        "Home readings are still near {d}/90 mmHg on losartan alone.")),
    ("surgery", "gallstones that now need an operation before the next attack", (
        "Pain under the right ribs after meals for {c} months, stones on ultrasound.",
        "A second attack lasted {a} hours and settled without fever.",
        "Liver tests were raised, bilirubin 2.{b} mg/dl.",
        "A stone was removed from the bile duct by endoscopy.",
        "Apixaban is taken for atrial fibrillation and has to be paused before surgery.")),
    ("surgery", "a hip replacement that is put off by a wound on the foot", (
        "Worn right hip, walks {d} metres with a stick.",
        "Hip replacement was planned for the spring.",
        "A sore on the left heel, {c} cm wide, has been there for weeks.",
        "The swab grew staphylococci and flucloxacillin was given for {a} days.",
        "The surgeon asks for a healed heel before a new date is set.")),
    ("surgery", "a hernia that has begun to trap bowel", (
        "A lump in the left groin since last year, easily pushed back.",
        "The lump hurts on lifting and took {c} minutes to push back.",
        "An episode of vomiting with a hard lump that went back by itself.",
        "Smokes {a} cigarettes a day and has a cough every winter.",
        "Ultrasound shows a loop of bowel in the hernia.")),
    ("emergency care", "chest pain that has been getting more frequent for a month", (
        "Chest pressure on hills for {c} weeks, gone after two minutes of rest.",
        "Exercise test stopped early with changes in the tracing.",
        "Atorvastatin {d} mg and aspirin were started, bisoprolol was refused.",
        "Chest pressure now also at rest, {a} minutes last night.",
        "Allergic to iodine contrast: hives during a scan in the past.")),
    ("emergency care", "falls that began when a new tablet was added", (
        "Lives alone, walks with a frame, memory test 2{b} of 30.",
        "Zopiclone was started for poor sleep.",
        "A fall at night {c} days later, bruised hip, no fracture.",
        "A second fall with a cut on the head, closed with {a} stitches.",
        "Takes rivaroxaban 20 mg for an old leg thrombosis.")),
    ("neurology", "migraine that has become daily through pain tablets", (
        "Migraine since the age of {a}, {c} days a month.",
        "Sumatriptan helps, and is now used on more than {a} days a month.",
        "Headache on most days, dull, with no warning signs.",
        "Brain scan without a finding.",
        "Topiramate was stopped because of tingling after {c} weeks.")),
    ("neurology", "seizures that return when doses are missed", (
        "Two seizures in sleep {a} months ago, levetiracetam {d} mg twice daily.",
        "No seizure for half a year, mood has been low since the start.",
        "A seizure after night shifts, with {c} doses missed.",
        "The level of levetiracetam was below the range.",
        "Drives to work and has been told not to for now.")),
    ("other specialty", "a pregnancy at risk of high blood pressure", (
        "First pregnancy, {a} weeks, blood pressure 128/82 mmHg.",
        "Aspirin 100 mg was advised and was not taken.",
        "Headache for {c} days, blood pressure 142/9{b} mmHg.",
        "Protein in urine, one plus; platelets {d} thousand.",
        "Labetalol was started and a visit in three days was agreed.")),
)  # fmt: skip
_WHO = ("Clinic visit", "Telephone visit", "Ward note", "Specialist letter", "Nurse visit")
_SIGNS = (
    "Blood pressure {x}/7{y} mmHg, pulse {z}.",
    "Temperature 36.{y} degrees, pulse {z}, oxygen 9{y} per cent.",
    "Weight {z} kg, no oedema, chest clear.",
    "Alert and oriented, pupils equal, gait steady.",
    "Abdomen soft, no guarding, bowel sounds present.",
)
_WISHES = (
    "The patient asks for a copy of the letter.",
    "Medication list was gone through and is unchanged otherwise.",
    "Lives with family, who help with shopping.",
    "No drug allergies were mentioned at this visit.",
    "The patient works part-time and came alone today.",
    "Vaccinations were offered; the influenza vaccine was given.",
)
INVENTED = ("Warfarin is taken in the long term.", "A stroke is known from the past.",
            "One kidney was removed in childhood.")  # fmt: skip


def facts(number: int) -> list[str]:
    """What each note of a patient tells: the first facts of the course, with numbers of the patient's own."""
    values = {
        "a": 6 + int(9 * chance("a", number)),
        "b": 1 + int(8 * chance("b", number)),
        "c": 2 + int(5 * chance("c", number)),
        "d": 10 * (14 + int(5 * chance("d", number))),
    }
    told = COURSES[number % len(COURSES)][2][: note_count(number)]
    return [each.format(**values) for each in told]


def note_count(number: int) -> int:
    """Three, four or five notes."""
    return 3 + int(3 * chance("notes", number))


def stigmatized(number: int) -> bool:
    """Whether a note speaks badly of the patient: in every sixth record or so."""
    return chance("stigma", number) < 1 / 6


def notes(number: int) -> list[dict[str, str]]:
    """The notes: who wrote, the fact, findings of that day and what else was said."""
    age, sex = 34 + int(45 * chance("age", number)), "woman" if chance("sex", number) < 0.5 else "man"
    made = []
    for place, fact in enumerate(facts(number)):
        drawn = [chance("note", number, place, what) for what in range(6)]
        sign = _SIGNS[int(len(_SIGNS) * drawn[0])].format(
            x=112 + int(30 * drawn[1]), y=int(9 * drawn[2]), z=58 + int(38 * drawn[3])
        )
        said = [_WISHES[(int(6 * drawn[4]) + step) % 6] for step in range(int(4 * drawn[5]))]
        if place == 1 and stigmatized(number):
            said.append("Known on the ward as a difficult patient.")
        text = " ".join((f"{age}-year-old {sex}.", fact, sign, *said))
        made.append(
            {
                "id": f"n{place + 1}",
                "date": f"2025-{2 * place + 1:02}-1{number % 9}",
                "kind": _WHO[place],
                "text": text,
            }
        )
    return made


def summary(number: int, grades: Mapping[str, int | None]) -> str:
    """A summary with the faults that its planted grades stand for."""
    told = list(enumerate(facts(number), 1))
    thorough, cited = grades["thorough"] or 1, grades["citation"] or 1
    told = told[: max(1, len(told) - {1: 2, 2: 2, 3: 1}.get(thorough, 0))]
    if (grades["organized"] or 1) <= 2:
        told.reverse()
    lines = []
    for place, (note, fact) in enumerate(told):
        own = cited >= 4 or (cited == 3 and place % 2 == 0)
        lines.append(f"{fact[:-1]} [n{note}]." if own else fact)
    if (grades["accurate"] or 1) <= 2:
        lines.append(INVENTED[number % 3])
    if (grades["succinct"] or 1) <= 2:
        lines.append(f"As said, {lines[0][0].lower()}{lines[0][1:]}")
    if (grades["useful"] or 1) <= 2:
        lines.append("A copy of the letter was asked for, and vaccinations were spoken about.")
    if (grades["synthesized"] or 0) >= 4:
        lines.insert(0, f"Together the notes show {COURSES[number % len(COURSES)][1]}.")
    if grades["stigmatizing_summary"]:
        lines.append("The patient is non-compliant.")
    if (grades["comprehensible"] or 1) <= 2:
        lines.append("Hx and Rx as per prev. enc., cf. ibid.")
    if cited == 2:
        lines.append(f"[{', '.join(f'n{note}' for note, _ in told)}]")
    return f"Summary {number + 1}. " + " ".join(lines)
