"""All measurements, one after the other."""

from benchmarks import tasks

tasks.main()
