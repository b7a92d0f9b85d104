"""Every benchmark, one after the other: `make bench`."""

from benchmarks import money, paint, recompute, throughput

recompute.main()
money.main()
throughput.main()
paint.main()
