"""A trained run that answers over HTTP."""
