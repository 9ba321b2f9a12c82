from ._comparison_page import write_comparison as write_comparison
from ._compose import document as document
from ._figure import Figure as Figure
from ._html import (
    Html as Html,
)
from ._html import (
    bullets as bullets,
)
from ._html import (
    element as element,
)
from ._html import (
    joined as joined,
)
from ._html import (
    paragraph as paragraph,
)
from ._html import (
    sentence as sentence,
)
from ._html import (
    table_html as table_html,
)
from ._page import write_page as write_page
from ._pdf import write_pdf as write_pdf
