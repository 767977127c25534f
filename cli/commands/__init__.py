"""One module for each command; each is imported when its command is named."""
