"""One module for each subcommand of `nutmeg`; see `nutmeg.cli`."""
