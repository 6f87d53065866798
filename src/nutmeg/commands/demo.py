"""A match in the browser: `nutmeg play` under another name. All robots on one pitch are `nutmeg zoo`.

example: nutmeg demo
         nutmeg demo --players 2 --half 60
"""

from nutmeg.commands.play import Arguments, run

__all__ = ["Arguments", "run"]
