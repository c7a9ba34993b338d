"""Real editors for the tests: where they come from (`install`) and how they are driven."""
