"""What every test may ask for, and the rule that CI skips nothing."""

import os

import pytest
from hypothesis import HealthCheck, settings

# Shared machines stall now and then: a slow example is no failure, and a run is repeatable.
settings.register_profile(
    "gossamer", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("gossamer")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Under GOSSAMER_NO_SKIPS a skipped test fails the run: a check that did not run is not a pass."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter is not None else []
    if os.environ.get("GOSSAMER_NO_SKIPS") and skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        print(f"\n{len(skipped)} test(s) skipped, and GOSSAMER_NO_SKIPS is set: {[s.nodeid for s in skipped]}")
