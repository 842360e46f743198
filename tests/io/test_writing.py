"""Files appear whole, private and by one writer, whoever is killed meanwhile."""

import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from psycheck.core.errors import BadInput
from psycheck.io.writing import LOCK, private_folder, refuse_overwriting, sole_writer, together, written
from refusals import refused

HOLD = "import sys, time; from pathlib import Path; from psycheck.io.writing import sole_writer, written\n"
LOCKED = HOLD + "with sole_writer(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
PART = HOLD + "with written(Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def killed(code: str, path: Path) -> None:
    """A process that holds `path` and is killed as the system would kill it."""
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    if code == LOCKED:
        with refused("output.locked"), sole_writer(path):
            pass
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    child.stdout.close()


@pytest.mark.usefixtures("umask")
def test_a_file_is_private_from_its_first_byte_and_so_are_the_folders_made_for_it(tmp_path: Path) -> None:
    target = tmp_path / "a" / "b" / "posts.csv"
    with written(target) as part:
        assert (mode(part), part.stat().st_size) == (0o600, 0)
        part.write_text("text")
    assert (mode(target), target.read_text()) == (0o600, "text")
    assert [mode(tmp_path / "a"), mode(tmp_path / "a" / "b")] == [0o700, 0o700]


def test_a_public_file_that_is_replaced_becomes_private(tmp_path: Path) -> None:
    target = tmp_path / "posts.csv"
    target.write_text("old")
    target.chmod(0o644)
    with written(target) as part:
        part.write_text("new")
    assert (mode(target), target.read_text()) == (0o600, "new")


def test_of_several_files_none_is_replaced_before_all_are_written(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(OSError, match="too large"), together([first]) as part_of:  # noqa: PT012  # one act
            part_of(first).write_text("new")
            part_of(second).write_text("x" * 2_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"first": "old"}


def test_the_lock_of_a_killed_process_is_free_again_and_nothing_of_it_stays(tmp_path: Path) -> None:
    killed(LOCKED, tmp_path / "run")
    assert (tmp_path / "run" / LOCK).exists()
    with sole_writer(tmp_path / "run"):
        (tmp_path / "run" / "result").touch()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["result"]


def test_the_part_of_a_killed_process_goes_and_that_of_a_living_one_stays(tmp_path: Path) -> None:
    target = tmp_path / "[a]*.csv"
    killed(PART, target)
    (left,) = tmp_path.iterdir()
    with written(target) as living, written(target) as part:
        assert not left.exists()
        living.write_text("first")
        part.write_text("second")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"[a]*.csv": "first"}


def test_a_file_in_shared_memory_is_a_file_like_any_other() -> None:
    target = Path(f"/dev/shm/psycheck-{os.getpid()}.csv")
    try:
        with written(target) as part:
            assert part != target
    finally:
        target.unlink()


def test_a_folder_made_for_nothing_goes_again(tmp_path: Path) -> None:
    with pytest.raises(BadInput), sole_writer(tmp_path / "runs" / "a"):
        raise BadInput("nothing was done")
    assert list(tmp_path.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(OSError, match="Not a directory"):
        private_folder(tmp_path / "a")


def test_inputs_and_links_are_refused_whatever_they_are_called(tmp_path: Path) -> None:
    (tmp_path / "data" / "inner").mkdir(parents=True)
    posts, other = tmp_path / "data" / "posts.csv", tmp_path / "data" / "inner" / "other.csv"
    posts.touch()
    other.touch()
    (tmp_path / "hard.csv").hardlink_to(posts)
    (tmp_path / "soft.csv").symlink_to(posts)
    (tmp_path / "dangling.csv").symlink_to("nothing")
    (tmp_path / "linked").symlink_to("data")
    for target in ("data/posts.csv", "data/inner/../posts.csv", "hard.csv", "soft.csv", "linked/posts.csv"):
        with refused("output.is-input"):
            refuse_overwriting([tmp_path / target], [posts])
    with refused("output.overlaps-input"):  # a file of an input folder
        refuse_overwriting([other], [tmp_path / "data"])
    with refused("output.overlaps-input"):  # a folder that is replaced as a whole
        refuse_overwriting([tmp_path / "data" / "inner"], [other])
    for target in ("soft.csv", "dangling.csv"):
        with refused("output.is-a-link"):
            refuse_overwriting([tmp_path / target], [])
    refuse_overwriting([tmp_path / "linked" / "new.csv", Path("/dev/stdout")], [posts, tmp_path / "data"])
