"""Meetings in a real browser, at a desk and on a phone: raters settle, an adjudicator decides, a panel writes."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page
from tests.axe import looks_good
from tests.panel.meeting.closed_rounds import ONE_SYSTEM, only_round, rate, same
from tests.panel.meeting.reference_panels import ROUTINE, reference_study
from tests.panel.meeting.test_questions import QUESTION, concordance_rows
from tests.panel.rounds import NOON, write_study
from tests.panel.served import served
from tests.panel.visitors import let_in

from medjury.intake.cases import read_cases
from medjury.panel import write_export
from medjury.panel._access._people import Person, Role
from medjury.panel._design._rounds import set_state, set_up
from medjury.panel._meeting._differences import reconciled_labels
from medjury.panel._meeting._reference_files import panel_scores, set_up_references
from medjury.panel._serve import Panel, open_panel_database


def joined(
    browser: Browser, panel: Panel, role: Role, name: str, *, scripts: bool = True
) -> tuple[Page, Person]:
    """Somebody at a browser of their own, who has just joined."""
    context = browser.new_context(
        base_url=panel.public_url, viewport={"width": 1280, "height": 900}, java_script_enabled=scripts
    )
    page = context.new_page()
    page.set_default_timeout(120_000)
    return page, let_in(context, panel, role, name)


def test_two_settle_one_case_and_the_adjudicator_decides_another(browser: Browser, tmp_path: Path) -> None:
    study = write_study(tmp_path, cases=3, systems=ONE_SYSTEM)
    with served(Panel(open_panel_database(tmp_path / "panel.sqlite"), study=study)) as panel:
        with panel.database.writing() as connection:
            set_up(connection, study, NOON)
        one, first = joined(browser, panel, Role.RATER, "Dr Ocelot")
        two, second = joined(browser, panel, Role.RATER, "Dr Margay", scripts=False)
        judge, _ = joined(browser, panel, Role.ADJUDICATOR, "Prof Caracal")
        head, _ = joined(browser, panel, Role.COORDINATOR, "Ada")
        grades = [same("4", "4", accuracy=("2", "5")), same("3", "3", accuracy=("1", "4")), same("4", "4")]
        with panel.database.writing() as connection:
            rate(connection, [first, second], grades)
            set_state(connection, only_round(connection), "closed")
        head.goto("/meetings")
        looks_good(head, "meetings-before")
        head.get_by_role("button", name="Open the meeting").click()
        looks_good(head, "meetings")

        one.goto("/together")
        looks_good(one, "together")
        one.get_by_role("link", name="Case 1").click()
        assert one.get_by_text("Rater A").first.is_visible()
        assert "Dr Margay" not in one.content()
        looks_good(one, "difference")
        assert one.get_by_text("choose and go on").is_visible()
        one.keyboard.press("5")  # keys, as on the page of a case
        one.keyboard.press("3")
        assert one.get_by_role("radio", name="3").first.is_checked()
        one.keyboard.press("w")
        one.keyboard.type("The dose is 5 mg, as in the note.")
        assert one.get_by_role("radio", name="3").first.is_checked(), "a digit in a text is a digit"
        one.keyboard.press("Control+Enter")
        one.get_by_text("Still to confirm").wait_for()

        two.goto("/together")  # at a browser without JavaScript
        two.get_by_role("link", name="Case 1").click()
        two.get_by_role("button", name="Yes, I confirm these grades").click()
        assert two.get_by_text("all of you confirmed").is_visible()
        two.get_by_role("link", name="Next case").click()
        two.get_by_label("What you do not agree on").fill("Whether the allergy matters.")
        two.get_by_role("button", name="Send it to the adjudicator").click()
        assert two.get_by_text("The adjudicator decides it").is_visible()
        one.goto("/together")
        looks_good(one, "together-after")

        judge.goto("/")
        looks_good(judge, "decisions")
        judge.get_by_role("link", name="Case 1").click()
        assert judge.get_by_text("Whether the allergy matters.").is_visible()
        looks_good(judge, "decision")
        judge.get_by_role("button", name="Save the decision").click()
        assert judge.get_by_text("Something is missing").is_visible()
        judge.get_by_role("radio", name="1").first.check()
        judge.get_by_role("textbox", name="Your reason").fill("It could kill.")
        judge.get_by_role("button", name="Save the decision").click()
        assert judge.get_by_text("Decided.").is_visible()
        looks_good(judge, "decided")
        head.goto("/meetings")
        assert head.get_by_role("row", name="settled by the raters 1").is_visible()
        with panel.database.reading() as connection:
            found = list(reconciled_labels(connection, only_round(connection)))
        told = sorted(each.explanation for each in found if each.dimension == "accuracy")
        assert told == [
            "adjudicated: It could kill.", "agreed", "reconciled: The dose is 5 mg, as in the note.",
        ]  # fmt: skip


def test_a_panel_of_three_writes_the_reference_and_scores(browser: Browser, tmp_path: Path) -> None:
    study = reference_study(tmp_path, cases=1)
    with served(Panel(open_panel_database(tmp_path / "panel.sqlite"), study=study)) as panel:
        with panel.database.writing() as connection:
            set_up_references(connection, study)
        pages = [
            joined(browser, panel, Role.RATER, name)[0] for name in ("Dr Ocelot", "Dr Margay", "Dr Serval")
        ]
        head, _ = joined(browser, panel, Role.COORDINATOR, "Ada")
        head.goto("/panels")
        looks_good(head, "panels-before")
        head.get_by_label("Name of the panel").fill("Internal medicine")
        for box in head.get_by_role("checkbox").all():
            box.check()
        head.get_by_role("button", name="Make the panel").click()
        looks_good(head, "panels")
        for number, page in enumerate(pages):
            page.goto("/together")
            page.get_by_role("link", name="Case 1").click()
            assert ROUTINE not in page.content()
            if number == 0:
                looks_good(page, "alone")
            page.get_by_label("Primary diagnosis").fill(f"Idea {number}")
            page.get_by_label("Differential diagnosis").fill("Pneumonia")
            page.get_by_label("Reasoning").fill("The D-dimer")
            page.get_by_role("button", name="Hand in").click()
            assert (
                "Idea" not in page.get_by_role("main").inner_text()
                or number == page.content().count("Idea") - 1
            )
        one, two, three = pages
        three.get_by_role("button", name="Begin the meeting").click()
        assert three.get_by_text("Idea 0").is_visible()
        assert ROUTINE not in three.content()
        looks_good(three, "meeting")
        three.get_by_label("Primary diagnosis").fill("Pulmonary embolism")
        three.get_by_label("Reasoning").fill("D-dimer and breathlessness")
        three.get_by_role("button", name="We agree on this: go on").click()
        assert three.get_by_text(ROUTINE).is_visible()
        looks_good(three, "routine")
        two.reload()
        two.get_by_label("No, we do not agree").check()
        two.get_by_role("textbox", name="Why").fill("No fever, clear film.")
        two.get_by_role("button", name="Save and go on").click()
        looks_good(two, "scoring-list")
        for answer in ("Answer 1", "Answer 2"):
            two.get_by_role("link", name=answer).click()
            for group in two.get_by_role("group").all():
                if group.get_by_role("radio").count():
                    group.get_by_role("radio").first.check()
            if answer == "Answer 1":
                looks_good(two, "scoring")
            two.get_by_role("button", name="Save these grades").click()
        one.goto("/together")
        one.get_by_role("link", name="Case 1").click()
        one.get_by_role("button", name="Finish this case").click()
        assert one.get_by_text("This case is done").is_visible()
        looks_good(one, "done")
        told = write_export(panel, tmp_path / "references.jsonl", "references")
        assert "1 cases with the reference of a panel, 0 without" in told
        with panel.database.reading() as connection:
            assert len(list(panel_scores(connection))) == 4
    case = next(iter(read_cases(tmp_path / "references.jsonl")))
    assert case.reference == "Primary diagnosis: Pulmonary embolism\nReasoning: D-dimer and breathlessness"
    assert case.metadata["routine_is_wrong"] == 1


def test_a_preference_is_asked_after_concordant_blind_and_in_both_orders(
    browser: Browser, tmp_path: Path
) -> None:
    rows = concordance_rows(1)
    study = write_study(
        tmp_path, rows=rows, instrument="concordance", dimensions="dimensions: [concordant]\n", panel=QUESTION
    )
    with served(Panel(open_panel_database(tmp_path / "panel.sqlite"), study=study)) as panel:
        with panel.database.writing() as connection:
            set_up(connection, study, NOON)
        found = [joined(browser, panel, Role.RATER, name) for name in ("Dr Ocelot", "Dr Margay")]
        with panel.database.writing() as connection:
            rate(connection, [person for _, person in found], [{"concordant": ("1", "1")}])
        left = []
        for page, _ in found:
            page.goto("/together")
            page.get_by_role("link", name="Question 1").click()
            assert "Specialist" not in page.content()
            left.append(page.get_by_role("region", name="Left").inner_text().split("\n")[-1])
            if len(left) == 1:
                looks_good(page, "question")
            page.get_by_label("The left one").check()
            page.get_by_role("button", name="Save and go on").click()
            assert page.get_by_text("answered").is_visible()
        assert sorted(left) == ["Wait and see 0", "Watchful waiting 0"]
        assert "2 replies" in write_export(panel, tmp_path / "replies.csv", "questions")
    lines = (tmp_path / "replies.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(line.split(",")[7] for line in lines[1:]) == ["answer", "reference"]
