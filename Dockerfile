# One image for every service: croupier serve lobby|engine|scoring, croupier migrate. See docs/image.md.
ARG BASE_IMAGE=python:3.11.16-slim-trixie@sha256:be1575ed968de893bd54f4c56315ff7c4736ce522c1bca08fd521731aafc0d76
# The stage that builds and installs the wheel: the same Python, with venv and pip.
ARG BUILDER_IMAGE=${BASE_IMAGE}

FROM ${BASE_IMAGE} AS base
ARG USER_ID=10001
# Without programs that install packages or change the user. The standard library is compiled here, because nothing can
# be written later, and by hash, because copies may change times.
RUN library="$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
 && rm -rf /usr/local/bin/pip* "$library"/ensurepip "$library"/site-packages/pip* "$library"/site-packages/setuptools* \
        "$library"/site-packages/wheel* /root/.cache \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash -x '/(test|idlelib|lib2to3)/' "$library" \
 && groupadd --gid "${USER_ID}" croupier \
 && useradd --uid "${USER_ID}" --gid "${USER_ID}" --home-dir /data --no-create-home --shell /usr/sbin/nologin croupier \
 && install -d -o "${USER_ID}" -g "${USER_ID}" -m 0700 /data

FROM ${BUILDER_IMAGE} AS build
# The index of packages; if it is empty, that of pip's configuration.
ARG INDEX_URL=
# Extras of the package, with commas between: `traces` exports traces; `load` adds the load test, `croupier load`.
ARG EXTRAS=traces
# The wheels of other packages with games, and of what those need, in the folder of the build, with spaces between.
ARG GAMES=
# Certificates of a private authority, and a pip.conf with the password of an index, are mounted here.
ENV PIP_INDEX_URL=${INDEX_URL} PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
COPY . .
# hadolint ignore=DL3042,SC2086
RUN --mount=type=cache,target=/root/.cache/pip --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    python3 -m venv /tools \
 && /tools/bin/pip download --quiet --require-hashes --no-deps --only-binary :all: --dest /wheels \
        --requirement image/requirements.lock \
 && /tools/bin/pip install --quiet --no-index --find-links /wheels hatchling cyclonedx-bom \
 && /tools/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /wheel . \
 && python3 -m venv --without-pip /opt/croupier \
 && /tools/bin/pip --python /opt/croupier/bin/python install --quiet --no-compile --no-index --find-links /wheels \
        "$(echo /wheel/*.whl)${EXTRAS:+[${EXTRAS}]}" ${GAMES} \
 && /opt/croupier/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/croupier/lib \
 && /opt/croupier/bin/croupier games >/dev/null
RUN --mount=type=bind,from=base,target=/base \
    /tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --short-PURLs \
        --output-file /python.cdx.json /opt/croupier/bin/python \
 && /tools/bin/python image/bill_of_materials.py /python.cdx.json /base /opt/croupier/sbom.cdx.json

FROM base
ARG USER_ID=10001
ARG VERSION=
ARG REVISION=
ARG CREATED=
ARG BASE_IMAGE
LABEL org.opencontainers.image.title="croupier" \
      org.opencontainers.image.description="A backend for multiplayer card games: never loses a move, never shows a hidden card." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.base.name="${BASE_IMAGE}"
COPY --from=build /opt/croupier /opt/croupier
# Services write to /data and /tmp only, so the root file system can be read-only. gRPC's own lines, such as those on
# handshakes without a certificate, do not belong into the log of a service.
ENV PATH=/opt/croupier/bin:/usr/local/bin:/usr/bin:/bin HOME=/data XDG_DATA_HOME=/data LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 GRPC_VERBOSITY=ERROR
WORKDIR /data
USER ${USER_ID}:${USER_ID}
# Of lobby, engine and scoring: players, control (not of the lobby), WebSockets (of the engine), health, metrics.
EXPOSE 7710 7718 7719 7720 7721 7722 7728 7729 7730 7731 7738 7739
ENTRYPOINT ["croupier"]
CMD ["--help"]
