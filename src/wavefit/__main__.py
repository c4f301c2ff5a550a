"""`python -m wavefit`."""

from wavefit.cli import main

main()
