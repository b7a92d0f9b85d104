"""Every benchmark, one after the other: `make bench`."""

from benchmarks import money, recompute

recompute.main()
money.main()
