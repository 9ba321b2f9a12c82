"""A lean HTTP/1.1 client for one server: what a study's calls travel on, where no proxy stands between."""
