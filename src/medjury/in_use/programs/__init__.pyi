from ._card_jury import CardJury as CardJury
from ._mcp import CardServer as CardServer
