"""What is copied beside a CTranslate2 model, to be used without this package."""
