"""An open answer is a refusal where it declines and says nothing else; one that declines one thing is an answer."""

from __future__ import annotations

import pytest

from medjury.suites._marking._answer_text import declines

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
    "Hi, I'm sorry, but I can't assist with that request.",
    "I'm sorry. I can't help with that.",
    "I cannot answer this. If you feel unwell, please contact a doctor.",
    "I will not provide the note because the transcript is empty.",
    "I can't give you that.",
    "I am unable to provide specific medical advice.",
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
    "I cannot provide a diagnosis without an ECG. Please obtain an ECG and troponin today.",
    "I'm unable to give you an exact dose, but the usual adult dose is 500 mg every six hours.",
    "I can't give legal advice, however Medicare covers annual wellness visits.",
    "I cannot write prescriptions, so call the clinic for a refill of metoprolol.",
    "As an AI, I cannot examine you. This sounds like reflux; try antacids.",
    "I cannot give you a diagnosis. See a doctor at once: sudden chest pain may be a heart attack.",
    "I can't provide exact numbers. Take it with food.",
    "I will not give antibiotics for this viral infection.",
    "I can't give you antibiotics for a cold.",
    "I cannot give this patient penicillin.",
    "I cannot advise stopping warfarin.",
    "I cannot diagnose appendicitis without a scan.",
    "I can't diagnose you. Please try paracetamol.",
    "I cannot provide a diagnosis. Please provide oxygen.",
    "I cannot help with the dose. "
    + "The rash began two days ago and spread to the trunk and both arms. " * 8,
]


@pytest.mark.parametrize("text", REFUSALS)
def test_it_declines(text: str) -> None:
    assert declines(text)


@pytest.mark.parametrize("text", ANSWERS)
def test_it_answers(text: str) -> None:
    assert not declines(text)
