# One image for every service: croupier serve lobby|engine|scoring, croupier migrate. docs/image.md says how it is used.
ARG BASE_IMAGE=python:3.11.14-slim-bookworm
# Where the wheel is built and installed: the same Python, with venv and pip.
ARG BUILDER_IMAGE=${BASE_IMAGE}

FROM ${BASE_IMAGE} AS base
ARG USER_ID=10001
# What only installs is taken away, and so is every way to become another user. The standard library is compiled here,
# since nothing can be written later; by hash, since copying may change times.
RUN library="$(python3 -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')" \
 && rm -rf /usr/local/bin/pip* "$library"/ensurepip "$library"/site-packages/pip* "$library"/site-packages/setuptools* \
        "$library"/site-packages/wheel* /root/.cache \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash -x '/(test|idlelib|lib2to3)/' "$library" \
 && groupadd --gid "${USER_ID}" croupier \
 && useradd --uid "${USER_ID}" --gid "${USER_ID}" --home-dir /data --no-create-home --shell /usr/sbin/nologin croupier \
 && install -d -o "${USER_ID}" -g "${USER_ID}" -m 0700 /data

FROM ${BUILDER_IMAGE} AS build
# Where packages come from; if empty, from where pip is configured to look.
ARG INDEX_URL=
# Extras of the package, with commas between: traces tells a collector of calls where one is named; load brings the load
# test with it, locust -f /opt/croupier/loadtest/locustfile.py.
ARG EXTRAS=traces
# A network with an authority of its own mounts its certificates at this place, an index with a password its pip.conf.
ENV PIP_INDEX_URL=${INDEX_URL} PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
COPY . .
# hadolint ignore=DL3042
RUN --mount=type=cache,target=/root/.cache/pip --mount=type=secret,id=pip.conf,target=/etc/pip.conf \
    python3 -m venv /tools \
 && /tools/bin/pip install --quiet --constraint constraints.txt hatchling cyclonedx-bom \
 && /tools/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir /wheel . \
 && python3 -m venv --without-pip /opt/croupier \
 && /tools/bin/pip --python /opt/croupier/bin/python install --quiet --no-compile --constraint constraints.txt \
        "$(echo /wheel/*.whl)${EXTRAS:+[${EXTRAS}]}" \
 && case ",${EXTRAS}," in (*,load,*) \
        ln -s "$(echo /opt/croupier/lib/python3*/site-packages)/loadtest" /opt/croupier/loadtest ;; esac \
 && /opt/croupier/bin/python -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/croupier/lib
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
# Nothing but /data and /tmp is ever written to, so the root file system can be read-only. gRPC's own remarks, such as on each
# handshake of somebody without a certificate, are no lines of a service's log.
ENV PATH=/opt/croupier/bin:/usr/local/bin:/usr/bin:/bin HOME=/data XDG_DATA_HOME=/data LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 GRPC_VERBOSITY=ERROR
WORKDIR /data
USER ${USER_ID}:${USER_ID}
# For each of lobby, engine and scoring: players, control (not the lobby), health, metrics.
EXPOSE 7710 7718 7719 7720 7721 7728 7729 7730 7731 7738 7739
ENTRYPOINT ["croupier"]
CMD ["--help"]
