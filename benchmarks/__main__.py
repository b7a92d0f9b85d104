"""Every benchmark, one after the other: `make bench`."""

from benchmarks import paint, recompute, throughput

recompute.main()
throughput.main()
paint.main()
