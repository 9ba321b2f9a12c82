"""Tables that people made, as they stand: text, spreadsheets, JSON, SPSS and Stata."""
