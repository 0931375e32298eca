from keras_transformer.page import STYLE, fingerprint, policy


def test_a_policy_allows_the_given_style_and_script_and_nothing_else():
    # printf 'alert(1)' | openssl sha256 -binary | base64
    assert fingerprint("alert(1)") == "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI="
    assert policy("p {}", "alert(1)").split("; ") == [
        "default-src 'none'", f"style-src '{fingerprint('p {}')}'", f"script-src '{fingerprint('alert(1)')}'",
        "img-src data:", "base-uri 'none'", "form-action 'none'",
    ]  # fmt: skip
    assert "script-src 'none'" in policy("p {}")


def test_the_style_is_for_light_and_for_dark():
    assert "color-scheme: light dark" in STYLE.read_text("utf-8")
