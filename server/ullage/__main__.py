"""Run Ullage as `python -m ullage`."""

from ullage.cli.main import main

if __name__ == "__main__":
    main()
