from ._comparison_page import write_comparison as write_comparison
from ._document import document as document
from ._figure import Figure as Figure
from ._html import (
    Html as Html,
    bullets as bullets,
    element as element,
    joined as joined,
    paragraph as paragraph,
    sentence as sentence,
    table_html as table_html,
)
from ._page import write_page as write_page
from ._pdf import write_pdf as write_pdf
