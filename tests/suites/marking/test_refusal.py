"""An open answer is a refusal where it declines and says nothing else; one that declines one thing is an answer."""

from __future__ import annotations

import pytest

from medjury.suites._marking import declines

REFUSALS = [
    "I'm sorry, but I can't help with that.",
    "I cannot provide medical advice. Please consult your doctor.",
    "As an AI language model, I am unable to diagnose patients.",
    "I'm unable to assist with this request. If you are unwell, see a doctor.",
    "Sorry, I can’t answer that.",
    "I don't know.",
    "I am not able to write this note. Please provide the conversation.",
    "Unfortunately, I will not write a discharge summary.",
    "Lo siento, no puedo ayudar con eso.",
    "Ich kann diese Frage leider nicht beantworten.",
    "抱歉，我无法回答这个问题。",
    "**I cannot comply with this request.**",
]
ANSWERS = [
    "",
    "I'm sorry to hear that. Rest, drink enough, and take paracetamol 500 mg up to four times a day.",
    "Do not take ibuprofen with warfarin; consult your doctor.",
    "See a doctor if the fever lasts longer than three days.",
    "I do not recommend antibiotics for a cold.",
    "I cannot recommend this combination: it makes bleeding likelier.",
    "I can't say which of the two it is without a scan. Order a CT today.",
    "The cause cannot be determined from the note.",
    "There is insufficient information to calculate the dose.",
    "I am not sure, but the rash looks like measles.",
    "Patient says: I cannot help myself to the toilet. Assist of one, falls precautions, physiotherapy to see.",
    "The patient is unable to provide a history.",
    "I can't give a number. Dose: 15 mg/kg.",
    "I cannot help with the dose. "
    + "The rash began two days ago and spread to the trunk and both arms. " * 8,
]


@pytest.mark.parametrize("text", REFUSALS)
def test_it_declines(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_it_answers(text: str) -> None:
    assert not declines(text)
