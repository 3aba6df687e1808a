"""What it costs and how fast it is: ratios within one run, never a timed test."""
