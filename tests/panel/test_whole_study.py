"""A whole study, as people play it: one server, one browser, everybody's own steps, up to the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.axe import looks_good
from tests.loopback import LoopbackServer
from tests.panel.rounds import write_study
from tests.panel.served import served_by_command
from tests.panel.visitors import PASSWORD

from medjury.cli import main
from medjury.tables import open_run

CASES = 5
DESKTOP, PHONE = (1280, 900), (390, 844)
RATERS = {"Dr Ocelot": DESKTOP, "Dr Margay": DESKTOP, "Dr Serval": PHONE}
JUDGED = """judges:
  - {{kind: openai, name: juror, url: "{url}", model: m}}
humans:
  path: panel
  consensus: adjudicated
  adjudicator: reconciled
report:
  resamples: 200
"""
SETTLED, DECIDED = 3, 4  # the cases on which Dr Ocelot is stricter than the others
CHANGED = 1  # the case to which Dr Margay comes back, to say of its accuracy what the others say
PAGES = ("/rounds", "/live", "/evidence")  # the others are looked at where they are tested


def grades(name: str, case: int) -> str:
    """What a rater thinks of a case: accuracy, completeness, clarity. They differ on two cases."""
    if case in (SETTLED, DECIDED):
        return "2" + "43" if name == "Dr Ocelot" else "5" + "43"
    if (name, case) == ("Dr Margay", CHANGED):
        return "424"
    if case == CHANGED:
        return "524"
    return f"{case % 5 + 1}{(case + 2) % 5 + 1}{(case + 1) % 3 + 2}"


def at(browser: Browser, address: str, size: tuple[int, int] = DESKTOP) -> Page:
    """A browser window of somebody's own."""
    is_phone = size == PHONE
    context = browser.new_context(
        base_url=address,
        viewport={"width": size[0], "height": size[1]},
        is_mobile=is_phone,
        has_touch=is_phone,
    )
    context.set_default_timeout(120_000)
    return context.new_page()


def join(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_label("Type it again").fill(PASSWORD)
    page.get_by_role("button", name="Join", exact=True).click()
    page.get_by_role("button", name="Sign out", exact=True).wait_for()


def invite(head: Page, name: str, role: str) -> str:
    head.goto("/people")
    head.get_by_label("Names, one a line").fill(name)
    head.get_by_role("radio", name=re.compile(f"^{role}")).check()
    head.get_by_role("button", name="Make invitation links").click()
    return head.get_by_label("Link").input_value()


def rate_everything(page: Page, name: str) -> list[int]:
    """Say who they are, then rate all cases by keyboard; which case stood at which place."""
    order = []
    page.goto("/")
    page.get_by_label("Specialty").fill("Nephrology")
    page.get_by_label("Years in practice").fill("8")
    page.get_by_label("Seniority").select_option("specialist")
    page.get_by_role("button", name="Save").click()
    page.get_by_role("link", name="Start").click()
    for number in range(1, CASES + 1):
        expect(page.locator("h1")).to_contain_text(f"Case {number}")
        expect(page.locator(".question.current")).to_have_count(1)
        order.append(shown_case(page))
        page.keyboard.type(grades(name, order[-1]))
        page.keyboard.press("Enter")
    expect(page.locator("body")).to_contain_text("All done. Thank you.")
    return order


def shown_case(page: Page) -> int:
    found = re.search(r"Summary (\d+)\.0", page.locator("#answer").inner_text())
    assert found
    return int(found[1])


def change(page: Page, place: int, grade: str) -> None:
    """Go back to a case and give it another grade for accuracy."""
    page.locator(".cases a").nth(place).click()
    expect(page.locator(".question.current")).to_have_count(1)
    page.keyboard.press(grade)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text("My cases")


def difference_of(page: Page, case: int) -> None:
    """Open the difference over a case; the list has its own order for each visitor."""
    page.goto("/together")
    addresses = [
        link.get_attribute("href") or ""
        for link in page.locator("main").get_by_role("link", name="Case ").all()
    ]
    assert len(addresses) == 2
    for address in addresses:
        page.goto(address)
        if f"Summary {case}.0" in page.content():
            return
    raise AssertionError(f"case {case} is not listed")


def test_a_study_from_the_first_link_to_the_report(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "runs" / "ward"
    with LoopbackServer() as server:
        write_study(tmp_path, cases=CASES, systems=("zebrafinch-9b",), panel=JUDGED.format(url=server.url))
        assert main(["run", str(tmp_path / "study.yaml"), "--quiet"]) == 0
        asked = len(server.calls)
        with served_by_command(tmp_path / "study.yaml", "--coordinator", "Ada Quill") as printed:
            play(browser, "\n".join(printed))
        assert len(server.calls) == asked, "no model is asked for what people say"
        capsys.readouterr()
        assert main(["report", str(run)]) == 0
        assert len(server.calls) == asked
    table = open_run(run)
    people = {name for name, kind in table.raters.items() if kind == "clinician"}
    assert len(people) == 4 and table.people.adjudicator in people and not people & set(RATERS), "pseudonyms"
    grid = table.grid("accuracy")
    settled = dict(zip(grid.items, grid.scores[table.people.adjudicator], strict=True))
    assert {item: settled[f"marmoset-{item:02}"] for item in (CHANGED, SETTLED, DECIDED, 2)} == {
        CHANGED: 5.0, SETTLED: 4.0, DECIDED: 1.0, 2: 3.0,
    }  # fmt: skip
    said = [sorted(grid.scores[name][SETTLED] for name in people - {table.people.adjudicator})]
    assert said == [[2.0, 5.0, 5.0]], "what each said alone stays"
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "3 clinicians" in page and "Ocelot" not in page and "Caracal" not in page
    assert "The reference is the clinicians&#x27; adjudicated scores" in page
    assert "reconciled: The dose is 5 mg, as in the note." in page and "adjudicated: It could kill." in page
    assert main(["runs", "verify", str(run)]) == 0


def play(browser: Browser, printed: str) -> None:
    """Everybody's own steps, in the order in which a study has them."""
    address, link = re.search(r"is at (\S+)", printed), re.search(r"(\S+/join/\S+)", printed)
    assert address and link
    head = at(browser, address[1])
    join(head, link[1])
    links = {name: invite(head, name, "rater") for name in RATERS}
    judge_link = invite(head, "Prof Caracal", "adjudicator")
    pages = {name: at(browser, address[1], size) for name, size in RATERS.items()}
    orders = {}
    for name, page in pages.items():
        join(page, links[name])
        orders[name] = rate_everything(page, name)
    one, two, three = pages.values()
    change(two, orders["Dr Margay"].index(CHANGED), "5")

    head.goto("/rounds")
    head.get_by_role("button", name="Close").click()
    head.goto("/meetings")
    head.get_by_role("button", name="Open the meeting").click()
    difference_of(one, SETTLED)
    one.get_by_role("radio", name="4").first.check()
    one.get_by_role("textbox", name="Why, in your words").fill("The dose is 5 mg, as in the note.")
    one.get_by_role("button", name="Enter these grades").click()
    for page in (two, three):
        difference_of(page, SETTLED)
        page.get_by_role("button", name="Yes, I confirm these grades").click()
    expect(three.locator("body")).to_contain_text("all of you confirmed")
    difference_of(two, DECIDED)
    two.get_by_label("What you do not agree on").fill("Whether the allergy matters.")
    two.get_by_role("button", name="Send it to the adjudicator").click()

    judge = at(browser, address[1])
    join(judge, judge_link)
    judge.get_by_role("link", name="Case 1").click()
    judge.get_by_role("radio", name="1").first.check()
    judge.get_by_role("textbox", name="Your reason").fill("It could kill.")
    judge.get_by_role("button", name="Save the decision").click()
    expect(judge.locator("body")).to_contain_text("Decided.")

    head.goto("/live")
    expect(head.get_by_role("region", name="Agreement among raters")).to_contain_text("accuracy")
    head.goto("/exchange")
    head.get_by_role("button", name="Include the ratings in the study").click()
    expect(head.locator("body")).to_contain_text("Report: ")
    looks_good(head, "included")
    for path in PAGES:
        head.goto(path)
        looks_good(head, path)
