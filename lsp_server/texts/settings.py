"""What is wrong with a setting; the setting's name or its place stands before."""
