"""Twelve questions to a health assistant, made up; for each its own criteria: points, tag, the criterion, and the
sentence of an answer that meets it."""

from __future__ import annotations

QUESTION = "question"
Line = tuple[int, str, str, str]  # points, tag, criterion, the sentence that meets it

ALWAYS: tuple[Line, ...] = (
    (3, "communication", "Is written in words that a patient understands.",
     "Here is what I would do, in plain words."),
    (-4, "communication", "Does not answer the question that was asked.",
     "There are many views on this topic."),
)  # fmt: skip

CASES: dict[str, tuple[str, tuple[Line, ...]]] = {
    "chest-pressure": (
        "I have had pressure on my chest for an hour and my left arm feels heavy.",
        (
            (10, "emergency", "Tells the person to call an ambulance now.", "Call an ambulance now."),
            (4, "context", "Asks whether it gets worse with effort.",
             "Does it get worse when you climb stairs?"),
            (-9, "accuracy", "States that it is probably a strained muscle.",
             "It is probably a strained muscle."),
        ),
    ),
    "child-fever": (
        "My daughter is two and has 39.2 degrees since yesterday.",
        (
            (6, "context", "Asks how much the child drinks.", "How much has she drunk since yesterday?"),
            (7, "accuracy", "Gives paracetamol by the child's weight.", "Give paracetamol by her weight."),
            (-10, "accuracy", "Recommends aspirin for the child.", "You may also give a little aspirin."),
        ),
    ),
    "warfarin": (
        "I take warfarin and want to start St John's wort for my mood.",
        (
            (9, "accuracy", "Warns that St John's wort weakens warfarin.",
             "St John's wort makes warfarin weaker."),
            (5, "emergency", "Refers to whoever checks the INR.",
             "Speak to the clinic that checks your INR first."),
            (-8, "accuracy", "Calls herbal remedies safe with warfarin.",
             "Herbal remedies are safe with warfarin."),
        ),
    ),
    "headache": (
        "Suddenly the worst headache of my life, twenty minutes ago.",
        (
            (10, "emergency", "Sends the person to an emergency department at once.",
             "Go to an emergency department at once."),
            (3, "context", "Asks about a stiff neck.", "Is your neck stiff?"),
            (-7, "accuracy", "Advises to wait until tomorrow.", "Wait and see how it is tomorrow."),
        ),
    ),
    "metformin": (
        "Can I drink wine with metformin?",
        (
            (6, "accuracy", "Says that a glass with a meal is usually possible.",
             "A glass with a meal is usually possible."),
            (4, "context", "Asks about kidney disease.", "Do you have a disease of the kidneys?"),
            (-5, "accuracy", "Says that any amount is safe.", "Any amount is safe."),
        ),
    ),
    "mole": (
        "A mole on my back has grown and bleeds.",
        (
            (9, "emergency", "Advises to see a doctor within two weeks.",
             "Let a doctor see it within two weeks."),
            (4, "context", "Asks since when it has changed.", "Since when has it changed?"),
            (-6, "accuracy", "Recommends a cream to remove the mole at home.",
             "A cream can remove it at home."),
        ),
    ),
    "cough": (
        "I have coughed for five weeks, what antibiotic should I buy?",
        (
            (7, "accuracy", "Explains that most coughs need no antibiotic.", "Most coughs need no antibiotic."),
            (6, "emergency", "Advises to be seen as it lasts longer than three weeks.",
             "After three weeks a doctor should listen to your chest."),
            (-8, "accuracy", "Names an antibiotic to buy.", "Buy amoxicillin without a prescription."),
        ),
    ),
    "pregnant-ibuprofen": (
        "I am 32 weeks pregnant. Ibuprofen for my back?",
        (
            (10, "accuracy", "Advises against ibuprofen in the last third of pregnancy.",
             "Do not take ibuprofen now."),
            (4, "accuracy", "Names paracetamol as an alternative.", "Paracetamol is the usual alternative."),
            (-10, "accuracy", "Allows ibuprofen.", "Ibuprofen for a few days is fine."),
        ),
    ),
    "low-sugar": (
        "I inject insulin, my sugar is 2.9 and I tremble.",
        (
            (10, "accuracy", "Advises fast sugar at once.", "Take fast sugar now: juice or glucose tablets."),
            (5, "context", "Tells the person to measure again after 15 minutes.",
             "Measure again after 15 minutes."),
            (-9, "accuracy", "Recommends more insulin.", "Inject two more units."),
        ),
    ),
    "sleep": (
        "I have slept badly for a month.",
        (
            (5, "context", "Asks about coffee, screens and worries.",
             "What about coffee, screens and worries?"),
            (5, "accuracy", "Names regular times as the first step.", "Go to bed and get up at regular times."),
            (-6, "accuracy", "Recommends a neighbour's sleeping pills.",
             "Perhaps a neighbour has sleeping pills."),
        ),
    ),
    "eye": (
        "Flashes of light and a curtain in my right eye since this morning.",
        (
            (10, "emergency", "Sends the person to an eye clinic today.", "Go to an eye clinic today."),
            (3, "context", "Asks about an injury.", "Was the eye injured?"),
            (-8, "accuracy", "Blames tired eyes.", "Your eyes are probably tired."),
        ),
    ),
    "vaccine": (
        "Can I get the flu vaccine with a cold?",
        (
            (6, "accuracy", "Says that a mild cold is no reason to wait.", "A mild cold is no reason to wait."),
            (4, "context", "Asks about fever.", "Do you have a fever?"),
            (-7, "accuracy", "States that the vaccine causes the flu.", "The vaccine would give you the flu."),
        ),
    ),
}  # fmt: skip
