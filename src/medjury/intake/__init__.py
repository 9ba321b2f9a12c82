"""What comes in: cases from every kind of file (`cases`)."""
