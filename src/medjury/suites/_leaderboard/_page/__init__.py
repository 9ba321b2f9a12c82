"""The leaderboard as a folder of pages that open from disk and can be published as they are."""

from medjury.suites._leaderboard._page._data import board_json, cells_csv, standings_csv
from medjury.suites._leaderboard._page._write import write_leaderboard

__all__ = ["board_json", "cells_csv", "standings_csv", "write_leaderboard"]
