"""The command line, a file a command: what it takes and what it prints. The stages do the work."""
