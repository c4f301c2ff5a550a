"""Asks LLVM 22 and Triton again what the frozen tables of `data/matrix` say they said."""

import importlib.util
import shutil

import pytest
from tools import matrix_llvm, matrix_tables

from tests import accuracy_matrix as oracle

pytestmark = pytest.mark.heavy

NO_LLVM = shutil.which("llvm-mc-22") is None or shutil.which("llvm-mca-22") is None
NO_TRITON = importlib.util.find_spec("triton") is None


@pytest.mark.skipif(NO_LLVM, reason="llvm-mc-22 and llvm-mca-22 are not installed (Debian: llvm-22)")
@pytest.mark.parametrize("target", matrix_tables.TARGETS)
def test_llvm_says_what_it_said_and_every_difference_has_a_reason(target):
    said = list(matrix_tables.ask(target))
    if matrix_llvm.version() == "22.1.8":
        frozen = [each for each in matrix_tables.frozen(oracle.DATA / "llvm22.csv") if each.target == target]
        assert set(said) == set(frozen)
    assert [each for each in matrix_tables.compare(target, said)[1] if each.reason is None] == []


@pytest.mark.skipif(NO_LLVM, reason="llvm-mc-22 and llvm-mca-22 are not installed (Debian: llvm-22)")
@pytest.mark.parametrize("target", ["gfx950", "gfx1250"])
def test_every_pair_of_f8f6f4_formats_takes_the_registers_of_its_width_class(target):
    equal, total = matrix_tables.codes(target)
    assert equal == total > 0


@pytest.mark.skipif(NO_LLVM, reason="llvm-mc-22 and llvm-mca-22 are not installed (Debian: llvm-22)")
def test_packed_fma_assembles_where_the_rates_say_so():
    line = "v_pk_fma_f32 v[0:1], v[2:3], v[4:5], v[6:7]"
    from wavefit import matrix

    for target, waves in matrix_tables.TARGETS.items():
        assembles = matrix_llvm.assemble([line], target, waves[0])[0] is not None
        assert assembles == (matrix.packed_fp32(target).instruction is not None), target


@pytest.mark.skipif(NO_TRITON, reason="Triton is not installed (pip install triton)")
def test_triton_lays_gfx950_out_as_it_did():
    from tools import matrix_triton

    again = [tuple(map(str, row)) for row in matrix_triton.layouts()]
    frozen = [
        tuple(row[field] for field in matrix_triton.LAYOUT_FIELDS)
        for row in oracle.table("triton_mfma_v4.csv")
    ]
    assert again == frozen
