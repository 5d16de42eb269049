"""Tables of all experiments -> data/tables/summary: tables over several of them."""

import shutil

from calbench.analysis.reproduction import TABLE2
from calbench.analysis.summary import write_summary
from calbench.report.runs import runs_of
from stages import paths
