#!/bin/sh
# Calls a gateway with curl only: the models, a whole reply, a stream, and an embedding.
#   TOLLGATE_KEY=sk-tg-... sh examples/curl.sh
set -eu

url=${TOLLGATE_URL:-http://127.0.0.1:8787/v1}
key=${TOLLGATE_KEY:?set TOLLGATE_KEY to a key that the server printed}
model=${MODEL:-sandbox/chat}

call() {
  path=$1
  shift
  curl --silent --show-error --fail-with-body --no-buffer "$url$path" \
    -H "Authorization: Bearer $key" \
    -H 'Content-Type: application/json' "$@"
  echo
}

echo '# models'
call /models

echo '# a whole reply'
call /chat/completions \
  -d "{\"model\": \"$model\", \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}"

echo '# a stream'
call /chat/completions \
  -d "{\"model\": \"$model\", \"stream\": true, \"messages\": [{\"role\": \"user\", \"content\": \"Hello\"}]}"

echo '# a vector'
call /embeddings \
  -d "{\"model\": \"${EMBEDDING_MODEL:-sandbox/embedding}\", \"input\": \"Hello\", \"dimensions\": 8}"
