"""Faces of the tiles room: documents are JSON, text fits a terminal, the picture is well-formed."""

import json
import xml.etree.ElementTree as ET

import pytest

from wavefit.report.tile_order import MOST, order_svg
from wavefit.report.tiles import orders_document, orders_text, tiles_document, tiles_text
from wavefit.tiles.order import Caches, Order, walk
from wavefit.tiles.orders import compare
from wavefit.tiles.rank import rank
from wavefit.tiles.triton import Verified

NS = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def ranking():
    given = [
        {"block_m": 128, "block_n": 256, "block_k": 64, "warps": 8, "stages": 3, "group_m": 8},
        {"block_m": 64, "block_n": 64, "block_k": 32, "warps": 4, "stages": 2, "group_m": 1},
        {"block_m": 256, "block_n": 256, "block_k": 128, "warps": 8, "stages": 5, "group_m": 1},
    ]
    return rank("H200", m=4096, n=4096, k=4096, dtype="bf16", candidates=given)


def test_a_ranking_as_a_document(ranking):
    found = json.loads(json.dumps(tiles_document(ranking)))
    assert found["schema"] == "wavefit.tiles/1"
    assert [tile["block_n"] for tile in found["tiles"]] == [256, 64]
    assert found["tiles"][0]["lds"] == [147456, 147456]
    assert found["tiles"][0]["workgroups"] == 1
    assert found["pruned"][0]["stages"] == 5
    assert "655360 bytes" in found["pruned"][0]["why"]


def test_a_ranking_as_text_fits_a_terminal(ranking):
    text = tiles_text(ranking, verified=[Verified(ranking.tiles[0], error="no\x1b[31m compiler")])
    assert "128x256x64" in text
    assert "est. time" in text
    assert "1 tile cannot launch" in text
    assert "\x1b" not in text
    assert all(
        len(line) <= 80 for line in text.splitlines() if "cannot" not in line and "at least" not in line
    )


def test_orders_as_document_and_text():
    tile = {"block_m": 256, "block_n": 256, "block_k": 64, "stages": 2}
    found = compare("MI355X", m=8192, n=8192, k=8192, dtype="bf16", tile=tile, orders=[Order(), Order(8, 64)])
    document = json.loads(json.dumps(orders_document(found)))
    assert [each["chunk"] for each in document["orders"]] == [None, 64]
    low, high = document["orders"][0]["seconds"]
    assert 0 < low <= high
    text = orders_text(found)
    assert "groups of 8, chunks of 64" in text
    assert "est. time" in text


def test_every_tile_is_drawn_once():
    path = walk(7, 5, Order(3, 2), Caches(4, 2, 1.0, 0))
    root = ET.fromstring(order_svg(path, title='<a & "b">'))
    cells = [node for node in root.iter(f"{NS}rect") if node.find(f"{NS}title") is not None]
    assert sum((int(node.get("width")) + 1) // 8 for node in cells) == 35
    said = cells[0].find(f"{NS}title").text
    where = (path.row == 0) & (path.column == 0)
    assert said == f"row 0, column 0, die {path.die[where][0]}, round {path.round[where][0]}"


def test_a_large_grid_is_cut_and_says_so():
    path = walk(300, 200, Order(8), Caches(8, 32, 1.0, 0))
    text = order_svg(path)
    assert f"rows 0 to {MOST - 1}, columns 0 to {MOST - 1}" in text
    assert len(text) < 3_000_000
    ET.fromstring(text)


def test_animation_stays_still_for_those_who_ask():
    path = walk(8, 8, Order(), Caches(2, 4, 1.0, 0))
    text = order_svg(path, animate=True)
    assert "prefers-reduced-motion: no-preference" in text
    ET.fromstring(text)
