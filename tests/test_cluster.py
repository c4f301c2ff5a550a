"""On a real Dask cluster over loopback: the serial rows, whoever dies on the way; other commands as well."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests import poison
from tests.containers_builder import zipped
from tests.test_cli import run
from tests.test_formats_bundles import GFX950
from tests.test_survey_jobs import answer, rows_of
from wavefit.survey import Options, survey_parts
from wavefit.survey.crew import Cluster, NoCluster

distributed = pytest.importorskip("distributed", reason="needs dask.distributed")
pytestmark = pytest.mark.heavy
DATA = Path(__file__).parent / "data" / "kernels"


@pytest.fixture
def spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers that kill, and a scheduler that gives a task up after its second worker."""
    poison.spread(tmp_path / "poison", monkeypatch)
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "1")


@pytest.fixture
def local(spread: None) -> Iterator[str]:
    """Two workers of Dask's own LocalCluster."""
    import dask

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def separate(spread: None, tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """`dask scheduler` and two `dask worker` processes, as an operator starts them."""
    dask = str(Path(sys.executable).with_name("dask"))
    told = tmp_path / "scheduler.json"
    with ExitStack() as stack:

        def start(*command: str) -> subprocess.Popen[bytes]:
            process = stack.enter_context(
                subprocess.Popen([dask, *command], stderr=subprocess.DEVNULL, cwd=tmp_path)
            )
            stack.callback(process.terminate)
            return process

        start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(told)
        )
        for _ in range(600):
            if told.exists() and told.read_text().strip():
                break
            time.sleep(0.1)
        address = json.loads(told.read_text())["address"]
        worker = ["worker", address, "--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path)]
        workers = [start(*worker, "--preload", "wavefit.survey.ready") for _ in range(2)]
        with distributed.Client(address, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=60)
        yield address, workers


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """Some hundred small files and a large archive."""
    folder = tmp_path / "in"
    for copy in range(4):
        shutil.copytree(DATA / "triton", folder / f"t{copy}")
    (folder / "large.zip").write_bytes(zipped({f"{at}.co": GFX950 + os.urandom(40_000) for at in range(300)}))
    return folder


def test_a_local_cluster_gives_the_serial_rows_and_names_the_poison(many: Path, local: str) -> None:
    expected, errors = answer(many)
    assert errors == []
    (many / "t1" / "m.bin").write_bytes(poison.EXITS)
    with Cluster(local) as crew:
        rows, errors = answer(many, crew=crew)
    assert rows == expected
    assert len(errors) == 1
    assert "m.bin" in errors[0]
    assert "died" in errors[0]


def test_a_worker_that_is_killed_loses_nothing(
    many: Path, separate: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, workers = separate
    expected, _ = answer(many)
    out = tmp_path / "out"
    with Cluster(address) as crew:
        pids = crew.client.run(os.getpid)
        under_way = survey_parts([str(many)], Options(parts=f"{out}/"), crew=crew)
        next(under_way)
        os.kill(next(iter(pids.values())), signal.SIGKILL)
        for _ in under_way:
            pass
    assert rows_of(out) == sorted(map(json.dumps, expected))
    assert [worker.poll() for worker in workers] == [None, None], "the nannies live"


def test_the_commands_work_through_it(
    many: Path, separate: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    address, _ = separate
    new = tmp_path / "new"
    shutil.copytree(many / "t0", new)
    changed = new / "matmul_gfx942_64x64x32_w4_s1_wpe2.hsaco"
    changed.write_bytes((new / "matmul_gfx942_128x256x64_w4_s2_wpe4.hsaco").read_bytes())
    for command in (
        ("survey", str(many), "--json"),
        ("diff", str(many / "t0"), str(new), "--json"),
        ("tiles", "--chip", "MI300X", "--m", "512", "--n", "512", "--k", "512", "--dtype", "bf16", "--json"),
    ):
        alone, together = run(*command), run(*command, "--cluster", address)
        assert alone.returncode == 0
        assert json.loads(together.stdout) == json.loads(alone.stdout)


def test_tiles_are_compiled_by_workers(separate: tuple[str, list[subprocess.Popen[bytes]]]) -> None:
    pytest.importorskip("triton")
    shape = ("--m", "512", "--n", "512", "--k", "512", "--dtype", "bf16", "--top", "2", "--verify", "--json")
    command = ("tiles", "--chip", "MI300X", *shape)
    assert json.loads(run(*command, "--cluster", separate[0]).stdout) == json.loads(run(*command).stdout)


def test_a_bench_is_built_by_a_worker(
    separate: tuple[str, list[subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    out = tmp_path / "bench"
    done = run("bench", "--target", "gfx942", "--out", str(out), "--json", "--cluster", separate[0])
    said = json.loads(done.stdout)
    assert said["built"], done.stderr
    built = [each for each in said["built"] if each.get("path")]
    assert all(Path(each["path"]).exists() for each in built)
    assert run("bench", "--cluster", separate[0]).returncode == 2


def test_tls_keeps_strangers_out(tmp_path: Path) -> None:
    """A scheduler that asks for certificates of one authority, which openssl makes here."""
    if not (openssl := shutil.which("openssl")):
        pytest.skip("no openssl to make certificates with")
    ca, cert, key = (str(tmp_path / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *subject, "-keyout", key,
         "-out", cert], check=True, capture_output=True,
    )  # fmt: skip
    shutil.copy(cert, ca)
    security = distributed.Security(
        tls_ca_file=ca, tls_scheduler_cert=cert, tls_scheduler_key=key, tls_worker_cert=cert,
        tls_worker_key=key, tls_client_cert=cert, tls_client_key=key, require_encryption=True,
    )  # fmt: skip
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, security=security, dashboard_address=None, protocol="tls"
    ) as cluster:
        address = cluster.scheduler_address
        assert address.startswith("tls://")
        files = ("--tls-ca", ca, "--tls-cert", cert, "--tls-key", key)
        done = run("survey", str(DATA / "k_gfx90a.co"), "--json", "--cluster", address, *files)
        assert json.loads(done.stdout)["kernels"] == 3, done.stderr
        stranger = run("survey", str(DATA / "k_gfx90a.co"), "--cluster", address)
        assert stranger.returncode == 2
        assert len(stranger.stderr.splitlines()) == 1


def test_no_cluster_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(NoCluster, match="nowhere"):
        Cluster("nowhere")
    done = run("survey", str(DATA / "k_gfx90a.co"), "--tls-ca", str(DATA / "k_gfx90a.co"))
    assert done.returncode == 2


def test_one_worker_is_enough(many: Path, spread: None) -> None:
    """Walks and reads share it: nothing waits for what waits for it."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Cluster(cluster.scheduler_address) as crew,
    ):
        done = threading.Event()
        timer = threading.Timer(300, lambda: done.is_set() or os.kill(os.getpid(), signal.SIGALRM))
        timer.start()
        assert answer(many, crew=crew) == answer(many)
        done.set()
        timer.cancel()
