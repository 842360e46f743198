"""The generator of the demo corpora: it writes the files of src/psycheck/demo/shipped. No wheel has it."""
