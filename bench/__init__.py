"""Benchmarks of cost and speed: ratios within one run, never a timed test."""
