"""What does it cost here? Measures the work of `tutorial.training` and writes results."""
