#!/bin/sh
# Runs a program in the file system of an image, in the mount and process namespaces that it is started in, as a cluster
# does: the root is read-only, /data and a small /tmp are mounted, and no privilege can be gained.
# enter.sh ROOT DATA USER FOLDER COMMAND...
set -eu
root=$1 data=$2 user=$3 folder=$4
shift 4
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind -o nosuid,nodev "$data" "$root/data"
mount -t tmpfs -o mode=1777,nosuid,nodev,noexec,size=64m tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=755,size=64m tmpfs "$root/dev"
for device in null zero full random urandom; do
    touch "$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir -m 1777 "$root/dev/shm"
mount -o remount,bind,ro "$root"
# The signal is set once more, because a change of the user resets the one that unshare has set.
exec /usr/sbin/chroot "$root" /usr/bin/setpriv --pdeathsig=KILL --reuid="${user%:*}" --regid="${user#*:}" \
    --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all -- /usr/bin/env --chdir="$folder" "$@"
