"""NVIDIA's library, stood in for by a module of our own: counter and instant power, and what may lack."""

import time
from types import SimpleNamespace

import pytest

from tests.power.made import T0, S, every, steady, trace
from workbench.power.energy import Window, read_energy
from workbench.power.meter import Meter
from workbench.power.nvml import Nvml, chosen, look
from workbench.power.surroundings import Surroundings

PATIENCE_S = 20.0


class FakeNvml:
    """400 W, a counter that moves every 20 ms, instant power as field 186."""

    class NVMLError(Exception):
        pass

    def __init__(self, *, instant=True, counter=True, uuid=None, watts=400.0):
        self.instant, self.counter, self.uuid, self.watts = instant, counter, uuid, watts
        self.calls: list[str] = []
        self.start = time.perf_counter()

    def nvmlInit(self):  # noqa: N802
        self.calls.append("init")

    def nvmlShutdown(self):  # noqa: N802
        self.calls.append("shutdown")

    def nvmlDeviceGetHandleByIndex(self, index):  # noqa: N802
        if index > 1:
            raise self.NVMLError("Not Found")
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid):  # noqa: N802
        self.uuid = uuid
        return 0

    def nvmlDeviceGetName(self, handle):  # noqa: N802
        return b"NVIDIA H200"

    def nvmlSystemGetDriverVersion(self):  # noqa: N802
        return "580.159"

    def nvmlDeviceGetFieldValues(self, handle, fields):  # noqa: N802
        assert fields == [186]
        value = SimpleNamespace(uiVal=int(self.watts * 1000))
        return [SimpleNamespace(nvmlReturn=0 if self.instant else 3, value=value)]

    def nvmlDeviceGetTotalEnergyConsumption(self, handle):  # noqa: N802
        if not self.counter:
            raise self.NVMLError("Not Supported")
        ticks = int((time.perf_counter() - self.start) / 0.02)
        return int(ticks * 0.02 * self.watts * 1000)

    def nvmlDeviceGetClockInfo(self, handle, kind):  # noqa: N802
        return 1980

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, handle):  # noqa: N802
        return 0x4 | 0x40 | 0x1


def machine(fake=None, root="/", **environ):
    return Surroundings(
        system="Linux",
        root=root,
        environ=environ,
        load_module=lambda _: fake,
        has_module=lambda _: fake is not None,
    )


def until(meter, counts):
    """The trace once every row has at least so many samples (None: has ended)."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        trace = meter.trace()
        if all(
            row.ended is not None if count is None else len(row.samples) >= count
            for row, count in zip(trace.rows, counts, strict=True)
        ):
            return meter.stop()
        meter.wait_for(time.perf_counter_ns(), 0.1)
    raise AssertionError(meter.trace())


def test_counter_and_instant_power_are_two_rows_of_one_board():
    fake = FakeNvml()
    meter = Meter([Nvml(machine(fake), interval_s=0.01)])
    meter.start()
    counter, instant = until(meter, [12, 4]).rows
    assert (counter.row.key, instant.row.key) == ("nvml-counter", "nvml-instant")
    assert counter.row.scope() == "GPU board 0, energy counter, no host"
    assert counter.row.version == "NVIDIA H200, driver 580.159"
    assert not counter.row.is_estimate and not counter.row.needs_root
    total_j = sum(s.rails_mj["board"] for s in counter.samples) / 1000
    elapsed_s = sum(s.elapsed_ns for s in counter.samples) / 1e9
    assert total_j / elapsed_s == pytest.approx(400, rel=0.15)
    assert all(s.rails_w == {"board": 400.0} and s.gpu_mhz == 1980 for s in instant.samples)
    assert instant.samples[0].throttle == ("sw power cap", "hw thermal slowdown")
    gaps_s = [(b.at_ns - a.at_ns) / 1e9 for a, b in zip(instant.samples, instant.samples[1:], strict=False)]
    assert min(gaps_s) >= 0.09
    assert fake.calls == ["init", "shutdown"]


def test_a_short_run_is_refused_a_claim():
    counter, instant = Nvml(machine()).rows
    made = trace(
        (counter, every(S // 10, 60, {"board": 400.0})), (instant, steady(S // 10, 60, {"board": 404.0}))
    )
    readings = read_energy(made, Window(T0 + 2 * S, T0 + 2 * S + S // 2, 40))
    assert [reading.claim for reading in readings] == ["none", "none"]
    assert [reading.source for reading in readings] == ["nvml-counter", "nvml-instant"]
    assert all("even an indication needs 2 s" in reading.claim_reasons[0] for reading in readings)
    assert [reading.mwh_per_token_gross for reading in readings] == pytest.approx([400 / 288, 404 / 288])


def test_a_counter_that_goes_back_marks_a_loss_and_gives_no_negative_energy():
    fake = FakeNvml()
    totals = iter([0, 1000, 2000, 3000, 100, 1100, 2100, *range(3100, 10**7, 1000)])
    fake.nvmlDeviceGetTotalEnergyConsumption = lambda _: next(totals)
    meter = Meter([Nvml(machine(fake), interval_s=0.002)])
    meter.start()
    samples = until(meter, [5, 1]).rows[0].samples
    assert all(s.rails_mj["board"] == 1000 for s in samples)
    assert [s.after_loss for s in samples[:5]] == [False, False, True, False, False]


@pytest.mark.parametrize(
    ("fake", "counts", "words"),
    [
        (FakeNvml(instant=False), [3, None], "no instant power"),
        (FakeNvml(counter=False), [None, 2], "no energy counter on this GPU (Not Supported)"),
        (FakeNvml(counter=False, instant=False), [None, None], "no instant power"),
    ],
)
def test_what_a_gpu_does_not_offer_ends_its_row_and_not_the_other(fake, counts, words):
    meter = Meter([Nvml(machine(fake), interval_s=0.005)])
    meter.start()
    rows = until(meter, counts).rows
    assert any(row.ended is not None and words in row.ended for row in rows)
    assert all((row.ended is None) == (count is not None) for row, count in zip(rows, counts, strict=True))


@pytest.mark.parametrize(
    ("visible", "gpu"), [("", "0"), ("1", "1"), ("1,0", "1"), ("GPU-4f1c", "GPU-4f1c"), (" 2 ", "2")]
)
def test_the_gpu_is_the_one_that_cuda_would_use_first(visible, gpu):
    assert chosen({"CUDA_VISIBLE_DEVICES": visible}) == gpu


def test_a_gpu_is_found_by_its_uuid():
    fake = FakeNvml()
    meter = Meter([Nvml(machine(fake), gpu="GPU-4f1c", interval_s=0.005)])
    meter.start()
    until(meter, [1, 1])
    assert fake.uuid == "GPU-4f1c"


@pytest.mark.parametrize("gpu", ["7", "none"])
def test_a_gpu_that_is_not_there_is_a_reason(gpu):
    meter = Meter([Nvml(machine(FakeNvml()), gpu=gpu)])
    meter.start()
    trace = until(meter, [None, None])
    assert ("Not Found" in trace.rows[0].ended) or ("names no GPU" in trace.rows[0].ended)


def test_looking_initialises_nothing(tmp_path):
    fake = FakeNvml()
    assert look(machine(fake, tmp_path)) == "no NVIDIA driver here"
    (tmp_path / "dev").mkdir()
    (tmp_path / "dev/nvidiactl").touch()
    assert look(machine(None, tmp_path)).startswith("the NVIDIA driver answers, but `pynvml` is missing")
    found = look(machine(fake, tmp_path, CUDA_VISIBLE_DEVICES="1"))
    assert isinstance(found, Nvml) and found.gpu == "1"
    assert fake.calls == []


def test_the_real_binding_has_every_name_that_is_used():
    pynvml = pytest.importorskip("pynvml")
    names = [name for name in vars(FakeNvml) if name.startswith("nvml")]
    assert len(names) == 10 and all(callable(getattr(pynvml, name)) for name in names)
    assert pynvml.NVML_FI_DEV_POWER_INSTANT == 186 and pynvml.NVML_CLOCK_SM == 1
    assert pynvml.nvmlClocksThrottleReasonHwThermalSlowdown == 0x40
    assert issubclass(pynvml.NVMLError, Exception)
