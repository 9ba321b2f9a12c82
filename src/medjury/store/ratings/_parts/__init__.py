"""PostgreSQL's partitions: the ratings, replies and records of each run lie in tables of their own.

A key lies in one part only, that of the run that wrote it first, and two small tables say in which: their primary
keys hold across runs what a key of a partitioned table cannot, that an answer is stored, and paid for, once. So a
run that finds an answer of another reads it where it lies, and a key is looked up in the one partition that has it.
A run is erased by dropping its tables, once what other runs share with it has moved to theirs.
"""
