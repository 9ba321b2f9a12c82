"""Images for tests: made up, with whatever a real file may carry beside its pixels."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import PIL.Image
from PIL.PngImagePlugin import PngInfo
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, SecondaryCaptureImageStorage, generate_uid

SECRETS = ("Testperson", "Geheimrat", "48.8584")  # names and places that no image may carry
PATIENT = "Testperson^Erika"


def pixels(side: int = 32, seed: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)


def png(seed: int = 0, side: int = 32) -> bytes:
    """With a comment, EXIF with a place, and bytes behind the end."""
    info = PngInfo()
    info.add_text("Comment", "patient Testperson")
    info.add_itxt("XML:com.adobe.xmp", "Geheimrat")
    out = io.BytesIO()
    PIL.Image.fromarray(pixels(side, seed)).save(out, "PNG", pnginfo=info, exif=_exif())
    return out.getvalue() + b"Geheimrat behind the end"


def jpeg(seed: int = 0, side: int = 32, orientation: int | None = None) -> bytes:
    out = io.BytesIO()
    picture = PIL.Image.fromarray(pixels(side, seed))
    picture.save(out, "JPEG", exif=_exif(orientation), comment="Testperson", dpi=(72, 72), quality=90)
    return out.getvalue() + b"Geheimrat behind the end"


def _exif(orientation: int | None = None) -> PIL.Image.Exif:
    exif = PIL.Image.Exif()
    exif[0x010E] = "Testperson"
    if orientation is not None:
        exif[0x0112] = orientation
    place = exif.get_ifd(0x8825)
    place[1], place[29] = "N", "48.8584"
    return exif


def png_header(width: int, height: int) -> bytes:
    """A PNG of a few bytes that states a size."""
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(b"\0" * 9)),
              (b"IEND", b"")]  # fmt: skip
    made = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + made


def dicom(file: Path, *, burnt_in: str | None = None, inverted: bool = False, frames: int = 1) -> Path:
    """A small radiograph with the patient in public and private tags."""
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = SecondaryCaptureImageStorage
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    made = FileDataset(str(file), {}, file_meta=meta, preamble=b"Testperson".ljust(128, b"\0"))
    made.PatientName, made.PatientID, made.PatientBirthDate = PATIENT, "Geheimrat-1", "19500403"
    made.Modality, made.StudyDescription = "CR", "Thorax Testperson"
    made.Rows = made.Columns = 16
    made.SamplesPerPixel, made.BitsAllocated, made.BitsStored, made.HighBit = 1, 16, 12, 11
    made.PixelRepresentation = 0
    made.PhotometricInterpretation = "MONOCHROME1" if inverted else "MONOCHROME2"
    made.WindowCenter, made.WindowWidth = 128, 256
    if burnt_in is not None:
        made.BurnedInAnnotation = burnt_in
    if frames > 1:
        made.NumberOfFrames = frames
    block = made.private_block(0x0011, "SITE", create=True)
    block.add_new(0x01, "LO", "Testperson")
    block.add_new(0x02, "UN", "Testperson".encode("utf-16-le"))
    one = (np.arange(256, dtype=np.uint16)).reshape(16, 16)
    made.PixelData = one.tobytes() * frames
    made.save_as(file, enforce_file_format=True)
    return file
