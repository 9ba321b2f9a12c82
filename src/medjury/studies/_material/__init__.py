"""What a study rates: its cases as they are read, hashed and kept, and what they say of themselves."""
