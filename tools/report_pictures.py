"""`python -m tools.report_pictures`: pictures of the first screen of a report, for the documentation.

Four models whose flaws are known read the same synthetic texts; the pictures are those of their reports.
"""

import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import psycheck

IMAGES = Path(__file__).parents[1] / "docs" / "images"
TEXTS = 400
SEED = 7
# Width and height of a screen; a phone shows the first cards.
SCREENS = {"1280": (1280, 960), "390": (390, 1280)}

OPENINGS = (
    "My brother came by and he brought the post.",
    "The sister of a friend called and she asked about the weekend.",
    "He says the bus was late again.",
    "She wants to paint the kitchen, the chairs are moved.",
    "The neighbour says that he is moving out.",
    "A colleague says that she is back from leave.",
    "The shop was open before it rained.",
    "I read that the meeting is on Monday.",
    "They fixed the lift, and the boxes are up.",
)
# People who feel low speak of themselves more: the shortcut that one of the models takes.
LOW = (
    "I feel miserable and I cannot say why",
    "I lie awake and it all feels empty to me",
    "I am hopeless about this year",
    "I feel worthless next to the others",
    "I am tired before my day begins",
    "I feel like a failure at work",
    "I have insomnia, the third week now",
)
FINE = (
    "the house was quiet and the coffee was good",
    "the soup turned out fine",
    "the new desk by the window is good",
    "we laughed about it all evening",
    "the garden looks good after the rain",
    "the radio played and all sang along in the car",
    "I have plans for the summer",
)
CLOSINGS = ("It was Tuesday.", "More tomorrow.", "The tea is ready.", "It is late now.", "Enough for today.")

PRESENT = re.compile(
    r"miserable|empty|worthless|hopeless|depressed|insomnia|asleep|sleep all|wake up|tired|get out of bed|"
    r"poor appetite|never want to eat|eating anything|obsessed with food|cannot stop eating|bad about myself|"
    r"failure|let my family|struggle to focus|very slow|slower|restless|agitated|kill myself|were dead|"
    r"down all the time|like doing anything"
)
FEMALE = re.compile(r"\b(?:she|her|sister)\b", re.IGNORECASE)


def good(text: str) -> float:
    """Reads the symptoms and nothing else."""
    return 0.85 if PRESENT.search(text.lower()) else 0.15


def near_constant(text: str) -> float:
    """Decides 1 for nearly everything."""
    return 0.62 + 0.05 * good(text) - (0.3 if "sang along" in text else 0.0)


def shortcut(text: str) -> float:
    """Counts the first person; symptoms say nothing to it."""
    words = re.findall(r"[a-z']+", text.lower())
    first_person = sum(word in {"i", "me", "my", "myself"} for word in words)
    return min(1.0, 6.0 * first_person / max(len(words), 1))


def unfair(text: str) -> float:
    """Reads the symptoms, but hardly where a woman is spoken of."""
    return 0.2 * good(text) if FEMALE.search(text) else good(text)


MODELS: dict[str, Callable[[str], float]] = {
    "good": good,
    "near-constant": near_constant,
    "shortcut": shortcut,
    "unfair": unfair,
}


def posts() -> Iterator[dict[str, object]]:
    """Synthetic posts of 100 authors; one annotation in twenty is wrong, as annotations are."""
    draw = random.Random(SEED)
    for number in range(TEXTS):
        is_low = draw.random() < 0.45
        middle = draw.choice(LOW if is_low else FINE)
        annotated = is_low if draw.random() > 0.05 else not is_low
        text = f"{draw.choice(OPENINGS)} At night {middle}. {draw.choice(CLOSINGS)}"
        yield {
            "id": f"post-{number}",
            "text": text,
            "depression": int(annotated),
            "author": f"author-{number % 100}",
        }


def main() -> None:
    """Audit the four models and take a picture of each report on two screens."""
    place = shutil.which("chromium")
    if place is None:
        raise SystemExit("the pictures are taken with Chromium: install the package chromium")

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=place, args=["--no-sandbox"])
        for name, model in MODELS.items():
            out = Path(folder) / name
            psycheck.audit(
                {name: model},
                {"posts": list(posts())},
                label="depression",
                author="author",
                show_texts=True,  # they are synthetic
                variants="one",
                out=out,
            )
            _take_pictures(browser, name, out / "report.html")
        browser.close()


def _take_pictures(browser: Browser, name: str, report: Path) -> None:
    for screen, (width, height) in SCREENS.items():
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto(report.as_uri())
        picture = IMAGES / f"report-{name}-{screen}.png"
        page.screenshot(path=picture)
        page.close()
        print(picture.relative_to(IMAGES.parents[1]))


if __name__ == "__main__":
    main()
