"""Images of a case: PNG and JPEG as they are but for their pixels' company, and DICOM as the picture in it.

What a file says beside its pixels (EXIF with places and times, comments, previews, other pictures behind the
first) is left out as it is read, chunk by chunk: the pixels stay what they are, to the bit, whichever library is
installed. An image is known by the SHA-256 of what is left; its file's name is kept nowhere.
"""

from __future__ import annotations

import hashlib
import io
import re
import struct
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from medjury.foundation.errors import MedjuryError
from medjury.intake._files.cells import in_cell

Media = Literal["image/png", "image/jpeg"]
IMAGES = (
    "images"  # the input of an instrument by which they are asked for, and the folder they are written into
)
MOST_IMAGES = 20  # of one case
MOST_BYTES = 20_000_000  # of one file
MOST_PIXELS = 40_000_000
_LONGEST_LABEL = 200
_PNG, _JPEG, _DICOM = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"DICM"
_KEPT_CHUNKS = frozenset((b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"sBIT", b"IDAT", b"IEND"))
_LONGEST_CHUNKS = {
    b"IHDR": 13,
    b"PLTE": 768,
    b"tRNS": 256,
    b"gAMA": 4,
    b"cHRM": 32,
    b"sRGB": 1,
    b"sBIT": 4,
    b"IEND": 0,
}
_ADOBE, _JFIF = b"Adobe", b"JFIF\x00"
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # the markers that state the size
_TABLES = frozenset((0xC4, 0xCC, 0xDA, 0xDB, 0xDD))  # what else a decoder needs, the scans among them
_FRAME_FORM = "it is not a PNG, a JPEG or a DICOM file"
_BURNT_IN = "DICOM images that may have text burnt in: look at them, it may name the patient"
_NAME = re.compile(r"[^\W\d_]{3,}")
_NAMED = "DICOM files that have a name of the patient in their own: it is kept nowhere, but is on your disk"
_ONE_SHADE = "DICOM images of one shade alone, on which nothing is to be seen"
MISSING = "images need Pillow, and DICOM pydicom: pip install 'medjury[images]'"


class ImageError(MedjuryError):
    """A file that is no image that can be judged; it names what is wrong, and nothing that the file holds."""


@dataclass(frozen=True, slots=True)
class Image:
    """One image: `content` is a PNG or JPEG of pixels alone, `hash` its SHA-256. `label` is what the file of cases
    calls it (`PA view`)."""

    content: bytes = field(repr=False)
    media: Media
    width: int
    height: int
    hash: str
    label: str = ""

    @property
    def file(self) -> str:
        """Its name wherever it is written: that of its content."""
        return f"{self.hash}.{self.media.removeprefix('image/').replace('jpeg', 'jpg')}"


def images_text(images: Sequence[Image]) -> str:
    """What a reader of the texts alone is shown of them."""
    return "\n".join(
        f"image {number} ({each.width} × {each.height}){': ' if each.label else ''}{each.label}"
        for number, each in enumerate(images, 1)
    )


def image_of(data: bytes, label: str = "", *, remarks: Counter[str] | None = None, stem: str = "") -> Image:
    """The image in the content of a file, whatever its name says; `ImageError` where there is none. `stem` is the
    file's name, looked at for the patient's alone."""
    if len(data) > MOST_BYTES:
        raise ImageError(f"has {len(data):,} bytes; at most {MOST_BYTES:,} are read")
    if data.startswith(_PNG):
        return _checked(_clean_png(data), "image/png", label)
    if data.startswith(_JPEG):
        return _checked(_clean_jpeg(data), "image/jpeg", label)
    if data[128:132] == _DICOM:
        return _checked(
            _from_dicom(data, Counter() if remarks is None else remarks, stem), "image/png", label
        )
    if data.lstrip()[:5].lower() in (b"<?xml", b"<svg ", b"<!doc"):
        raise ImageError("is SVG or another text, which can hold names and programs; save it as PNG")
    raise ImageError(f"cannot be used: {_FRAME_FORM}")


def read_images(
    value: object, folder: Path, problems: list[tuple[str, str]], remarks: Counter[str]
) -> tuple[Image, ...]:
    """The images that a row names: a path, a list of paths or of {path, label}; a cell may hold the list as JSON.
    Paths are relative to the folder of the cases and lead nowhere else."""
    if isinstance(value, str):
        value = in_cell(value.strip())
        if isinstance(value, str) and value[:1] in ("[", "{"):
            problems.append((IMAGES, "is a text that is not a JSON list of images"))
            return ()
    listed = [value] if value != "" and isinstance(value, str | Mapping) else value
    if not listed:
        return ()
    if not isinstance(listed, Sequence) or isinstance(listed, bytes):
        problems.append((IMAGES, "is not a path or a list of paths"))
        return ()
    if len(listed) > MOST_IMAGES:
        problems.append((IMAGES, f"names {len(listed):,} images; a case has at most {MOST_IMAGES}"))
        return ()
    found: dict[tuple[str, str], Image] = {}
    for position, each in enumerate(listed, 1):
        where = f"{IMAGES}[{position}]"
        stated = each if isinstance(each, Mapping) else {"path": each}
        path, label = stated.get("path"), stated.get("label") or ""
        if not isinstance(path, str) or not path.strip() or set(stated) - {"path", "label"}:
            problems.append((where, "is not a path, or an object of path and label"))
        elif not isinstance(label, str) or len(label) > _LONGEST_LABEL or not label.isprintable():
            problems.append((f"{where}.label", f"is not one line of at most {_LONGEST_LABEL} characters"))
        else:
            try:
                made = image_of(_content(path, folder), label, remarks=remarks, stem=Path(path).stem)
            except ImageError as error:
                problems.append((where, str(error)))
            else:
                found.setdefault((made.hash, label), made)  # the same image under two names is one
    return tuple(found.values())


def _content(path: str, folder: Path) -> bytes:
    """The file's bytes. A path is the file's own text, which an error does not repeat: it may be a name."""
    if path.lstrip()[:5].casefold() == "data:" or "://" in path:
        raise ImageError("is an address, not a file: save the image beside the cases and name the file")
    base = folder.resolve()
    try:
        file = (base / path).resolve()
        inside = file.is_relative_to(base) and not Path(path).is_absolute()
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise ImageError("is not in the folder of the cases: name it from there, such as images/1.png")
    try:
        if not file.is_file():
            raise ImageError("there is no such file in the folder of the cases")
        if file.stat().st_size > MOST_BYTES:
            raise ImageError(f"has {file.stat().st_size:,} bytes; at most {MOST_BYTES:,} are read")
        return file.read_bytes()
    except OSError as error:
        raise ImageError(f"cannot be read: {error.strerror or type(error).__name__}") from None


def _clean_png(data: bytes) -> bytes:
    """The chunks that make the picture, each with its checksum, and nothing behind the last."""
    parts, place, shown = [_PNG], len(_PNG), False
    while place + 12 <= len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        end = place + 12 + size
        chunk = data[place:end]
        if end > len(data) or zlib.crc32(chunk[4:-4]) != int.from_bytes(chunk[-4:], "big"):
            break
        if size > _LONGEST_CHUNKS.get(kind, size) or (kind == b"IHDR" and size < 13):
            break
        if kind == b"IHDR":
            _require_size(*struct.unpack(">II", chunk[8:16]))
        if kind == b"eXIf":
            _require_upright(data)
        if kind in _KEPT_CHUNKS:
            parts.append(chunk)
        shown |= kind == b"IDAT"
        if kind == b"IEND" and shown:
            return b"".join(parts)
        place = end
    raise ImageError("is a PNG that is damaged or not whole")


def _clean_jpeg(data: bytes) -> bytes:
    """The segments that make the picture: tables, frames, scans, and of the others the colour transform."""
    parts, place, scanned = [data[:2]], 2, False
    while place + 4 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if marker == 0xFF:  # a fill byte
            place += 1
            continue
        if marker == 0xD9 and scanned:
            return b"".join((*parts, b"\xff\xd9"))
        size = int.from_bytes(data[place + 2 : place + 4], "big")
        segment, place = data[place : place + 2 + size], place + 2 + size
        if size < 2 or place > len(data):
            break
        if marker in _FRAMES and len(segment) >= 9:
            height, width = struct.unpack(">HH", segment[5:9])
            _require_size(width, height)
        if marker == 0xE1 and segment[4:8] == b"Exif":
            _require_upright(data)
        if marker == 0xE0 and segment[4:9] == _JFIF and len(segment) >= 16:
            parts.append(b"\xff\xe0\x00\x10" + segment[4:16] + b"\x00\x00")  # without its preview
        elif marker == 0xEE and segment[4:9] == _ADOBE and len(segment) >= 16:
            parts.append(b"\xff\xee\x00\x0e" + segment[4:16])
        elif marker in _FRAMES | _TABLES:
            parts.append(segment)
        if marker == 0xDA:
            scanned = True
            # A scan goes on until a marker that is neither an escaped byte nor a restart.
            following = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]").search(data, place)
            if following is None:
                break
            parts.append(data[place : following.start()])
            place = following.start()
    # A picture may end with its file: nothing is behind the end then.
    if scanned and data.endswith(b"\xff\xd9") and place == len(data) - 2:
        return b"".join((*parts, b"\xff\xd9"))
    raise ImageError("is a JPEG that is damaged or not whole")


def _require_size(width: int, height: int) -> None:
    if not width or not height or width * height > MOST_PIXELS:
        raise ImageError(f"has {width:,} × {height:,} pixels; at most {MOST_PIXELS:,} are read")


def _require_upright(data: bytes) -> None:
    """A picture that only its EXIF turns upright would lie on its side without it."""
    with _opened(data) as picture, warnings.catch_warnings(action="ignore"):
        try:
            turned = picture.getexif().get(0x0112)
        except (OSError, ValueError, SyntaxError, struct.error):
            turned = None  # no program could turn it by an EXIF that cannot be read
    if turned not in (None, 0, 1):
        raise ImageError("is turned upright by its EXIF alone, which is left out; save it upright")


def _opened(data: bytes) -> Any:
    try:
        import PIL.Image
    except ImportError:
        raise MedjuryError(MISSING) from None
    try:
        with warnings.catch_warnings(action="ignore"):
            return PIL.Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError):
        raise ImageError("is damaged: it cannot be opened") from None


def _checked(content: bytes, media: Media, label: str) -> Image:
    """The image, once every pixel of it can be decoded."""
    with _opened(content) as picture:
        try:
            _require_size(*picture.size)
            picture.load()
        except (OSError, ValueError, SyntaxError, EOFError, IndexError, struct.error):
            raise ImageError("is damaged or not whole: not all of its pixels are there") from None
        width, height = picture.size
    return Image(content, media, width, height, hashlib.sha256(content).hexdigest(), label)


def _from_dicom(data: bytes, remarks: Counter[str], stem: str) -> bytes:
    """The picture of a DICOM file as a PNG in 8 bits, as its own window shows it; no tag goes along."""
    try:
        import PIL.Image
        import pydicom
        from pydicom.pixels import apply_color_lut
    except ImportError:
        raise MedjuryError(MISSING) from None
    import numpy as np

    try:
        with warnings.catch_warnings(action="ignore"):
            found = pydicom.dcmread(io.BytesIO(data))
            if "PixelData" not in found:
                raise ImageError("is a DICOM file without a picture")
            frames = int(found.get("NumberOfFrames") or 1)
            _require_size(int(found.get("Columns") or 0), int(found.get("Rows") or 0))
            if frames > 1:
                raise ImageError(f"is a DICOM file of {frames:,} frames; export those that are to be judged")
            pixels = found.pixel_array  # of brightness and colour differences it has made RGB
            if (form := str(found.get("PhotometricInterpretation"))) == "PALETTE COLOR":
                pixels = apply_color_lut(pixels, found)[..., :3]
            pixels = _as_shown(pixels, found, form)
            patient = str(found.get("PatientName") or "")
            burnt_in = str(found.get("BurnedInAnnotation") or "")
    except MedjuryError:
        raise
    # A file from outside can fail in any part of the library; its words may hold tags.
    except Exception as error:
        raise ImageError(
            f"is a DICOM file whose picture cannot be decoded ({type(error).__name__}); export it as PNG"
        ) from None
    remarks[_BURNT_IN] += burnt_in != "NO"
    names, own = ({*_NAME.findall(each.casefold())} for each in (patient, stem))
    remarks[_NAMED] += not names.isdisjoint(own)
    remarks[_ONE_SHADE] += int(pixels.min() == pixels.max())
    made = io.BytesIO()
    PIL.Image.fromarray(pixels.astype(np.uint8)).save(made, "PNG")
    return _clean_png(made.getvalue())


def _as_shown(pixels: Any, found: Any, form: str) -> Any:
    """Its pixels as 0 to 255: of grey ones as its window, or all that is in the picture, shows them."""
    import numpy as np
    from pydicom.pixels import apply_modality_lut, apply_voi_lut

    if pixels.ndim == 2:
        # What fills the frame beside the picture says nothing about its brightness.
        padding = found.get("PixelPaddingValue")
        inside = np.ones(pixels.shape, bool)
        if padding is not None:
            first, last = sorted((padding, found.get("PixelPaddingRangeLimit", padding)))
            inside = (pixels < first) | (pixels > last)
        inside |= not inside.any()
        pixels = np.asarray(apply_voi_lut(apply_modality_lut(pixels, found), found), dtype=np.float64)
        if not np.isfinite(pixels).all():
            raise ImageError("is a DICOM file that turns its pixels into no numbers; export it as PNG")
        low, high = float(pixels[inside].min()), float(pixels[inside].max())
        pixels = np.rint((pixels.clip(low, high) - low) * (255.0 / (high - low or 1.0)))
        return 255.0 - pixels if form == "MONOCHROME1" else pixels
    if form not in ("RGB", "PALETTE COLOR") and not form.startswith("YBR"):
        raise ImageError("is a DICOM file whose colours are of a kind that is not known; export it as PNG")
    if pixels.dtype != np.uint8:
        return pixels >> (16 if form == "PALETTE COLOR" else int(found.BitsStored)) - 8
    return pixels


def files_of(images: Sequence[Image]) -> Iterator[dict[str, str]]:
    """The images as a row names them that is written beside the folder `images`."""
    for each in images:
        yield {"path": f"{IMAGES}/{each.file}"} | ({"label": each.label} if each.label else {})
