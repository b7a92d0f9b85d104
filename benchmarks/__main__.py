"""Every benchmark, one after the other: `make bench`."""

from benchmarks import recompute

recompute.main()
