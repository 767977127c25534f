"""``python -m labadapt``."""

from labadapt.cli.main import main

if __name__ == "__main__":
    main()
