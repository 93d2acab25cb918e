// LibreChat: a custom endpoint, whose models it requests.

import { type Client, quoted } from './client.ts'

export const librechat: Client = {
  id: 'librechat',
  name: 'LibreChat',
  kind: 'app',
  steps: ({ base, key, model }) => [
    {
      where: 'librechat.yaml',
      text: `version: 1.2.1
endpoints:
  custom:
    - name: Tollgate
      apiKey: ${quoted(key)}
      baseURL: ${quoted(`${base}/v1`)}
      models:
        default: [${quoted(model)}]
        fetch: true
      titleConvo: true
      titleModel: ${quoted(model)}`,
    },
  ],
}
