#!/bin/sh
# buildah with overlay, which is fast, or with vfs, which copies, on machines without overlay. STORAGE_DRIVER overrides
# the choice.
if [ -z "${STORAGE_DRIVER:-}" ]; then
    buildah --storage-driver=overlay info >/dev/null 2>&1 && STORAGE_DRIVER=overlay || STORAGE_DRIVER=vfs
    export STORAGE_DRIVER
fi
exec buildah "$@"
