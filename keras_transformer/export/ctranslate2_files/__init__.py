"""Files that are copied next to a CTranslate2 model and do not need this package."""
