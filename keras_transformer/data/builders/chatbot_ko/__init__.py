"""The Korean small talk of Youngsook Song."""
