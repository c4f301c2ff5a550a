"""Coverage-guided fuzzing of every reader with atheris: `python -m tests.fuzz.run --seconds 60`."""
