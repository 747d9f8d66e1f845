"""Files and processes of this machine: places, atomic writes, locks, notices."""
