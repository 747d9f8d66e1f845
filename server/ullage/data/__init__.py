"""Files that are part of the package, and the one module that reads them for the core."""
