import datetime
import io
import tracemalloc
import zipfile

import openpyxl
import pytest
from openpyxl.reader.strings import read_string_table

from keras_transformer import InputError
from keras_transformer.data.readers import read_rows
from keras_transformer.data.spreadsheet import number_text, shared_texts


def workbook(path, *rows, formats=()):
    """A workbook with an empty sheet, and one of these rows."""
    book = openpyxl.Workbook()
    sheet = book.create_sheet("FAQ")
    for row in rows:
        sheet.append(row)
    for cell, number_format in formats:
        sheet[cell].number_format = number_format
    book.save(path)
    return path


def with_member(path, member, change):
    """The same workbook, with a file in it changed."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, change(data) if name == member else data)
    return path


def pairs(*arguments, **names):
    return [row[:4] for row in read_rows(*arguments, **names)]


def test_the_first_sheet_that_has_cells_is_read_with_its_rows(tmp_path):
    path = workbook(
        tmp_path / "a.xlsx", [], [None, "번호", "질문", "답변"], [None, 1, "몇 층?", " 3층 "], [], ["", 2, "b", None]
    )
    assert pairs(path) == [(3, "몇 층?", "3층", None), (5, "b", "", "no answer")]
    assert pairs(path, "답변", "번호") == [(3, "3층", "1", None), (5, "", "2", "no question")]


def test_a_title_may_be_above_the_header(tmp_path):
    rows = ["자주 묻는 질문"], [], ["갱신", "2023년"], ["번호", "질문", "답변"], [1, "몇 층?", "3층"]
    path = workbook(tmp_path / "a.xlsx", *rows)
    assert pairs(path) == [(5, "몇 층?", "3층", None)]
    assert pairs(path, "답변", "번호") == [(5, "3층", "1", None)]


def test_two_columns_need_no_header(tmp_path):
    path = workbook(tmp_path / "a.xlsx", [None, "몇 층?", 3], [None, "NA", "없음"])
    assert pairs(path) == [(1, "몇 층?", "3", None), (2, "NA", "없음", None)]


@pytest.mark.parametrize(
    ("rows", "names", "message"),
    [
        ([["quesiton", "anwser"]], (), r"a\.xlsx: row 1 looks like a header \(quesiton, anwser\)"),
        ([["id", "text", "label"]], (), r"a\.xlsx: no known question or answer column among id, text, label"),
        ([["질문", "text"]], (), r"a\.xlsx: no known answer column among 질문, text"),
        ([["질문", "답변"]], ("Q", "A"), r"a\.xlsx: no column named 'Q'; there are 질문, 답변"),
    ],
)
def test_columns_that_are_not_known(tmp_path, rows, names, message):
    with pytest.raises(InputError, match=message):
        pairs(workbook(tmp_path / "a.xlsx", *rows), *names)


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (3, "General", "3"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (12000, '#,##0"원"', "12,000원"),
        (-12000, "#,##0;[Red]-#,##0", "-12,000"),
        (12000.5, "_-* #,##0.00_-", "12,000.50"),
        (0.15, "0%", "15%"),
        (7, "000", "007"),
        (1e20, "General", "1e+20"),
        (True, "General", "TRUE"),
        (datetime.date(2023, 5, 1), "yyyy-mm-dd", "2023-05-01"),
        (datetime.datetime(2023, 5, 1, 9, 30), "General", "2023-05-01 09:30"),
        (datetime.time(9, 30), "h:mm", "09:30"),
    ],
)
def test_a_cell_is_the_text_that_a_person_sees(tmp_path, value, number_format, text):
    formats = [("B2", number_format)] if number_format != "General" else []
    path = workbook(tmp_path / "a.xlsx", ["Q", "A"], ["a", value], formats=formats)
    assert pairs(path) == [(2, "a", text, None)]


def test_a_number_as_google_sheets_stores_it():
    assert number_text(3.0, "General") == "3"


def test_formulas_are_their_stored_values(tmp_path):
    rows = ["Q", "A", "n"], ["a", "=1+2", "=3"], ["=B2", None, None], ["b", "c", "=4"], ["d", None, None]
    path = workbook(tmp_path / "a.xlsx", *rows)
    formula = "is a formula without a stored value"
    assert pairs(path) == [
        (2, "a", "", f"answer {formula}"),
        (3, "", "", f"question {formula}"),
        (4, "b", "c", None),
        (5, "d", "", "no answer"),
    ]


def test_rows_of_nothing_but_formats_and_errors(tmp_path):
    path = workbook(
        tmp_path / "a.xlsx", ["Q", "A"], ["a", "#N/A"], [None, None], ["b", "c"], formats=[("A3", "0%"), ("A9", "0%")]
    )
    assert pairs(path) == [(2, "a", "#N/A", "answer is the error #N/A"), (4, "b", "c", None)]


def test_a_wrong_size_of_the_sheet_is_not_believed(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["Q", "A"], ["a", "b"])
    wrong = with_member(path, "xl/worksheets/sheet2.xml", lambda xml: xml.replace(b'ref="A1:B2"', b'ref="A1"'))
    assert pairs(wrong) == [(2, "a", "b", None)]


def test_a_row_with_an_impossible_number_ends_the_sheet(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["Q", "A"], ["a", "b"], ["c", "d"])
    sheet = "xl/worksheets/sheet2.xml"
    far = with_member(path, sheet, lambda xml: xml.replace(b'<row r="3"', b'<row r="99999999999"'))
    assert pairs(far) == [(2, "a", "b", None)]


def test_what_is_no_spreadsheet(tmp_path):
    path = tmp_path / "a.xlsx"
    with pytest.raises(InputError, match=r"a\.xlsx: no such file"):
        pairs(path)
    workbook(path, ["Q", "A"], ["a", "b"])
    whole = path.read_bytes()
    for data, message in (
        (b"", "damaged, or not XLSX: open it in a spreadsheet program"),
        (whole[: len(whole) // 2], "damaged, or not XLSX"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "has a password, or is of an old Excel"),
    ):
        path.write_bytes(data)
        with pytest.raises(InputError, match=rf"a\.xlsx: {message}"):
            pairs(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "hello")
    with pytest.raises(InputError, match=r"a\.xlsx: cannot be read: "):
        pairs(path)
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"a\.xlsx: cannot be read: .*line 1"):
        pairs(with_member(path, "xl/worksheets/sheet2.xml", lambda xml: xml[:-100] + b"<&"))


def test_a_sheet_without_pairs(tmp_path):
    assert pairs(workbook(tmp_path / "a.xlsx")) == []
    assert pairs(workbook(tmp_path / "a.xlsx", ["Q", "A"])) == []


NAMESPACES = {
    "main": "http://schemas.openxmlformats.org/spreadsheetml/2006/main",
    "office": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "package": "http://schemas.openxmlformats.org/package/2006",
    "types": "application/vnd.openxmlformats-officedocument.spreadsheetml",
}
FILES = {
    "[Content_Types].xml": """\
<Types xmlns="{package}/content-types">
<Override PartName="/xl/workbook.xml" ContentType="{types}.sheet.main+xml"/>
<Override PartName="/xl/worksheets/sheet1.xml" ContentType="{types}.worksheet+xml"/>
<Override PartName="/xl/sharedStrings.xml" ContentType="{types}.sharedStrings+xml"/>
</Types>""",
    "_rels/.rels": """\
<Relationships xmlns="{package}/relationships">
<Relationship Id="rId1" Type="{office}/officeDocument" Target="xl/workbook.xml"/>
</Relationships>""",
    "xl/_rels/workbook.xml.rels": """\
<Relationships xmlns="{package}/relationships">
<Relationship Id="rId1" Type="{office}/worksheet" Target="worksheets/sheet1.xml"/>
</Relationships>""",
    "xl/workbook.xml": """\
<workbook xmlns="{main}" xmlns:r="{office}"><sheets><sheet name="FAQ" sheetId="1" r:id="rId1"/></sheets></workbook>""",
    "xl/sharedStrings.xml": """{doctype}<sst xmlns="{main}">{strings}</sst>""",
    "xl/worksheets/sheet1.xml": """<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>""",
}


def stored(path, strings, sheet, doctype=""):
    """A workbook with the files that Excel stores: shared strings, and a sheet that refers to them by number."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in FILES.items():
            archive.writestr(name, text.format(**NAMESPACES, strings=strings, sheet=sheet, doctype=doctype))
    return path


STRINGS = (
    "<si><t>질문</t></si><si><t>답변</t></si><si><t>몇_x000D_\n층?</t></si><si><r><t>3</t></r><r><t>층</t></r></si>"
)
SHEET = """
<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>
<row r="2"><c r="A2" t="s"><v>2</v></c><c r="B2"><v>3.0</v></c></row>
<row r="7"><c r="A7" t="s"><v>2</v></c><c r="B7" t="str"><f>B2&amp;"층"</f><v>3층</v></c></row>
<row r="8"><c r="A8" t="s"><v>2</v></c><c r="B8" t="s"><v>3</v></c></row>
<row r="9"><c r="A9" t="b"><v>1</v></c><c r="B9" t="inlineStr"><is><t>네</t></is></c></row>
"""


def test_what_excel_and_google_sheets_store(tmp_path):
    assert pairs(stored(tmp_path / "a.xlsx", STRINGS, SHEET)) == [
        (2, "몇\n층?", "3", None),
        (7, "몇\n층?", "3층", None),
        (8, "몇\n층?", "3층", None),
        (9, "TRUE", "네", None),
    ]


@pytest.mark.parametrize(
    ("strings", "sheet"),
    [
        (STRINGS.replace("질문", "질" * 4_000_000), SHEET),
        (STRINGS, SHEET + "<row/>" * 2_000_000),
        (STRINGS, SHEET + f"<row>{'<c/>' * 3_000_000}</row>"),
    ],
    ids=["a text", "rows", "cells"],
)
def test_a_file_that_unpacks_to_a_lot_is_refused_before_it_is_unpacked(tmp_path, strings, sheet, monkeypatch):
    path = stored(tmp_path / "a.xlsx", strings, sheet)
    with pytest.raises(InputError, match=r"a\.xlsx: \d+,\d+ bytes that unpack to 12,\d+,\d+, too much for a table"):
        pairs(path)


def test_a_row_is_not_longer_than_memory(tmp_path, monkeypatch):
    path = stored(tmp_path / "a.xlsx", STRINGS, SHEET + f"<row>{'<c/>' * 1000}</row>")
    assert len(pairs(path)) == 4
    monkeypatch.setattr("keras_transformer.data.spreadsheet.LONGEST_ROW", 3000)
    with pytest.raises(InputError, match="too much for a table of texts: save the sheet as CSV"):
        pairs(path)
    assert len(pairs(stored(tmp_path / "a.xlsx", STRINGS, SHEET + "<row></row>" * 1000))) == 4


@pytest.mark.parametrize("element", ["<si/>", "<si><r><t/></r></si>", "<row/>", "<row><c/></row>"])
def test_a_file_of_more_elements_than_a_table_has_is_refused_before_it_is_parsed(tmp_path, monkeypatch, element):
    monkeypatch.setattr("keras_transformer.data.spreadsheet.LONGEST_ROW", 3000)
    monkeypatch.setattr("keras_transformer.data.spreadsheet.MOST_ELEMENTS", 2000)
    strings, sheet = (STRINGS + element * 2000, SHEET) if "si" in element else (STRINGS, SHEET + element * 2000)
    with pytest.raises(InputError, match="too much for a table of texts: save the sheet as CSV UTF-8, and name that"):
        pairs(stored(tmp_path / "a.xlsx", strings, sheet))


def test_shared_texts_are_read_without_keeping_their_xml(tmp_path):
    source = io.BytesIO(f"<sst xmlns='{NAMESPACES['main']}'>{'<si/>' * 20_000}</sst>".encode())
    tracemalloc.start()
    assert shared_texts(source) == [""] * 20_000
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_shared_texts_are_those_of_openpyxl():
    texts = (
        "<si><t>a_x005F_x000D_</t></si><si/><si><t/></si><si><t> b </t></si><si><r><rPr><b/></rPr><t>c</t></r>"
        "<r><t>d</t></r><rPh sb='0' eb='1'><t>e</t></rPh></si>"
    )
    xml = f"<sst xmlns='{NAMESPACES['main']}'>{texts}</sst>".encode()
    assert shared_texts(io.BytesIO(xml)) == read_string_table(io.BytesIO(xml)) == ["a_x000D_", "", "", " b ", "cd"]


def test_entities_that_stand_for_more_and_more_are_refused(tmp_path):
    entities = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, 10))
    doctype, strings = f'<!DOCTYPE sst [<!ENTITY e0 "lol">{entities}]>', STRINGS.replace("질문", "&e9;")
    with pytest.raises(InputError, match=r"a\.xlsx: cannot be read: limit on input amplification factor"):
        pairs(stored(tmp_path / "a.xlsx", strings, SHEET, doctype))
