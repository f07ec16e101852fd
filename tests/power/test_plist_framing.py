"""Where one document of the stream ends and the next begins, however the bytes arrive."""

import itertools

from hypothesis import example, given
from hypothesis import strategies as st

from tests.power.recorded import documents, recorded
from workbench.power.plist_stream import LIMIT_BYTES, PlistStream

MULTI = recorded("m4pro_macos15_gpu_x5.plist")
ONE = recorded("own_m4_macos26.plist")
WHOLE = documents(MULTI)


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(min(c, len(data)) for c in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def frames(pieces: list[bytes]) -> list[bytes]:
    stream = PlistStream()
    return [frame.plist for piece in pieces for frame in stream.feed(piece)]


@given(st.lists(st.integers(0, len(MULTI)), max_size=40))
@example([6976, 6977])  # around a NUL
@example([6967, 6970, 6974])  # inside an end tag
def test_any_chunking_gives_the_same_documents(cuts):
    assert frames(cut(MULTI, cuts)) == frames([MULTI])


def test_one_byte_at_a_time_gives_the_same_documents():
    assert documents(MULTI, 1) == WHOLE
    assert documents(MULTI, 777) == WHOLE


def test_a_document_is_complete_at_its_end_tag_and_waits_for_no_nul():
    stream = PlistStream()
    end = ONE.index(b"</plist>") + len(b"</plist>")
    assert list(stream.feed(ONE[: end - 1])) == []
    (frame,) = stream.feed(ONE[end - 1 : end])
    assert frame.plist == ONE[:end] and not frame.after_loss


@given(st.integers(0, len(MULTI)))
def test_a_truncated_last_document_is_dropped_and_the_others_stay(length):
    found = documents(MULTI[:length])
    complete = MULTI[:length].count(b"</plist>")
    assert found == WHOLE[:complete]


@given(st.binary(max_size=300).filter(lambda noise: b"plist" not in noise and b"<?xml" not in noise))
def test_garbage_between_documents_costs_none_of_them(noise):
    stream = PlistStream()
    found = list(stream.feed(ONE + b"\0" + noise + b"\0" + ONE))
    assert [frame.plist.strip() for frame in found] == [ONE.strip()] * 2
    assert found[1].after_loss == bool(noise.strip(b"\0\r\n\t "))


@given(st.integers(1, len(ONE) - 10))
def test_a_document_cut_short_in_the_middle_does_not_swallow_the_next(length):
    stream = PlistStream()
    found = list(stream.feed(ONE[:length].rstrip() + b"\0" + ONE))
    assert [frame.plist.strip() for frame in found] == [ONE.strip()]
    assert found[0].after_loss


def test_a_lone_end_tag_is_a_loss_and_no_document():
    stream = PlistStream()
    found = list(stream.feed(b"</plist>\0" + ONE))
    assert len(found) == 1 and found[0].after_loss and stream.frames == 1


def test_nothing_at_all_is_no_document():
    assert frames([b""]) == [] and frames([b"\0\0\n"]) == []


def test_a_flood_without_an_end_is_forgotten_and_the_stream_goes_on():
    stream = PlistStream()
    for _ in range(LIMIT_BYTES // 2**20 + 1):
        assert list(stream.feed(b"x" * 2**20)) == []
    (frame,) = stream.feed(b"\0" + ONE)
    assert frame.after_loss


@given(st.binary(max_size=2000))
def test_no_bytes_whatsoever_raise(noise):
    documents(b'<plist version="1.0">' + noise + b"</plist>" + noise)


@given(st.integers(0, len(ONE) - 1), st.integers(0, 255))
def test_one_wrong_byte_gives_a_document_or_none_and_raises_nothing(at, value):
    documents(ONE[:at] + bytes([value]) + ONE[at + 1 :])
