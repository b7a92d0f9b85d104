"""Every benchmark, one after the other: `make bench`."""

from benchmarks import money, paint, planner, recompute, throughput

recompute.main()
planner.main()
money.main()
throughput.main()
paint.main()
