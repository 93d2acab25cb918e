// Writes the files generated from the configuration's schema: config.schema.json, and the defaults for a start without a file.

import { writeFileSync } from 'node:fs'
import { configJsonSchema, defaultSettings } from '../src/config/json-schema.ts'

function write(path, value) {
  writeFileSync(new URL(path, import.meta.url), `${JSON.stringify(value, null, 2)}\n`)
}

write('../config.schema.json', configJsonSchema())
write('../src/config/defaults.json', defaultSettings())
