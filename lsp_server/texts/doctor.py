"""What `midstream doctor` finds, and what to do about it."""
