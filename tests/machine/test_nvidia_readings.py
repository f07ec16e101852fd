"""A driver that answers, half answers, or is not there."""
# ruff: noqa: N802

from types import SimpleNamespace

from workbench.machine import nvidia


class NvmlError(Exception):
    pass


class Driver(SimpleNamespace):
    NVMLError = NvmlError
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2

    def __init__(self, **kwargs):
        super().__init__(handle=None, shut=False, **kwargs)

    def nvmlInit(self):
        if self.absent:
            raise NvmlError("Driver Not Loaded")

    def nvmlShutdown(self):
        self.shut = True

    def nvmlDeviceGetHandleByIndex(self, index):
        self.handle = index
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid):
        self.handle = uuid
        return uuid

    def nvmlDeviceGetClockInfo(self, device, kind):
        assert kind == self.NVML_CLOCK_SM
        return 1980

    def nvmlDeviceGetMaxClockInfo(self, device, kind):
        assert kind == self.NVML_CLOCK_MEM
        return 3201

    def nvmlDeviceGetMemoryBusWidth(self, device):
        if self.shy:
            raise NvmlError("Not Supported")
        return 6016

    def nvmlDeviceGetCurrentClocksThrottleReasons(self, device):
        return 0x1 | 0x40

    def nvmlDeviceGetComputeRunningProcesses(self, device):
        if self.shy:
            raise NvmlError("Not Supported")
        return [SimpleNamespace(pid=11), SimpleNamespace(pid=12)]


def test_clock_reasons_and_processes_are_read_and_the_driver_is_let_go(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    driver = Driver(absent=False, shy=False)
    found = nvidia.readings(driver)
    assert found == {
        "gpu_clock_mhz": 1980.0,
        "throttle_reasons": ("gpu idle", "hw thermal slowdown"),
        "gpu_pids": (11, 12),
    }
    assert driver.handle == 0
    assert driver.shut


def test_one_question_without_an_answer_spoils_no_other(monkeypatch):
    found = nvidia.readings(Driver(absent=False, shy=True))
    assert found["gpu_clock_mhz"] == 1980.0
    assert "Not Supported" in found["missing.gpu_pids"]


def test_a_driver_that_is_not_there_is_a_reason_for_everything():
    found = nvidia.readings(Driver(absent=True, shy=False))
    assert set(found) == {"missing.gpu_clock_mhz", "missing.throttle_reasons", "missing.gpu_pids"}


def test_the_visible_device_is_the_one_asked(monkeypatch):
    for named, expected in (("3,1", 3), ("GPU-8f3a", "GPU-8f3a"), ("", 0)):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", named)
        driver = Driver(absent=False, shy=False)
        nvidia.readings(driver)
        assert driver.handle == expected


def test_the_bus_is_read_for_the_theoretical_bandwidth_and_the_driver_is_let_go(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    driver = Driver(absent=False, shy=False)
    assert nvidia.memory_bus(driver) == (6016, 3201.0)
    assert driver.shut


def test_a_bus_that_nobody_tells_of_is_none():
    assert nvidia.memory_bus(Driver(absent=False, shy=True)) is None
    assert nvidia.memory_bus(Driver(absent=True, shy=False)) is None
