# Turns a directory into a root file system that boots, with a network, and with users who can log in. Its
# only argument is the directory.
set -eu
root=$1

echo vm > "$root/etc/hostname"
echo '127.0.0.1 localhost vm' > "$root/etc/hosts"
printf 'LABEL=system / ext4 defaults 0 1\nLABEL=tests /srv/agentctl ext4 ro,nofail 0 2\n' > "$root/etc/fstab"
mkdir -p "$root/srv/agentctl" "$root/srv/tmp"
chmod 1777 "$root/srv/tmp"

# The addresses of qemu's own network.
rm -f "$root/etc/resolv.conf"
echo 'nameserver 10.0.2.3' > "$root/etc/resolv.conf"
printf '[Match]\nName=en* eth*\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n' \
    > "$root/etc/systemd/network/80-vm.network"
chroot "$root" systemctl enable systemd-networkd ssh
chroot "$root" systemctl mask systemd-networkd-wait-online.service apt-daily.timer apt-daily-upgrade.timer \
    e2scrub_all.timer e2scrub_reap.service fstrim.timer dpkg-db-backup.timer

# One user logs in and has a session; the other never does.
for name in user nosession; do
    chroot "$root" useradd -m -s /bin/bash "$name"
done
chroot "$root" passwd -d root
for home in root home/user; do
    mkdir -p "$root/$home/.ssh"
    echo "$PUBLIC_KEY" > "$root/$home/.ssh/authorized_keys"
    chmod 700 "$root/$home/.ssh"
done
chroot "$root" chown -R user:user /home/user
printf 'UseDNS no\nPermitRootLogin prohibit-password\n' >> "$root/etc/ssh/sshd_config"

# An emulated machine is slow.
mkdir -p "$root/etc/systemd/system.conf.d"
printf '[Manager]\nDefaultTimeoutStartSec=600s\nDefaultDeviceTimeoutSec=600s\n' \
    > "$root/etc/systemd/system.conf.d/slow.conf"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/*
