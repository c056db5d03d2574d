# in_copy.sh FOLDER COMMAND...: runs a command as root of a copy of this system, whose
# changes are forgotten. FOLDER is its /mnt.
copy='
mount -t tmpfs none "$0/copy" && cd "$0/copy" && mkdir upper work root &&
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root &&
mount -t proc proc root/proc && mount --rbind /dev root/dev && mount -t tmpfs none root/tmp &&
mount --rbind "$0" root/mnt && exec chroot root "$@"'
folder=$(realpath "$1")
shift
mkdir -p "$folder/copy"
cp "$(dirname "$0")/use_debian.sh" "$folder/test.sh"
if [ "$(id -u)" -eq 0 ]; then
  exec unshare --mount --pid --fork sh -c "$copy" "$folder" "$@"
fi
exec unshare --map-root-user --mount --pid --fork sh -c "$copy" "$folder" "$@"
