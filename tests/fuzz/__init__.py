"""Fuzzing: everything that reads what others wrote, fed with what nobody would write.

A *target* is a function from bytes to nothing that raises when a promise is broken, with honest inputs to begin from. CI runs each on the
kept cases and on a fixed number of mutations that are the same every time (`test_fuzz.py`); `make fuzz` runs each for minutes,
guided by coverage, and keeps what it learned and what broke in build/fuzz. What broke and was mended stays in `cases`.
"""
