"""Loaders: one file for each source's own format. The docstring of each says which inputs and facts its items have.

What metrics find in `Item.facts`:

    medcalc         output_type (decimal, integer or date), lower_limit and upper_limit (numbers; None for dates)
    error_flag,     error (true or false), error_sentence (number, -1 where none), sentences (number -> text),
    error_sentence  corrected_sentence
    sql_execution   is_impossible; the database is `Loaded.database`
    code_f1         codes (every code, once)

Where an item has choices its gold answer is the letter; the letters of other choices that read the same follow it.
"""
