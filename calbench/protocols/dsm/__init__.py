"""DSM: offers, scores and a choice between plans (paper, appendix D.3).

One policy; its presets are data (``conf/protocol/dsm-*.yaml``). The initiator offers a batch of
plans, all agents concerned score all of them at once, and the initiator announces the best plan
or offers the next batch. A plan may displace meetings; their other participants then score as
additional responders.
"""

from calbench.protocols.dsm.policy import Dsm

__all__ = ["Dsm"]
