"""`python -m medjury` is the command line."""

import sys

from medjury.cli import main

sys.exit(main())
