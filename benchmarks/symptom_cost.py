"""What the shipped symptom reader costs: python benchmarks/symptom_cost.py [SENTENCES…].

Encoding alone against reading symptoms with all rules, in turns on the same generated sentences, one thread,
CPU time; then the time of growing numbers of sentences (by default 500, 1,000 and 2,000), the size of the
reader's files, and how long importing psycheck and opening the reader take in a new process.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Sequence

import torch

from demo_texts import generate_sentences
from psycheck.models.opening import open_encoder, open_model
from psycheck.symptoms.adapted_reader import DEFAULT_FOLDER
from psycheck.symptoms.reader import SymptomModel
from psycheck.symptoms.statements import weighted
from timing import machine

ROUNDS = 4
SIZES = (500, 1_000, 2_000)


def cpu_seconds(run: Callable[[], object]) -> float:
    """The CPU time of a call: the machine may be shared."""
    started = time.process_time()
    run()
    return time.process_time() - started


def in_new_process(code: str) -> float:
    """The CPU seconds of a statement in a new process, by its own clock."""
    program = f"import time; start = time.process_time(); {code}; print(time.process_time() - start)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(printed.stdout)


def main(sizes: Sequence[int]) -> None:
    """Print what was measured."""
    torch.set_num_threads(1)
    print(machine())
    encoder = open_encoder("minilm", max_length=128)
    reader = open_model("symptoms:default")
    assert isinstance(reader, SymptomModel)
    corpus, _ = generate_sentences(max(sizes), seed=0)
    sentences = corpus.table["text"].to_list()

    few = sentences[: sizes[0]]
    rounds = [
        (cpu_seconds(lambda: encoder.encode(few)), cpu_seconds(lambda: weighted(reader.tag(few))))
        for _ in range(ROUNDS)
    ]
    encoding, reading = (1_000 * min(times) / len(few) for times in zip(*rounds, strict=True))
    print(f"{len(few)} sentences: encoding {encoding:.2f} ms, reading {reading:.2f} ms each, ", end="")
    print(f"ratio {reading / encoding:.2f}; all rounds {[round(b / a, 2) for a, b in rounds]}")

    for size in sizes:
        seconds = cpu_seconds(lambda own=sentences[:size]: reader.tag(own))  # type: ignore[misc]  # bound now
        print(f"{size:,} sentences: {seconds:.1f} CPU seconds, {1_000 * seconds / size:.2f} ms each")

    megabytes = sum(file.stat().st_size for file in DEFAULT_FOLDER.iterdir()) / 1e6
    opening = "from psycheck.models.opening import open_model; open_model('symptoms:default')"
    print(f"files: {megabytes:.2f} MB")
    print(f"import psycheck: {in_new_process('import psycheck'):.2f} CPU seconds; ", end="")
    print(f"import and open the reader: {in_new_process(opening):.2f}")


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or SIZES)
