"""Twelve made-up consultations for the recipe `transcripts`: what was asked, what the patient said, what a
recogniser wrote, and how much that changes for a clinician (0 none, 1 minimal, 2 significant impact).

Each call opens with a turn that was recognised word for word; the five after it were not. `|` cuts a turn into the
recogniser's segments, "" means that nothing was recognised. All of it is invented.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Each source has one recogniser: the calls of an eye clinic after surgery, and those of a general practice.
RECOGNISERS = {"eye": "recogniser-a", "practice": "recogniser-b"}
# Calls that served to write the judges' instructions: no part of the validation.
DEVELOPMENT = ("eye-6", "practice-6")


class Turn(NamedTuple):
    """A question, its answer as said and as recognised, and the impact of the difference."""

    asked: str
    said: str
    heard: str
    impact: int


@dataclass(frozen=True)
class CallText:
    """One consultation: the `opening` was recognised as it was said; `closing` are two turns of the patient that
    the recogniser ran together, and `spurious` what it wrote though the patient said nothing."""

    name: str
    opening: tuple[str, str]
    turns: tuple[Turn, ...]
    closing: tuple[str, str] | None = None
    spurious: str = ""

    @property
    def recogniser(self) -> str:
        return RECOGNISERS[self.name.split("-")[0]]


CALLS = (
    CallText(
        "eye-1",
        ("Good morning, this is the eye clinic. Is now a good time to talk?", "Yes, now is fine."),
        (
            Turn("How has the sight in the operated eye been?",
                 "Um, it has been really clear, much better than before.",
                 "it has been really clear much better than before", 0),
            Turn("Do you have any pain in the eye?",
                 "No, there is no pain at all.", "now there is pain at all", 2),
            Turn("Are you using the drops as we told you?",
                 "Yes, one drop four times a day.", "yes one drop for times a day", 0),
            Turn("How long will you wear the shield at night?",
                 "I thought until the end of the week.", "i thought until the end of the month", 1),
            Turn("Shall we send the letter to your home?",
                 "Yes please, to number seven, Orchard Lane.", "yes please to number seven or chard lane", 0),
        ),
        closing=("Thank you for calling.", "Goodbye then."),
    ),
    CallText(
        "eye-2",
        ("Hello, I am calling from the eye unit. May I ask how you are?", "Hello, yes, you may."),
        (
            Turn("Have you noticed any flashes of light or floaters?",
                 "I have seen flashes on the outer side since last night.",
                 "i have been flashy on the outer side since last night", 2),
            Turn("Is the eye red?",
                 "It was a little pink on the first day, but that has gone.",
                 "it was a little pink the first day but thats gone", 0),
            Turn("Which drops do you still use?",
                 "The steroid one, and sometimes the lubricant when it feels dry.",
                 "the steroid one | and sometimes when it feels dry", 1),
            Turn("Did the nurse explain how to put them in?",
                 "Oh yes, she was very kind and showed me twice.",
                 "yes she was very kind and showed me twice", 0),
            Turn("Do you take any blood thinners?",
                 "I take warfarin for my heart.", "i take more fun for my heart", 2),
        ),
    ),
    CallText(
        "eye-3",
        ("Good afternoon. Can you hear me well?", "Yes, I can hear you."),
        (
            Turn("How would you describe your sight now?",
                 "Well, I mean, it is like somebody cleaned the window.",
                 "well it is like somebody cleaned the window", 0),
            Turn("Can you read the numbers on your telephone?",
                 "I can, without any glasses now.", "i can without my glasses now", 0),
            Turn("Is there any discharge from the eye?",
                 "There is thick yellow discharge every morning.",
                 "there is a thick yellow the charge every morning", 2),
            Turn("Has anybody at home had a cold?",
                 "My grandson had one, he is fine again.", "my grandson had one he is fine a gain", 0),
            Turn("Will you have the other eye done as well?",
                 "I would like to wait until after the summer.", "", 1),
        ),
    ),
    CallText(
        "eye-4",
        ("This is your call after the operation. How are you today?", "I am well, thank you."),
        (
            Turn("Are you allergic to any medicine?",
                 "I am allergic to penicillin.", "i am a lawyer to penelope", 2),
            Turn("And is the eye watering?",
                 "It waters a bit when I am out in the wind.", "it waters a bit when im out in the wind", 0),
            Turn("Did you have any trouble getting home after surgery?",
                 "No trouble, my daughter drove me back.", "no trouble my daughter drove be back", 0),
            Turn("Which eye feels uncomfortable?",
                 "It is the right eye that hurts.", "it is the light eye that hurts", 2),
            Turn("How often do you feel it?",
                 "Maybe two or three times a day.", "may be two or three times today", 1),
        ),
    ),
    CallText(
        "eye-5",
        ("Hello, is this a good moment for your follow-up?", "It is, go ahead."),
        (
            Turn("Has the eye been sticky?", "Uh, not that I have noticed.", "not that i have noticed", 0),
            Turn("Has your sight become worse on any day?",
                 "Since yesterday a dark curtain comes down over half of it.",
                 "since yesterday a dog certain | comes down over half of it", 2),
            Turn("Are you able to watch television?",
                 "Yes, the colours are so much brighter.", "yes the colors are so much brighter", 0),
            Turn("Do you have any questions for us?",
                 "No, no questions, you have been very clear.", "no questions you have been very clear", 0),
            Turn("May we call you again next month?",
                 "Of course, any time after lunch.", "of course any time after launch", 0),
        ),
    ),
    CallText(
        "eye-6",
        ("Good morning, how is the eye?", "Quite good, I would say."),
        (
            Turn("Are you sleeping with the shield on?",
                 "I did for the first week.", "i did for the first weak", 0),
            Turn("Do you rub the eye?", "Only now and then, when it itches.", "only now when it itches", 1),
            Turn("Have you had a headache with the pain in the eye?",
                 "Yes, a bad headache, and I was sick twice.", "yes a bad headache and i was six twice", 2),
            Turn("Who puts the drops in?", "My husband does it for me.", "my husband does is for me", 0),
            Turn("Did you get the leaflet?", "Er, I think it was in the bag.", "i think it was in the bag", 0),
        ),
    ),
    CallText(
        "practice-1",
        ("Good morning, what brings you in?", "I have had chest pain since Sunday."),
        (
            Turn("Does the pain go anywhere?",
                 "It goes into my left arm and my jaw.", "it goes into my left farm and my door", 2),
            Turn("What were you doing when it began?",
                 "Um, just, you know, carrying the shopping in.", "just carrying the shopping in", 0),
            Turn("Do you smoke?", "I stopped ten years ago.", "i stopped about ten years ago", 0),
            Turn("Do you drink alcohol?",
                 "A glass of wine, only at weekends.", "a glass of wine on the weekdays", 1),
            Turn("Did you take anything for it?",
                 "I took my wife's nitrate spray and it helped.",
                 "i took my wifes night raid spray and it helped", 2),
        ),
    ),
    CallText(
        "practice-2",
        ("How can I help?", "It is about my stomach."),
        (
            Turn("When did it start?",
                 "It started, it started on Friday evening.", "it started on friday evening", 0),
            Turn("Where is the pain?", "Low down on the right.", "load down on the rise", 2),
            Turn("Have you been sick?",
                 "Yes, I have vomited three times.", "yes i have vomitted three times", 0),
            Turn("Have you eaten since?",
                 "Only some toast and tea this morning.", "only sum toast and tea this morning", 0),
            Turn("Could you be pregnant?",
                 "I could be, I am two weeks late.", "i couldnt be i am too weak lately", 2),
        ),
    ),
    CallText(
        "practice-3",
        ("What can I do for you?", "I keep getting headaches."),
        (
            Turn("How long has this been going on?",
                 "Uh, for about six months now.", "for about six months now", 0),
            Turn("What makes it better?",
                 "Lying down in a dark room helps a bit.", "lying down | helps a bit", 1),
            Turn("Do you see anything unusual before it?",
                 "Zigzag lines, like a, like a fence.", "zigzag lines like a fence", 0),
            Turn("Do you take the contraceptive pill?",
                 "Yes, I am still on the pill.", "yes i am ill on the hill", 2),
            Turn("How is work?",
                 "Busy, we are moving to a new office.", "busy we are moving to a new of us", 0),
        ),
        closing=("That is very helpful, doctor.", "See you in a month."),
    ),
    CallText(
        "practice-4",
        ("You came about your tablets?", "Yes, about the new ones."),
        (
            Turn("How much metformin do you take?",
                 "Five hundred milligrams twice a day.", "nine hundred milligrams twice a day", 2),
            Turn("Do you check your sugar?",
                 "Every morning before breakfast.", "every morning before break fast", 0),
            Turn("Have you had any low readings?",
                 "I have not fainted, but I was shaky on Tuesday.",
                 "i have fainted but i was shaky on tuesday", 2),
            Turn("Do you have enough test strips?", "I have, um, one box left.", "i have one box left", 0),
            Turn("How are your feet?",
                 "A little numb in the toes after long walks.", "a little numb after long walks", 1),
        ),
        spurious="subscribe to the channel",
    ),
    CallText(
        "practice-5",
        ("Tell me what happened.", "I could not breathe last night."),
        (
            Turn("Do you have asthma?",
                 "I have had it since I was a child.", "ive had it since i was a child", 0),
            Turn("Which inhaler do you use?",
                 "The blue one, and the brown one in the evening.",
                 "the blue one and the brown on in the evening", 0),
            Turn("How often do you need the blue one?",
                 "Most days, but more in the spring.", "most days but more in this ring", 1),
            Turn("Did you cough up blood?",
                 "There was some blood on the tissue.", "there was some love on the tissue", 2),
            Turn("Do you have a cat or a dog?",
                 "We have two cats, they sleep outside.", "we have to cats they sleep outside", 0),
        ),
    ),
    CallText(
        "practice-6",
        ("What is the matter?", "My son has a rash."),
        (
            Turn("Does it fade when you press it?",
                 "No, it does not fade when I press it.", "no it does fade when i press it", 2),
            Turn("Since when?", "Since, um, since this morning.", "since this morning", 0),
            Turn("Did he eat anything new?", "Nothing that I can think of.", "nothing i can think of", 0),
            Turn("Has anyone else got it?", "No, nobody at home has it.", "no nobody at home had it", 0),
            Turn("What have you put on it?",
                 "Some cream from the chemist, I forget the name.", "some cream from the chemist", 1),
        ),
    ),
)  # fmt: skip


def impacts() -> dict[str, int]:
    """The planted impact of every pair that differs, by the id of the case (`eye-1-2`: their third turn)."""
    return {f"{call.name}-{place}": turn.impact for call in CALLS for place, turn in enumerate(call.turns, 1)}
