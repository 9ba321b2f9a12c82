# Medjury in a container: `docker build -t medjury .`, then
#   docker run --rm -v "$PWD:/work" medjury demo                                       the demo
#   docker run --rm -v "$PWD:/work" medjury run study.yaml                             a study, or a part of its work
#   docker run --rm -v "$PWD:/work" -p 127.0.0.1:8765:8765 medjury panel serve study.yaml --host 0.0.0.0 --public-url http://localhost:8765   the panel
# Nobody in it is root, and it asks nothing of the network that the study file does not name.

FROM python:3.12-bookworm AS build
WORKDIR /build
COPY requirements/image.txt requirements/image.txt
RUN python -m venv /opt/medjury && /opt/medjury/bin/pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY pyproject.toml README.md LICENSE ./
COPY docs/judge-card.schema.json docs/judge-card.schema.json
COPY src src
RUN /opt/medjury/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim-bookworm
COPY --from=build /opt/medjury /opt/medjury
ENV PATH="/opt/medjury/bin:$PATH" MEDJURY_MODELS="/opt/models"
RUN useradd --uid 10001 --create-home medjury && mkdir -p /opt/models /work && chown medjury /opt/models /work
USER 10001
RUN medjury models pull
WORKDIR /work
ENTRYPOINT ["medjury"]
CMD ["demo"]
