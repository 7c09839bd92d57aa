"""`yam-calibrate`: what policy and safety need to know of a station. Each imports what it needs when it runs."""

from __future__ import annotations

import sys

from contract.errors import ConfigurationError, StackError
from contract.reader_gone import quiet_when_nobody_reads


def main() -> None:
    """Entry point. Exit code 0 when all went as asked, 1 for trouble in one line or drift, 2 for a bad setting."""
    from calibration.commands import app

    try:
        with quiet_when_nobody_reads():
            app.cli(prog="yam-calibrate")
    except StackError as error:
        print(f"yam-calibrate: {error}", file=sys.stderr)
        sys.exit(2 if isinstance(error, ConfigurationError) else 1)
    except OSError as error:
        # Folders of pictures and views that cannot be made or written; what is opened elsewhere says more by itself.
        print(f"yam-calibrate: {error.filename or 'file'}: {error.strerror}: choose another place", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("yam-calibrate: ended by Ctrl-C; the station file is as it was", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
