#!/bin/sh
# Makes the secrets of compose.yaml in /secrets (or $1) at the first start; later starts keep the existing ones.
set -eu
folder=${1:-/secrets}
umask 077

random() {
  od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

# Writes to a temporary name first, so that an interrupted start leaves no incomplete file.
keep() {
  [ -s "$folder/$1" ] && return
  cat > "$folder/$1.new"
  # 10001 is the user of the image; PostgreSQL reads its file as root.
  chown "${OWNER:-10001}" "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

random | keep postgres-password
# Grafana runs as a different user.
random | OWNER="${GRAFANA_OWNER:-472}" keep grafana-password
keep tollgate.env <<END
DATABASE_URL=postgres://tollgate:$(cat "$folder/postgres-password")@postgres:5432/tollgate
ENCRYPTION_KEY=$(random)
END
# Services that run as other users may open their own file by name, but not list the folder.
chmod 711 "$folder"
