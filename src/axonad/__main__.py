"""``python -m axonad`` is the command line."""

from axonad.cli import main

if __name__ == "__main__":
    main()
