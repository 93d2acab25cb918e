// Writes src/api/schema.d.ts from the server's OpenAPI document, or with `--check` fails where it is stale.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTS, { astToString } from 'openapi-typescript'
import { createControl } from '../../src/http/control/app.ts'
import { controlRoutes } from '../../src/http/control/routes.ts'

const target = fileURLToPath(new URL('../src/api/schema.d.ts', import.meta.url))
const head = '// Generated from /openapi.json by `npm run types`: do not edit.\n\n'

/** The document needs nothing of a running server but its version, which types do not show. */
async function readDocument() {
  const control = createControl({ version: '0' }, controlRoutes)
  const reply = await control.handle(new Request('http://localhost/openapi.json'), null)
  const document = await reply.json()
  const own = Object.entries(document.paths)
    .filter(([path]) => path.startsWith('/api/'))
    .map(([path, methods]) => [path, mapValues(methods, withoutRefusals)])
  return { ...document, paths: Object.fromEntries(own) }
}

/** Every refusal is a `Problem`, which src/api/client.ts reads for all of them. */
function withoutRefusals(operation) {
  const successes = Object.entries(operation.responses).filter(([status]) => status < '400')
  return { ...operation, responses: Object.fromEntries(successes) }
}

function mapValues(record, change) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

const text = head + astToString(await openapiTS(await readDocument(), { immutable: true }))
const kept = existsSync(target) ? readFileSync(target, 'utf8') : ''
if (process.argv.includes('--check')) {
  if (kept !== text) {
    console.error('src/api/schema.d.ts is stale: run `npm run types` in console/')
    process.exit(1)
  }
} else if (kept !== text) {
  writeFileSync(target, text)
}
