// Open WebUI, by the environment of its container.

import { type Client, word } from './client.ts'

export const openWebui: Client = {
  id: 'open-webui',
  name: 'Open WebUI',
  kind: 'app',
  steps: ({ base, key, model }) => [
    {
      where: null,
      text: `docker run -d -p 3000:8080 -v open-webui:/app/backend/data \\
  -e OPENAI_API_BASE_URLS=${word(`${base}/v1`)} \\
  -e OPENAI_API_KEYS=${word(key)} \\
  -e DEFAULT_MODELS=${word(model)} \\
  ghcr.io/open-webui/open-webui:main`,
    },
  ],
}
