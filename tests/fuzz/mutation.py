"""Mutations from a seed number: the same every time, so that CI is stable."""

import random
from collections.abc import Iterator, Sequence

__all__ = ["mutations"]

LONGEST = 20_000
EDGES = (
    b"\0",
    b"\xff",
    b"\n",
    b"\r\n",
    b"\r\n\r\n",
    b" ",
    b"%",
    b"<",
    b">",
    b"-1",
    b"9" * 20,
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
)


def mutations(seeds: Sequence[bytes], words: Sequence[bytes], count: int, number: int) -> Iterator[bytes]:
    """`count` inputs made from the seeds, each by a few edits."""
    dice = random.Random(number)
    pieces = (*words, *EDGES)
    for _ in range(count):
        data = bytearray(dice.choice(seeds))
        for _ in range(1 + min(int(dice.expovariate(0.4)), 12)):
            _edit(data, dice, pieces, seeds)
        yield bytes(data[:LONGEST])


def _edit(data: bytearray, dice: random.Random, pieces: Sequence[bytes], seeds: Sequence[bytes]) -> None:
    at = dice.randrange(len(data) + 1)
    span = min(int(dice.expovariate(0.1)), len(data) - at)
    match dice.randrange(9):
        case 0:
            del data[at : at + span]
        case 1:
            data[at:at] = data[at : at + span] * dice.randrange(1, 20)
        case 2 | 3:
            data[at:at] = dice.choice(pieces)
        case 4:
            data[at : at + span] = dice.choice(pieces)
        case 5:
            data[at:at] = dice.randbytes(1 + span)
        case 6 if at < len(data):
            data[at] = dice.randrange(256)
        case 7 if at < len(data):
            data[at] ^= 1 << dice.randrange(8)
        case _:
            other = dice.choice(seeds)
            begin = dice.randrange(len(other) + 1)
            data[at:] = other[begin:]
