#!/bin/sh
# Makes the secrets of compose.yaml into /secrets (or $1) at the first start; later ones find and keep them.
set -eu
folder=${1:-/secrets}
umask 077

random() {
  od -An -N32 -tx1 /dev/urandom | tr -d ' \n'
}

# Under another name first, so that a start that was cut off leaves nothing half-written.
keep() {
  [ -s "$folder/$1" ] && return
  cat > "$folder/$1.new"
  # The image's user; PostgreSQL reads its own as root.
  chown "${OWNER:-10001}" "$folder/$1.new"
  mv "$folder/$1.new" "$folder/$1"
}

random | keep postgres-password
# Grafana runs as a user of its own.
random | OWNER="${GRAFANA_OWNER:-472}" keep grafana-password
keep tollgate.env <<END
DATABASE_URL=postgres://tollgate:$(cat "$folder/postgres-password")@postgres:5432/tollgate
ENCRYPTION_KEY=$(random)
END
# Others' services find their own file below it.
chmod 711 "$folder"
