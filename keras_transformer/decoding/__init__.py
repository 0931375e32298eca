"""Free-running decoding: the search, which knows no model, and the functions that bind it to one."""
