"""The compiled part; everything else about the package is in pyproject.toml."""

from glob import glob

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(
            "gossamer._native",
            sorted(glob("native/*.c")),
            depends=sorted(glob("native/*.h")),
            # Votes for the main text are sums of fractions, and come out as in Python only when each step is rounded.
            extra_compile_args=[
                "-O2",
                "-ffp-contract=off",
                "-Wall",
                "-Wextra",
                "-Wno-unused-parameter",
                "-Wno-missing-field-initializers",
            ],
        )
    ]
)
