"""One reader for each form of file: it gives rows with their places, and bounds what is read.

A new form is one module that gives `Rows`, names of columns first, and one line in `any_file.READERS`;
`tests/formats/test_every_reader_counts.py` asks for a file to try it on."""
