from ._card_jury import CardJury as CardJury
from ._mcp import CardServer as CardServer
from ._mcp import serve_mcp as serve_mcp
