"""What holds a crawl back, judged from its figures."""

from typing import Any

import pytest

from gossamer.cli.limits import Figures, Limiting, limit_of


@pytest.mark.parametrize(
    ("figures", "what"),
    [
        ({"started": False}, Limiting.STARTING),
        ({"ending": "interrupted", "flying": 3}, Limiting.STOPPING),
        ({"worker_cpu": 0.97, "waiting": 50}, Limiting.CPU),
        ({"parent_cpu": 0.9, "ready": 5}, Limiting.CPU),
        ({"machine_cpu": 0.99, "ready": 30, "busy": 10, "queued": 9}, Limiting.CPU),
        # A machine that is busy with something else does not matter while every host is left alone.
        ({"machine_cpu": 0.99, "waiting": 30, "busy": 2, "queued": 9}, Limiting.POLITENESS),
        ({"disk_pressure": 0.6, "busy": 4, "queued": 9}, Limiting.DISK),
        ({"flying": 200, "capacity": 256, "busy": 200, "ready": 900}, Limiting.NETWORK),
        ({"busy": 20, "waiting": 3, "queued": 99}, Limiting.NETWORK),
        ({"waiting": 20, "busy": 3, "queued": 99}, Limiting.POLITENESS),
        ({"waiting": 1, "queued": 99}, Limiting.POLITENESS),
        ({"queued": 0}, Limiting.WORK),
    ],
)
def test_the_limit_is(figures: dict[str, Any], what: Limiting) -> None:
    limit = limit_of(Figures(**({"capacity": 256} | figures)))
    assert limit.what is what
    assert limit.sentence


def test_waiting_hosts_are_told_with_the_time_of_the_next() -> None:
    limit = limit_of(Figures(capacity=256, waiting=12, queued=40, next_in=0.53))
    assert limit.sentence == "12 hosts in play are left alone for a moment, the next is asked in 0.5 s"
